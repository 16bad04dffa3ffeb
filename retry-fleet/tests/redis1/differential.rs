//! The script and the store in memory are twins: random calls get equal replies.

use crate::random::Random;
use crate::server::RedisServer;
use redis::{Commands, Connection};
use retry_fleet::Store;
use retry_fleet::protocol::{Call, Knowledge, LimitCall, LineCall, Post, Reply, Turn};
use retry_fleet::redis1::RedisStore;
use retry_fleet::store::MemoryStore;
use std::time::Duration;

const HASH: &str = "retry-fleet:1:{orders}";
const SWITCH: &str = "retry-fleet:{orders}:switch";
/// More than all entries together.
const ALL: u32 = 1_000;

/// Calls of processes that forget, repeat, mix up and make up numbers.
struct Calls {
    random: Random,
    epoch: Option<String>,
    version: u64,
    turn: Option<Turn>,
    last: Option<Call>,
    made: u32,
}

impl Calls {
    fn new(seed: u64) -> Self {
        Self { random: Random(seed), epoch: None, version: 0, turn: None, last: None, made: 0 }
    }

    fn below(&mut self, bound: u32) -> u32 {
        self.random.below(bound)
    }

    /// Returns a count that is mostly small and sometimes larger than the store can count.
    fn count(&mut self, bound: u32) -> u64 {
        match self.below(200) {
            0 => u64::from(u32::MAX) + u64::from(self.below(1_000)),
            1 => u64::MAX - u64::from(self.below(1_000)),
            2 => (1 << 52) - 500 + u64::from(self.below(1_000)),
            _ => u64::from(self.below(bound)),
        }
    }

    fn small(&mut self, bound: u32) -> u32 {
        if self.random.one_in(300) { u32::MAX - self.below(3) } else { self.below(bound) }
    }

    fn next(&mut self) -> Call {
        self.made += 1;
        if self.random.one_in(10)
            && let Some(last) = &self.last
        {
            return last.clone();
        }
        // A few thousand processes join one after another, and a few are there at a time.
        let (first, any) = (self.made / 500, self.below(6));
        let member = format!("p{}", first + any);
        let mut call = Call::new(member, format!("fresh{}", self.made));
        call.epoch = match self.below(10) {
            0 => None,
            1 => Some("another".into()),
            _ => self.epoch.clone(),
        };
        call.ttl = Duration::from_millis(u64::from(if self.random.one_in(5) { 20_000 } else { self.below(100) }));
        call.is_leaving = self.random.one_in(20);
        call.look_at = if self.random.one_in(2) { ALL } else { 0 };
        call.quota = (!self.random.one_in(5)).then(|| self.quota());
        call.line = self.random.one_in(2).then(|| self.line());
        call.limit = self.random.one_in(2).then(|| self.limit());
        call.known_turn = self.random.one_in(3).then(|| self.known_turn()).flatten();
        call.turn = self.random.one_in(40).then(|| self.turn(1));
        call.program = self.program();
        self.last = Some(call.clone());
        call
    }

    /// Returns a turn with any number, or the last one that was heard of.
    fn known_turn(&mut self) -> Option<Turn> {
        if self.random.one_in(4) {
            let number = if self.random.one_in(2) { self.count(1_000) } else { self.turn.as_ref()?.number + 1 };
            return Some(self.turn(number));
        }
        self.turn.clone()
    }

    fn turn(&mut self, number: u64) -> Turn {
        let off_for = 60 * Duration::from_secs(self.random.below(3).into());
        let reason = ["", "ada: why", "a\u{e9}:: b"][self.random.below(3) as usize];
        Turn { number, off_for, reason: reason.to_owned() }
    }

    /// Returns one of a few programs, of which each is away for a while.
    fn program(&mut self) -> Option<String> {
        let program = (self.made / 1_000 + self.below(3)) % 7;
        (!self.random.one_in(3)).then(|| format!("program {program}\n"))
    }

    fn quota(&mut self) -> Knowledge {
        let missing = i64::try_from(self.count(3_000)).unwrap_or(i64::MAX);
        let age = match self.random.below(4) {
            0 => Some(Duration::from_millis(self.count(200_000))),
            _ => None,
        };
        Knowledge {
            missing: if self.random.one_in(3) { -missing } else { missing },
            capacity: self.count(5_000),
            timeout_age: age,
        }
    }

    /// Returns operations that wait for a while, and then none.
    fn line(&mut self) -> LineCall {
        let waits = !(self.made / 300).is_multiple_of(3);
        let waiting = if waits && self.random.one_in(3) { self.small(5) } else { 0 };
        // A total that grows with each call, or one that is late or made up.
        let spare = if self.random.one_in(5) { self.count(10) } else { u64::from(self.made / 12 + self.below(3)) };
        LineCall { waiting, longest_wait: Duration::from_millis(self.count(300)), spare }
    }

