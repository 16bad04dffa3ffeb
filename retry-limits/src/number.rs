//! Serial numbers, such as those of rate cuts. They are only compared.

use std::num::NonZeroU32;

/// Returns the next number, which wraps.
pub(crate) fn next(number: NonZeroU32) -> NonZeroU32 {
    number.checked_add(1).unwrap_or(NonZeroU32::MIN)
}
