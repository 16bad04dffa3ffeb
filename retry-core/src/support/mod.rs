//! Internal helpers: the error of an invalid setting, random numbers, and synchronization primitives.

mod invalid_setting;
pub(crate) mod random;
pub(crate) mod sync;

pub use invalid_setting::InvalidSetting;
