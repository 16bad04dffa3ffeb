//! The settings of a paced limiter, as one value.

use super::estimator::UserRates;
use crate::rejections::Rejections;
use crate::throttled::MAX_THROTTLED_TIME;
use std::time::Duration;

/// The lowest rate, in sends per second.
pub(super) const LOWEST_RATE: f64 = 0.001;

/// The settings of a [`PacedLimiter`](super::PacedLimiter), as one value. A crate that reads them from a file changes the fields
/// and [applies](super::PacedLimiter::apply) them. In code, the setters of the limiter and of its strategy are shorter.
///
/// ```
/// use retry_limits::{PacedLimiter, PacedSettings, SendRate};
///
/// let mut settings = PacedSettings::new();
/// settings.has_ramp = false;
/// settings.max_rate = SendRate::new(10.0);
/// let limiter = PacedLimiter::new().with_settings(settings);
/// assert_eq!(limiter.initial_settings(), settings);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PacedSettings {
    /// Whether the limiter begins with a [ramp](crate::PacedRetryStrategy::ramp).
    pub has_ramp: bool,
    /// The [time](crate::PacedRetryStrategy::max_throttled_time) after which an operation that is throttled gives up.
    pub max_throttled_time: Duration,
    /// Which failures are [rejections](crate::PacedRetryStrategy::rejections).
    pub rejections: Rejections,
    /// The [limit](crate::PacedRetryStrategy::max_rate) on sends per second, if it is known.
    pub max_rate: Option<SendRate>,
    /// The [burst](crate::PacedRetryStrategy::burst) of that limit: the sends that may be made at once. At most 1 is none. It
    /// has no effect without that limit.
    pub burst: u32,
    /// The rate at which the ramp [begins](crate::PacedRetryStrategy::initial_rate), if it is not the default.
    pub initial_rate: Option<SendRate>,
}

/// A valid rate in sends per second, for [`PacedSettings`]: a finite number of at least 0.001.
///
/// ```
/// use retry_limits::SendRate;
///
/// assert_eq!(SendRate::new(12.5).map(SendRate::get), Some(12.5));
/// assert_eq!(SendRate::new(0.0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SendRate(f64);

impl SendRate {
    /// The description of a valid rate, for the message of an [`InvalidSetting`](retry_core::InvalidSetting).
    pub const EXPECTED: &str = "a number of sends per second of at least 0.001";

    /// Returns a rate, or `None` if it is not a finite number of at least 0.001.
    pub const fn new(rate: f64) -> Option<Self> {
        if rate.is_finite() && rate >= LOWEST_RATE { Some(Self(rate)) } else { None }
    }

    /// Returns the number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl PacedSettings {
    /// Creates the settings of a new limiter.
    pub const fn new() -> Self {
        Self {
            has_ramp: true,
            max_throttled_time: MAX_THROTTLED_TIME,
            rejections: Rejections::Throttling,
            max_rate: None,
            burst: 1,
            initial_rate: None,
        }
    }

    /// Sets the limit.
    ///
    /// # Panics
    ///
    /// Panics if the rate is invalid.
    pub(super) const fn with_max_rate(self, rate: f64) -> Self {
        let max_rate = SendRate::new(rate);
        assert!(max_rate.is_some(), "invalid max_rate: expected a number of sends per second of at least 0.001");
        Self { max_rate, ..self }
    }

    /// Sets the rate at which the ramp begins.
    ///
    /// # Panics
    ///
    /// Panics if the rate is invalid.
    pub(super) const fn with_initial_rate(self, rate: f64) -> Self {
        let initial_rate = SendRate::new(rate);
        assert!(
            initial_rate.is_some(),
            "invalid initial_rate: expected a number of sends per second of at least 0.001"
        );
        Self { initial_rate, ..self }
    }

    /// Returns whether sends are limited from the first one on.
    pub(super) const fn limits_the_first(&self) -> bool {
        self.has_ramp || self.max_rate.is_some()
    }

    /// Returns the user's rates for an estimator. Without the ramp, and with a limit and its burst, it begins at the limit.
    pub(super) fn user_rates(&self) -> UserRates {
        let first = match (self.has_ramp, self.initial_rate) {
            (true, None) if self.burst > 1 => self.max_rate,
            (true, initial_rate) => initial_rate,
            (false, _) => self.max_rate,
        };
        UserRates::new(first.map(SendRate::get), self.max_rate.map(SendRate::get), self.burst)
    }
}

impl Default for PacedSettings {
    fn default() -> Self {
        Self::new()
    }
}
