//! A backoff whose delays double.

use super::arithmetic::{doubled, nanos, smaller};
use super::jitter::{Jitter, Jittered, jitter_settings};
use super::{BackoffContext, BackoffStrategy};
use crate::policy::RetryErrorType;
use crate::support::random::RandomNumbers;
use std::time::Duration;

/// A backoff whose delays double up to a cap, with jitter.
///
/// The delay before retry `i` is `b * min(base * 2^i, cap)`. The first retry has `i = 0`. With
/// [full jitter](Jitter::Full), the default, `b` is random in `[0, 1)`.
///
/// The base can be different after [throttling](ExponentialBackoff::throttling_base) and after a
/// [conflict](ExponentialBackoff::conflict_base). Retries after a conflict have their own `i`.
///
/// Jitter is applied after the cap, so that many clients at the cap are still spread out. Delays that would overflow
/// are the cap. No delay exceeds `u64::MAX` nanoseconds, which is 584 years.
///
/// ```
/// # use std::time::Duration;
/// use retry_core::{BackoffStrategy, ExponentialBackoff, Jitter, RetryErrorType};
///
/// let backoff = ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20))
///     .jitter(Jitter::None);
/// let delay = |i| backoff.compute_next_backoff_delay(i, RetryErrorType::Other).as_secs();
/// let delays = [0, 1, 2, 3, 4, 5].map(delay);
/// assert_eq!(delays, [1, 2, 4, 8, 16, 20]);
/// ```
#[derive(Debug)]
pub struct ExponentialBackoff {
    /// In nanoseconds, like the other bases.
    base: u64,
    /// `None` means the ordinary base.
    throttling_base: Option<u64>,
    conflict_base: u64,
    /// Kept whole, because it can also be the limit of the wait that a server asks for.
    cap: Duration,
    cap_nanos: u64,
    jittered: Jittered,
}

impl ExponentialBackoff {
    /// Creates a backoff whose delays start from `base`, double with each retry, and never exceed `cap`. A base above the cap is
    /// treated as the cap.
    ///
    /// After a conflict the delays start from 20 ms, or from `base` if that is shorter.
    pub const fn new(base: Duration, cap: Duration) -> Self {
        Self {
            base: nanos(base),
            throttling_base: None,
            conflict_base: nanos(Duration::from_millis(20)),
            cap,
            cap_nanos: nanos(cap),
            jittered: Jittered::new(Jitter::Full),
        }
    }

    /// Sets the base for retries after throttling. The default is the ordinary base.
    #[must_use]
    pub const fn throttling_base(mut self, base: Duration) -> Self {
        self.throttling_base = Some(nanos(base));
        self
    }

    /// Sets the base for retries after a conflict. The default is 20 ms. A base above the ordinary one is cut to the
    /// ordinary one.
    #[must_use]
    pub const fn conflict_base(mut self, base: Duration) -> Self {
        self.conflict_base = nanos(base);
        self
    }

    jitter_settings!();

    /// Returns the longest delay before the first retry after a failure of this class. It never exceeds the cap.
    pub const fn base(&self, error_type: RetryErrorType) -> Duration {
        Duration::from_nanos(smaller(self.uncapped_base(error_type), self.cap_nanos))
    }

    #[inline]
    const fn uncapped_base(&self, error_type: RetryErrorType) -> u64 {
        match (error_type, self.throttling_base) {
            (RetryErrorType::Throttling, Some(base)) => base,
            (RetryErrorType::Conflict, _) => smaller(self.conflict_base, self.base),
            _ => self.base,
        }
    }

    /// Returns the delay before a retry, in nanoseconds.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn nanos(&self, retry_attempt: u32, error_type: RetryErrorType) -> u64 {
        let full = doubled(self.uncapped_base(error_type), retry_attempt);
        self.jittered.apply_nanos(smaller(full, self.cap_nanos))
    }

    /// Returns the cap: the longest delay before any retry.
    pub const fn cap(&self) -> Duration {
        self.cap
    }

    /// Returns a backoff with the same settings, and with the [seed](ExponentialBackoff::seed) of another backoff if that has one.
    #[must_use]
    pub const fn seeded_as(&self, other: &Self) -> Self {
        Self { jittered: self.jittered.seeded_as(&other.jittered), ..*self }
    }

    /// Returns a separate stream of random numbers, with the [seed](ExponentialBackoff::seed) of this backoff if it has one.
    pub const fn random_numbers(&self) -> RandomNumbers {
        self.jittered.random_numbers()
    }

    /// Returns the ordinary base and the cap, as they were set. The [base in use](ExponentialBackoff::base) never exceeds the cap.
    pub const fn delays_setting(&self) -> (Duration, Duration) {
        (Duration::from_nanos(self.base), self.cap)
    }

    /// Sets the ordinary base and the cap. Separate bases for throttling and conflicts are kept.
    #[must_use]
    pub const fn delays(mut self, base: Duration, cap: Duration) -> Self {
        self.base = nanos(base);
        self.cap = cap;
        self.cap_nanos = nanos(cap);
        self
    }
}

/// A clone has the same settings. Its random numbers are separate, and begin from the start if there is a seed.
impl Clone for ExponentialBackoff {
    fn clone(&self) -> Self {
        self.seeded_as(self)
    }
}

impl BackoffStrategy for ExponentialBackoff {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration {
        Duration::from_nanos(self.nanos(retry_attempt, error_type))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn nanos_in_context(&self, context: &BackoffContext) -> Option<u64> {
        Some(self.nanos(context.retry_attempt, context.error_type))
    }

    fn max_backoff(&self) -> Duration {
        self.cap
    }

    fn random_part(&self, most: Duration) -> Duration {
        self.jittered.random_part(most)
    }

    fn as_exponential(&self) -> Option<&ExponentialBackoff> {
        Some(self)
    }
}
