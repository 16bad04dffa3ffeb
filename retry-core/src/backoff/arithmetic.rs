//! The arithmetic of delays, in whole nanoseconds.

use std::time::Duration;

/// Converts a delay to nanoseconds. A delay that does not fit, of more than 584 years, saturates.
#[expect(clippy::cast_possible_truncation, reason = "what does not fit saturates")]
pub(super) const fn nanos(delay: Duration) -> u64 {
    let nanos = delay.as_nanos();
    if nanos < u64::MAX as u128 { nanos as u64 } else { u64::MAX }
}

/// [`Ord::min`] as a `const fn`.
#[inline]
pub(super) const fn smaller(left: u64, right: u64) -> u64 {
    if left < right { left } else { right }
}

/// Returns `base * 2^times`, or `u64::MAX` if that does not fit.
#[inline]
pub(super) const fn doubled(base: u64, times: u32) -> u64 {
    // A factor that does not fit saturates, and so does its product, unless the base is zero.
    let factor = match 1_u64.checked_shl(times) {
        Some(factor) => factor,
        None => u64::MAX,
    };
    base.saturating_mul(factor)
}

/// A factor from 0 to 1, as a fixed-point number with 63 bits after the point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor(u64);

/// The rounding of a product to whole nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rounding {
    Down,
    Nearest,
}

impl Factor {
    const POINT: u32 = 63;

    pub(super) const ZERO: Self = Self(0);
    pub(super) const HALF: Self = Self(1 << (Self::POINT - 1));
    pub(super) const ONE: Self = Self(1 << Self::POINT);

    /// Creates a factor from a number from 0 to 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "the float has one bit, and the product is from 0 to it"
    )]
    pub(super) const fn new(factor: f64) -> Self {
        // Scaling by a power of two is exact. The cast drops the bits after the 63rd.
        Self((factor * Self::ONE.0 as f64) as u64)
    }

    #[inline]
    pub(super) const fn is_zero(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) const fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// Returns a uniformly random factor from 0 up to, but not including, this one. `number` is uniformly random.
    #[inline]
    pub(super) const fn random_part(self, number: u64) -> Self {
        Self(((self.0 as u128 * number as u128) >> u64::BITS) as u64)
    }

    /// Returns the product with a number of nanoseconds, which it never exceeds. Rounded down, the product with a
    /// factor below 1 stays below that number.
    #[expect(clippy::cast_possible_truncation, reason = "a factor is at most 1, so the product fits")]
    #[inline]
    pub(super) const fn times(self, nanos: u64, rounding: Rounding) -> u64 {
        let rounding = match rounding {
            Rounding::Down => 0,
            Rounding::Nearest => Self::ONE.0 as u128 / 2,
        };
        ((self.0 as u128 * nanos as u128 + rounding) >> Self::POINT) as u64
    }
}

#[cfg(test)]
mod tests;
