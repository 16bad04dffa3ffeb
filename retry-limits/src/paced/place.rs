//! The place of an operation in a paced limiter.

use super::unit::{Requests, Unit};
use crate::throttled::Throttled;
use retry_core::parts::Ticket;
use std::num::NonZeroU32;

/// The place of an operation in a [`PacedLimiter`](super::PacedLimiter).
#[derive(Debug)]
pub struct PacedPlace<U: Unit = Requests> {
    /// The place in the queue, while the operation waits for a send.
    pub(super) ticket: Option<Ticket>,
    /// The number of the last rejection that was known when the send was granted. `None` if sends were not limited then.
    pub(super) granted: Option<NonZeroU32>,
    pub(super) throttled: Throttled,
    pub(super) held: U::Held,
}

impl<U: Unit> PacedPlace<U> {
    /// Returns the place of an operation of this weight with these throttled attempts.
    pub(super) const fn after(throttled: Throttled, held: U::Held) -> Self {
        Self { ticket: None, granted: None, throttled, held }
    }

    pub(super) fn weight(&self) -> U::Weight {
        U::weight(self.held)
    }

    /// Returns whether the operation may send its next attempt, because the limiter granted it.
    #[inline]
    pub const fn is_granted(&self) -> bool {
        self.granted.is_some()
    }

    /// Returns the attempts of the operation that were throttled.
    pub const fn throttled(&self) -> Throttled {
        self.throttled
    }
}
