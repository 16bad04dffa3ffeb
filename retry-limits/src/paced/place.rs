//! The place of an operation in a paced limiter.

use super::unit::{Requests, Unit};
use crate::throttled::Throttled;
use retry_core::parts::Ticket;
use std::num::{NonZeroU16, NonZeroU32};

/// The place of an operation in a [`PacedLimiter`](super::PacedLimiter).
#[derive(Debug)]
pub struct PacedPlace<U: Unit = Requests> {
    /// The place in the queue, while the operation waits for a send.
    pub(super) ticket: Option<Ticket>,
    /// The granted send. `None` before it is granted, or if sends are not limited.
    pub(super) granted: Option<Grant>,
    pub(super) throttled: Throttled,
    pub(super) held: U::Held,
}

/// A granted send: the number of the last rejection that was known then, and in the upper half, the number of the hold whose probe
/// the send is. A place is part of each token, so both are short.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant(NonZeroU32);

impl Grant {
    /// Creates a send that is not a probe.
    #[inline]
    pub(super) fn after(rejection: NonZeroU16) -> Self {
        Self(rejection.into())
    }

    /// Makes the send the probe of a hold.
    pub(super) fn probe_of(self, hold: NonZeroU16) -> Self {
        Self(self.0 | u32::from(hold.get()) << u16::BITS)
    }

    /// Returns whether the send is the probe of a hold, which can be over.
    #[inline]
    pub(super) const fn is_probe(self) -> bool {
        self.0.get() >> u16::BITS > 0
    }

    /// Returns whether the send is the probe of this hold.
    pub(super) const fn is_probe_of(self, hold: NonZeroU16) -> bool {
        self.0.get() >> u16::BITS == hold.get() as u32
    }

    /// Returns the number of the last rejection that was known.
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    const fn sent_after(self) -> Option<NonZeroU16> {
        NonZeroU16::new(self.0.get() as u16)
    }
}

impl<U: Unit> PacedPlace<U> {
    /// Returns the place of an operation of this weight with these throttled attempts.
    pub(super) const fn after(throttled: Throttled, held: U::Held) -> Self {
        Self { ticket: None, granted: None, throttled, held }
    }

    pub(super) fn weight(&self) -> U::Weight {
        U::weight(self.held)
    }

    /// Returns the granted send if it is the probe of a hold.
    #[inline]
    pub(super) fn probe(&self) -> Option<Grant> {
        self.granted.filter(|granted| granted.is_probe())
    }

    /// Returns the number of the last rejection that was known when the send was granted.
    pub(super) fn sent_after(&self) -> Option<NonZeroU16> {
        self.granted.and_then(Grant::sent_after)
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
