//! The latest reading of a clock that several threads read.

use super::Timestamp;
use std::time::Duration;

/// How far behind the latest reading a reading can be without being taken for a clock that went backwards. Threads hand
/// in the readings of one clock in another order than they made them, because they are held up in between.
const DISORDER: Duration = Duration::from_millis(250);

/// The latest reading of a clock.
///
/// A reading behind it is late, and counts as the latest one. Only if readings go on for [`DISORDER`] while they stay
/// behind it did the clock go backwards. A thread that is held up for however long hands in one late reading, and the
/// next reading of any other thread shows that time goes on ahead of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latest {
    latest: Timestamp,
    /// The earliest reading behind the latest one, if no reading has been ahead of that since.
    behind: Option<Timestamp>,
}

/// What a reading means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    /// The time to use.
    pub(crate) now: Timestamp,
    /// The point that the clock went backwards to, if it did. Anchors that lie after it move back to it: so nothing is
    /// gained by the jump, and nothing freezes.
    pub(crate) went_back_to: Option<Timestamp>,
}

impl Latest {
    pub(crate) const fn new(now: Timestamp) -> Self {
        Self { latest: now, behind: None }
    }

    pub(crate) fn observe(&mut self, now: Timestamp) -> Observed {
        if now >= self.latest {
            *self = Self::new(now);
            return Observed { now, went_back_to: None };
        }
        let since = self.behind.map_or(now, |earliest| earliest.min(now));
        if now.saturating_since(since) >= DISORDER {
            *self = Self::new(now);
            return Observed { now, went_back_to: Some(since) };
        }
        self.behind = Some(since);
        Observed { now: self.latest, went_back_to: None }
    }
}
