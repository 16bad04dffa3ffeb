//! The paced limiter: its settings, and its state.

use super::live_settings::LiveSettings;
use super::pacer::Pacer;
use super::place::PacedPlace;
use super::settings::PacedSettings;
use super::unit::{Requests, Unit, Weights};
use crate::rejections::Rejections;
use crate::throttled::Throttled;
use retry_core::parts::{RandomNumbers, Shared};
use retry_core::time::{Clock, Timestamp};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

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
    pub(super) stretch: RandomNumbers,
    /// Whether there was a warning that operations wait for longer than the strategy allows.
    pub(super) warned: AtomicBool,
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
        self.set_initial_settings(self.start.with_max_rate(rate));
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
        self.set_initial_settings(PacedSettings { burst, ..self.start });
        self
    }

    /// Sets which failures are rejections; see [`PacedRetryStrategy::rejections`](crate::PacedRetryStrategy::rejections).
    #[must_use]
    pub const fn rejections(mut self, rejections: Rejections) -> Self {
        self.set_initial_settings(PacedSettings { rejections, ..self.start });
        self
    }

    /// Sets the time after which an operation that is throttled gives up; see
    /// [`PacedRetryStrategy::max_throttled_time`](crate::PacedRetryStrategy::max_throttled_time). With two limiters, the
    /// shorter time is used.
    #[must_use]
    pub const fn max_throttled_time(mut self, time: Duration) -> Self {
        self.set_initial_settings(PacedSettings { max_throttled_time: time, ..self.start });
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
    pub(super) fn with_pacer<R>(&self, using: impl FnOnce(&Pacer<U>) -> R) -> R {
        self.pacer.with(Pacer::new, using)
    }

    pub(super) fn with_live<R>(&self, using: impl FnOnce(&LiveSettings) -> R) -> R {
        self.live.with(|| LiveSettings::new(self.start), using)
    }

    /// Changes the settings while the limiter is in use. What it has learned stays, and a ramp does not begin again.
    ///
    /// `now` is the time of the clock that the operations use.
    pub fn apply(&self, settings: PacedSettings, now: Timestamp) {
        self.with_live(|live| live.change(settings));
        self.with_pacer(|pacer| pacer.change(now, || self.settings()));
    }

    pub(super) fn longest_throttled_time(&self) -> Duration {
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
}

impl Default for PacedLimiter {
    fn default() -> Self {
        Self::new()
    }
}
