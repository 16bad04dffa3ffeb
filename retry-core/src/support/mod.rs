//! Internal helpers: the error of an invalid setting, random numbers, methods that only have a message, and synchronization primitives.

mod forward;
mod invalid_setting;
mod kept_outcome;
pub(crate) mod limit_events;
pub(crate) mod misplaced;
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

/// Returns a duration in whole milliseconds, which saturates after 500 million years.
pub(crate) fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
