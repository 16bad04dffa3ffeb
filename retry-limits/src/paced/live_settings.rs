//! The settings of a paced limiter that is in use.

use super::settings::{PacedSettings, SendRate};
use crate::rejections::Rejections;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

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
            Some(rate) => rate.get(),
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
