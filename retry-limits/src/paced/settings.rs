//! The settings of a paced limiter.

use super::LOWEST_PACE;
use super::estimator::Told;
use crate::rejections::Rejections;
use crate::throttled::MAX_THROTTLED_TIME;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

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
        if rate.is_finite() && rate >= LOWEST_PACE { Some(Self(rate)) } else { None }
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

    /// Returns whether sends are limited from the first one on.
    pub(super) const fn limits_the_first(&self) -> bool {
        self.has_ramp || self.max_rate.is_some()
    }

    /// Returns the user's rates for an estimator. Without the ramp, and with a limit and its burst, it begins at the limit.
    pub(super) fn told(&self) -> Told {
        let first = match (self.has_ramp, self.initial_rate) {
            (true, None) if self.burst > 1 => self.max_rate,
            (true, initial_rate) => initial_rate,
            (false, _) => self.max_rate,
        };
        Told::new(first.map(SendRate::get), self.max_rate.map(SendRate::get), self.burst)
    }
}

impl Default for PacedSettings {
    fn default() -> Self {
        Self::new()
    }
}

/// The settings in effect. They publish no other data, so relaxed ordering suffices.
#[derive(Debug)]
pub(super) struct LiveSettings {
    has_ramp: AtomicBool,
    /// In nanoseconds, which saturate.
    max_throttled_time: AtomicU64,
    /// An index in [`Rejections::ALL`].
    rejections: AtomicU8,
    max_rate: AtomicRate,
    burst: AtomicU32,
    initial_rate: AtomicRate,
}

/// An optional rate. No rate is 0.
#[derive(Debug)]
struct AtomicRate(AtomicU64);

impl AtomicRate {
    const fn new(rate: Option<SendRate>) -> Self {
        Self(AtomicU64::new(Self::bits(rate)))
    }

    const fn bits(rate: Option<SendRate>) -> u64 {
        let rate = match rate {
            Some(SendRate(rate)) => rate,
            None => 0.0,
        };
        rate.to_bits()
    }

    fn store(&self, rate: Option<SendRate>) {
        self.0.store(Self::bits(rate), Ordering::Relaxed);
    }

    fn load(&self) -> Option<SendRate> {
        SendRate::new(f64::from_bits(self.0.load(Ordering::Relaxed)))
    }
}

impl LiveSettings {
    pub(super) const fn new(settings: PacedSettings) -> Self {
        let PacedSettings { has_ramp, max_throttled_time, rejections, max_rate, burst, initial_rate } = settings;
        Self {
            has_ramp: AtomicBool::new(has_ramp),
            max_throttled_time: AtomicU64::new(nanos(max_throttled_time)),
            rejections: AtomicU8::new(rejections as u8),
            max_rate: AtomicRate::new(max_rate),
            burst: AtomicU32::new(burst),
            initial_rate: AtomicRate::new(initial_rate),
        }
    }

    pub(super) fn change(&self, settings: PacedSettings) {
        let PacedSettings { has_ramp, max_throttled_time, rejections, max_rate, burst, initial_rate } = settings;
        self.has_ramp.store(has_ramp, Ordering::Relaxed);
        self.max_throttled_time.store(nanos(max_throttled_time), Ordering::Relaxed);
        self.rejections.store(rejections as u8, Ordering::Relaxed);
        self.max_rate.store(max_rate);
        self.burst.store(burst, Ordering::Relaxed);
        self.initial_rate.store(initial_rate);
    }

    /// Returns all settings.
    pub(super) fn get(&self) -> PacedSettings {
        PacedSettings {
            has_ramp: self.has_ramp.load(Ordering::Relaxed),
            max_throttled_time: self.max_throttled_time(),
            rejections: self.rejections(),
            max_rate: self.max_rate.load(),
            burst: self.burst.load(Ordering::Relaxed),
            initial_rate: self.initial_rate.load(),
        }
    }

    pub(super) fn max_throttled_time(&self) -> Duration {
        Duration::from_nanos(self.max_throttled_time.load(Ordering::Relaxed))
    }

    pub(super) fn rejections(&self) -> Rejections {
        let index = usize::from(self.rejections.load(Ordering::Relaxed));
        Rejections::ALL.get(index).copied().unwrap_or_default()
    }
}

/// Returns a duration in nanoseconds, which saturate.
const fn nanos(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(duration.subsec_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::{LiveSettings, PacedSettings};
    use std::time::Duration;

    #[test]
    fn a_time_is_kept_to_the_nanosecond_and_saturates() {
        let kept = |max_throttled_time| {
            LiveSettings::new(PacedSettings { max_throttled_time, ..PacedSettings::new() }).max_throttled_time()
        };
        let longest = Duration::from_nanos(u64::MAX);
        for time in [Duration::ZERO, Duration::new(1, 1), Duration::new(300, 999_999_999), longest] {
            assert_eq!(kept(time), time);
        }
        for time in [longest + Duration::from_nanos(1), Duration::from_secs(18_446_744_074), Duration::MAX] {
            assert_eq!(kept(time), longest);
        }
    }
}
