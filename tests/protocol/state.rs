//! A state of the model: the store, three processes, and the calls and replies in flight.

use crate::millis::at;
use crate::mutation::Mutation;
use crate::process::Knowledge;
use crate::record::{Problem, Record, Sums};
use retry_fleet::protocol::{Call, Knowledge as Quota, LimitCall, Reply};
use retry_fleet::store::MemoryStore;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// The number of places for processes. A process that ends can be followed by a new one.
pub(crate) const PLACES: usize = 3;
/// The time for which the switch is turned off. No run is longer.
const OFF_FOR: Duration = Duration::from_secs(600);
/// The time that the turn of a switch takes, in milliseconds.
const TURNING: u64 = 10;

/// What a process does by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Nothing,
    /// It has one more answer, and other demands.
    Work,
    /// It turns the switch to the opposite of the last turn.
    Turn,
    Leave,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    CallIsLost,
    ReplyIsLost,
    /// The process gives up before the store gets the call.
    CallIsLate,
    /// The store gets the call again later.
    CallIsRepeated,
    /// Other calls are answered before this reply comes.
    ReplyIsLate,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) is_living: bool,
    pub(crate) knows: Knowledge,
    /// The answers in the life of this process, and of all processes at this place.
    work: u64,
    all_work: u64,
    /// The reply on its way, and how often the store had been emptied when it gave it.
    pub(crate) reply: Option<(Reply, u32)>,
    /// How often the store had been emptied when it gave the last reply that the process has seen.
    seen: u32,
}

/// A call that the process does not wait for any more.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Late {
    name: String,
    call: Call,
    is_copy: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) now: u64,
    pub(crate) store: MemoryStore,
    pub(crate) emptied: u32,
    emptied_at: u64,
    /// Whether the state of the store was created by a call that had created one before.
    has_old_epoch: bool,
    pub(crate) processes: Vec<Process>,
    pub(crate) late: Vec<Late>,
    pub(crate) record: Record,
    pub(crate) left: Left,
    pub(crate) phase: Phase,
}

/// How often something can still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Left {
    pub(crate) faults: u32,
    pub(crate) turns: u32,
    pub(crate) works: u32,
    pub(crate) ticks: u32,
    pub(crate) starts: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    Faults,
    /// The faults have ended. The reason of the latest turn that a process or the store knew then.
    Calm(Option<String>),
    Settled(Option<String>),
}

/// Hashes what is written.
struct Hashing<'a, H>(&'a mut H);

impl<H: Hasher> Write for Hashing<'_, H> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.now, self.emptied, self.emptied_at, self.has_old_epoch, self.left, &self.phase).hash(state);
        self.record.hash(state);
        write!(Hashing(state), "{:?}", self.store).unwrap();
        for process in &self.processes {
            (&process.name, process.is_living, &process.knows, process.work, process.all_work, process.seen)
                .hash(state);
            process.reply.is_some().hash(state);
            if let Some(reply) = &process.reply {
                write!(Hashing(state), "{reply:?}").unwrap();
            }
        }
        for late in &self.late {
            write!(Hashing(state), "{late:?}").unwrap();
        }
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

impl State {
    /// Returns a state in which all processes are members.
    pub(crate) fn joined(left: Left, mutation: Mutation) -> Self {
        let process = |name: &str| Process {
            name: name.to_owned(),
            is_living: true,
            knows: Knowledge::new(10_000),
            work: 0,
            all_work: 0,
            reply: None,
            seen: 0,
        };
        let mut state = Self {
            now: 10_000,
            store: MemoryStore::new(),
            emptied: 0,
            emptied_at: 0,
            has_old_epoch: false,
            processes: ["a", "b", "c"].map(process).into(),
            late: Vec::new(),
            record: Record::default(),
            left,
            phase: Phase::Faults,
        };
        for _ in 0..2 {
            for place in 0..PLACES {
                state.exchange(place, Deed::Nothing, Fate::Answered, mutation);
            }
        }
        state
    }

