//! The adaptive strategy: the standard one, and a limiter on sends that learns from throttling.

mod limiter;
mod queue;
mod rate;
#[cfg(test)]
mod tests;

use crate::backoff::{BackoffStrategy, ExponentialBackoff};
use crate::policy::{RetryErrorType, Success};
use crate::quota::{RetryQuota, TokenBucket};
use crate::strategy::standard::{StandardRetryStrategy, StandardRetryToken};
use crate::strategy::{DelaySource, Failure, ForeignToken, LazyWaker, Ready, RetryError, RetryStrategy, RetryToken};
use crate::support::sync::{AtomicU8, Mutex, MutexGuard, Ordering, PoisonError};
use crate::time::Clock;
use queue::{SendQueue, Ticket};
use std::time::Duration;

/// The [standard strategy](StandardRetryStrategy), and a limit on the rate of sends that it learns from throttling: the
/// retry mode that AWS calls adaptive.
///
/// Until a request is throttled it is the standard strategy, and measures the rate of responses. From then on it holds
/// back every send, first attempts too, to a rate below the one that was too much; the rate grows again along a curve,
/// and is cut with each further throttling. Those who wait are served in the order in which they came. It is for jobs
/// that would rather be slow than fail.
///
/// Make one for each resource that throttles by itself. If one were shared by two of them, the throttling of one would
/// slow down the other.
///
/// ```
/// use retry_core::{AdaptiveRetryStrategy, RetryInfo, retryable};
///
/// #[derive(RetryInfo)]
/// #[retry(throttling)]
/// struct SlowDown;
///
/// static TABLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();
///
/// #[retryable(strategy = TABLE)]
/// async fn write(row: &str) -> Result<(), SlowDown> {
///     // One attempt.
/// #   Ok(())
/// }
/// ```
///
/// As long as nothing was throttled it adds one reading of the clock and one uncontended lock to a call, afterwards two
/// of each. The numbers are those of the AWS SDKs: a throttling cuts the rate to 0.7 of what was measured, the measured
/// rate is a moving average over half seconds in which the newest weighs 0.8, the rate grows by 0.4 times the cube of
/// the time, stays at or below twice the measured one and at or above 0.5 per second, and sends that were saved up come
/// to one second's worth at most.
///
/// An operation that is driven by hand must end with one of the calls that take its token, or it keeps its place among
/// those who wait. Clocks that disagree, such as the paused ones of two tests, should not meet in one strategy: it keeps to
/// the one that is ahead.
#[derive(Debug)]
pub struct AdaptiveRetryStrategy<B = ExponentialBackoff, Q = TokenBucket> {
    standard: StandardRetryStrategy<B, Q>,
    /// One of the constants below. It says no more than what is worth doing: all that is counted on lies behind the
    /// lock. So relaxed order suffices: whoever reads an old phase does what was right a moment ago.
    phase: AtomicU8,
    /// None until the first operation begins, because a `const` knows no time. Nothing of the user's runs while it is
    /// locked, the clock included, so it is never poisoned.
    queue: Mutex<Option<SendQueue>>,
}

/// No operation has begun.
const IDLE: u8 = 0;
/// Responses are measured.
const MEASURING: u8 = 1;
/// Sends are limited, for good.
const LIMITING: u8 = 2;

impl AdaptiveRetryStrategy {
    /// The limiter over [`StandardRetryStrategy::new()`].
    pub const fn new() -> Self {
        Self::over(StandardRetryStrategy::new())
    }
}

impl Default for AdaptiveRetryStrategy {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, Q> AdaptiveRetryStrategy<B, Q> {
    /// The limiter over a standard strategy with settings of your own.
    ///
    /// ```
    /// use retry_core::{AdaptiveRetryStrategy, StandardRetryStrategy};
    ///
    /// static TABLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::over(StandardRetryStrategy::aws_2_0());
    /// ```
    pub const fn over(standard: StandardRetryStrategy<B, Q>) -> Self {
        Self { standard, phase: AtomicU8::new(IDLE), queue: Mutex::new(None) }
    }

    /// The standard strategy below the limiter.
    pub fn standard(&self) -> &StandardRetryStrategy<B, Q> {
        &self.standard
    }

