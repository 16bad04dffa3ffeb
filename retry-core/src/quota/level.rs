//! The level of a bucket: its capacity and its balance in one number.

/// The capacity and the missing amount in one number, so that both change in one step.
///
/// The missing amount is in the lower half: a bucket is full if that half is 0, whatever the capacity.
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub(super) capacity: u32,
    /// At most the capacity.
    pub(super) missing: u32,
}

impl Level {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the halves are taken apart")]
    pub(super) const fn from_bits(bits: u64) -> Self {
        Self { capacity: (bits >> 32) as u32, missing: bits as u32 }
    }

    #[inline]
    pub(super) const fn bits(self) -> u64 {
        (self.capacity as u64) << 32 | self.missing as u64
    }

    #[inline]
    pub(super) const fn available(self) -> u32 {
        self.capacity - self.missing
    }

    #[inline]
    pub(super) fn pay(self, cost: u32) -> Option<Self> {
        (self.available() >= cost).then(|| Self { missing: self.missing + cost, ..self })
    }

    pub(super) const fn add(self, amount: u32) -> Self {
        Self { missing: self.missing.saturating_sub(amount), ..self }
    }

    /// Returns the level with another capacity. The balance keeps its proportion to the capacity, rounded down. A full
    /// bucket stays full, which is also the rule for a capacity of 0.
    pub(super) fn resized(self, capacity: u32) -> Self {
        if self.missing == 0 {
            return Self { capacity, missing: 0 };
        }
        let available = u64::from(self.available()) * u64::from(capacity) / u64::from(self.capacity);
        // A part of the capacity is less than the capacity, so the conversion does not fail.
        let available = u32::try_from(available).unwrap_or(capacity);
        Self { capacity, missing: capacity - available }
    }

    /// Returns whether a bucket that refused this cost is no longer dry.
    pub(super) fn has_recovered_from(self, refused: u32) -> bool {
        let half = self.capacity.div_ceil(2);
        self.available() >= half.max(refused)
    }
}
