//! A store in memory, which does what the script in Redis does, step by step.
//!
//! No other program writes into it, so it has no guards against foreign data. Numbers that are only compared start at their
//! default values.

mod limit;
mod line;
mod programs;
mod switch;

use crate::protocol::{Call, Knowledge, Reply};
use limit::Limit;
use line::Line;
use programs::Programs;
#[cfg(feature = "tokio")]
use retry_core::{Clock, TokioTimer};
use std::collections::{BTreeMap, BTreeSet};
#[cfg(feature = "tokio")]
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use switch::Switch;

/// The time between two counts of all processes, in milliseconds.
const RECOUNT: u64 = 30_000;
/// If the end of a process's time moves by less than this, it is not written, in milliseconds.
const SMALL: u64 = 500;
/// The largest number of members that one call removes.
const MOST_REMOVED: u32 = 1_000;
/// Larger numbers are treated as this one. The script calculates with floats, in which sums of two such numbers are exact.
const MOST: i64 = 1 << 52;

/// The largest amount that a process can report, in thousandths of a retry: 17 million retries. So the sums over many
/// thousand processes are exact.
const MOST_KNOWN: i64 = 1 << 34;

/// The state of one fleet, in memory.
///
/// It does what the script in Redis does, step by step. Use it in simulations, and in tests of your own [`Store`]. With the feature `tokio`,
/// an `Arc<Mutex<MemoryStore>>` is a [`Store`] with tokio's clock, for [tests](crate#tests) with several processes of one fleet.
///
/// [`Store`]: super::Store
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    state: Option<State>,
    switch: Option<(String, u64)>,
    /// The fleet that called it as a [`Store`](super::Store).
    #[cfg(feature = "tokio")]
    fleet: Option<String>,
}

/// What the store knows of a fleet.
#[derive(Clone, Debug, Default)]
struct State {
    /// The time of the store, which advances with its clock and never goes back.
    now: u64,
    /// What the clock showed at the last call.
    clock: u64,
    epoch: String,
    members: BTreeMap<String, Member>,
    /// The members by the ends of their times.
    deadlines: BTreeSet<(u64, String)>,
    sums: Sums,
    /// The sums over the members that have called since the last count, which replace the others half a minute after it. The script
    /// needs it, because other programs may write into its state.
    new_sums: Sums,
    /// The number of counts, and the time of the last one.
    count: u64,
    counted: u64,
    /// The time of the latest timeout of an attempt, or 0.
    timed_out: u64,
    line: Line,
    limit: Limit,
    switch: Switch,
    programs: Programs,
}

/// The sums over all members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    missing: i64,
    capacity: i64,
    satisfied: u64,
    waiting: u32,
}

impl Sums {
    fn add(&mut self, member: &Member) {
        self.missing = (self.missing + member.missing).clamp(-MOST, MOST);
        self.capacity = (self.capacity + member.capacity).min(MOST);
        match member.demand {
            None => self.waiting += 1,
            Some(demand) => self.satisfied += u64::from(demand),
        }
    }

