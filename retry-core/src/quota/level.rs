//! The level of a bucket: its capacity and its balance in one number.

/// The capacity and the missing amount in one number, so that both change in one step.
///
/// The capacity is in the upper half. The missing amount is in the lower half and is at most the capacity: a bucket is
/// full if that half is 0, whatever the capacity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level(pub(super) u64);

impl Level {
    #[inline]
    pub(super) const fn full(capacity: u32) -> Self {
        Self((capacity as u64) << 32)
    }

    #[inline]
    pub(super) const fn capacity(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "it is the lower half")]
    pub(super) const fn missing(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub(super) const fn available(self) -> u32 {
        self.capacity() - self.missing()
    }

    /// Returns whether less than half of the capacity is available.
    pub(super) const fn is_low(self) -> bool {
        self.missing() > self.capacity() / 2
    }

    /// Takes the cost, or returns `None` if the balance does not suffice.
    #[inline]
    pub(super) fn pay(self, cost: u32) -> Option<Self> {
        (self.available() >= cost).then(|| Self(self.0 + u64::from(cost)))
    }

    /// Adds an amount, up to the capacity.
    #[inline]
    pub(super) fn add(self, amount: u32) -> Self {
        Self(self.0 - u64::from(self.missing().min(amount)))
    }

    /// Returns the level with another capacity. The balance keeps its proportion to the capacity, rounded down. A full
    /// bucket stays full, and so is one without a capacity.
    pub(super) fn resized(self, capacity: u32) -> Self {
        if self.missing() == 0 {
            return Self::full(capacity);
        }
        let available = u64::from(self.available()) * u64::from(capacity) / u64::from(self.capacity());
        Self(Self::full(capacity).0 + (u64::from(capacity) - available))
    }

    /// Returns whether a bucket that refused this cost is no longer dry.
    pub(super) fn has_recovered_from(self, refused: u32) -> bool {
        self.available() >= self.capacity().div_ceil(2).max(refused)
    }
}

#[cfg(test)]
mod tests;
