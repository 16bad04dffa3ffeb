//! The warnings at the beginning and the end of an outage, as events of the crate `tracing`.

#[cfg(feature = "tracing")]
pub(crate) use kept::KeptName;
use std::time::Duration;

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

/// Warns that a quota that refused a retry has recovered.
#[cfg(feature = "tracing")]
pub(crate) fn recovered(strategy: Option<&str>, capacity: u32) {
    tracing::warn!(name: "quota_recovered", target: "retry_core", strategy, capacity, "the retry quota has recovered");
}

/// Warns that operations wait for the service.
#[cfg(feature = "tracing")]
pub(crate) fn unavailable(strategy: Option<&str>) {
    tracing::warn!(name: "service_unavailable", target: "retry_core", strategy, "operations wait for the service");
}

/// Warns that the service for which operations waited has recovered: after which time, how many waits there were, and how many of them
/// ended without an attempt.
#[cfg(feature = "tracing")]
pub(crate) fn available(strategy: Option<&str>, lasted: Duration, waits: u32, in_vain: u32) {
    tracing::warn!(
        name: "service_recovered",
        target: "retry_core",
        strategy,
        lasted_ms = super::millis(lasted),
        waits,
        in_vain,
        "the service has recovered"
    );
}

/// The names in the warnings of outages that are not over.
#[cfg(feature = "tracing")]
mod kept {
    use crate::support::sync::{Mutex, PoisonError};
    use std::collections::VecDeque;

    /// The number of names that are kept. If more quotas are dry at the same time, the oldest ones recover without a name.
    const MOST: usize = 1024;

    static NAMES: Mutex<Names> = Mutex::new(Names { last: 0, kept: VecDeque::new() });

    /// The kept names with their numbers, in ascending order.
    #[derive(Debug)]
    struct Names {
        last: u64,
        kept: VecDeque<(u64, Box<str>)>,
    }

    /// The number of a name. A quota can be a static, so it must not have a destructor, and can't own the name of a scope.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct KeptName(u64);

    impl KeptName {
        /// Keeps a name.
        #[expect(clippy::unnecessary_wraps, reason = "without the feature there is no name")]
        pub(crate) fn keep(name: &str) -> Option<Self> {
            let name = Box::from(name);
            let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
            names.last += 1;
            let number = names.last;
            if names.kept.len() == MOST {
                names.kept.pop_front();
            }
            names.kept.push_back((number, name));
            Some(Self(number))
        }

        /// Removes the name and returns it, unless it was replaced by later ones.
        pub(crate) fn take(self) -> Option<Box<str>> {
            let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
            let index = names.kept.binary_search_by_key(&self.0, |(number, _)| *number).ok()?;
            names.kept.remove(index).map(|(_, name)| name)
        }
    }
}

/// Without the feature, there is no warning and no name.
#[cfg(not(feature = "tracing"))]
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeptName {}

#[cfg(not(feature = "tracing"))]
impl KeptName {
    pub(crate) const fn keep(_: &str) -> Option<Self> {
        None
    }

    pub(crate) const fn take(self) -> Option<Box<str>> {
        match self {}
    }
}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn are_enabled() -> bool {
    false
}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn exhausted(_: Option<&str>, _: u32) {}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn recovered(_: Option<&str>, _: u32) {}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn unavailable(_: Option<&str>) {}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn available(_: Option<&str>, _: Duration, _: u32, _: u32) {}
