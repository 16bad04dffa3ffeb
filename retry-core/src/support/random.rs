//! Random factors for jitter, from a source that a `const` can hold and threads can share.

use crate::support::sync::{AtomicU64, Ordering};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// A stream of factors in `[0, 1)`.
///
/// The n-th factor is drawn from a generator seeded with n, so that all the shared state is one counter: the process's,
/// or that of a source which was given a seed. Any thread may take any n, and none is taken twice: that is all that is
/// asked of the counter, which publishes no other data, so relaxed order suffices.
#[derive(Debug)]
pub(crate) struct Factors {
    seed: Option<u64>,
    draws: AtomicU64,
}

/// The draws of all sources without a seed, so that no two of them draw the same, wherever and whenever they were made.
static DRAWS: AtomicU64 = AtomicU64::new(0);

impl Factors {
    /// Factors that are the same nowhere and never.
    pub(crate) const fn new() -> Self {
        Self { seed: None, draws: AtomicU64::new(0) }
    }

    /// Factors that are the same in each process.
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self { seed: Some(seed), draws: AtomicU64::new(0) }
    }

    pub(crate) fn next_factor(&self) -> f64 {
        #[cfg(feature = "test")]
        if let Some(factor) = super::session::next_factor() {
            return factor;
        }
        let seed = match self.seed {
            // An odd multiple, the golden ratio's, keeps the draws of neighbouring seeds apart.
            Some(seed) => seed.wrapping_add(draw(&self.draws).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            None => entropy().hash_one(draw(&DRAWS)),
        };
        SmallRng::seed_from_u64(seed).random()
    }
}

/// A number that is the same nowhere and never.
pub(crate) fn random_u128() -> u128 {
    let half = || u128::from(entropy().hash_one(draw(&DRAWS)));
    half() << 64 | half()
}

fn draw(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed)
}

/// What this process was given of chance: the standard library seeds a hasher from the operating system.
fn entropy() -> &'static RandomState {
    static ENTROPY: OnceLock<RandomState> = OnceLock::new();
    ENTROPY.get_or_init(RandomState::new)
}