    fn limit(&mut self) -> LimitCall {
        LimitCall {
            version: if self.random.one_in(4) { self.count(50) } else { self.version },
            accepted: self.count(10_000),
            rejected: self.count(500),
            demand: (!self.random.one_in(3)).then(|| self.small(100_000)),
            known: self
                .random
                .one_in(3)
                .then(|| (f64::from(self.small(1_000)) / 7.0, f64::from(self.small(1_000)) / 3.0)),
            posted: self.random.one_in(3).then(|| Post {
                version: if self.random.one_in(4) { self.count(50) } else { self.version },
                accepted: self.count(5_000),
                rejected: self.count(200),
                rate: f64::from(self.below(1_000_000)) / 7.0 * 10_f64.powi(i32::try_from(self.below(40)).unwrap() - 20),
                estimate: f64::from(self.small(1_000_000)) / 3.0,
                is_cut: self.random.one_in(2),
                state: if self.random.one_in(20) { String::new() } else { format!("state {} \u{e9}", self.made) },
            }),
        }
    }

    /// Learns from a reply what the next calls should know, unless the reply is lost.
    fn learn(&mut self, reply: &Reply) {
        if self.random.one_in(4) {
            return;
        }
        self.epoch = Some(reply.epoch.clone());
        if !self.random.one_in(4) {
            self.turn.clone_from(&reply.turn);
        }
        if let Some(step) = reply.limit.as_ref().and_then(|limit| limit.step.as_ref()) {
            self.version = step.version;
        }
    }
}

/// What was seen in a run, which shows that the calls reached all parts of the script.
#[derive(Debug, Default)]
struct Seen {
    evidence: u32,
    surpluses: u32,
    timeouts: u32,
    steps: u32,
    rates: u32,
    cuts: u32,
    off: u32,
    gone: u32,
    epochs: u32,
    counted: u32,
    restored: u32,
    carried: u32,
    written: u32,
    deleted: u32,
    programs: u32,
    alone: u32,
    granted: u32,
    unused: u32,
    later: u32,
}

impl Seen {
    fn note(&mut self, call: &Call, before: &MemoryStore, reply: &Reply, after: &MemoryStore) {
        if let Some(others) = reply.quota {
            self.evidence += u32::from(others.missing > 0 && others.capacity > 0);
            self.surpluses += u32::from(others.missing < 0);
            self.timeouts += u32::from(others.timeout_age.is_some());
        }
        if let Some(limit) = &reply.limit {
            self.steps += u32::from(limit.step.as_ref().is_some_and(|step| step.state.is_some()));
            self.rates += u32::from(limit.rate.is_some());
            self.cuts += u32::from(limit.cut > 0 && limit.version > limit.cut);
            let known = call.limit.as_ref().and_then(|limit| limit.known);
            self.restored += u32::from(known.is_some() && limit.rate == known);
        }
        if let Some((call, reply)) = call.line.zip(reply.line) {
            self.granted += u32::from(reply.granted > 0 && reply.granted < call.waiting);
            self.unused += u32::from(call.spare > 0 && !reply.is_waiting);
            self.later += u32::from(call.waiting > 0 && reply.granted == 0 && !reply.least_wait.is_zero());
        }
        self.off += u32::from(!reply.retries_enabled());
        let known = call.known_turn.as_ref().is_some_and(|known| reply.turn.as_ref() == Some(known));
        self.carried += u32::from(known && reply.epoch == call.fresh);
        self.gone += u32::from(after.members() + usize::from(call.is_leaving) < before.members());
        self.epochs += u32::from(reply.epoch == call.fresh);
        self.programs += u32::from(reply.other_program.is_some());
        self.alone += u32::from(reply.other_program.is_none() && call.program.is_some());
    }

    fn assert_everything(&self) {
        let Self {
            evidence,
            surpluses,
            timeouts,
            steps,
            rates,
            cuts,
            off,
            gone,
            epochs,
            counted,
            restored,
            carried,
            written,
            deleted,
            programs,
            alone,
            granted,
            unused,
            later,
        } = *self;
        for count in [
            evidence, surpluses, timeouts, steps, rates, cuts, off, gone, epochs, counted, restored, carried, written,
            deleted, programs, alone, granted, unused, later,
        ] {
            assert!(count >= 10, "a part of the script was hardly reached: {self:?}");
        }
    }
}

async fn call(store: &mut RedisStore, call: &Call) -> Reply {
    store.call("orders", call).await.unwrap()
}

fn now(server: &mut Connection) -> u64 {
    server.hget(HASH, "now").unwrap()
}

/// Lets the time of the store pass, or its clock go back by ten minutes. The keys of a store expire by its clock.
fn pass(server: &mut Connection, random: &mut Random) {
    if !server.exists::<_, bool>(HASH).unwrap() {
        return;
    }
    if random.one_in(20) {
        let clock: u64 = server.hget(HASH, "clock").unwrap();
        let _: () = server.hset(HASH, "clock", clock + 600_000).unwrap();
    } else {
        let most = if random.one_in(100) { 8_000 } else { 40 };
        let time = random.below(most);
        let _: () = server.hincr(HASH, "now", time).unwrap();
        let left: i64 = server.pttl(SWITCH).unwrap();
        if left > 0 {
            let _: () = server.pexpire(SWITCH, left - i64::from(time)).unwrap();
        }
    }
}

