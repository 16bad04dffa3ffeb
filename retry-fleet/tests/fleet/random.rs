//! Random numbers for the tests.

/// A small generator, so that a failing run can be repeated by its seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        u32::try_from((high * u64::from(bound)) >> 32).unwrap()
    }

    pub(crate) fn one_in(&mut self, number: u32) -> bool {
        self.below(number) == 0
    }
}
