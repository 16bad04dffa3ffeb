//! What the rules say about a fleet: what its store knows, and what each process knows.

use retry_fleet::protocol::{Call, Knowledge, Reply};
use std::collections::BTreeMap;
use std::time::Duration;

/// A process that turns retries on writes this down for a minute.
const ON: u64 = 60_000;
/// Ends of a switch that are less than a second apart are the same.
const SAME: u64 = 1_000;

/// What the store knows of a process.
#[derive(Clone, Debug)]
struct Entry {
    /// When it last called.
    called: u64,
    quota: Knowledge,
    /// The demand of a process that does not wait for sends.
    demand: Option<u32>,
}

impl Entry {
    /// Returns whether it is certain that the time of the process is over, or is not.
    fn is_over(&self, now: u64) -> Option<bool> {
        match now - self.called {
            ..=2_500 => Some(false),
            2_501..3_000 => None,
            3_000.. => Some(true),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Turn {
    number: u64,
    /// 0 if retries are on.
    until: u64,
    reason: String,
}

/// What a process knows.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with each other")]
struct Process {
    answered: u64,
    has_joined: bool,
    is_lost: bool,
    members: u32,
    /// The number of the latest turn that it knows, and until when retries are off by its clock.
    turn: Option<u64>,
    off_until: u64,
    /// Whether its last reply asked for a step.
    steps: bool,
    /// Whether its last reply contained a rate.
    is_told: bool,
    /// Whether a reply has shown that its fleet has made its first 40 steps.
    is_grown: bool,
    /// The times of the last two calls in a row without an answer, and the share after the last one.
    failed: (Option<u64>, Option<u64>),
    share: Option<f64>,
}

/// What is seen of a process.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) is_connected: Option<bool>,
    pub(super) members: u32,
    pub(super) is_on: bool,
    pub(super) is_off_for: Option<Duration>,
    pub(super) share: Option<f64>,
    pub(super) rate: Option<f64>,
    pub(super) next_call_in: Duration,
}

#[derive(Debug, Default)]
pub(super) struct Model {
    /// The epoch, if there is a state.
    epoch: Option<String>,
    now: u64,
    clock: u64,
    entries: BTreeMap<String, Entry>,
    timed_out: Option<u64>,
    turn: Option<Turn>,
    written: Option<(String, u64)>,
    /// The process that computes a step, and until when no other one is asked.
    step: Option<(u64, u64)>,
    processes: BTreeMap<String, Process>,
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap()
}

impl Model {
    pub(super) fn joins(&mut self, id: &str, now: u64) {
        self.processes.insert(id.to_owned(), Process { answered: now, members: 1, ..Process::default() });
    }

    /// Returns the time of the store, which never goes back.
    pub(super) fn store_time(&self, clock: u64) -> u64 {
        if self.epoch.is_some() { self.now + clock.saturating_sub(self.clock) } else { clock }
    }

    pub(super) fn write(&mut self, text: Option<&str>, until: u64) {
        self.written = text.map(|text| (text.to_owned(), until));
    }

    pub(super) fn empty(&mut self, is_all: bool) {
        let (processes, written) = (std::mem::take(&mut self.processes), self.written.take());
        *self = Self { processes, written: written.filter(|_| !is_all), ..Self::default() };
    }

    pub(super) fn members(&self) -> usize {
        self.entries.len()
    }

    /// A process calls, and carries what it knows of the switch.
    pub(super) fn called(&self, id: &str, now: u64, call: &Call) {
        let process = &self.processes[id];
        let carried = call.known_turn.as_ref().map(|turn| (turn.number, millis(turn.off_for)));
        assert_eq!(carried, process.turn.map(|number| (number, process.off_until.saturating_sub(now))));
    }

    /// The store got a call at this time of its clock.
    pub(super) fn reached(&mut self, clock: u64, call: &Call, reply: &Reply) {
        self.now = self.store_time(clock);
        self.clock = clock;
        assert_eq!(&reply.epoch, self.epoch.get_or_insert_with(|| call.fresh.clone()));
        let now = self.now;
        self.entries.retain(|_, entry| entry.is_over(now) != Some(true));
        if call.is_leaving {
            self.entries.remove(&call.member);
        } else {
            let former = self.entries.get(&call.member);
            let quota = call.quota.or(former.map(|former| former.quota)).unwrap_or_default();
            let demand = match &call.limit {
                Some(limit) => limit.demand,
                None => former.map_or(Some(0), |former| former.demand),
            };
            let entry = Entry { called: now, quota, demand };
            self.entries.insert(call.member.clone(), entry);
        }
        if let Some(age) = call.quota.and_then(|quota| quota.timeout_age) {
            self.timed_out = self.timed_out.max(Some(now.saturating_sub(millis(age))));
        }
        self.check_entries(call, reply);
        self.turn(call);
        let turn = self.turn.as_ref();
        let seen = reply.turn.as_ref().map(|turn| (turn.number, turn.reason.as_str()));
        // If the time of a turn is over, its reason is over, too.
        let reason = |turn: &'_ Turn| if (1..=now).contains(&turn.until) { String::new() } else { turn.reason.clone() };
        let known = turn.map(|turn| (turn.number, reason(turn)));
        assert_eq!(seen, known.as_ref().map(|(number, reason)| (*number, reason.as_str())), "the turn of the switch");
        if let Some((seen, known)) = reply.turn.as_ref().zip(turn) {
            let left = known.until.saturating_sub(now);
            assert_eq!(millis(seen.off_for), left, "the time until retries are on again");
        }
        self.check_step(reply);
    }

    /// Compares the sums in a reply with those over all processes, if it is certain which are there.
    fn check_entries(&self, call: &Call, reply: &Reply) {
        let uncertain = self.entries.values().filter(|entry| entry.is_over(self.now).is_none()).count();
        let (most, members) = (self.entries.len(), usize::try_from(reply.members).unwrap());
        assert!((most - uncertain..=most).contains(&members), "{members} processes instead of {most}");
        if uncertain > 0 {
            return;
        }
        let others = self.entries.iter().filter(|(id, _)| **id != call.member).map(|(_, entry)| entry);
        if let Some(known) = reply.quota {
            let missing: i64 = others.clone().map(|entry| entry.quota.missing).sum();
            let capacity: u64 = others.map(|entry| entry.quota.capacity).sum();
            assert_eq!((known.missing, known.capacity), (missing, capacity), "what the others know");
            assert_eq!(known.timeout_age.map(millis), self.timed_out.map(|at| self.now - at), "the latest timeout");
        }
        if let Some(limit) = &reply.limit {
            let waiting = self.entries.values().filter(|entry| entry.demand.is_none()).count();
            let satisfied: u64 = self.entries.values().filter_map(|entry| entry.demand).map(u64::from).sum();
            assert_eq!((limit.waiting as usize, limit.satisfied), (waiting, satisfied), "the demands");
        }
    }

    /// One process at a time computes a step, and has a second for it.
    fn check_step(&mut self, reply: &Reply) {
        let Some(step) = reply.limit.as_ref().and_then(|limit| limit.step.as_ref()) else { return };
        if let Some((version, until)) = self.step {
            assert!(step.version > version || self.now >= until, "two processes compute step {version}");
        }
        self.step = Some((step.version, self.now + 1_000));
    }

    /// The latest turn that the state or a process knows decides, unless an operator's text is there, or the call turns it.
    fn turn(&mut self, call: &Call) {
        let now = self.now;
        self.written.take_if(|(_, until)| *until <= now);
        let latest = self.turn.as_ref().map_or(0, |turn| turn.number);
        if let Some(known) = call.known_turn.as_ref().filter(|known| known.number > latest) {
            let until = if known.off_for.is_zero() { 0 } else { now + millis(known.off_for) };
            self.turn = Some(Turn { number: known.number, until, reason: known.reason.clone() });
        }
        let number = now.max(self.turn.as_ref().map_or(0, |turn| turn.number) + 1);
        if let Some(turn) = &call.turn {
            let off_for = millis(turn.off_for);
            let until = if off_for == 0 { 0 } else { now + off_for };
            let reason = turn.reason.clone();
            let written = if off_for == 0 { ("on".to_owned(), now + ON) } else { (format!("off {reason}"), until) };
            (self.turn, self.written) = (Some(Turn { number, until, reason }), Some(written));
        } else if let Some((text, until)) = &self.written {
            let (reason, until) =
                if text == "on" { ("", 0) } else { (text.strip_prefix("off ").unwrap_or(""), *until) };
            let is_same = self.turn.as_ref().is_some_and(|turn| {
                // The text `on` names nobody.
                let is_reason = until == 0 || turn.reason == reason;
                is_reason && (turn.until > 0) == (until > 0) && turn.until.abs_diff(until) <= SAME
            });
            if !is_same {
                self.turn = Some(Turn { number, until, reason: reason.to_owned() });
            }
        }
    }

    pub(super) fn answered(&mut self, id: &str, now: u64, reply: &Reply) {
        let process = self.processes.get_mut(id).unwrap();
        (process.answered, process.has_joined, process.is_lost) = (now, true, false);
        process.failed = (None, None);
        process.members = reply.members.max(1);
        if let Some(turn) = &reply.turn {
            (process.turn, process.off_until) = (Some(turn.number), now + millis(turn.off_for));
        }
        process.steps = reply.limit.as_ref().is_some_and(|limit| limit.step.is_some());
        process.is_told = reply.limit.as_ref().is_some_and(|limit| limit.rate.is_some());
        process.is_grown |= reply.limit.as_ref().is_some_and(|limit| limit.version >= 40);
    }

    pub(super) fn unanswered(&mut self, id: &str, now: u64) {
        let process = self.processes.get_mut(id).unwrap();
        process.is_lost |= now - process.answered >= 3_000;
        process.steps = false;
        process.failed = (process.failed.1, Some(now));
    }

    /// Checks what a process knows after an answer, or without one.
    pub(super) fn check(&mut self, id: &str, has_limit: bool, now: u64, seen: &Seen) {
        let process = self.processes.get_mut(id).unwrap();
        assert_eq!(seen.is_connected, process.has_joined.then_some(!process.is_lost));
        assert_eq!(seen.members, process.members);
        let off_for = process.off_until.saturating_sub(now);
        assert_eq!(seen.is_off_for.map_or(0, millis), off_for);
        assert_eq!(seen.is_on, off_for == 0);
        // Every quarter of a second with a limit, else every half a second, give or take a quarter.
        let interval = if has_limit { 250.0 } else { 500.0 };
        let next = seen.next_call_in.as_secs_f64() * 1e3;
        let is_regular = (0.75 * interval - 1e-3..=1.25 * interval + 1e-3).contains(&next);
        assert!(is_regular || process.steps && next == 0.0, "the next call is in {next} ms");
        if !has_limit {
            assert_eq!(seen.share, None);
        } else if let Some((share, rate)) = seen.share.zip(seen.rate) {
            // Alone, a share grows by at most 1 % in a second, or 5 % in a young fleet, from the second call without an answer on.
            let most = match (process.failed, process.share) {
                ((Some(before), Some(_)), Some(share)) => {
                    let time = Duration::from_millis(now - before);
                    let growth = if process.is_grown { 0.01 } else { 0.05 };
                    rate.max(share * (1.0 + growth * time.as_secs_f64()))
                }
                // A store that was emptied has no rate yet, so the share stays, also with the first call without an answer after.
                ((None, _), Some(share)) if !process.is_told => rate.max(share),
                _ => rate,
            };
            assert!(share > 0.0 && share <= most * (1.0 + 1e-9), "a share of {share} of {rate}");
        }
        process.share = seen.share;
    }
}
