//! A clock that shows one time.

use retry_core::Clock;
use retry_core::time::Timestamp;

/// A clock that shows one time.
#[derive(Debug)]
pub(crate) struct At(pub(crate) Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}
