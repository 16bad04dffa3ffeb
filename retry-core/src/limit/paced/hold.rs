//! A server that is closed: it asked for a wait, and until its end only rare probes are sent.

use crate::time::Timestamp;
use std::time::Duration;

/// The time from the start of a hold to its first probe, and the shortest time between two probes. A server that asks for a
/// longer wait than it needs costs this time once.
const FIRST_PROBE: Duration = Duration::from_secs(1);
/// The longest time between two probes. Within it, the end of a wait that was too long is noticed.
const LONGEST_SPACE: Duration = Duration::from_secs(300);

/// A hold: all sends are held back until the end of a wait that the server asked for.
///
/// Some servers ask for waits that they do not need, such as always 30 s. So probes check the hold: one request after 1 s,
/// others after 3 s, 7 s, 15 s, .., at most 5 minutes apart. If one is accepted, the hold ends. If more than half of the
/// wait was left then, later waits hold back only their own operations, until the server rejects several requests in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    /// Whether it began and its end was not noticed yet. If it is false, the other fields are not used.
    is_active: bool,
    begun: Timestamp,
    until: Timestamp,
    /// The time from which the next probe may be sent.
    probe_at: Timestamp,
    /// Whether a probe was sent that is not known to be rejected.
    is_probed: bool,
    /// Whether the last wait proved too long.
    was_too_long: bool,
}

impl Hold {
    /// Creates a hold that is over.
    pub(super) const fn over(now: Timestamp) -> Self {
        Self { is_active: false, begun: now, until: now, probe_at: now, is_probed: false, was_too_long: false }
    }

    /// Returns the end.
    pub(super) const fn until(&self) -> Timestamp {
        self.until
    }

    /// Returns whether the hold began, and [`pass`](Hold::pass) did not find its end yet.
    #[inline]
    pub(super) const fn is_active(&self) -> bool {
        self.is_active
    }

    /// Returns whether sends are held back at this time.
    #[inline]
    pub(super) fn is_on(&self, now: Timestamp) -> bool {
        self.is_active && now < self.until
    }

    /// Updates the time. Returns whether a probe is due.
    pub(super) fn pass(&mut self, now: Timestamp) -> bool {
        self.is_active = self.is_on(now);
        self.is_active && now >= self.probe_at
    }

    /// Returns whether a wait holds back other operations, too. `is_closed` says whether several requests in a row were
    /// rejected.
    pub(super) const fn is_believed(&self, is_closed: bool) -> bool {
        is_closed || !self.was_too_long
    }

    /// Begins the hold, or prolongs it.
    pub(super) fn begin(&mut self, now: Timestamp, wait: Duration) {
        if !self.is_on(now) {
            self.begun = now;
            self.probe_at = now.saturating_add(FIRST_PROBE);
            self.is_probed = false;
            self.is_active = true;
        }
        self.until = self.until.max(now.saturating_add(wait));
    }

    /// Returns the time of the next probe.
    pub(super) fn next_probe(&self) -> Timestamp {
        self.probe_at.min(self.until)
    }

    /// Records that a probe may be sent, by the operation that asks.
    pub(super) fn probe(&mut self, now: Timestamp) {
        let space = now.saturating_since(self.begun).clamp(FIRST_PROBE, LONGEST_SPACE);
        self.probe_at = now.saturating_add(space.saturating_add(FIRST_PROBE).min(LONGEST_SPACE));
        self.is_probed = true;
    }

    /// Records that a request was rejected. If the hold continues, the request was a probe.
    pub(super) fn reject(&mut self, now: Timestamp) {
        if self.is_on(now) && self.is_probed {
            self.is_probed = false;
            self.was_too_long = false;
        }
    }

    /// Records that requests were accepted. Returns whether that ends the hold, because it was probed.
    pub(super) fn accept(&mut self, now: Timestamp) -> bool {
        let ends = self.is_probed && self.is_on(now);
        if ends {
            self.was_too_long = self.until.saturating_since(now) > now.saturating_since(self.begun);
            self.until = now;
        }
        ends
    }

    /// Continues from an earlier time, because the clock was set back. How much of the wait is left is unknown, so it is over.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        self.begun = self.begun.min(now);
        self.until = self.until.min(now);
        self.probe_at = self.probe_at.min(now);
    }
}
