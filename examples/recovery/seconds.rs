//! The counts of a run, second by second.

/// What happened up to a point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Calls that began.
    pub(crate) begun: u64,
    /// Calls that succeeded.
    pub(crate) succeeded: u64,
    /// Requests that the server received.
    pub(crate) requests: u64,
}

/// The counts at the end of each second of a run.
#[derive(Debug, Default)]
pub(crate) struct Seconds(Vec<Counts>);

impl Seconds {
    /// The time for which a server must answer before it is treated as back.
    pub(crate) const STEADY: usize = 5;

    pub(crate) fn push(&mut self, counts: Counts) {
        self.0.push(counts);
    }

    /// Returns what happened between two seconds.
    pub(crate) fn between(&self, from: usize, to: usize) -> Counts {
        let at = |second: usize| second.checked_sub(1).and_then(|index| self.0.get(index)).copied().unwrap_or_default();
        let (from, to) = (at(from), at(to.min(self.0.len())));
        Counts {
            begun: to.begun - from.begun,
            succeeded: to.succeeded - from.succeeded,
            requests: to.requests - from.requests,
        }
    }

    /// Returns the first second from which 95 % of the calls succeeded for five seconds.
    pub(crate) fn back_from(&self, second: usize) -> Option<usize> {
        (second..=self.0.len().checked_sub(Self::STEADY)?).find(|&from| {
            let counts = self.between(from, from + Self::STEADY);
            counts.succeeded * 100 >= counts.begun * 95
        })
    }
}
