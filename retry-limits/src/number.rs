//! Serial numbers, such as those of rate cuts. They are only compared.

use std::num::{NonZeroU16, NonZeroU32};

/// Returns the next number, which wraps.
pub(crate) fn next(number: NonZeroU32) -> NonZeroU32 {
    number.checked_add(1).unwrap_or(NonZeroU32::MIN)
}

/// Returns the next short number, which wraps.
pub(crate) fn next_short(number: NonZeroU16) -> NonZeroU16 {
    number.checked_add(1).unwrap_or(NonZeroU16::MIN)
}
