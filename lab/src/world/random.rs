//! Random numbers by seed.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::f64::consts::TAU;
use std::time::Duration;

/// A stream of random numbers that is determined by a seed and a name.
///
/// Each part of a scenario has its own stream, so that one strategy meets the same arrivals as another one.
#[derive(Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Creates the stream of this name.
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a: a hash that is the same everywhere.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Self(Xoshiro256PlusPlus::seed_from_u64(hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// Returns a number in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// Returns whether an event of this probability occurs.
    pub fn occurs(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }

    /// Returns the time to the next event of a Poisson process. It saturates.
    pub fn interval(&mut self, events_per_second: f64) -> Duration {
        let seconds = -(1.0 - self.uniform()).ln() / events_per_second;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// Returns `|Normal(mean, deviation)|`. It saturates.
    pub fn normal(&mut self, mean: Duration, deviation: Duration) -> Duration {
        let seconds = (mean.as_secs_f64() + deviation.as_secs_f64() * self.standard_normal()).abs();
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// Returns a number of the standard normal distribution, by the method of Box and Muller.
    pub fn standard_normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}
