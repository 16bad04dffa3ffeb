//! Random numbers for the times of calls and for names.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
#[cfg(feature = "tokio")]
use std::hash::{BuildHasher, RandomState};

/// Random numbers that a name determines, on every machine, so that simulations can be repeated.
#[derive(Clone, Debug)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn from_name(name: &str) -> Self {
        // FNV-1a, because it is the same on every machine.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// Returns a number from 0 up to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.random()
    }
}

/// Returns a name that no other process has: 128 random bits from the operating system.
#[cfg(feature = "tokio")]
pub(crate) fn unique_name() -> String {
    // Each `RandomState` has new random keys.
    let half = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", half(), half())
}
