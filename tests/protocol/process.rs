//! A process of the model: what a `Member` knows, as plain values.

use crate::millis::at;
use crate::record::Record;
use retry_fleet::Member;
use retry_fleet::protocol::{Call, Reply, Turn};
use std::time::Duration;

/// Longer than any process waits for the store.
const LONG: u64 = 60_000;

/// What a member knows. Its random numbers are missing, because in the model a call is possible at any time, and so is the number of its calls,
/// which only names epochs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Knowledge {
    /// The time of the last answer, or of the start.
    answered_at: u64,
    epoch: Option<String>,
    members: u32,
    /// The last turn, with the time of its end.
    turn: Option<(u64, u64, String)>,
    is_lost: bool,
}

impl Knowledge {
    /// Returns what a new process knows.
    pub(crate) fn new(now: u64) -> Self {
        Self { answered_at: now, epoch: None, members: 1, turn: None, is_lost: false }
    }

    pub(crate) fn epoch(&self) -> Option<&str> {
        self.epoch.as_deref()
    }

    pub(crate) fn members(&self) -> u32 {
        self.members
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Returns the number of the last known turn, or 0.
    pub(crate) fn turned(&self) -> u64 {
        self.turn.as_ref().map_or(0, |(number, ..)| *number)
    }

    /// Returns the number and the reason of the last known turn.
    pub(crate) fn turn(&self) -> Option<(u64, String)> {
        self.turn.as_ref().map(|(number, _, reason)| (*number, reason.clone()))
    }

    /// Returns whether the last known turn, with its reason, was made.
    pub(crate) fn turn_is_in(&self, record: &Record) -> bool {
        self.turn.as_ref().is_none_or(|(number, until, reason)| {
            record.reason(*number) == Some(reason) && (*until > 0) != reason.is_empty()
        })
    }

    /// Creates a member that knows this.
    pub(crate) fn member(&self, name: &str) -> Member {
        let mut member = Member::new("orders", name, at(self.answered_at));
        if let Some(epoch) = &self.epoch {
            let mut reply = Reply::new(epoch.clone(), self.members);
            reply.turn = self.turn.clone().map(|(number, until, reason)| {
                let off_for = Duration::from_millis(until.saturating_sub(self.answered_at));
                Turn { number, off_for, reason }
            });
            member.call(at(self.answered_at), false);
            member.answered(at(self.answered_at), &reply);
        }
        if self.is_lost {
            member.call(at(self.answered_at + LONG), false);
            member.unanswered(at(self.answered_at + LONG), &"no answer");
        }
        member
    }

    /// Returns what a member knows that was answered at this time.
    pub(crate) fn of(mut member: Member, answered_at: u64, now: u64) -> Self {
        let status = member.status();
        let Call { epoch, known_turn, .. } = member.call(at(now), false);
        let turn = known_turn.map(|turn| {
            let off_for = u64::try_from(turn.off_for.as_millis()).unwrap();
            (turn.number, if off_for == 0 { 0 } else { now + off_for }, turn.reason)
        });
        let is_lost = status.is_connected == Some(false);
        Self { answered_at, epoch, members: status.members, turn, is_lost }
    }

    /// Returns the knowledge after a call without an answer.
    pub(crate) fn unanswered(&self, mut member: Member, now: u64) -> Self {
        member.unanswered(at(now), &"no answer");
        Self::of(member, self.answered_at, now)
    }

    /// Returns the knowledge after a reply.
    pub(crate) fn answered(mut member: Member, now: u64, reply: &Reply) -> Self {
        member.answered(at(now), reply);
        Self::of(member, now, now)
    }
}
