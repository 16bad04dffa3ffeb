//! A limiter that sends at the rate that the server accepts.

mod accepted_counters;
mod answered;
mod closings;
mod estimator;
mod fallen;
mod hold;
mod hurry;
mod pace;
mod pacer;
mod place;
mod reports;
mod settings;
mod strategy;
mod unit;

pub use estimator::GoodputEstimator;
pub use place::PacedPlace;
pub use settings::{PacedSettings, SendRate};
pub use strategy::{PacedRetryStrategy, PacedRetryToken, PacedStrategy};
#[doc(hidden)]
pub use unit::Held;
pub use unit::{Requests, Unit, Weights};

use crate::rejections::Rejections;
use crate::throttled::Throttled;
use crate::waits::{own_wait, stretched};
use pacer::{Pacer, Rejected, SHORTEST_ATTEMPT};
use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::parts::{RECHECK, RandomNumbers, Shared};
use retry_core::policy::{RetryErrorType, Success, Usage};
use retry_core::time::{Clock, Timestamp};
use settings::LiveSettings;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The lowest external rate, in sends per second.
const LOWEST_PACE: f64 = 0.001;

/// The limiter of a [`PacedRetryStrategy`](crate::PacedRetryStrategy), or one of weights.
///
/// # Weights
///
/// Some limits are on a sum: an LLM service counts the tokens of all prompts, a storage service counts bytes. A
/// `PacedLimiter<Weights>` learns such a limit and keeps it. It counts the weights of operations, which `weight = EXPR` in
/// `#[retryable]`, [`Retry::weight`](retry_core::Retry::weight) and the layer for `tower` tell it. An operation without one weighs 1.
///
/// ```
/// use retry_core::strategy::LimitedRetryStrategy;
/// use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
/// use retry_limits::{PacedLimiter, Pair, Weights};
///
/// #[derive(Debug, RetryInfo)]
/// #[retry(throttling)]
/// struct SlowDown;
///
/// // Requests per second, which it learns, and 100,000 tokens per minute, which are known.
/// static LLM: LimitedRetryStrategy<Pair<PacedLimiter, PacedLimiter<Weights>>> =
///     LimitedRetryStrategy::with_limiter(
///         StandardRetryStrategy::new(),
///         Pair(PacedLimiter::new(), PacedLimiter::of_weights().max_rate(100_000.0 / 60.0)),
///     );
///
/// #[retryable(strategy = LLM, weight = tokens)]
/// async fn complete(prompt: &str, tokens: u32) -> Result<String, SlowDown> {
///     // One attempt.
/// #   Ok(prompt.to_owned())
/// }
/// ```
///
/// - The weight is an estimate, by which an operation is admitted. If the outcome says what was
///   [used](retry_core::policy::Usage), the difference is settled with the next operations.
/// - Set the limit if you know it. Otherwise, about one request in 30 is rejected, at 10 requests per second.
/// - An idle client may send as much as the heaviest operation so far at once. A server that accepts that one has such a burst.
#[derive(Debug)]
pub struct PacedLimiter<U: Unit = Requests> {
    /// The initial settings, also used for a test's copy.
    start: PacedSettings,
    live: Shared<LiveSettings>,
    pacer: Shared<Pacer<U>>,
    stretch: RandomNumbers,
    /// Whether there was a warning that operations wait for longer than the strategy allows.
    warned: AtomicBool,
}

impl PacedLimiter {
    /// Creates a limiter of requests with the default settings, for a strategy with a [pair](crate::Pair)
    /// of limiters.
    pub const fn new() -> Self {
        Self::started_with(PacedSettings::new())
    }
}

impl PacedLimiter<Weights> {
    /// Creates a limiter of [weights](PacedLimiter#weights) with the default settings.
    pub const fn of_weights() -> Self {
        Self::started_with(PacedSettings::new())
    }
}

