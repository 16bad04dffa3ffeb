//! A fleet: processes that join, leave, die and are cut off, calls and replies that are lost, late or repeated, and a store that
//! loses its data.

mod model;

use crate::program::{check, each};
use model::{Model, Seen};
use proptest::collection::vec;
use proptest::prelude::*;
use retry_core::quota::EvidenceQuota;
use retry_core::time::Timestamp;
use retry_core::{Clock, RetryErrorType, RetryQuota};
use retry_fleet::protocol::{Call, Reply};
use retry_fleet::store::MemoryStore;
use retry_fleet::{FleetSwitch, Member};
use retry_limits::{PacedAnswers, PacedStrategy};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One step of a program. Times are in milliseconds. There are five places for processes.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u64),
    /// The clock of the store is set back.
    SetBack(u64),
    /// A process calls. If there is none, one joins.
    Call(usize, Fate),
    /// A process calls for the last time.
    Leave(usize, Fate),
    Die(usize),
    /// The store gets the last call of a process again.
    Repeat(usize),
    /// The store gets the calls that are late.
    Deliver,
    /// Attempts of a process fail: how many, and whether by timeouts.
    Fail(usize, u32, bool),
    /// Requests of a process are accepted and rejected, and it may wait for sends.
    Send(usize, u64, u64, bool),
    /// A process turns the retries off for a time, or on, with its next call.
    Turn(usize, u64),
    /// An operator writes the switch: whether retries are on, and for how long it holds. Or deletes it.
    Write(Option<(bool, u64)>),
    /// The store loses all its data, or only its state.
    Empty(bool),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Answered,
    /// The reply comes when the process calls next, unless that is more than a second later.
    Slow,
    CallLost,
    ReplyLost,
    /// The call reaches the store later, and is not answered.
    CallLate,
}

fn steps() -> impl Strategy<Value = Step> {
    let place = || 0..5_usize;
    let fate = || {
        prop_oneof![
            12 => Just(Fate::Answered), 2 => Just(Fate::Slow), 2 => Just(Fate::CallLost), 1 => Just(Fate::ReplyLost), 1 => Just(Fate::CallLate)
        ]
    };
    let times = || prop_oneof![Just(0_u64), 1..5_000_u64, 5_000..400_000_u64];
    let turn = prop_oneof![1 => Just(None), 4 => (any::<bool>(), times()).prop_map(Some)];
    prop_oneof![
        12 => prop_oneof![4 => 1..700_u64, 2 => 700..4_000_u64, 1 => 4_000..90_000_u64].prop_map(Step::Advance),
        1 => (1..5_000_u64).prop_map(Step::SetBack),
        30 => (place(), fate()).prop_map(|(place, fate)| Step::Call(place, fate)),
        2 => (place(), fate()).prop_map(|(place, fate)| Step::Leave(place, fate)),
        1 => place().prop_map(Step::Die),
        1 => place().prop_map(Step::Repeat),
        2 => Just(Step::Deliver),
        5 => (place(), 1..30_u32, any::<bool>()).prop_map(|(place, count, by_timeouts)| Step::Fail(place, count, by_timeouts)),
        8 => (place(), 0..200_u64, prop_oneof![3 => Just(0), 1 => 0..20_u64], any::<bool>())
            .prop_map(|(place, accepted, rejected, waits)| Step::Send(place, accepted, rejected, waits)),
        2 => (place(), times()).prop_map(|(place, time)| Step::Turn(place, time)),
        1 => turn.prop_map(Step::Write),
        1 => prop::bool::weighted(0.7).prop_map(Step::Empty),
    ]
}

fn at(millis: u64) -> Timestamp {
    Timestamp::START.saturating_add(Duration::from_millis(millis))
}

struct At(u64);

impl Clock for At {
    fn now(&self) -> Timestamp {
        at(self.0)
    }
}

/// A strategy that sends what the program says.
#[derive(Default)]
struct Sends(Mutex<PacedAnswers>);

impl PacedStrategy for Sends {
    fn pace_at(&self, _: Option<f64>, _: bool, _: &dyn Clock) -> PacedAnswers {
        *self.0.lock().unwrap()
    }
}

struct Process {
    id: String,
    member: Member,
    quota: Arc<EvidenceQuota>,
    sends: Arc<Sends>,
    switch: Arc<FleetSwitch>,
    has_limit: bool,
    last: Option<Call>,
    slow: Option<(u64, Reply)>,
    /// How to turn the switch with the next call.
    turn: Option<u64>,
}

