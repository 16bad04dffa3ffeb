//! How soon the living use what the limit allows, after deaths, a rollout, and losses of the store.

use crate::millis::at;
use retry_core::Clock;
use retry_core::time::Timestamp;
use retry_fleet::Member;
use retry_fleet::store::MemoryStore;
use retry_limits::{PacedAnswers, PacedStrategy};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};

/// What the server accepts in a second. It saves up five seconds, because processes send in portions here.
const LIMIT: f64 = 100.0;
const BURST: f64 = 5.0 * LIMIT;

/// What the server can accept, and when that was.
struct Server(f64, Timestamp);

impl Server {
    fn accepts(&mut self, now: Timestamp) -> bool {
        let elapsed = now.saturating_since(self.1);
        self.1 = self.1.max(now);
        self.0 = (self.0 + LIMIT * elapsed.as_secs_f64()).min(BURST);
        let accepts = self.0 >= 1.0;
        self.0 -= f64::from(u8::from(accepts));
        accepts
    }
}

/// A process that sends as much as it may.
struct Sender {
    server: Arc<Mutex<Server>>,
    sent: Mutex<Sent>,
}

struct Sent {
    at: Timestamp,
    rate: f64,
    /// The part of the next request.
    part: f64,
    answers: PacedAnswers,
}

impl PacedStrategy for Sender {
    fn pace_at(&self, rate: Option<f64>, _: bool, clock: &dyn Clock) -> PacedAnswers {
        let (mut sent, mut server, now) = (self.sent.lock().unwrap(), self.server.lock().unwrap(), clock.now());
        sent.part += sent.rate * now.saturating_since(sent.at).as_secs_f64();
        (sent.at, sent.rate) = (now, rate.unwrap_or(10.0));
        sent.answers.waits += 1;
        while sent.part >= 1.0 {
            sent.part -= 1.0;
            if server.accepts(now) {
                sent.answers.accepted += 1;
            } else {
                sent.answers.rejected += 1;
            }
        }
        sent.answers
    }
}

/// A fleet in virtual time, in milliseconds.
struct World {
    now: u64,
    server: Arc<Mutex<Server>>,
    store: MemoryStore,
    is_away: bool,
    senders: Vec<Arc<Sender>>,
    /// `None` for the dead.
    members: Vec<Option<Member>>,
    calls: BinaryHeap<Reverse<(u64, usize)>>,
}

impl World {
    fn new(processes: usize) -> Self {
        let mut world = Self {
            now: 0,
            server: Arc::new(Mutex::new(Server(0.0, at(0)))),
            store: MemoryStore::new(),
            is_away: false,
            senders: Vec::new(),
            members: Vec::new(),
            calls: BinaryHeap::new(),
        };
        for _ in 0..processes {
            world.start();
        }
        world
    }

    fn start(&mut self) {
        let number = self.members.len();
        let sent = Sent { at: at(self.now), rate: 0.0, part: 0.0, answers: PacedAnswers::default() };
        let sender = Arc::new(Sender { server: Arc::clone(&self.server), sent: Mutex::new(sent) });
        let member = Member::new("orders", format!("p{number}"), at(self.now)).limit(Arc::clone(&sender));
        self.senders.push(sender);
        self.members.push(Some(member));
        self.calls.push(Reverse((self.now, number)));
    }

    fn kill(&mut self, numbers: std::ops::Range<usize>) {
        self.members[numbers].iter_mut().for_each(|member| *member = None);
    }

    fn run_until(&mut self, end: u64) {
        while let Some(Reverse((time, number))) = self.calls.peek().copied().filter(|Reverse((time, _))| *time < end) {
            self.calls.pop();
            self.now = self.now.max(time);
            let Some(member) = &mut self.members[number] else { continue };
            let (now, call) = (at(self.now), member.call(at(self.now), false));
            let next = if self.is_away {
                // As the task does, it waits for an answer for a second.
                member.unanswered(now, &"no answer");
                member.next_call_at().saturating_add(std::time::Duration::from_secs(1))
            } else {
                member.answered(now, &self.store.call(self.now, &call));
                member.next_call_at()
            };
            let next = u64::try_from(next.saturating_since(at(0)).as_millis()).unwrap().max(self.now + 1);
            self.calls.push(Reverse((next, number)));
        }
        self.now = end;
    }

    /// Returns what all processes have sent, the parts since their last calls included.
    fn sent(&self) -> f64 {
        let living = self.members.iter().zip(&self.senders).filter(|(member, _)| member.is_some());
        let counts = living.map(|(_, sender)| {
            let sent = sender.sent.lock().unwrap();
            let answers = u32::try_from(sent.answers.accepted + sent.answers.rejected).unwrap();
            f64::from(answers) + sent.part + sent.rate * at(self.now).saturating_since(sent.at).as_secs_f64()
        });
        counts.sum()
    }

    /// Returns the part of the limit that the living use from this time on, in ten seconds.
    fn used_from(&mut self, time: u64) -> f64 {
        self.run_until(time);
        let before = self.sent();
        self.run_until(time + 10_000);
        (self.sent() - before) / (10.0 * LIMIT)
    }
}

// Rule F35.
#[test]
fn the_living_use_the_limit_within_five_seconds_or_three_intervals_after_deaths() {
    for (processes, dead) in [(2, 1), (20, 10), (20, 19), (400, 398), (5_002, 5_000)] {
        let mut world = World::new(processes);
        let begin = if processes > 1_000 { 40_000 } else { 60_000 };
        world.run_until(begin);
        world.kill(0..dead);
        let interval = u64::try_from(processes).unwrap() * 1_000 / 2_000;
        let used = world.used_from(begin + (3 * interval).max(5_000));
        // While there were fewer senders, the server has saved up.
        assert!(used > 0.9 && used < 1.6, "{dead} of {processes} died: {used} of the limit are used");
        // The entries of the dead are removed, too.
        assert_eq!(world.store.members(), processes - dead);
    }
}

// Rule F35.
#[test]
fn the_living_use_the_limit_within_five_seconds_after_a_rollout() {
    let mut world = World::new(20);
    world.run_until(60_000);
    for number in 0..20 {
        world.run_until(60_000 + 1_500 * number);
        let number = usize::try_from(number).unwrap();
        world.kill(number..number + 1);
        world.start();
    }
    let used = world.used_from(60_000 + 30_000 + 5_000);
    assert!(used > 0.9 && used < 1.25, "{used} of the limit are used");
}

// Rule F35.
#[test]
fn the_living_use_the_limit_within_ten_seconds_after_the_store_was_lost_came_back_or_was_emptied() {
    for seconds in [2, 4, 20, 120] {
        let mut world = World::new(20);
        world.run_until(60_000);
        world.is_away = true;
        let back = 60_000 + 1_000 * seconds;
        if seconds > 20 {
            let used = world.used_from(70_000);
            assert!(used > 0.9 && used < 1.1, "lost for {seconds} s: {used} of the limit are used");
        }
        world.run_until(back);
        world.is_away = false;
        let (at_once, used) = (world.used_from(back), world.used_from(back + 10_000));
        assert!(at_once < 1.3 && used > 0.9 && used < 1.25, "lost for {seconds} s: {at_once}, then {used} are used");
    }
    let mut world = World::new(20);
    world.run_until(60_000);
    world.store.forget();
    let (at_once, used) = (world.used_from(60_000), world.used_from(70_000));
    assert!(at_once < 1.3 && used > 0.9 && used < 1.25, "emptied: {at_once}, then {used} are used");
}
