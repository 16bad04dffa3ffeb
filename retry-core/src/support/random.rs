//! Random numbers from sources that are `const`-constructible and shared by threads.

use crate::support::sync::{AtomicU64, Ordering};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// A stream of random factors in `[0, 1)`, for jitter.
///
/// The n-th factor comes from a generator whose seed is computed from n, so the only shared state is a counter. A
/// stream with a seed has its own counter; all other streams share the counter of the process. No two draws get the
/// same n. The counter publishes no other data, so relaxed ordering suffices.
#[derive(Debug)]
pub(crate) struct Factors {
    seed: Option<u64>,
    draws: AtomicU64,
}

/// The number of draws without a seed in this process. They share a counter so that no two of them use the same number.
static DRAWS: AtomicU64 = AtomicU64::new(0);

impl Factors {
    /// Creates a stream of unique, random factors.
    pub(crate) const fn new() -> Self {
        Self { seed: None, draws: AtomicU64::new(0) }
    }

    /// Creates a stream that is the same in each process.
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self { seed: Some(seed), draws: AtomicU64::new(0) }
    }

    pub(crate) fn next_factor(&self) -> f64 {
        #[cfg(feature = "test")]
        if let Some(factor) = super::session::next_factor() {
            return factor;
        }
        let seed = match self.seed {
            // This odd number, 2^64 divided by the golden ratio, keeps the streams of neighbouring seeds apart.
            Some(seed) => seed.wrapping_add(draw(&self.draws).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            None => entropy().hash_one(draw(&DRAWS)),
        };
        SmallRng::seed_from_u64(seed).random()
    }
}

/// Returns the random number that belongs to `number` in this process. Different numbers have unrelated random ones.
pub(crate) fn random_u128(number: u64) -> u128 {
    // The highest bit keeps these numbers apart from those that jitter draws.
    let half = |half: u64| u128::from(entropy().hash_one(1 << 63 | number << 1 | half));
    half(0) << 64 | half(1)
}

/// Returns the next number of a counter. It publishes no other data, so relaxed ordering suffices.
pub(crate) fn draw(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed)
}

/// Returns the random seed of the process: the keys of a hasher, which the standard library gets from the operating
/// system.
fn entropy() -> &'static RandomState {
    static ENTROPY: OnceLock<RandomState> = OnceLock::new();
    ENTROPY.get_or_init(RandomState::new)
}