impl<U: Unit> PacedLimiter<U> {
    /// Sets a limit on sends per second, or on the sum of weights per second, if you know it; see
    /// [`PacedRetryStrategy::max_rate`](crate::PacedRetryStrategy::max_rate).
    ///
    /// # Panics
    ///
    /// Panics if the rate is not a finite number of at least 0.001; in a `static` this is a compile error.
    #[must_use]
    pub const fn max_rate(mut self, rate: f64) -> Self {
        self.set_max_rate(rate);
        self
    }

    /// Sets the burst of the limit that [`max_rate`](PacedLimiter::max_rate) sets, in sends or as a sum of weights; see
    /// [`PacedRetryStrategy::burst`](crate::PacedRetryStrategy::burst). Without that limit, it has no effect.
    ///
    /// ```
    /// use retry_limits::PacedLimiter;
    ///
    /// // 100,000 tokens per minute, of which 20,000 can be used at once.
    /// let tokens = PacedLimiter::of_weights().max_rate(100_000.0 / 60.0).burst(20_000);
    /// # assert_eq!(tokens.initial_settings().burst, 20_000);
    /// ```
    #[must_use]
    pub const fn burst(mut self, burst: u32) -> Self {
        self.set_burst(burst);
        self
    }

    /// Sets which failures are rejections; see [`PacedRetryStrategy::rejections`](crate::PacedRetryStrategy::rejections).
    #[must_use]
    pub const fn rejections(mut self, rejections: Rejections) -> Self {
        self.set_rejections(rejections);
        self
    }

    /// Sets the time after which an operation that is throttled gives up; see
    /// [`PacedRetryStrategy::max_throttled_time`](crate::PacedRetryStrategy::max_throttled_time). With two limiters, the
    /// shorter time is used.
    #[must_use]
    pub const fn max_throttled_time(mut self, time: Duration) -> Self {
        self.set_max_throttled_time(time);
        self
    }

    /// Sets all settings at once. If the limiter is in use, [`apply`](PacedLimiter::apply) them instead.
    #[must_use]
    pub const fn with_settings(mut self, settings: PacedSettings) -> Self {
        self.set_initial_settings(settings);
        self
    }

    /// Sets the random numbers by which waits that the server asks for are stretched, such as those of [a
    /// backoff](retry_core::ExponentialBackoff::random_numbers).
    #[must_use]
    pub const fn random_numbers(mut self, stretch: RandomNumbers) -> Self {
        self.set_random_numbers(stretch);
        self
    }

    /// Sets the seed of the random part that is added to the waits that the server asks for, so that they are the same
    /// in every run. For tests.
    #[must_use]
    pub const fn seed(self, seed: u64) -> Self {
        self.random_numbers(RandomNumbers::seeded(seed))
    }

    pub(crate) const fn set_max_rate(&mut self, rate: f64) {
        let max_rate = SendRate::new(rate);
        assert!(max_rate.is_some(), "invalid max_rate: expected a number of sends per second of at least 0.001");
        self.set_initial_settings(PacedSettings { max_rate, ..self.start });
    }

    pub(crate) const fn set_burst(&mut self, burst: u32) {
        self.set_initial_settings(PacedSettings { burst, ..self.start });
    }

    pub(crate) const fn set_rejections(&mut self, rejections: Rejections) {
        self.set_initial_settings(PacedSettings { rejections, ..self.start });
    }

    pub(crate) const fn set_max_throttled_time(&mut self, max_throttled_time: Duration) {
        self.set_initial_settings(PacedSettings { max_throttled_time, ..self.start });
    }

    const fn started_with(start: PacedSettings) -> Self {
        Self {
            start,
            live: Shared::new(LiveSettings::new(start)),
            pacer: Shared::new(Pacer::new()),
            stretch: RandomNumbers::new(),
            warned: AtomicBool::new(false),
        }
    }

