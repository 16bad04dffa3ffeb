//! A time in which operations wait for the service, as warnings report it.

use crate::support::outage_events::KeptName;
use crate::time::Timestamp;
use std::time::Duration;

/// The number of first attempts without a wait after which an outage is over.
const CALM: u32 = 16;

/// A time in which operations wait for the service. It is over when [`CALM`] first attempts were sent after the latest wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outage {
    pub(super) strategy: Option<KeptName>,
    began: Timestamp,
    /// The latest time at which a wait has begun or ended; `None` until the next first attempt if an operation has left since.
    ended: Option<Timestamp>,
    pub(super) waits: u32,
    /// The number of waits that ended without an attempt.
    pub(super) in_vain: u32,
    /// The number of first attempts since the end of the latest wait, which sets it to zero.
    calm: u32,
}

impl Outage {
    /// Creates an outage that begins with the first wait.
    pub(super) const fn new(began: Timestamp) -> Self {
        Self { strategy: None, began, ended: Some(began), waits: 1, in_vain: 0, calm: 0 }
    }

    /// Returns the time from the first wait to the end of the latest one.
    pub(super) fn lasted(&self) -> Duration {
        self.ended.unwrap_or(self.began).saturating_since(self.began)
    }

    /// Records that another operation waits.
    pub(super) const fn wait_began(&mut self, now: Timestamp) {
        (self.waits, self.ended) = (self.waits.saturating_add(1), Some(now));
    }

    /// Records that an operation waits no longer, and when its wait has ended, if that is known.
    pub(super) fn wait_ended(&mut self, now: Option<Timestamp>, is_in_vain: bool) {
        (self.ended, self.calm) = (now, 0);
        self.in_vain = self.in_vain.saturating_add(is_in_vain.into());
    }

    /// Records that a first attempt is sent, and whether no operation waits. Returns whether the outage is over.
    pub(super) fn first_sent(&mut self, now: Timestamp, is_idle: bool) -> bool {
        self.ended.get_or_insert(now);
        self.calm = self.calm.saturating_add(1);
        is_idle && self.calm >= CALM
    }
}
