//! Jitter: the random part of a delay.

use super::arithmetic::{Factor, Rounding, nanos};
use crate::support::InvalidSetting;
use crate::support::random::RandomNumbers;
use std::time::Duration;

/// The random part of a delay. Jitter spreads out the retries of clients that failed at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Jitter {
    /// A uniformly random delay from zero up to the full delay. It spreads out retries best.
    #[default]
    Full,
    /// A uniformly random delay from half the delay up to the full delay.
    Equal,
    /// No randomness: always the full delay.
    None,
    /// The delay multiplied by this factor from 0 to 1, for tests.
    Fixed(f64),
}

impl Jitter {
    const fn is_allowed(self) -> bool {
        match self {
            Self::Fixed(factor) => factor >= 0.0 && factor <= 1.0,
            _ => true,
        }
    }

    fn checked(self) -> Result<Self, InvalidSetting> {
        match self {
            Self::Fixed(factor) if !self.is_allowed() => {
                Err(InvalidSetting::new("jitter", factor, "a fixed factor from 0 to 1"))
            }
            allowed => Ok(allowed),
        }
    }
}

/// A kind of jitter with its source of random numbers.
#[derive(Debug)]
pub(crate) struct Jittered {
    pub(crate) jitter: Jitter,
    /// The factor of a delay is uniformly random, from `least` up to `least + spread`.
    least: Factor,
    spread: Factor,
    random: RandomNumbers,
}

impl Jittered {
    pub(crate) const fn new(jitter: Jitter) -> Self {
        assert!(jitter.is_allowed(), "invalid jitter: expected a fixed factor from 0 to 1");
        let (least, spread) = match jitter {
            Jitter::Full => (Factor::ZERO, Factor::ONE),
            Jitter::Equal => (Factor::HALF, Factor::HALF),
            Jitter::None => (Factor::ONE, Factor::ZERO),
            Jitter::Fixed(factor) => (Factor::new(factor), Factor::ZERO),
        };
        Self { jitter, least, spread, random: RandomNumbers::new() }
    }

    pub(crate) const fn with(self, jitter: Jitter) -> Self {
        Self { random: self.random, ..Self::new(jitter) }
    }

    pub(crate) fn try_with(self, jitter: Jitter) -> Result<Self, InvalidSetting> {
        jitter.checked().map(|allowed| self.with(allowed))
    }

    pub(crate) const fn seeded_as(&self, other: &Self) -> Self {
        Self { random: other.random.restarted(), ..*self }
    }

    pub(crate) const fn random_numbers(&self) -> RandomNumbers {
        self.random.restarted()
    }

    pub(crate) const fn seeded(mut self, seed: u64) -> Self {
        self.random = RandomNumbers::seeded(seed);
        self
    }

    /// Returns the delay for a full delay in nanoseconds.
    #[inline]
    pub(crate) fn apply(&self, full: u64) -> Duration {
        Duration::from_nanos(self.apply_nanos(full))
    }

    /// Does the same as [`apply`](Self::apply), and returns nanoseconds.
    #[inline]
    pub(crate) fn apply_nanos(&self, full: u64) -> u64 {
        if self.spread.is_zero() {
            self.least.times(full, Rounding::Nearest)
        } else {
            // Rounding down keeps a delay with full jitter below the full one.
            self.least.plus(self.spread.random_part(self.random.next())).times(full, Rounding::Down)
        }
    }

    /// Returns a uniformly random part of a time, or zero if the jitter is not random.
    pub(crate) fn random_part(&self, most: Duration) -> Duration {
        if self.spread.is_zero() { Duration::ZERO } else { random_part(most, &self.random) }
    }
}

/// Returns a uniformly random part of a time. Under a test guard it is zero, so that a test sees the exact waits that its
/// server asks for.
pub(super) fn random_part(most: Duration, random: &RandomNumbers) -> Duration {
    #[cfg(feature = "test")]
    if crate::support::session::current().is_some() {
        return Duration::ZERO;
    }
    Duration::from_nanos(Factor::ONE.random_part(random.next()).times(nanos(most), Rounding::Down))
}

/// The jitter settings of a backoff.
macro_rules! jitter_settings {
    () => {
        /// Sets the jitter of the delays.
        ///
        /// # Panics
        ///
        /// Panics if a [fixed factor](Jitter::Fixed) is not from 0 to 1; in a `static` that is a compile error. For a
        /// value that is only known at run time, use `try_jitter`.
        #[must_use]
        pub const fn jitter(mut self, jitter: Jitter) -> Self {
            self.jittered = self.jittered.with(jitter);
            self
        }

        /// Sets the jitter of the delays.
        ///
        /// # Errors
        ///
        /// Returns an error if a [fixed factor](Jitter::Fixed) is not from 0 to 1.
        pub fn try_jitter(mut self, jitter: Jitter) -> Result<Self, $crate::InvalidSetting> {
            self.jittered = self.jittered.try_with(jitter)?;
            Ok(self)
        }

        /// Sets a seed for the random numbers, so that they are the same in every run. This is for tests.
        #[must_use]
        pub const fn seed(mut self, seed: u64) -> Self {
            self.jittered = self.jittered.seeded(seed);
            self
        }

        /// Returns the jitter of the delays.
        pub const fn jitter_setting(&self) -> Jitter {
            self.jittered.jitter
        }
    };
}

pub(crate) use jitter_settings;