    /// Sets all settings at once, as [`with_settings`](PacedLimiter::with_settings) does, in a limiter that is part of a strategy.
    pub const fn set_initial_settings(&mut self, settings: PacedSettings) {
        self.start = settings;
        self.live = Shared::new(LiveSettings::new(settings));
    }

    pub(crate) const fn set_random_numbers(&mut self, stretch: RandomNumbers) {
        self.stretch = stretch;
    }

    /// Returns the settings that the limiter began with.
    pub const fn initial_settings(&self) -> PacedSettings {
        self.start
    }

    #[inline]
    fn with_pacer<R>(&self, using: impl FnOnce(&Pacer<U>) -> R) -> R {
        self.pacer.with(Pacer::new, using)
    }

    fn with_live<R>(&self, using: impl FnOnce(&LiveSettings) -> R) -> R {
        self.live.with(|| LiveSettings::new(self.start), using)
    }

    /// Changes the settings while the limiter is in use. What it has learned stays, and a ramp does not begin again.
    ///
    /// `now` is the time of the clock that the operations use.
    pub fn apply(&self, settings: PacedSettings, now: Timestamp) {
        self.with_live(|live| live.change(settings));
        self.with_pacer(|pacer| pacer.change(now, || self.settings()));
    }

    fn longest_throttled_time(&self) -> Duration {
        self.with_live(LiveSettings::max_throttled_time)
    }

    /// Returns the settings in effect.
    pub fn settings(&self) -> PacedSettings {
        self.with_live(LiveSettings::get)
    }

    /// Returns the place of an operation that had these throttled attempts before, with another limiter.
    // With the ramp or a limit that the user sets, the first operation begins to limit sends.
    #[inline]
    pub fn begin_after(&self, throttled: Throttled, clock: &dyn Clock) -> PacedPlace<U> {
        self.with_pacer(|pacer| pacer.begin(clock, || self.settings()));
        PacedPlace::after(throttled, U::Held::default())
    }

    /// Sends at an external rate from now on, or at the learned one; see
    /// [`PacedRetryStrategy::pace_at`](crate::PacedRetryStrategy::pace_at).
    pub fn pace_at(&self, rate: Option<f64>, is_cut: bool, clock: &dyn Clock) -> PacedAnswers {
        // `max` ignores NaN.
        let rate = rate.map(|rate| rate.max(LOWEST_PACE));
        self.with_pacer(|pacer| pacer.impose(clock, rate, is_cut, || self.settings()))
    }

    /// Returns a wait that the server asks for, stretched at random.
    fn stretched(&self, wait: Duration) -> Duration {
        if wait.is_zero() { wait } else { stretched(wait, self.stretch.part()) }
    }
}

impl Default for PacedLimiter {
    fn default() -> Self {
        Self::new()
    }
}

impl<U: Unit> SendLimiter for PacedLimiter<U> {
    type Place = PacedPlace<U>;

    #[inline]
    fn begin(&self, clock: &dyn Clock) -> PacedPlace<U> {
        self.begin_after(Throttled::default(), clock)
    }

    /// What was taken must be given back, so a weight that is told too late is ignored.
    fn weigh(&self, place: &mut PacedPlace<U>, weight: u32) {
        if place.ticket.is_none() && place.granted.is_none() {
            U::weigh(&mut place.held, weight);
        }
    }

    fn used(&self, place: &mut PacedPlace<U>, usage: Usage) {
        U::used(&mut place.held, usage);
    }

    /// An operation that waited when the limit ended asks once more, to give up its place.
    #[inline]
    fn must_ask(&self, place: &PacedPlace<U>) -> bool {
        self.with_pacer(Pacer::must_be_asked) && !place.is_granted()
    }

