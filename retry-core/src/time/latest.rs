//! The latest reading of a clock that several threads read.

use super::Timestamp;
use std::time::Duration;

/// How long the readings of a clock must stay behind the latest one before the clock is treated as set back. A shorter
/// period means that threads delivered their readings out of order, because a thread was preempted between reading the
/// clock and delivering the reading.
const MAX_DISORDER: Duration = Duration::from_millis(250);

/// The latest reading of a clock.
///
/// Threads read the clock before they take a lock, so that no foreign code runs under it. So readings can arrive in another order.
///
/// An earlier reading is late, and is treated as the latest one. The clock is treated as set back only after successive
/// readings before the latest one span 250 ms. A thread that was preempted, for however long, delivers a
/// single late reading, and the next reading of any other thread is after the latest one again.
#[derive(Clone, Copy, Debug)]
pub struct Latest {
    latest: Timestamp,
    /// The earliest of the late readings since the latest one, if there are any.
    behind: Option<Timestamp>,
}

/// The interpretation of a reading by [`Latest::observe`].
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    /// The current time to use.
    pub now: Timestamp,
    /// The time that the clock was set back to, if it was. The caller moves timestamps after it back to it, so that the
    /// jump neither counts as elapsed time nor stops the time.
    pub went_back_to: Option<Timestamp>,
}

impl Latest {
    /// Begins with this reading.
    pub const fn new(now: Timestamp) -> Self {
        Self { latest: now, behind: None }
    }

    /// Returns the latest reading.
    pub const fn get(&self) -> Timestamp {
        self.latest
    }

    /// Records a reading of the clock, and returns the time to use.
    #[inline]
    pub fn observe(&mut self, now: Timestamp) -> Observed {
        if now >= self.latest {
            *self = Self::new(now);
            return Observed { now, went_back_to: None };
        }
        self.observe_late(now)
    }

    #[cold]
    fn observe_late(&mut self, now: Timestamp) -> Observed {
        let since = self.behind.map_or(now, |earliest| earliest.min(now));
        if now.saturating_since(since) >= MAX_DISORDER {
            *self = Self::new(now);
            return Observed { now, went_back_to: Some(since) };
        }
        self.behind = Some(since);
        Observed { now: self.latest, went_back_to: None }
    }
}

#[cfg(test)]
mod tests;