impl Process {
    fn new(id: String, has_limit: bool, now: u64) -> Self {
        let (quota, sends) = (Arc::new(EvidenceQuota::new()), Arc::new(Sends::default()));
        quota.first_succeeded(0);
        let switch = Arc::new(FleetSwitch::new(|_| ()));
        let mut member = Member::new("orders", &id, at(now)).quota(Arc::clone(&quota)).switch(Arc::clone(&switch));
        if has_limit {
            member = member.limit(Arc::clone(&sends));
        }
        Self { id, member, quota, sends, switch, has_limit, last: None, slow: None, turn: None }
    }
}

struct World {
    now: u64,
    /// What the clock of the store shows.
    clock: u64,
    store: MemoryStore,
    places: [Option<Process>; 5],
    late: Vec<Call>,
    named: u32,
    model: Model,
}

impl World {
    fn new() -> Self {
        Self {
            now: 1_000_000,
            clock: 1_000_000,
            store: MemoryStore::new(),
            places: std::array::from_fn(|_| None),
            late: Vec::new(),
            named: 0,
            model: Model::default(),
        }
    }

    /// The store gets a call, and both replies must agree.
    fn reach(&mut self, call: &Call) -> Reply {
        let reply = self.store.call(self.clock, call);
        self.model.reached(self.clock, call, &reply);
        reply
    }

    fn answered(&mut self, place: usize, reply: &Reply) {
        let process = self.places[place].as_mut().unwrap();
        process.member.answered(at(self.now), reply);
        self.model.answered(&process.id, self.now, reply);
    }

    fn call(&mut self, place: usize, fate: Fate, is_leaving: bool) {
        if self.places[place].is_none() {
            self.named += 1;
            let id = format!("p{}", self.named);
            self.model.joins(&id, self.now);
            self.places[place] = Some(Process::new(id, !place.is_multiple_of(3), self.now));
        }
        let process = self.places[place].as_mut().unwrap();
        if let Some((asked, reply)) = process.slow.take() {
            if self.now - asked <= 1_000 {
                self.answered(place, &reply);
            } else {
                process.member.unanswered(at(self.now), &"slow");
                self.model.unanswered(&process.id, self.now);
            }
            self.check(place);
        }
        let process = self.places[place].as_mut().unwrap();
        let call = process.member.call(at(self.now), is_leaving);
        assert_eq!(
            call.turn.as_ref().map(|turn| u64::try_from(turn.off_for.as_millis()).unwrap()),
            process.turn.take()
        );
        assert_eq!(call.ttl, Duration::from_secs(3));
        self.model.called(&process.id, self.now, &call);
        process.last = Some(call.clone());
        let reply = match fate {
            Fate::Answered | Fate::Slow | Fate::ReplyLost => Some(self.reach(&call)),
            Fate::CallLate => {
                self.late.push(call);
                None
            }
            Fate::CallLost => None,
        };
        match (fate, reply) {
            (Fate::Answered, Some(reply)) if !is_leaving => self.answered(place, &reply),
            (Fate::Slow, Some(reply)) if !is_leaving => {
                self.places[place].as_mut().unwrap().slow = Some((self.now, reply));
                return;
            }
            _ if is_leaving => {
                self.places[place] = None;
                return;
            }
            _ => {
                let process = self.places[place].as_mut().unwrap();
                process.member.unanswered(at(self.now), &"lost");
                self.model.unanswered(&process.id, self.now);
            }
        }
        self.check(place);
    }

