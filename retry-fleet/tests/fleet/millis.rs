//! Times in milliseconds.

use retry_core::Clock;
use retry_core::time::Timestamp;
use std::time::Duration;

/// Returns a time of the process.
pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::START.saturating_add(Duration::from_millis(millis))
}

/// A clock that shows one time.
#[derive(Debug)]
pub(crate) struct At(pub(crate) u64);

impl Clock for At {
    fn now(&self) -> Timestamp {
        at(self.0)
    }
}
