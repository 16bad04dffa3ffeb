//! The paced strategy: the standard strategy with a limiter that sends at the rate that the server accepts.

use super::{PacedLimiter, PacedSettings};
use crate::limited::limited_strategy;
use crate::rejections::Rejections;
use retry_core::parts::RandomNumbers;
use retry_core::strategy::{LimitedRetryStrategy, LimitedRetryToken};
use retry_core::{
    BackoffStrategy, ExponentialBackoff, RetryQuota, RetryStrategy, StandardRetryStrategy, TokenBucket,
    forward_strategy,
};
use std::mem::{self, ManuallyDrop};
use std::time::Duration;

/// The [standard strategy](StandardRetryStrategy) with a limiter that finds the rate that the server accepts, and sends at
/// that rate.
///
/// Use it for jobs against a rate limit: it loses nothing to throttling, wastes few requests, and takes little longer than the limit
/// allows. It does not wait for a service that is down, as a [`PatientRetryStrategy`](retry_core::PatientRetryStrategy) does: an outage ends the operations
/// whose attempts are used up. If the server answers an outage by 5xx statuses, [`Rejections::ServerErrors`] counts them separately as well.
///
/// [`AdaptiveRetryStrategy`](retry_core::AdaptiveRetryStrategy) does the same with the arithmetic of the AWS SDKs, which
/// finds the limit more slowly. `docs/choosing.md` in the repository compares them.
///
/// Create one static for each limit: if reads and writes have separate limits, one for each of them.
///
/// ```
/// use retry_core::{RetryInfo, retryable};
/// use retry_limits::PacedRetryStrategy;
///
/// #[derive(RetryInfo)]
/// #[retry(throttling)]
/// struct SlowDown;
///
/// static TABLE: PacedRetryStrategy = PacedRetryStrategy::new();
///
/// #[retryable(strategy = TABLE)]
/// async fn write(row: &str) -> Result<(), SlowDown> {
///     // One attempt.
/// #   Ok(())
/// }
/// ```
///
/// # What it does differently
///
/// - The limit is measured instead of searched: the number of requests that the server accepts between two rejections,
///   divided by the time, *is* its limit. [`GoodputEstimator`](crate::GoodputEstimator) describes the rate.
/// - Sends are spaced evenly, without bursts, and served first come, first served.
/// - A throttled attempt is repeated when its turn comes, without backoff. It takes nothing from the quota, because a
///   server that throttles protects itself. It has a [separate time limit](PacedRetryStrategy::max_throttled_time).
/// - A wait that the server asks for is a floor for its operation, and is stretched by up to 10 %, at most 5 s. If it is
///   longer than 1.5 s, it holds back the whole strategy, because the other operations would get the same answer. Rare probes
///   check whether the server accepts requests earlier. A wait that is longer than
///   [`max_retry_after`](StandardRetryStrategy::max_retry_after) ends the throttled operation. The first attempts of other
///   operations wait for its end, because there is no error to return yet; give them a `max_time` if they must not.
/// - It begins with a [ramp](PacedRetryStrategy::ramp): at first at 100 sends per second, doubling every 0.25 s until the
///   first rejection.
/// - If the estimate falls below half of the two before it, the limit may rise again soon. For up to 15 s, the rate doubles every
///   0.25 s after a cut.
/// - If the server rejects one operation again and again and accepts others, the operation probably has a limit of its own. It waits
///   for up to 20 s, and the rate stays.
/// - If no send had to wait for a second, and fewer than 40 requests were accepted in it, a few rejections are treated as noise.
///
/// # What the server reports
///
/// If the server reports how many requests remain, the strategy can slow down before a request is rejected. A
/// [policy](retry_core::RetryPolicy) passes the report on, by
/// [`RetryDirective::with_rate_limit`](retry_core::RetryDirective::with_rate_limit). When fewer requests remain than a third of the
/// highest number in the last seconds, the rate is cut as after a rejection. 100 clients that share a limit of 500 requests
/// per second get 8 % of their requests rejected without it, and none with it.
///
/// - Let all clients of a limit read the reports, or none. Clients that read them give way to clients that don't.
/// - A server that counts the requests of each second should report the time until the reset as well. Otherwise the end of
///   each second looks like a warning, and a part of the limit is not used.
///
/// # Costs
///
/// Without the ramp, each attempt costs one reading of the clock more than with the standard strategy until the first
/// rejection, and threads share nothing. Then, and with the ramp from the start, an attempt costs a reading of the clock and
/// a lock, and one more of each for every wait. A single wait is at most 100 ms.
#[derive(Debug)]
pub struct PacedRetryStrategy<B = ExponentialBackoff, Q = TokenBucket>(LimitedRetryStrategy<PacedLimiter, B, Q>);

limited_strategy! { PacedRetryStrategy, PacedLimiter }

/// The token of a [`PacedRetryStrategy`].
pub type PacedRetryToken = LimitedRetryToken<PacedLimiter>;

impl PacedRetryStrategy {
    /// Creates a limiter over [`StandardRetryStrategy::new()`].
    pub const fn new() -> Self {
        Self::over(StandardRetryStrategy::new())
    }
}

impl Default for PacedRetryStrategy {
    fn default() -> Self {
        Self::new()
    }
}

impl<B, Q> PacedRetryStrategy<B, Q> {
    /// Creates a limiter over a standard strategy with your settings.
    ///
    /// ```
    /// use retry_core::StandardRetryStrategy;
    /// use retry_limits::PacedRetryStrategy;
    ///
    /// static TABLE: PacedRetryStrategy =
    ///     PacedRetryStrategy::over(StandardRetryStrategy::new().max_attempts(3));
    /// ```
    pub const fn over(standard: StandardRetryStrategy<B, Q>) -> Self {
        Self::with_limiter(standard, PacedLimiter::new())
    }

