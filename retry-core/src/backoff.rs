//! How long to wait before a retry.

use crate::policy::RetryErrorType;
use crate::random::Factors;
use std::sync::Arc;
use std::time::Duration;

/// Computes the wait before a retry from nothing but the number of retries and the class of the failure.
///
/// What the server asked for, the quota and the maximum of attempts are the strategy's business.
pub trait BackoffStrategy {
    /// The wait before a retry. `retry_attempt` is 0 for the first retry of an operation.
    fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration;

    /// The longest wait that this backoff gives.
    fn max_backoff(&self) -> Duration {
        Duration::MAX
    }
}

macro_rules! forward {
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

forward!(&B, Box<B>, Arc<B>);

/// How chance enters a delay, so that clients that failed together do not come back together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Jitter {
    /// Anything from zero up to the delay, evenly. The default, and what spreads a crowd best.
    #[default]
    Full,
    /// No chance: the delay as it is.
    None,
    /// The delay times this number from 0 to 1, for tests.
    Fixed(f64),
}

/// Twice as long each time, up to a cap, with jitter: `b * min(base * 2^i, cap)` before retry `i`, which is 0 for the
/// first one, and `b` random in `[0, 1)` with [full jitter](Jitter::Full).
///
/// The jitter applies after the cap, so that many clients at the cap are still spread out. Nothing overflows: what
/// would is the cap.
///
/// ```
/// # use std::time::Duration;
/// use retry_core::{BackoffStrategy, ExponentialBackoff, Jitter, RetryErrorType};
///
/// let backoff = ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20)).jitter(Jitter::None);
/// let delays = [0, 1, 2, 3, 4, 5].map(|i| backoff.compute_next_backoff_delay(i, RetryErrorType::Other).as_secs());
/// assert_eq!(delays, [1, 2, 4, 8, 16, 20]);
/// ```
#[derive(Debug)]
pub struct ExponentialBackoff {
    base: Duration,
    cap: Duration,
    jitter: Jitter,
    factors: Factors,
}

impl ExponentialBackoff {
    /// Delays from `base`, doubled with each retry, never above `cap`.
    pub const fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, jitter: Jitter::Full, factors: Factors::new() }
    }

    /// Sets how chance enters the delays.
    ///
    /// # Panics
    ///
    /// If a [fixed factor](Jitter::Fixed) is not from 0 to 1; in a `static` that is a compile error.
    #[must_use]
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        if let Jitter::Fixed(factor) = jitter {
            assert!(factor >= 0.0 && factor <= 1.0, "a fixed jitter factor must be from 0 to 1");
        }
        self.jitter = jitter;
        self
    }

    /// Makes the random factors the same in every run, for tests.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.factors = Factors::seeded(seed);
        self
    }

    /// Sets base and cap, and leaves the rest.
    pub(crate) const fn with_delays(mut self, base: Duration, cap: Duration) -> Self {
        self.base = base;
        self.cap = cap;
        self
    }
}

impl BackoffStrategy for ExponentialBackoff {
    fn compute_next_backoff_delay(&self, retry_attempt: u32, _error_type: RetryErrorType) -> Duration {
        let ceiling = double(self.base, retry_attempt, self.cap);
        match self.jitter {
            Jitter::Full => scale(ceiling, self.factors.next_factor()),
            Jitter::None => ceiling,
            Jitter::Fixed(factor) => scale(ceiling, factor),
        }
    }

    fn max_backoff(&self) -> Duration {
        self.cap
    }
}

/// `min(base * 2^times, cap)`, exact to the nanosecond.
fn double(base: Duration, times: u32, cap: Duration) -> Duration {
    let Some(nanos) = 1_u128.checked_shl(times).and_then(|power| base.as_nanos().checked_mul(power)) else {
        return if base.is_zero() { Duration::ZERO } else { cap };
    };
    if nanos >= cap.as_nanos() { cap } else { Duration::from_nanos_u128(nanos) }
}

/// `delay * factor` for a factor from 0 to 1, never above the delay.
fn scale(delay: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(delay.as_secs_f64() * factor).map_or(delay, |scaled| scaled.min(delay))
}
