//! How long to wait before a retry.

use crate::jitter::{Jitter, Jittered, jitter_settings};
use crate::policy::RetryErrorType;
use std::sync::Arc;
use std::time::Duration;

/// Computes the wait before a retry from nothing but the number of retries and the class of the failure.
///
/// What the server asked for, the quota and the maximum of attempts are the strategy's business.
pub trait BackoffStrategy {
    /// The wait before a retry. `retry_attempt` is 0 for the first retry of an operation.
    fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration;

    /// The longest wait that this backoff gives, to which [`HintLimit::MaxBackoff`](crate::HintLimit::MaxBackoff) cuts
    /// what the server asks for. By default there is none.
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

/// Twice as long each time, up to a cap, with jitter: `b * min(base * 2^i, cap)` before retry `i`, which is 0 for the
/// first one, and `b` random in `[0, 1)` with [full jitter](Jitter::Full), the default.
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
    /// None while it follows the ordinary base.
    throttling_base: Option<Duration>,
    conflict_base: Duration,
    cap: Duration,
    jittered: Jittered,
}

impl ExponentialBackoff {
    /// Creates a backoff with delays from `base`, doubled with each retry, never above `cap`.
    ///
    /// After a conflict the delays start from 20 ms, or from `base` if that is shorter.
    pub const fn new(base: Duration, cap: Duration) -> Self {
        Self {
            base,
            throttling_base: None,
            conflict_base: Duration::from_millis(20),
            cap,
            jittered: Jittered::new(Jitter::Full),
        }
    }

    /// Sets the base for retries after throttling, which is the ordinary one unless set.
    #[must_use]
    pub const fn throttling_base(mut self, base: Duration) -> Self {
        self.throttling_base = Some(base);
        self
    }

    /// Sets the base for retries after a conflict: 20 ms unless set. It is never above the ordinary base.
    #[must_use]
    pub const fn conflict_base(mut self, base: Duration) -> Self {
        self.conflict_base = base;
        self
    }

    jitter_settings!();

    /// Returns the longest delay before the first retry after a failure of this class, which is never above the cap.
    pub const fn base(&self, error_type: RetryErrorType) -> Duration {
        shorter(self.uncapped_base(error_type), self.cap)
    }

    #[inline]
    const fn uncapped_base(&self, error_type: RetryErrorType) -> Duration {
        match (error_type, self.throttling_base) {
            (RetryErrorType::Throttling, Some(base)) => base,
            (RetryErrorType::Conflict, _) => shorter(self.conflict_base, self.base),
            _ => self.base,
        }
    }

    /// The longest delay of all.
    pub const fn cap(&self) -> Duration {
        self.cap
    }

    /// Sets the ordinary base and the cap, and leaves the rest: the bases that were set apart too.
    pub(crate) const fn with_delays(mut self, base: Duration, cap: Duration) -> Self {
        self.base = base;
        self.cap = cap;
        self
    }
}

impl BackoffStrategy for ExponentialBackoff {
    #[inline]
    fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration {
        self.jittered.apply(double(self.uncapped_base(error_type), retry_attempt, self.cap))
    }

    fn max_backoff(&self) -> Duration {
        self.cap
    }
}

/// Longer by the same step each time, up to a cap: `min(step * (i + 1), cap)` before retry `i`, which is 0 for the first
/// one, with [full jitter](Jitter::Full) unless you say otherwise.
///
/// It gives a struggling server less time to recover than [`ExponentialBackoff`] does.
#[derive(Debug)]
pub struct LinearBackoff {
    step: Duration,
    cap: Duration,
    jittered: Jittered,
}

impl LinearBackoff {
    /// Delays of `step`, twice `step` and so on, never above `cap`.
    pub const fn new(step: Duration, cap: Duration) -> Self {
        Self { step, cap, jittered: Jittered::new(Jitter::Full) }
    }

    jitter_settings!();

    /// What is added for each retry.
    pub const fn step(&self) -> Duration {
        self.step
    }
}

impl BackoffStrategy for LinearBackoff {
    fn compute_next_backoff_delay(&self, retry_attempt: u32, _error_type: RetryErrorType) -> Duration {
        self.jittered.apply(self.step.saturating_mul(retry_attempt.saturating_add(1)).min(self.cap))
    }

    fn max_backoff(&self) -> Duration {
        self.cap
    }
}

/// The same delay each time, to the letter: without jitter unless you say otherwise.
#[derive(Debug)]
pub struct ConstantBackoff {
    delay: Duration,
    jittered: Jittered,
}

impl ConstantBackoff {
    /// The same delay before every retry.
    pub const fn new(delay: Duration) -> Self {
        Self { delay, jittered: Jittered::new(Jitter::None) }
    }

    jitter_settings!();
}

impl BackoffStrategy for ConstantBackoff {
    fn compute_next_backoff_delay(&self, _retry_attempt: u32, _error_type: RetryErrorType) -> Duration {
        self.jittered.apply(self.delay)
    }

    fn max_backoff(&self) -> Duration {
        self.delay
    }
}

/// No wait before a retry, unless the server asks for one.
///
/// Clients that fail together come back together then, so it is for tests and for callers that are alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBackoff;

impl BackoffStrategy for NoBackoff {
    fn compute_next_backoff_delay(&self, _retry_attempt: u32, _error_type: RetryErrorType) -> Duration {
        Duration::ZERO
    }

    fn max_backoff(&self) -> Duration {
        Duration::ZERO
    }
}

/// [`Ord::min`] for a `const`.
const fn shorter(left: Duration, right: Duration) -> Duration {
    if left.as_nanos() < right.as_nanos() { left } else { right }
}

/// `min(base * 2^times, cap)`, exact to the nanosecond.
fn double(base: Duration, times: u32, cap: Duration) -> Duration {
    let mut delay = base;
    for _ in 0..times {
        if delay >= cap || delay.is_zero() {
            break;
        }
        delay = delay.saturating_add(delay);
    }
    delay.min(cap)
}
