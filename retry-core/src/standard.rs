//! The standard strategy: a maximum of attempts, jittered exponential backoff, and a retry quota.

use crate::backoff::{BackoffStrategy, ExponentialBackoff, Jitter};
use crate::policy::RetryErrorType;
use crate::strategy::{Failure, ForeignToken, Ready, RetryError, RetryStrategy, RetryToken};
use crate::time::Clock;
use crate::token_bucket::{RetryQuota, TokenBucket};
use std::num::NonZeroU32;
use std::time::Duration;

/// Attempts, backoff and a retry quota: the retry mode that AWS calls standard, and the one to begin with.
///
/// Make one static for each resource that can be in trouble by itself. All calls that name it share its quota: as long
/// as the resource is well a call costs one relaxed load more than without retries, and when it is not, the quota soon
/// stops the retries that would keep it down.
///
/// ```
/// # use std::time::Duration;
/// use retry_core::StandardRetryStrategy;
///
/// static STORE: StandardRetryStrategy = StandardRetryStrategy::new()
///     .max_attempts(4)
///     .backoff(Duration::from_millis(50), Duration::from_secs(5));
/// ```
///
/// | | [`new()`](StandardRetryStrategy::new) | [`aws_2_0()`](StandardRetryStrategy::aws_2_0) |
/// |---|---|---|
/// | attempts in all | 5 | 3 |
/// | backoff before retry i = 0, 1, .. | random in `[0, min(1 s * 2^i, 20 s))` | the same |
/// | quota, full at the start | 500 | 500 |
/// | cost of a retry after throttling / timeout / other | 5 / 10 / 5 | 5 / 10 / 5 |
/// | refund for success at the first attempt | 1 | 1 |
/// | refund for success after a retry | 1 | what the last retry cost |
/// | wait that the server asked for | a floor; above 5 min the operation ends | a floor, but cut to the cap of the backoff |
///
/// The numbers of `new()` are those of the sample strategy in the Smithy guide, those of `aws_2_0()` the standard mode
/// of the AWS SDKs before November 2026.
///
/// Any [`BackoffStrategy`] and any [`RetryQuota`] can take the places of its parts, see
/// [`with_parts`](StandardRetryStrategy::with_parts).
#[derive(Debug)]
pub struct StandardRetryStrategy<B = ExponentialBackoff, Q = TokenBucket> {
    max_attempts: u32,
    costs: Costs,
    refund_after_retry: Refund,
    hint_limit: HintLimit,
    max_retry_after: Option<Duration>,
    backoff: B,
    quota: Q,
}

/// What a retry costs, by the class of the failure before it.
#[derive(Clone, Copy, Debug)]
struct Costs {
    throttling: u32,
    timeout: u32,
    other: u32,
}

/// What a success gives back.
#[derive(Clone, Copy, Debug)]
enum Refund {
    Amount(u32),
    LastCost,
}

/// How far a wait that the server asked for is honoured.
#[derive(Clone, Copy, Debug)]
enum HintLimit {
    None,
    MaxBackoff,
}

/// The refund for a success at the first attempt, which cost nothing.
const FIRST_ATTEMPT_REFUND: Refund = Refund::Amount(1);

impl StandardRetryStrategy {
    /// The default numbers, see the table above.
    pub const fn new() -> Self {
        Self::with_parts(
            ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20)),
            TokenBucket::new(500),
        )
    }

    /// The numbers of the AWS SDKs' standard mode before November 2026, see the table above.
    pub const fn aws_2_0() -> Self {
        let mut strategy = Self::new().max_attempts(3);
        strategy.refund_after_retry = Refund::LastCost;
        strategy.hint_limit = HintLimit::MaxBackoff;
        strategy.max_retry_after = None;
        strategy
    }
}

impl Default for StandardRetryStrategy {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, Q> StandardRetryStrategy<B, Q> {
    /// The default numbers around a backoff and a quota of your own.
    ///
    /// ```
    /// use retry_core::{ExponentialBackoff, StandardRetryStrategy, TokenBucket};
    /// use std::time::Duration;
    ///
    /// // Reads and writes retry at different paces, and draw on one quota.
    /// static QUOTA: TokenBucket = TokenBucket::new(500);
    /// static READS: StandardRetryStrategy<ExponentialBackoff, &TokenBucket> = StandardRetryStrategy::with_parts(
    ///     ExponentialBackoff::new(Duration::from_millis(50), Duration::from_secs(1)),
    ///     &QUOTA,
    /// );
    /// static WRITES: StandardRetryStrategy<ExponentialBackoff, &TokenBucket> = StandardRetryStrategy::with_parts(
    ///     ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20)),
    ///     &QUOTA,
    /// );
    /// ```
    pub const fn with_parts(backoff: B, quota: Q) -> Self {
        Self {
            max_attempts: 5,
            costs: Costs { throttling: 5, timeout: 10, other: 5 },
            refund_after_retry: Refund::Amount(1),
            hint_limit: HintLimit::None,
            max_retry_after: Some(Duration::from_mins(5)),
            backoff,
            quota,
        }
    }

    /// Sets how many attempts an operation makes at most, the first one included: 1 means no retries.
    ///
    /// # Panics
    ///
    /// If it is 0; in a `static` that is a compile error.
    #[must_use]
    pub const fn max_attempts(mut self, max_attempts: u32) -> Self {
        assert!(max_attempts >= 1, "max_attempts counts the first attempt too, so it must be at least 1");
        self.max_attempts = max_attempts;
        self
    }

