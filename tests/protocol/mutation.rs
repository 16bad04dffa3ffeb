//! Protocols that are wrong in one step, which the checker has to find.

use retry_fleet::protocol::{Call, LimitCall, Turn};
use std::time::Duration;

/// What is wrong with the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutation {
    Nothing,
    /// A process does not report the turn that it knows.
    TurnIsNotReported,
    /// A process reports the turn that it knows as if it were the latest.
    TurnIsTakenForTheLatest,
    /// The clock of the store begins again when the store is emptied, so the numbers of turns do, too.
    ClockBeginsAgain,
    /// A late or repeated call is taken for one of another process.
    LateCallIsTakenForAnotherProcess,
    /// A process that the store does not know reports its totals as if they were new.
    TotalsAreNewAfterARemoval,
    /// A process is not removed when its time is over.
    TimeIsNeverOver,
    /// All states of the store have the same epoch.
    EpochIsTheSame,
}

impl Mutation {
    /// Changes the call of a process.
    pub(crate) fn change(self, call: &mut Call) {
        match self {
            Self::TurnIsNotReported => call.known_turn = None,
            Self::TurnIsTakenForTheLatest => {
                call.known_turn = call.known_turn.take().map(|turn| Turn { number: turn.number + 100_000, ..turn });
            }
            Self::TimeIsNeverOver => call.ttl = Duration::from_secs(3_600),
            Self::EpochIsTheSame => call.fresh = "epoch".into(),
            _ => {}
        }
    }

    /// Returns the name of the process in a late or repeated call.
    pub(crate) fn late_name(self, name: &str) -> String {
        let is_mutated = self == Self::LateCallIsTakenForAnotherProcess;
        if is_mutated { format!("{name} again") } else { name.to_owned() }
    }

    /// Returns a call that comes before this one, from a process that the store does not know.
    pub(crate) fn before(self, call: &Call) -> Option<Call> {
        let mut before = call.clone();
        (before.turn, before.limit) = (None, Some(LimitCall { accepted: 0, ..before.limit? }));
        (self == Self::TotalsAreNewAfterARemoval).then_some(before)
    }

    /// Returns what the clock of the store shows.
    pub(crate) fn clock(self, now: u64, emptied_at: u64) -> u64 {
        if self == Self::ClockBeginsAgain { now - emptied_at } else { now }
    }
}