    /// Returns the call of a process, as the shipped code makes it, with numbers of the model.
    fn call(&mut self, place: usize, deed: Deed, fate: Fate, mutation: Mutation) -> (retry_fleet::Member, Call) {
        if deed == Deed::Turn {
            self.now += TURNING;
        }
        let is_off = self.record.turns.last().is_some_and(|made| !made.reason.is_empty());
        let process = &mut self.processes[place];
        let mut member = process.knows.member(&process.name);
        match deed {
            Deed::Turn if is_off => member.turn_retries_off(Duration::ZERO, "", at(self.now)),
            Deed::Turn => member.turn_retries_off(OFF_FOR, format!("turn {}", self.left.turns), at(self.now)),
            Deed::Work => {
                process.work += 1;
                process.all_work += 1;
            }
            Deed::Nothing | Deed::Leave => {}
        }
        let mut call = member.call(at(self.now), deed == Deed::Leave);
        // The shipped code numbers all calls of a process. Here, only calls that are executed later need a unique name.
        call.fresh = match fate {
            Fate::CallIsLate | Fate::CallIsRepeated => format!("{} late {}", self.emptied, self.left.faults),
            _ => self.emptied.to_string(),
        };
        let weight = 10_u64.pow(u32::try_from(place).unwrap());
        let capacity = 2 * weight * (1 + process.work);
        call.quota =
            Some(Quota { missing: i64::try_from(weight * process.work).unwrap(), capacity, timeout_age: None });
        call.limit = Some(LimitCall {
            accepted: weight * process.work,
            demand: process.work.is_multiple_of(2).then(|| 7 * u32::try_from(weight).unwrap()),
            ..LimitCall::default()
        });
        mutation.change(&mut call);
        (member, call)
    }

    /// Executes a call, atomically.
    fn execute(&mut self, name: &str, call: &Call, is_late: bool, is_copy: bool, mutation: Mutation) -> Reply {
        let clock = mutation.clock(self.now, self.emptied_at);
        let is_new = self.record.sums(self.now).members == 0 && self.store.members() == 0;
        if let Some(before) = mutation.before(call).filter(|_| !self.record.knows(self.now, name)) {
            self.store.call(clock, &before);
        }
        let reply = self.store.call(clock, call);
        self.has_old_epoch = if is_new { is_copy } else { self.has_old_epoch };
        self.record.executed(self.now, name, call, &reply, is_late);
        reply
    }

    /// Makes a call of a process.
    pub(crate) fn exchange(&mut self, place: usize, deed: Deed, fate: Fate, mutation: Mutation) {
        let (member, call) = self.call(place, deed, fate, mutation);
        let (now, name) = (self.now, self.processes[place].name.clone());
        let late = || Late { name: name.clone(), call: call.clone(), is_copy: fate == Fate::CallIsRepeated };
        let reply = match fate {
            Fate::CallIsLost => None,
            Fate::CallIsLate => {
                self.late.push(late());
                None
            }
            _ => Some(self.execute(&name, &call, false, false, mutation)),
        };
        if fate == Fate::CallIsRepeated {
            self.late.push(late());
        }
        if deed == Deed::Leave {
            self.processes[place].is_living = false;
            return;
        }
        match (reply, fate) {
            (Some(reply), Fate::ReplyIsLate) => self.processes[place].reply = Some((reply, self.emptied)),
            (Some(reply), Fate::Answered | Fate::CallIsRepeated) => self.answered(place, member, &reply, self.emptied),
            _ => {
                let process = &mut self.processes[place];
                process.knows = process.knows.unanswered(member, now);
            }
        }
    }

    /// Takes the reply that a process waits for.
    pub(crate) fn receive(&mut self, place: usize) {
        let process = &mut self.processes[place];
        let ((reply, emptied), mut member) = (process.reply.take().unwrap(), process.knows.member(&process.name));
        member.call(at(self.now), false);
        self.answered(place, member, &reply, emptied);
    }

    fn answered(&mut self, place: usize, member: retry_fleet::Member, reply: &Reply, emptied: u32) {
        let process = &mut self.processes[place];
        let before = std::mem::replace(&mut process.knows, Knowledge::answered(member, self.now, reply));
        let after = &process.knows;
        if reply.turn.as_ref().map_or(0, |turn| turn.number) < before.turned() {
            self.record.fail(Problem::OlderReply);
        }
        if after.turned() < before.turned() {
            self.record.fail(Problem::OlderTurn);
        }
        let is_other_state = before.epoch().is_some() && process.seen != emptied;
        if is_other_state && before.epoch() == after.epoch() && !self.has_old_epoch {
            self.record.fail(Problem::Unnoticed);
        }
        process.seen = emptied;
    }

