//! The warnings of a quota that ran dry, as events of the crate `tracing`.

/// Whether there can be warnings at all.
pub(crate) const EXIST: bool = cfg!(feature = "tracing");

/// Returns whether a subscriber may be interested in the warnings.
#[cfg(feature = "tracing")]
pub(crate) fn are_enabled() -> bool {
    use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};
    tracing::Level::WARN <= STATIC_MAX_LEVEL && tracing::Level::WARN <= LevelFilter::current()
}

/// Warns that a quota refused a retry.
#[cfg(feature = "tracing")]
pub(crate) fn exhausted(strategy: Option<&str>, capacity: u32) {
    tracing::warn!(name: "quota_exhausted", target: "retry_core", strategy, capacity, "the retry quota is exhausted");
}

/// Warns that a quota which refused a retry has recovered.
#[cfg(feature = "tracing")]
pub(crate) fn recovered(strategy: Option<&str>, capacity: u32) {
    tracing::warn!(name: "quota_recovered", target: "retry_core", strategy, capacity, "the retry quota has recovered");
}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn are_enabled() -> bool {
    false
}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn exhausted(_: Option<&str>, _: u32) {}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn recovered(_: Option<&str>, _: u32) {}