    /// Checks what a process knows after a call.
    fn check(&mut self, place: usize) {
        let process = self.places[place].as_ref().unwrap();
        let status = process.member.status();
        let seen = Seen {
            is_connected: status.is_connected,
            members: status.members,
            is_on: process.switch.is_on(),
            is_off_for: process.member.switched_off(at(self.now)).map(|off| off.off_for),
            share: status.share,
            rate: status.rate,
            next_call_in: process.member.next_call_at().saturating_since(at(self.now)),
        };
        assert_eq!(status.retries_enabled, seen.is_on);
        self.model.check(&process.id, process.has_limit, self.now, &seen);
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Advance(time) => {
                self.now += time;
                self.clock += time;
            }
            Step::SetBack(time) => self.clock -= time,
            Step::Call(place, fate) => self.call(place, fate, false),
            Step::Leave(place, fate) if self.places[place].is_some() => self.call(place, fate, true),
            Step::Leave(..) => {}
            Step::Die(place) => self.places[place] = None,
            Step::Repeat(place) => {
                if let Some(call) = self.places[place].as_ref().and_then(|process| process.last.clone()) {
                    self.reach(&call);
                }
            }
            Step::Deliver => {
                for call in std::mem::take(&mut self.late) {
                    self.reach(&call);
                }
            }
            Step::Fail(place, count, by_timeouts) => {
                if let Some(process) = &self.places[place] {
                    let class = if by_timeouts { RetryErrorType::Timeout } else { RetryErrorType::Other };
                    for _ in 0..count {
                        process.quota.pay(14, class, &At(self.now));
                    }
                }
            }
            Step::Send(place, accepted, rejected, waits) => {
                if let Some(process) = &self.places[place] {
                    let mut answers = process.sends.0.lock().unwrap();
                    answers.accepted += accepted;
                    answers.rejected += rejected;
                    answers.waits += u64::from(waits);
                }
            }
            Step::Turn(place, time) => {
                if let Some(process) = &mut self.places[place] {
                    process.member.turn_retries_off(Duration::from_millis(time), "ada: why", at(self.now));
                    process.turn = Some(time);
                }
            }
            Step::Write(text) => {
                let (text, until) = text.map_or((None, 0), |(is_on, time)| {
                    (Some(if is_on { "on" } else { "off bob: how" }), self.model.store_time(self.clock) + time)
                });
                self.store.write_switch(text, until);
                self.model.write(text, until);
            }
            Step::Empty(is_all) => {
                if is_all {
                    self.store.forget();
                } else {
                    self.store.forget_state();
                }
                self.model.empty(is_all);
            }
        }
    }

    /// The living share the limit: each waits and sends its share. Then they end, and nothing is left of them.
    fn end(&mut self) {
        self.step(Step::Deliver);
        let living: Vec<_> = (0..5).filter(|place| self.places[*place].is_some()).collect();
        let (mut accepts, mut parts, mut sent_in) = (0, [0.0; 5], [0; 160]);
        for sent_in in &mut sent_in {
            self.step(Step::Advance(250));
            // The server accepts 100 requests per second, and saves up those of a second.
            accepts = (accepts + 25).min(100);
            for place in &living {
                let process = self.places[*place].as_ref().unwrap();
                let share = process.member.status().share.unwrap_or(10.0);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
                let sent = (share / 4.0 + parts[*place]).clamp(0.0, 1e6) as u32;
                parts[*place] += share / 4.0 - f64::from(sent);
                let accepted = sent.min(accepts);
                accepts -= accepted;
                *sent_in += sent;
                self.step(Step::Send(*place, accepted.into(), (sent - accepted).into(), true));
                self.call(*place, Fate::Answered, false);
            }
        }
        // The last seconds at the limit, what the server has saved up, and the searches for a higher limit. A program can leave a
        // rate near zero, so that the first search comes late.
        for (seconds, most) in [(10, 1_400), (30, 3_600)] {
            let sent: u32 = sent_in[160 - 4 * seconds..].iter().sum();
            assert!(sent <= most, "{sent} requests in {seconds} s where {} are accepted", 100 * seconds);
        }
        for place in living {
            self.call(place, Fate::Answered, true);
        }
        assert_eq!(self.store.members(), self.model.members());
        // Late and repeated calls of those that had left before are over, too.
        self.step(Step::Advance(20_000));
        let mut call = Call::new("newcomer", "fresh");
        call.quota = Some(retry_fleet::protocol::Knowledge::default());
        call.limit = Some(retry_fleet::protocol::LimitCall { demand: Some(0), ..Default::default() });
        let reply = self.reach(&call);
        let (quota, limit) = (reply.quota.unwrap(), reply.limit.unwrap());
        assert_eq!((reply.members, quota.missing, quota.capacity), (1, 0, 0));
        assert_eq!((limit.satisfied, limit.waiting), (0, 0));
        call.is_leaving = true;
        self.reach(&call);
        assert_eq!(self.store.members(), 0);
    }
}

// Rules F2, F4, F5, F7, F9, F11, F17, F29, F34, F42.
#[test]
fn a_fleet_knows_its_processes_and_its_switch_whatever_is_lost() {
    check(file!(), 400, vec(steps(), 1..150), |steps| {
        let mut world = World::new();
        each(steps, |step| world.step(step));
        world.end();
    });
}