    fn subtract(&mut self, member: &Member) {
        self.missing = (self.missing - member.missing).clamp(-MOST, MOST);
        self.capacity = (self.capacity - member.capacity).max(0);
        match member.demand {
            None => self.waiting = self.waiting.saturating_sub(1),
            Some(demand) => self.satisfied = self.satisfied.saturating_sub(demand.into()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Member {
    /// When its time is over, unless it calls again.
    until: u64,
    /// The last count that it was part of.
    count: u64,
    accepted: u64,
    rejected: u64,
    /// The total number of sends that it has given to others, in halves.
    spare: u64,
    demand: Option<u32>,
    /// The knowledge of its quota.
    missing: i64,
    capacity: i64,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a call when the clock of the store shows this time, in milliseconds. If the clock was set back, no time has
    /// passed since the last call.
    pub fn call(&mut self, now: u64, call: &Call) -> Reply {
        let state = self.state.get_or_insert_with(|| State::new(now, call.fresh.clone()));
        state.now = state.now.saturating_add(now.saturating_sub(state.clock));
        state.clock = now;
        state.recount();
        state.remove_expired(call.look_at, &call.member);
        let mut reply = state.call(call);
        self.switch.take_if(|(_, until)| *until <= state.now);
        reply.turn = state.switch.call(state.now, call, &mut self.switch);
        reply.other_program = call.program.as_deref().and_then(|name| state.programs.call(state.now, name));
        reply
    }

    /// Forgets everything, as if the store was emptied.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Forgets the state, but not what was written by [`write_switch`](MemoryStore::write_switch), as if the store has evicted it.
    pub fn forget_state(&mut self) {
        self.state = None;
    }

    /// Writes a text as the switch until this time, in milliseconds, as operators do: `off`, `off ada: a reason`, or `on`.
    /// `None` deletes it.
    pub fn write_switch(&mut self, text: Option<&str>, until: u64) {
        self.switch = text.map(|text| (text.to_owned(), until));
    }

    /// Returns the number of processes whose time was not over at the last call.
    pub fn members(&self) -> usize {
        self.state.as_ref().map_or(0, State::living)
    }
}

/// The state of one fleet, which clones of the `Arc` share. A call of another fleet is an error.
#[cfg(feature = "tokio")]
impl super::Store for Arc<Mutex<MemoryStore>> {
    async fn call(&mut self, fleet: &str, call: &Call) -> Result<Reply, super::StoreError> {
        let now = millis(TokioTimer.now().since_origin());
        let mut store = self.lock().unwrap_or_else(PoisonError::into_inner);
        let known = store.fleet.get_or_insert_with(|| fleet.to_owned());
        if known != fleet {
            return Err(super::StoreError::new(format!(
                "this `MemoryStore` is that of the fleet {known:?}, not of {fleet:?}: make one for each fleet"
            )));
        }
        Ok(store.call(now, call))
    }
}

impl State {
    fn new(now: u64, epoch: String) -> Self {
        Self { now, clock: now, epoch, counted: now, limit: Limit::new(now), ..Self::default() }
    }

    /// Every half a minute, replaces the sums by those over the members that have called in it. So no call has to look at all members.
    fn recount(&mut self) {
        if self.now.saturating_sub(self.counted) < RECOUNT {
            return;
        }
        self.sums = std::mem::take(&mut self.new_sums);
        self.count += 1;
        self.counted = self.now;
    }

    fn add(&mut self, member: &mut Member) {
        member.count = self.count;
        self.sums.add(member);
        self.new_sums.add(member);
    }

    fn subtract(&mut self, member: &Member) {
        if member.count + 1 >= self.count {
            self.sums.subtract(member);
        }
        if member.count == self.count {
            self.new_sums.subtract(member);
        }
    }

    /// Removes members whose time is over.
    fn remove_expired(&mut self, most: u32, caller: &str) {
        let expired = self.deadlines.iter().take_while(|(until, _)| *until <= self.now);
        let expired = expired.take(most.min(MOST_REMOVED) as usize);
        for id in expired.map(|(_, id)| id.clone()).collect::<Vec<_>>() {
            self.remove(&id);
        }
        if self.members.get(caller).is_some_and(|member| member.until <= self.now) {
            self.remove(caller);
        }
    }

    fn remove(&mut self, id: &str) {
        if let Some(member) = self.members.remove(id) {
            self.subtract(&member);
            self.deadlines.remove(&(member.until, id.to_owned()));
        }
    }

    /// Returns the number of members whose time is not over.
    fn living(&self) -> usize {
        let expired = self.deadlines.iter().take_while(|(until, _)| *until <= self.now);
        self.deadlines.len() - expired.count()
    }

    fn call(&mut self, call: &Call) -> Reply {
        let until = (self.now.saturating_add(millis(call.ttl))).min(MOST.unsigned_abs());
        let former = self.members.get(&call.member).copied();
        // The process last saw another state, which was lost.
        let is_of_another_state = call.epoch.as_ref().is_some_and(|epoch| *epoch != self.epoch);
        let limit = call.limit.clone().map(|limit| limit.cleaned(is_of_another_state));
        let limit = limit.as_ref();
        if let Some(former) = &former {
            self.subtract(former);
        }
        let mut member = former.unwrap_or(Member {
            until,
            count: self.count,
            accepted: limit.map_or(0, |limit| limit.accepted),
            rejected: limit.map_or(0, |limit| limit.rejected),
            spare: call.line.map_or(0, |line| up_to_most(line.spare)),
            demand: Some(0),
            missing: 0,
            capacity: 0,
        });
        let quota = call.quota.map(|reported| self.quota(reported, &mut member));
        let now = self.now;
        let line = call.line.map(|reported| self.line.call(now, reported, millis(call.ttl), &call.member, &mut member));
        let step = limit.map(|limit| self.limit.call(now, limit, &mut member, call.is_leaving));
        if call.is_leaving {
            self.members.remove(&call.member);
            self.deadlines.remove(&(member.until, call.member.clone()));
        } else {
            self.add(&mut member);
            if former.is_none() || until.abs_diff(member.until) >= SMALL {
                self.deadlines.remove(&(member.until, call.member.clone()));
                member.until = until;
                self.deadlines.insert((until, call.member.clone()));
            }
            self.members.insert(call.member.clone(), member);
        }
        let members = u32::try_from(self.living()).unwrap_or(u32::MAX);
        let Sums { satisfied, waiting, .. } = self.sums;
        let limit = step.map(|step| self.limit.reply(satisfied, waiting.min(members), step));
        Reply { epoch: self.epoch.clone(), members, turn: None, quota, line, limit, other_program: None }
    }

    /// Stores what a process knows, and returns what the others know.
    fn quota(&mut self, reported: Knowledge, member: &mut Member) -> Knowledge {
        member.missing = reported.missing.clamp(-MOST_KNOWN, MOST_KNOWN);
        member.capacity = amount(reported.capacity).min(MOST_KNOWN);
        if let Some(age) = reported.timeout_age {
            self.timed_out = self.timed_out.max(self.now.saturating_sub(millis(age)));
        }
        let timed_out = Some(self.timed_out).filter(|at| *at > 0);
        Knowledge {
            missing: self.sums.missing,
            capacity: self.sums.capacity.unsigned_abs(),
            timeout_age: timed_out.map(|at| Duration::from_millis(self.now - at)),
        }
    }
}

fn up_to_most(count: u64) -> u64 {
    count.min(MOST.unsigned_abs())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX).min(MOST.unsigned_abs())
}

fn amount(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::LimitCall;

    // Rules F11, F28.
    #[test]
    fn sums_that_are_wrong_are_right_again_within_a_minute() {
        let mut store = MemoryStore::new();
        let call = |store: &mut MemoryStore, now, member: &str, demand| {
            let mut call = Call::new(member, "fresh");
            call.ttl = Duration::from_secs(3600);
            call.quota = Some(Knowledge { missing: -100, capacity: 1_000, timeout_age: None });
            call.limit = Some(LimitCall { demand, ..LimitCall::default() });
            store.call(now, &call);
            store.state.as_ref().unwrap().sums
        };
        let right = Sums { missing: -200, capacity: 2_000, waiting: 1, satisfied: 7 };
        call(&mut store, 100_000, "p1", None);
        assert_eq!(call(&mut store, 100_000, "p2", Some(7)), right);
        for wrong in [Sums { missing: 900, capacity: 900, waiting: 5, satisfied: 900 }, Sums::default()] {
            let state = store.state.as_mut().unwrap();
            state.sums = wrong;
            let now = state.now + RECOUNT;
            call(&mut store, now - 1, "p1", None);
            assert_ne!(call(&mut store, now - 1, "p2", Some(7)), right);
            assert_eq!(call(&mut store, now, "p1", None), right);
        }
    }
}
