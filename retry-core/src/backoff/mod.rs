//! Backoff: the delay before a retry.
//!
//! The backoffs of this module compute in whole nanoseconds, and saturate at `u64::MAX` of them, which is 584 years.
//!
//! ```
//! use retry_core::backoff::LinearBackoff;
//! use retry_core::StandardRetryStrategy;
//! use std::time::Duration;
//!
//! // Waits of about 1 s, 2 s, 3 s .., and never more than ten seconds.
//! static JOBS: StandardRetryStrategy<LinearBackoff> = StandardRetryStrategy::new()
//!     .with_backoff(LinearBackoff::new(Duration::from_secs(1), Duration::from_secs(10)));
//! ```

mod arithmetic;
mod constant;
mod context;
mod exponential;
mod jitter;
mod linear;

pub use constant::{ConstantBackoff, NoBackoff};
pub use context::BackoffContext;
pub use exponential::ExponentialBackoff;
pub use jitter::Jitter;
pub use linear::LinearBackoff;

use crate::policy::RetryErrorType;
use crate::support::random::RandomNumbers;
use std::sync::Arc;
use std::time::Duration;

/// Computes the delay before a retry from the number of retries and the class of the failure, or from
/// [more](BackoffStrategy::delay_in_context).
///
/// A backoff has no state except the source of its jitter. The [strategy](crate::RetryStrategy) handles the
/// wait that a server asks for, the quota and the maximum number of attempts.
///
/// ```
/// use retry_core::{BackoffStrategy, RetryErrorType, StandardRetryStrategy};
/// use std::time::Duration;
///
/// /// Waits longer after throttling, and otherwise not at all.
/// struct OnlyThrottling;
///
/// impl BackoffStrategy for OnlyThrottling {
///     fn compute_next_backoff_delay(&self, _: u32, error_type: RetryErrorType) -> Duration {
///         match error_type {
///             RetryErrorType::Throttling => Duration::from_secs(2),
///             _ => Duration::ZERO,
///         }
///     }
/// }
///
/// static STORE: StandardRetryStrategy<OnlyThrottling> =
///     StandardRetryStrategy::new().with_backoff(OnlyThrottling);
/// ```
pub trait BackoffStrategy {
    /// Returns the delay before a retry.
    ///
    /// `retry_attempt` is the number of earlier retries of the operation, of the same kind: retries after a
    /// [conflict](RetryErrorType::Conflict) are counted separately from all others. So it is 0 for the first retry of each kind,
    /// and free retries do not lengthen the backoff of others.
    fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration;

    /// Returns the delay before a retry from all that is known about it. The default calls
    /// [`compute_next_backoff_delay`](BackoffStrategy::compute_next_backoff_delay). Strategies call this method.
    ///
    /// The strategy handles the wait that the server asks for. With the default settings, the delay is the longer one of that wait and this
    /// backoff.
    ///
    /// Decorrelated jitter draws each delay from a range that ends at three times the
    /// [previous one](BackoffContext::previous_delay):
    ///
    /// ```
    /// use retry_core::backoff::{BackoffContext, BackoffStrategy};
    /// use retry_core::{RetryErrorType, StandardRetryStrategy};
    /// use std::time::Duration;
    ///
    /// struct Decorrelated {
    ///     base: Duration,
    ///     cap: Duration,
    /// }
    ///
    /// impl BackoffStrategy for Decorrelated {
    ///     fn compute_next_backoff_delay(&self, retry: u32, error_type: RetryErrorType) -> Duration {
    ///         self.delay_in_context(&BackoffContext::new(retry, error_type))
    ///     }
    ///
    ///     fn delay_in_context(&self, context: &BackoffContext) -> Duration {
    ///         let most = context.previous_delay.max(self.base).saturating_mul(3);
    ///         self.cap.min(self.base + self.random_part(most.saturating_sub(self.base)))
    ///     }
    /// }
    ///
    /// static STORE: StandardRetryStrategy<Decorrelated> = StandardRetryStrategy::new().with_backoff(
    ///     Decorrelated { base: Duration::from_secs(1), cap: Duration::from_secs(20) },
    /// );
    ///
    /// let backoff = STORE.backoff_strategy();
    /// let mut context = BackoffContext::new(0, RetryErrorType::ServerSide);
    /// for _ in 0..100 {
    ///     let most = (context.previous_delay * 3).clamp(backoff.base * 3, backoff.cap);
    ///     context.previous_delay = backoff.delay_in_context(&context);
    ///     assert!((backoff.base..=most).contains(&context.previous_delay));
    /// }
    /// ```
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn delay_in_context(&self, context: &BackoffContext) -> Duration {
        self.compute_next_backoff_delay(context.retry_attempt, context.error_type)
    }

    /// Returns what [`delay_in_context`](BackoffStrategy::delay_in_context) does, in nanoseconds, if the backoff computes in them.
    #[doc(hidden)]
    #[inline]
    fn nanos_in_context(&self, context: &BackoffContext) -> Option<u64> {
        let _ = context;
        None
    }

    /// Returns the longest delay of this backoff. The default is [`Duration::MAX`].
    ///
    /// [`HintLimit::MaxBackoff`](crate::strategy::HintLimit::MaxBackoff) cuts the wait that a server asks for to this
    /// delay.
    fn max_backoff(&self) -> Duration {
        Duration::MAX
    }

    /// Returns a random part of a time, from zero up to `most`. The
    /// [`HintJitter`](crate::strategy::HintJitter) of a strategy adds it to a wait that the server asks for.
    ///
    /// The default draws from the random numbers of the process. The backoffs of this module draw from their own, which can
    /// have a seed, and return zero if their jitter is not random.
    fn random_part(&self, most: Duration) -> Duration {
        static RANDOM: RandomNumbers = RandomNumbers::new();
        jitter::random_part(most, &RANDOM)
    }

    /// Returns the exponential backoff whose settings a `RetryConfig` of the crate `retry-config` can replace. The default is `None`, which means that
    /// the settings of this backoff are those of the code.
    fn as_exponential(&self) -> Option<&ExponentialBackoff> {
        None
    }
}

/// Pointers to backoffs forward to them.
macro_rules! forward_backoff {
    ($($pointer:ty),+) => {$(
        impl<B: BackoffStrategy + ?Sized> BackoffStrategy for $pointer {
            fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration {
                (**self).compute_next_backoff_delay(retry_attempt, error_type)
            }

            fn delay_in_context(&self, context: &BackoffContext) -> Duration {
                (**self).delay_in_context(context)
            }

            fn nanos_in_context(&self, context: &BackoffContext) -> Option<u64> {
                (**self).nanos_in_context(context)
            }

            fn max_backoff(&self) -> Duration {
                (**self).max_backoff()
            }

            fn random_part(&self, most: Duration) -> Duration {
                (**self).random_part(most)
            }

            fn as_exponential(&self) -> Option<&ExponentialBackoff> {
                (**self).as_exponential()
            }
        }
    )+};
}

forward_backoff!(&B, Box<B>, Arc<B>);
