//! Random numbers for the spread of calls and for names.

#[cfg(feature = "tokio")]
use std::hash::{BuildHasher, RandomState};

/// A small generator (`SplitMix64`). Its numbers are the same on every machine, so that simulations can be repeated.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator whose numbers depend on a name.
    pub(crate) fn from_name(name: &str) -> Self {
        // FNV-1a, because it is the same on every machine.
        Self(
            name.bytes()
                .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number from 0 up to 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Returns a name that no other process has: 128 random bits from the operating system.
#[cfg(feature = "tokio")]
pub(crate) fn unique_name() -> String {
    // Each state has keys of its own.
    let half = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", half(), half())
}