    #[inline]
    fn ask(&self, place: &mut PacedPlace<U>, clock: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        let (weight, joins) = (place.weight(), place.ticket.is_none());
        match self.with_pacer(|pacer| pacer.ask(clock, &mut place.ticket, weight)) {
            Ok(rejections) => {
                place.granted = rejections;
                Ready::Now
            }
            // A shorter wait is the whole wait, and too short to refuse an operation for it.
            Err(wait) if joins && wait >= RECHECK => self.with_pacer(|pacer| pacer.queued(wait)),
            Err(wait) if joins => Ready::After(wait),
            // The rate was lower than expected. Without time for its attempt, the operation would take a send and fail.
            Err(wait) => Ready::Queued { wait, expected: wait.saturating_add(SHORTEST_ATTEMPT) },
        }
    }

    fn rejects(&self, error_type: RetryErrorType) -> bool {
        self.with_live(LiveSettings::rejections).include(error_type)
    }

    /// Learns also from the report of the server with a success.
    #[inline]
    fn succeeded(&self, place: &mut PacedPlace<U>, success: &Success, clock: &dyn Clock) {
        self.with_pacer(|pacer| {
            let usage = U::take_usage(&mut place.held);
            pacer.accept(clock, place.ticket, place.weight(), usage.used(), place.throttled);
            if let Some(limit) = U::report(success, usage) {
                pacer.report(clock, place.granted, limit);
            }
        });
    }

    /// A throttled attempt is repeated without backoff and cost.
    fn failed(&self, place: &mut PacedPlace<U>, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid> {
        let (sent_after, ticket, mut throttled) = (place.granted, place.ticket, place.throttled);
        let usage = U::take_usage(&mut place.held);
        let terms = match failure {
            FailedSend::Rejected { wait, is_too_long, .. } => {
                let (now, mut delay) = (clock.now(), self.stretched(wait));
                let rejected = self.with_pacer(|pacer| {
                    let weight = place.weight();
                    pacer.reject(now, ticket, sent_after, weight, (delay, !is_too_long, &mut throttled), || {
                        self.settings()
                    })
                });
                let is_over = throttled.count(now, delay, self.longest_throttled_time());
                if rejected == Rejected::Own {
                    delay = delay.max(own_wait(throttled.attempts(), self.stretch.part()));
                }
                let is_held = rejected == Rejected::ByAll { holds: true };
                let holds_too_long = is_held && is_too_long && !self.warned.swap(true, Ordering::Relaxed);
                let terms = Unpaid::after(delay).over(is_over).too_long(is_too_long);
                Some(terms.holding_too_long(holds_too_long))
            }
            FailedSend::Otherwise => {
                self.with_pacer(|pacer| pacer.accept(clock, ticket, place.weight(), usage.used(), throttled));
                None
            }
            // It was not sent.
            _ => {
                self.release(place);
                None
            }
        };
        *place = PacedPlace::after(throttled, place.held);
        terms
    }

    fn progressed(&self, place: &mut PacedPlace<U>) {
        place.throttled = Throttled::default();
    }

    fn uncounted(&self, place: &PacedPlace<U>) -> u32 {
        place.throttled.attempts()
    }

    fn put_back(&self, place: &mut PacedPlace<U>) {
        let weight = place.weight();
        if place.granted.take().is_some() {
            self.with_pacer(|pacer| pacer.put_back(&mut place.ticket, weight));
        }
    }

    fn release(&self, place: &mut PacedPlace<U>) {
        let (ticket, granted, weight) = (place.ticket.take(), place.granted.take(), place.weight());
        self.with_pacer(|pacer| pacer.give_up(ticket, granted.map(|_| weight)));
    }

    fn send_rate(&self) -> Option<f64> {
        self.with_pacer(Pacer::send_rate)
    }
}

/// The counts of a server's answers to a [`PacedRetryStrategy`](crate::PacedRetryStrategy) while it limited sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacedAnswers {
    /// The requests that the server accepted. Failures that are not [rejections](Rejections) are included.
    pub accepted: u64,
    /// The requests that were rejected, except those that were sent before the last cut was known, and those whose operation probably
    /// has a limit of its own.
    pub rejected: u64,
    /// How often an operation had to wait for its send.
    pub waits: u64,
}
