//! How long to wait before a retry.

mod constant;
mod exponential;
mod jitter;
mod linear;

pub use constant::{ConstantBackoff, NoBackoff};
pub use exponential::ExponentialBackoff;
pub use jitter::Jitter;
pub use linear::LinearBackoff;

use crate::policy::RetryErrorType;
use std::sync::Arc;
use std::time::Duration;

/// Computes the wait before a retry from nothing but the number of retries and the class of the failure.
///
/// What the server asked for, the quota and the maximum of attempts are the strategy's business.
pub trait BackoffStrategy {
    /// The wait before a retry. `retry_attempt` is 0 for the first retry of an operation.
    fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration;

    /// The longest wait that this backoff gives, to which [`HintLimit::MaxBackoff`](crate::strategy::HintLimit::MaxBackoff) cuts
    /// what the server asks for. By default there is none.
    fn max_backoff(&self) -> Duration {
        Duration::MAX
    }
}

macro_rules! forward_backoff {
    ($($pointer:ty),+) => {$(
        impl<B: BackoffStrategy + ?Sized> BackoffStrategy for $pointer {
            fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration {
                (**self).compute_next_backoff_delay(retry_attempt, error_type)
            }

            fn max_backoff(&self) -> Duration {
                (**self).max_backoff()
            }
        }
    )+};
}

forward_backoff!(&B, Box<B>, Arc<B>);
