//! Random numbers from sources that are `const`-constructible and shared by threads.

use crate::support::sync::{AtomicU64, Ordering};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// A stream of random numbers, for jitter.
///
/// Each number comes from a generator of its own, whose seed is the sum of the stream's seed and a counter. So the only
/// state that threads share is the counter, which publishes no other data, so relaxed ordering suffices. All streams
/// without a seed share the seed and the counter of the process, so no two of them get the same number.
#[derive(Debug)]
pub(crate) struct RandomNumbers {
    seed: Option<u64>,
    counter: AtomicU64,
}

impl RandomNumbers {
    /// Creates a stream of unique, random numbers.
    pub(crate) const fn new() -> Self {
        Self { seed: None, counter: AtomicU64::new(0) }
    }

    /// Creates a stream that is the same in each process.
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self { seed: Some(seed), counter: AtomicU64::new(0) }
    }

    /// Returns the stream from its start.
    pub(crate) const fn restarted(&self) -> Self {
        Self { seed: self.seed, counter: AtomicU64::new(0) }
    }

    /// Returns the next number. All numbers are equally likely.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        #[cfg(feature = "test")]
        if let Some(number) = super::session::next_random() {
            return number;
        }
        match self.seed {
            Some(seed) => next_random(seed, &self.counter),
            None => next_random(process_seed(), &COUNTER),
        }
    }
}

/// Returns the next number of a stream.
#[inline]
pub(super) fn next_random(seed: u64, counter: &AtomicU64) -> u64 {
    // The steps are 2^64 divided by the golden ratio. This odd number visits all states before one comes again, and
    // keeps the streams of neighbouring seeds apart.
    let state = seed.wrapping_add(counter.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed));
    SmallRng::seed_from_u64(state).random()
}

/// Returns the random seed of the process.
#[inline]
fn process_seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| entropy().hash_one("jitter"))
}

/// Returns the random number that belongs to `number` in this process. Different numbers have unrelated random ones.
pub(crate) fn random_u128(number: u64) -> u128 {
    let half = |half: u64| u128::from(entropy().hash_one(number << 1 | half));
    half(0) << 64 | half(1)
}

/// Returns the next number of a counter. It publishes no other data, so relaxed ordering suffices.
pub(crate) fn draw(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed)
}

/// Returns the entropy of the process: the keys of a hasher, which the standard library gets from the operating
/// system.
fn entropy() -> &'static RandomState {
    static ENTROPY: OnceLock<RandomState> = OnceLock::new();
    ENTROPY.get_or_init(RandomState::new)
}
