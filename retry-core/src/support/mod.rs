//! Parts that the rest of the library uses.

mod invalid_setting;
pub(crate) mod never;
pub(crate) mod random;
pub(crate) mod sync;

pub use invalid_setting::InvalidSetting;