    /// Turns the retries of this strategy on or off, see
    /// [`StandardRetryStrategy::set_enabled`]. The limiter goes on learning and limiting.
    pub fn set_enabled(&self, enabled: bool) {
        self.standard.set_enabled(enabled);
    }

    /// Returns whether retries of this strategy are on, see [`set_enabled`](AdaptiveRetryStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.standard.is_enabled()
    }

    /// The rate that sends are limited to now, per second; `None` as long as nothing was throttled.
    pub fn send_rate(&self) -> Option<f64> {
        self.lock().as_ref().map(SendQueue::limiter).filter(|limiter| limiter.is_enabled()).map(limiter::Limiter::rate)
    }

    fn lock(&self) -> MutexGuard<'_, Option<SendQueue>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The limiter counts time from its first operation.
    #[cold]
    fn create(&self, clock: &dyn Clock) {
        let now = clock.now();
        self.lock().get_or_insert_with(|| SendQueue::new(now));
        // If another thread was faster, and limits already, that stays.
        let _ = self.phase.compare_exchange(IDLE, MEASURING, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Learns from a response, whose operation waits no longer, if it did.
    fn learn(&self, clock: &dyn Clock, throttled: bool, ticket: Option<Ticket>) {
        let now = clock.now();
        if let Some(queue) = &mut *self.lock() {
            if ticket.is_some() {
                queue.leave(ticket);
            }
            queue.response(now, throttled);
        }
        if throttled {
            self.phase.store(LIMITING, Ordering::Relaxed);
        }
    }
}

/// The token of an [`AdaptiveRetryStrategy`].
#[derive(Debug)]
pub struct AdaptiveRetryToken {
    standard: StandardRetryToken,
    /// The place among those who wait for a send.
    ticket: Option<Ticket>,
    /// The send was granted.
    granted: bool,
}

impl AdaptiveRetryToken {
    const fn new(standard: StandardRetryToken) -> Self {
        Self { standard, ticket: None, granted: false }
    }
}

impl RetryToken for AdaptiveRetryToken {
    #[inline]
    fn attempt(&self) -> u32 {
        self.standard.attempt()
    }

    #[inline]
    fn delay(&self) -> Duration {
        self.standard.delay()
    }

    #[inline]
    fn delay_source(&self) -> DelaySource {
        self.standard.delay_source()
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> RetryStrategy for AdaptiveRetryStrategy<B, Q> {
    type Token = AdaptiveRetryToken;

    #[inline]
    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<AdaptiveRetryToken, RetryError> {
        if self.phase.load(Ordering::Relaxed) == IDLE {
            self.create(clock);
        }
        self.standard.acquire_initial_token(clock).map(AdaptiveRetryToken::new)
    }

    fn refresh_retry_token(
        &self,
        token: AdaptiveRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<AdaptiveRetryToken, RetryError> {
        if self.standard.issued(&token.standard) {
            self.learn(clock, failure.error_type() == Some(RetryErrorType::Throttling), token.ticket);
        }
        self.standard.refresh_retry_token(token.standard, failure, clock).map(AdaptiveRetryToken::new)
    }

    fn record_success(
        &self,
        token: AdaptiveRetryToken,
        success: &Success,
        clock: &dyn Clock,
    ) -> Result<(), ForeignToken> {
        self.standard.record_success(token.standard, success, clock)?;
        self.learn(clock, false, token.ticket);
        Ok(())
    }

    #[inline]
    fn ready(&self, token: &mut AdaptiveRetryToken, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        if self.phase.load(Ordering::Relaxed) != LIMITING || token.granted || !self.standard.issued(&token.standard) {
            return Ready::Now;
        }
        let now = clock.now();
        let wait = self.lock().as_mut().and_then(|queue| queue.ask(now, &mut token.ticket));
        token.granted = wait.is_none();
        wait.map_or(Ready::Now, Ready::After)
    }

    fn release(&self, token: AdaptiveRetryToken) {
        if let (true, Some(queue)) = (self.standard.issued(&token.standard), &mut *self.lock()) {
            queue.leave(token.ticket);
            if token.granted {
                queue.give_back();
            }
        }
        self.standard.release(token.standard);
    }

    fn quota_level(&self) -> Option<u32> {
        self.standard.quota_level()
    }
}
