//! Internal helpers: the error of an invalid setting, random numbers, and synchronization primitives.

mod forward;
mod invalid_setting;
mod kept_outcome;
pub(crate) mod limit_events;
pub(crate) mod never;
pub(crate) mod outage_events;
pub(crate) mod random;
#[cfg(feature = "test")]
pub(crate) mod session;
mod shared;
pub(crate) mod sync;

pub(crate) use forward::forwarding;
pub use invalid_setting::InvalidSetting;
pub(crate) use invalid_setting::assert_attempts;
pub(crate) use kept_outcome::KeptInWait;
pub use kept_outcome::KeptOutcome;
pub use shared::Shared;