    /// Sets the longest wait that the server can ask for: an operation that is asked to wait longer ends at once, as
    /// [`RetryError::RetryAfterTooLong`]. `None` waits however long it is asked to.
    #[must_use]
    pub const fn max_retry_after(mut self, max_retry_after: Option<Duration>) -> Self {
        self.max_retry_after = max_retry_after;
        self
    }

    /// The quota that retries are paid from.
    pub const fn quota(&self) -> &Q {
        &self.quota
    }

    /// What tells this strategy from any other: where its state lies.
    #[inline]
    fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn cost(&self, error_type: RetryErrorType) -> u32 {
        match error_type {
            RetryErrorType::Throttling => self.costs.throttling,
            RetryErrorType::Timeout => self.costs.timeout,
            _ => self.costs.other,
        }
    }
}

impl<Q> StandardRetryStrategy<ExponentialBackoff, Q> {
    /// Sets the longest delay before the first retry, which doubles with each further one, and its cap.
    #[must_use]
    pub const fn backoff(mut self, base: Duration, cap: Duration) -> Self {
        self.backoff = self.backoff.with_delays(base, cap);
        self
    }

    /// Sets how chance enters the delays: [`Jitter::Full`] unless you say otherwise.
    ///
    /// # Panics
    ///
    /// If a [fixed factor](Jitter::Fixed) is not from 0 to 1; in a `static` that is a compile error.
    #[must_use]
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.backoff = self.backoff.jitter(jitter);
        self
    }

    /// Makes the random delays the same in every run, for tests.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.backoff = self.backoff.seed(seed);
        self
    }
}

impl<B> StandardRetryStrategy<B, TokenBucket> {
    /// Sets what the quota holds when it is full, as it is at the start.
    ///
    /// It bounds how many operations can wait for a retry at one time: 500 pay for 100 that were throttled at the same
    /// moment. The 101st fails, and a job that goes on with the next item at once will fail that one too, because a
    /// refusal comes without a wait.
    #[must_use]
    pub const fn quota_capacity(mut self, capacity: u32) -> Self {
        self.quota = TokenBucket::new(capacity);
        self
    }
}

/// The token of a [`StandardRetryStrategy`]: a small plain value.
#[derive(Debug)]
pub struct StandardRetryToken {
    issuer: usize,
    /// Nanoseconds; it saturates after 584 years.
    delay: u64,
    attempt: NonZeroU32,
    /// What was paid for this attempt.
    cost: u32,
    /// The backoff is still to be slept.
    waiting: bool,
}

impl RetryToken for StandardRetryToken {
    fn attempt(&self) -> u32 {
        self.attempt.get()
    }

    fn delay(&self) -> Duration {
        Duration::from_nanos(self.delay)
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> StandardRetryStrategy<B, Q> {
    /// The wait before the next attempt: the backoff, and what the server asked for as a floor under it.
    fn delay(&self, retries: u32, error_type: RetryErrorType, hint: Option<Duration>) -> Duration {
        let backoff = self.backoff.compute_next_backoff_delay(retries, error_type);
        let hint = hint.unwrap_or_default();
        backoff.max(match self.hint_limit {
            HintLimit::None => hint,
            HintLimit::MaxBackoff => hint.min(self.backoff.max_backoff()),
        })
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> RetryStrategy for StandardRetryStrategy<B, Q> {
    type Token = StandardRetryToken;

    #[inline]
    fn acquire_initial_token(&self, _clock: &dyn Clock) -> Result<StandardRetryToken, RetryError> {
        Ok(StandardRetryToken { issuer: self.identity(), delay: 0, attempt: NonZeroU32::MIN, cost: 0, waiting: false })
    }

    #[cold]
    fn refresh_retry_token(
        &self,
        token: StandardRetryToken,
        failure: &Failure,
        _clock: &dyn Clock,
    ) -> Result<StandardRetryToken, RetryError> {
        if token.issuer != self.identity() {
            return Err(RetryError::ForeignToken);
        }
        let (true, Some(error_type)) = (failure.is_retryable(), failure.error_type()) else {
            return Err(RetryError::NotRetryable);
        };
        if token.attempt() >= self.max_attempts {
            return Err(RetryError::MaxAttempts);
        }
        if failure.retry_after().zip(self.max_retry_after).is_some_and(|(hint, max)| hint > max) {
            return Err(RetryError::RetryAfterTooLong);
        }
        let delay = self.delay(token.retry_count(), error_type, failure.retry_after());
        if failure.remaining().is_some_and(|remaining| delay > remaining) {
            return Err(RetryError::MaxTime);
        }
        let cost = self.cost(error_type);
        if !self.quota.try_acquire(cost) {
            return Err(RetryError::QuotaExhausted);
        }
        Ok(StandardRetryToken {
            issuer: token.issuer,
            delay: u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX),
            attempt: token.attempt.saturating_add(1),
            cost,
            waiting: true,
        })
    }

    #[inline]
    fn record_success(&self, token: StandardRetryToken, _clock: &dyn Clock) -> Result<(), ForeignToken> {
        if token.issuer != self.identity() {
            return Err(ForeignToken);
        }
        let refund = if token.retry_count() == 0 { FIRST_ATTEMPT_REFUND } else { self.refund_after_retry };
        self.quota.refund(match refund {
            Refund::Amount(amount) => amount,
            Refund::LastCost => token.cost,
        });
        Ok(())
    }

    #[inline]
    fn ready(&self, token: &mut StandardRetryToken, _clock: &dyn Clock) -> Ready {
        if token.issuer == self.identity() && std::mem::take(&mut token.waiting) {
            Ready::After(token.delay())
        } else {
            Ready::Now
        }
    }

    #[cold]
    fn release(&self, token: StandardRetryToken) {
        if token.issuer == self.identity() {
            self.quota.refund(token.cost);
        }
    }
}