    /// Executes a call that is late.
    pub(crate) fn deliver(&mut self, number: usize, mutation: Mutation) {
        let Late { name, mut call, is_copy } = self.late.remove(number);
        if call.turn.is_some() {
            self.now += TURNING;
        }
        call.member = mutation.late_name(&name);
        self.execute(&name, &call, true, is_copy, mutation);
    }

    /// Lets time pass. Replies that did not come by then are lost.
    pub(crate) fn wait(&mut self, time: u64) {
        self.now += time;
        for process in &mut self.processes {
            if process.reply.take().is_some() {
                process.knows = process.knows.unanswered(process.knows.member(&process.name), self.now);
            }
        }
    }

    pub(crate) fn crash(&mut self, place: usize) {
        (self.processes[place].is_living, self.processes[place].reply) = (false, None);
    }

    /// Starts a new process.
    pub(crate) fn start(&mut self, place: usize) {
        let (now, seen, process) = (self.now, self.emptied, &mut self.processes[place]);
        process.name.push('\'');
        (process.is_living, process.knows, process.work, process.seen) = (true, Knowledge::new(now), 0, seen);
    }

    /// Empties the store. If only the state is evicted, the text of the switch stays.
    pub(crate) fn empty(&mut self, is_evicted: bool) {
        if is_evicted {
            self.store.forget_state();
        } else {
            self.store.forget();
        }
        self.emptied += 1;
        self.emptied_at = self.now;
        self.record.forget_reports();
    }

    /// Returns what a stranger is told that calls and leaves immediately, without changing the store.
    pub(crate) fn probe(&self, later: u64, mutation: Mutation) -> Reply {
        let mut call = Call::new("stranger", "stranger's epoch");
        (call.quota, call.limit, call.is_leaving) = (Some(Quota::default()), Some(LimitCall::default()), later == 0);
        self.store.clone().call(mutation.clock(self.now, self.emptied_at) + later, &call)
    }

    /// Returns the sums of the store.
    pub(crate) fn sums(&self, mutation: Mutation) -> Sums {
        let reply = self.probe(0, mutation);
        let (quota, limit) = (reply.quota.unwrap(), reply.limit.unwrap());
        Sums {
            members: reply.members,
            missing: quota.missing,
            capacity: quota.capacity,
            satisfied: limit.satisfied,
            waiting: limit.waiting,
        }
    }

    /// Returns the sums that the store has if it knows exactly the living.
    pub(crate) fn right_sums(&self) -> Sums {
        let mut sums = Sums::default();
        for (place, process) in self.processes.iter().enumerate().filter(|(_, process)| process.is_living) {
            let weight = 10_u64.pow(u32::try_from(place).unwrap());
            sums.members += 1;
            sums.missing += i64::try_from(weight * process.work).unwrap();
            sums.capacity += 2 * weight * (1 + process.work);
            if process.work % 2 == 0 { sums.satisfied += 7 * weight } else { sums.waiting += 1 }
        }
        sums
    }

    /// Returns whether the store has counted at most the answers that each process had.
    pub(crate) fn counts_once(&self, mutation: Mutation) -> bool {
        // A second later, a step is due, which tells the number of accepted requests.
        let mut counted = self.probe(1_001, mutation).limit.unwrap().step.unwrap().accepted;
        self.processes.iter().all(|process| {
            let digit = counted % 10;
            counted /= 10;
            digit <= process.all_work
        })
    }

    pub(crate) fn living(&self) -> impl Iterator<Item = (usize, &Process)> {
        self.processes.iter().enumerate().filter(|(_, process)| process.is_living)
    }

    /// Returns the reason of the latest turn that the store or a living process knows.
    pub(crate) fn latest_turn(&self, mutation: Mutation) -> Option<String> {
        let of_store = self.probe(0, mutation).turn.map(|turn| (turn.number, turn.reason));
        let of_processes = self.living().filter_map(|(_, process)| process.knows.turn());
        of_store.into_iter().chain(of_processes).max().map(|(_, reason)| reason)
    }
}
