use retry_core::backoff::NoBackoff;
use retry_core::quota::NoQuota;
use retry_core::{BackoffStrategy, Clock, RetryErrorType, RetryQuota, StandardRetryStrategy};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

struct Own(AtomicU32);

impl RetryQuota for Own {
    fn try_acquire(&self, _: u32, _: &dyn Clock) -> bool {
        true
    }

    fn refund(&self, _: u32) {}

    fn available(&self) -> u32 {
        0
    }
}

impl BackoffStrategy for Own {
    fn compute_next_backoff_delay(&self, _: u32, _: RetryErrorType) -> Duration {
        Duration::ZERO
    }
}

static BACKOFF_FIRST: StandardRetryStrategy<Own, NoQuota> =
    StandardRetryStrategy::new().with_backoff(Own(AtomicU32::new(0))).with_quota(NoQuota);

static QUOTA_FIRST: StandardRetryStrategy<NoBackoff, Own> =
    StandardRetryStrategy::new().with_quota(Own(AtomicU32::new(0))).with_backoff(NoBackoff);

fn main() {}