/// Lets something happen to the store, sometimes. Returns whether it did.
fn events(random: &mut Random, direct: &mut Connection, memory: &mut MemoryStore, seen: &mut Seen) -> bool {
    match random.below(4_000) {
        0..8 => {
            let _: () = redis::cmd("FLUSHALL").query(direct).unwrap();
            memory.forget();
        }
        8..12 => {
            // The next call finds no state, and the switch stays.
            let _: () = direct.del(HASH).unwrap();
            memory.forget_state();
        }
        12..30 => {
            let deleted: u32 = direct.del(SWITCH).unwrap();
            memory.write_switch(None, 0);
            seen.deleted += deleted;
        }
        30..80 => {
            let text = ["off", "on", "1", "off ada: why", "off bob", "offended", "on "][random.below(7) as usize];
            let time = 30_000 * u64::from(1 + random.below(3));
            let _: () = direct.pset_ex(SWITCH, text, time).unwrap();
            seen.written += 1;
        }
        _ => return false,
    }
    true
}

/// Tells the twin the text of the switch. A key expires by the time that is left, which has changed since the call, and the twin
/// knows points in time. So the end that the script has read decides, unless it is that of something else.
fn tell_text(direct: &mut Connection, memory: &mut MemoryStore, now: u64) {
    let (text, end): (Option<String>, Option<u64>) =
        (direct.get(SWITCH).unwrap(), direct.hget(HASH, "off_until").unwrap());
    let until = now + direct.pttl::<_, i64>(SWITCH).unwrap().max(0).unsigned_abs();
    let read = end.filter(|end| end.abs_diff(until) < 100);
    memory.write_switch(text.as_deref(), read.unwrap_or(until));
}

// Rule F11.
#[tokio::test]
async fn random_calls_get_equal_replies_from_the_script_and_its_twin() {
    let calls_for_each_seed =
        std::env::var("RETRY_TEST_CALLS").map_or(6_000, |calls| calls.parse().expect("RETRY_TEST_CALLS is a number"));
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    let mut seen = Seen::default();
    for seed in 1..=4 {
        let (mut calls, mut memory) = (Calls::new(seed), MemoryStore::new());
        let _: () = redis::cmd("FLUSHALL").query(&mut direct).unwrap();
        for step in 0..calls_for_each_seed {
            if calls.random.one_in(3) {
                pass(&mut direct, &mut calls.random);
            }
            let has_happened = events(&mut calls.random, &mut direct, &mut memory, &mut seen);
            // Nothing expires in the time between the calls of the twins.
            if direct.pttl::<_, i64>(SWITCH).unwrap() < 300 {
                let _: () = direct.del(SWITCH).unwrap();
                memory.write_switch(None, 0);
            }
            let mut next = calls.next();
            if has_happened {
                next.turn = None;
            }
            let reply = call(&mut store, &next).await;
            let before = memory.clone();
            let (now, counted): (u64, u64) = direct.hmget(HASH, &["now", "counted"]).unwrap();
            tell_text(&mut direct, &mut memory, now);
            seen.counted += u32::from(now == counted);
            let expected = memory.call(now, &next);
            assert_eq!(reply, expected, "seed {seed}, step {step}: {next:?}\nbefore: {before:?}");
            seen.note(&next, &before, &expected, &memory);
            calls.learn(&reply);
        }
    }
    seen.assert_everything();
}

// Rule F11.
#[tokio::test]
async fn the_twins_agree_by_the_clock_of_the_server_too() {
    let server = RedisServer::start(&[]);
    let mut direct = server.client().get_connection().unwrap();
    let mut store = RedisStore::from(server.client());
    let (mut calls, mut memory) = (Calls::new(77), MemoryStore::new());
    let mut times = (u64::MAX, 0);
    for step in 0..5_000 {
        let next = calls.next();
        let reply = call(&mut store, &next).await;
        let time = now(&mut direct);
        times = (times.0.min(time), times.1.max(time));
        tell_text(&mut direct, &mut memory, time);
        assert_eq!(reply, memory.call(time, &next), "step {step}: {next:?}");
        calls.learn(&reply);
    }
    let seconds: (u64, u64) = redis::cmd("TIME").query(&mut direct).unwrap();
    let time = seconds.0 * 1_000 + seconds.1 / 1_000;
    assert!(times.0 < times.1 && times.1 <= time, "the times are not the server's");

    // As if the clock had shown another time before.
    let _: () = direct.hset(HASH, "clock", time + 600_000).unwrap();
    call(&mut store, &calls.next()).await;
    assert_eq!(now(&mut direct), times.1, "no time has passed");
    tokio::time::sleep(Duration::from_millis(20)).await;
    call(&mut store, &calls.next()).await;
    assert!(now(&mut direct) > times.1, "time goes on");
}
