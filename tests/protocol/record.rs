//! What a run of the model has done, kept in the plainest way. The properties compare the store and the processes with it.

use retry_fleet::protocol::{Call, Reply};
use std::collections::BTreeMap;

/// The time after which a process is removed, in milliseconds. Rule F17.
pub(crate) const SILENCE: u64 = 3_000;

/// A step that must not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Problem {
    /// The number of a turn is not larger than those before it.
    SmallNumber,
    /// A turn that no process and no operator made.
    UnknownTurn,
    /// The store answers with an older turn than the one that its caller knows.
    OlderReply,
    /// A process that knows a turn goes back to an older one.
    OlderTurn,
    /// A process has not noticed that the store was emptied.
    Unnoticed,
}

/// The last report of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Report {
    until: u64,
    missing: i64,
    capacity: u64,
    demand: Option<u32>,
}

/// A turn that was made, with its number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Made {
    pub(crate) number: u64,
    pub(crate) reason: String,
}

/// What a run has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Record {
    reports: BTreeMap<String, Report>,
    /// The turns, in the order in which the store executed them. The reason of a turn on is empty.
    pub(crate) turns: Vec<Made>,
    pub(crate) problem: Option<Problem>,
    /// Whether a late call has brought back a process that was removed. Then answers are counted twice.
    pub(crate) is_late_return: bool,
}

/// The sums over all processes of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) members: u32,
    pub(crate) missing: i64,
    pub(crate) capacity: u64,
    pub(crate) satisfied: u64,
    pub(crate) waiting: u32,
}

impl Record {
    pub(crate) fn fail(&mut self, problem: Problem) {
        self.problem = self.problem.or(Some(problem));
    }

    /// Notes a call that the store has executed for the process of this name.
    pub(crate) fn executed(&mut self, now: u64, name: &str, call: &Call, reply: &Reply, is_late: bool) {
        self.reports.retain(|_, report| report.until > now);
        let is_return = !self.reports.contains_key(name) && call.epoch.is_some();
        self.is_late_return |= is_late && is_return;
        if call.is_leaving {
            self.reports.remove(name);
        } else {
            let (quota, limit) = (call.quota.unwrap(), call.limit.as_ref().unwrap());
            let report =
                Report { until: now + SILENCE, missing: quota.missing, capacity: quota.capacity, demand: limit.demand };
            self.reports.insert(name.to_owned(), report);
        }
        let number = reply.turn.as_ref().map_or(0, |turn| turn.number);
        if let Some(turn) = &call.turn {
            if self.turns.iter().any(|made| made.number >= number) {
                self.fail(Problem::SmallNumber);
            }
            self.turns.push(Made { number, reason: turn.reason.clone() });
        } else if number > 0 && self.turns.iter().all(|made| made.number != number) {
            // The text of the last turn has outlived the state of the store, and has a new number.
            let reason = &reply.turn.as_ref().unwrap().reason;
            match self.turns.last() {
                Some(last) if last.reason == *reason && last.number < number => {
                    self.turns.push(Made { number, reason: reason.clone() });
                }
                _ => self.fail(Problem::UnknownTurn),
            }
        }
    }

    /// Returns whether the store knows the process of this name.
    pub(crate) fn knows(&self, now: u64, name: &str) -> bool {
        self.reports.get(name).is_some_and(|report| report.until > now)
    }

    pub(crate) fn forget_reports(&mut self) {
        self.reports.clear();
    }

    /// Returns the reason of the turn with this number.
    pub(crate) fn reason(&self, number: u64) -> Option<&str> {
        self.turns.iter().find(|made| made.number == number).map(|made| &*made.reason)
    }

    /// Returns the sums over the reports of the processes whose time is not over.
    pub(crate) fn sums(&self, now: u64) -> Sums {
        let mut sums = Sums::default();
        for report in self.reports.values().filter(|report| report.until > now) {
            sums.members += 1;
            sums.missing += report.missing;
            sums.capacity += report.capacity;
            sums.satisfied += u64::from(report.demand.unwrap_or(0));
            sums.waiting += u32::from(report.demand.is_none());
        }
        sums
    }
}