    /// Sets the time after which an operation that is throttled gives up, counted from its first throttled attempt. The
    /// default is 5 minutes. The longest wait that the server asked for is added, so that an operation that obeys it gets
    /// another attempt.
    ///
    /// It is a time and not a number of attempts, because throttled attempts are cheap and can follow each other quickly. An
    /// operation that gives up ends with [`RetryError::MaxTime`](retry_core::RetryError::MaxTime). With zero, it ends when it is
    /// throttled for the first time. Waiting for a send does not end an operation; the time is checked when an attempt is
    /// throttled. Attempts that fail in other ways are limited by [`max_attempts`](StandardRetryStrategy::max_attempts).
    #[must_use]
    pub const fn max_throttled_time(mut self, time: Duration) -> Self {
        let start = self.limiter().initial_settings();
        self.0.limiter_mut().set_initial_settings(PacedSettings { max_throttled_time: time, ..start });
        self
    }

    /// Sets whether the strategy begins with a ramp. The default is `true`.
    ///
    /// Without it, nothing is limited before the first rejection. Turn it off if a burst of rejections does no harm, or if
    /// the first requests must not wait.
    #[must_use]
    pub const fn ramp(mut self, has_ramp: bool) -> Self {
        let start = self.limiter().initial_settings();
        self.0.limiter_mut().set_initial_settings(PacedSettings { has_ramp, ..start });
        self
    }

    /// Sets which failures are rejections, from which the limit is learned. The default is [`Rejections::Throttling`].
    ///
    /// ```
    /// use retry_limits::{PacedRetryStrategy, Rejections};
    ///
    /// // nginx answers 503 to requests above its `limit_req`.
    /// static PROXY: PacedRetryStrategy =
    ///     PacedRetryStrategy::new().rejections(Rejections::ServerErrors);
    /// ```
    #[must_use]
    pub const fn rejections(mut self, rejections: Rejections) -> Self {
        let start = self.limiter().initial_settings();
        self.0.limiter_mut().set_initial_settings(PacedSettings { rejections, ..start });
        self
    }

    /// Sets a limit on sends per second, if you know it. The strategy never sends faster, and learns below it. There is none
    /// unless it is set.
    ///
    /// From the first one on, sends are spaced evenly, 3 % further apart than the limit requires, because some messages arrive
    /// earlier than others. If requests are rejected nevertheless, the space grows, up to 40 %. If the times of messages vary by a tenth
    /// of the time between sends, set 0.8 of a limit without a burst: a job takes as long, and half as many requests are rejected. Unused
    /// sends are not saved up,
    /// because the server may allow no burst. If the learned rate or an [external rate](PacedRetryStrategy::pace_at) is lower,
    /// the lowest of these rates applies. Without the [ramp](PacedRetryStrategy::ramp), sends begin at this rate.
    ///
    /// ```
    /// use retry_limits::PacedRetryStrategy;
    ///
    /// // The contract says 600 requests per minute.
    /// static MAPS: PacedRetryStrategy = PacedRetryStrategy::new().max_rate(10.0);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the rate is not a finite number of at least 0.001; in a `static` this is a compile error. For a rate that is
    /// known only at run time, use [`PacedSettings`].
    #[must_use]
    pub const fn max_rate(mut self, rate: f64) -> Self {
        let start = self.limiter().initial_settings();
        self.0.limiter_mut().set_initial_settings(start.with_max_rate(rate));
        self
    }

    /// Sets the burst of the limit that [`max_rate`](PacedRetryStrategy::max_rate) sets: the sends that the server accepts at once after
    /// a pause, if you know it. The default is 1. 0 and 1 mean no burst.
    ///
    /// Set `max_rate`, too, before or after this: without it, a burst is accepted and has no effect. Settings from a file report it as an
    /// error.
    ///
    /// Unused sends are saved up to the burst, less 3 % and at least one send, which are kept back for messages that arrive early.
    /// The first operations use it, so there is no ramp unless [`initial_rate`](PacedRetryStrategy::initial_rate) is set, and sends
    /// are not spaced wider than the limit requires. A rejection shows that the burst is used up. If a lower limit is learned, there
    /// is no burst.
    ///
    /// ```
    /// use retry_limits::PacedRetryStrategy;
    ///
    /// // The documentation says 100 requests per second, and bursts of 200.
    /// static TABLE: PacedRetryStrategy = PacedRetryStrategy::new().max_rate(100.0).burst(200);
    /// ```
    #[must_use]
    pub const fn burst(mut self, burst: u32) -> Self {
        let start = self.limiter().initial_settings();
        self.0.limiter_mut().set_initial_settings(PacedSettings { burst, ..start });
        self
    }

    /// Sets the rate at which the [ramp](PacedRetryStrategy::ramp) begins, in sends per second. The default is 100. A higher
    /// rate makes short jobs faster, and a lower one spares a server whose limit is low.
    ///
    /// # Panics
    ///
    /// Panics if the rate is not a finite number of at least 0.001; in a `static` this is a compile error. For a rate that is
    /// known only at run time, use [`PacedSettings`].
    #[must_use]
    pub const fn initial_rate(mut self, rate: f64) -> Self {
        let start = self.limiter().initial_settings();
        self.0.limiter_mut().set_initial_settings(start.with_initial_rate(rate));
        self
    }

    /// Sets the seed of the random part that is added to the waits that the server asks for, so that they are the same
    /// in every run. For tests.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.0.limiter_mut().set_random_numbers(RandomNumbers::seeded(seed));
        self
    }
}
