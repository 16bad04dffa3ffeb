//! The shares of a limit: the shipped part of a member for the limit, with processes that send as much as they may.

use crate::millis::at;
use retry_core::Clock;
use retry_core::time::Timestamp;
use retry_fleet::Member;
use retry_fleet::protocol::{Call, LimitCall, LimitReply, Post};
use retry_fleet::store::MemoryStore;
use retry_limits::{PacedAnswers, PacedStrategy};
use stateright::{Checker, Model, Property};
use std::sync::{Arc, Mutex};
use std::time::Instant;

const PLACES: usize = 3;
/// The limit of the fleet, in sends per second, and what a process can want.
const RATE: f64 = 90.0;
const HIGH: f64 = 200.0;
const LOW: f64 = 4.0;
/// The time between two calls of a process, and between the calls of two processes, in milliseconds.
const INTERVAL: u64 = 250;
const BETWEEN: u64 = 10;
/// The rounds in which all join, and those in which the store is away: 3.5 s.
const JOINING: u64 = 12;
const AWAY: u64 = 14;
/// The rounds without faults: after 10 s, the processes that are missing in an emptied store have ended. Rules F27, F35.
const CALM: u64 = 42;
/// The last rounds, in which the shares are compared with the limit.
const LAST: u64 = 4;

const ORDERS: [[usize; PLACES]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// A process that sends as much as it wants and may, and is always accepted.
struct Sender(Mutex<Sent>);

struct Sent {
    wants: f64,
    at: Timestamp,
    rate: f64,
    part: f64,
    answers: PacedAnswers,
}

impl PacedStrategy for Sender {
    fn pace_at(&self, rate: Option<f64>, _: bool, clock: &dyn Clock) -> PacedAnswers {
        let (mut sent, now) = (self.0.lock().unwrap(), clock.now());
        sent.part += sent.rate.min(sent.wants) * now.saturating_since(sent.at).as_secs_f64();
        (sent.at, sent.rate) = (now, rate.unwrap_or(f64::INFINITY));
        if sent.wants > sent.rate {
            sent.answers.waits += 1;
        }
        while sent.part >= 1.0 {
            sent.part -= 1.0;
            sent.answers.accepted += 1;
        }
        sent.answers
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fault {
    Nothing,
    Lost(usize),
    Crash(usize),
    Wants(usize),
    Empty,
    Away,
}

/// A fleet with a fixed limit.
struct World {
    now: u64,
    store: MemoryStore,
    members: Vec<Option<Member>>,
    senders: Vec<Arc<Sender>>,
    is_waiting_unknown: bool,
}

impl World {
    fn new(wants: [f64; PLACES], is_waiting_unknown: bool) -> Self {
        let sender = |wants| {
            let sent = Sent { wants, at: at(0), rate: 0.0, part: 0.0, answers: PacedAnswers::default() };
            Arc::new(Sender(Mutex::new(sent)))
        };
        let senders: Vec<_> = wants.into_iter().map(sender).collect();
        let member = |(place, sender): (usize, &Arc<Sender>)| {
            Some(Member::new("orders", format!("p{place}"), at(0)).limit(Arc::clone(sender)))
        };
        let members = senders.iter().enumerate().map(member).collect();
        let mut world = Self { now: 0, store: MemoryStore::new(), members, senders, is_waiting_unknown };
        let mut post = Call::new("p0", "epoch");
        let state = "none".to_owned();
        let posted = Post { version: 0, accepted: 0, rejected: 0, rate: RATE, estimate: RATE, is_cut: true, state };
        post.limit = Some(LimitCall { posted: Some(posted), ..LimitCall::default() });
        world.store.call(0, &post);
        for _ in 0..JOINING {
            world.round(&ORDERS[0], Fault::Nothing);
        }
        world
    }

    /// Lets all living processes call once, in this order.
    fn round(&mut self, order: &[usize], fault: Fault) {
        match fault {
            Fault::Crash(place) => self.members[place] = None,
            Fault::Empty => self.store.forget(),
            Fault::Wants(place) => {
                let mut sent = self.senders[place].0.lock().unwrap();
                sent.wants = if sent.wants < HIGH { HIGH } else { LOW };
            }
            Fault::Away => (0..AWAY).for_each(|_| self.calls(order, |_| true)),
            Fault::Nothing | Fault::Lost(_) => {}
        }
        self.calls(order, |place| fault == Fault::Lost(place));
    }

    fn calls(&mut self, order: &[usize], is_lost: impl Fn(usize) -> bool) {
        for place in order {
            self.now += BETWEEN;
            let Some(member) = &mut self.members[*place] else { continue };
            let call = member.call(at(self.now), false);
            if is_lost(*place) {
                member.unanswered(at(self.now), &"no answer");
                continue;
            }
            let mut reply = self.store.call(self.now, &call);
            let limit = reply.limit.unwrap();
            let waiting = if self.is_waiting_unknown { 0 } else { limit.waiting };
            // The limit stays as it is.
            reply.limit = Some(LimitReply { step: None, waiting, ..limit });
            member.answered(at(self.now), &reply);
        }
        self.now += INTERVAL - BETWEEN * u64::try_from(order.len()).unwrap();
    }

    /// Returns the parts of the limit that the living use and want, in thousandths.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the parts are small")]
    fn used(&self) -> (u32, u32) {
        let mut probe = Call::new("stranger", "epoch");
        (probe.limit, probe.is_leaving) = (Some(LimitCall::default()), true);
        let limit = self.store.clone().call(self.now, &probe).limit.unwrap();
        let rate = limit.rate.map_or(RATE, |(rate, _)| rate);
        let living = self.members.iter().zip(&self.senders).filter(|(member, _)| member.is_some());
        let (used, wanted) = living.fold((0.0, 0.0), |(used, wanted), (_, sender)| {
            let sent = sender.0.lock().unwrap();
            (used + sent.rate.min(sent.wants), wanted + sent.wants)
        });
        let thousandths = |sum: f64| (1e3 * sum / rate).round() as u32;
        (thousandths(used), thousandths(wanted))
    }
}

/// A run: the processes that want much in the beginning, and the rounds with faults so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Run {
    high: usize,
    rounds: Vec<(usize, Fault)>,
    outcome: Option<Outcome>,
}

/// The parts of the limit that are used and wanted in the last rounds of a run, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Outcome {
    most: u32,
    least: u32,
    wanted: u32,
}

struct Shares {
    rounds: usize,
    /// A protocol that is wrong: a process does not know how many others wait.
    is_waiting_unknown: bool,
}

impl Shares {
    /// Runs the fleet with the faults of a run, and then without faults.
    fn outcome(&self, run: &Run) -> Outcome {
        let wants = [0, 1, 2].map(|place| if place < run.high { HIGH } else { LOW });
        let mut world = World::new(wants, self.is_waiting_unknown);
        for (order, fault) in &run.rounds {
            world.round(&ORDERS[*order], *fault);
        }
        for _ in 0..CALM {
            world.round(&ORDERS[0], Fault::Nothing);
        }
        let mut outcome = Outcome { most: 0, least: u32::MAX, wanted: 0 };
        for _ in 0..LAST {
            world.round(&ORDERS[0], Fault::Nothing);
            let (used, wanted) = world.used();
            outcome.most = outcome.most.max(used);
            outcome.least = outcome.least.min(used);
            outcome.wanted = wanted;
        }
        outcome
    }

    fn check(self) -> impl Checker<Self> {
        let (rounds, started) = (self.rounds, Instant::now());
        let checker = self.checker().threads(2).spawn_dfs().join();
        println!("{rounds} rounds: {} states, {:.1?}", checker.unique_state_count(), started.elapsed());
        checker
    }
}

impl Model for Shares {
    type State = Run;
    type Action = Option<(usize, Fault)>;

    fn init_states(&self) -> Vec<Run> {
        (1..=PLACES).map(|high| Run { high, rounds: Vec::new(), outcome: None }).collect()
    }

    fn actions(&self, run: &Run, actions: &mut Vec<Self::Action>) {
        if run.outcome.is_some() {
            return;
        }
        if run.rounds.len() == self.rounds {
            return actions.push(None);
        }
        let places = |fault: fn(usize) -> Fault| (0..PLACES).map(fault);
        let mut faults = vec![Fault::Nothing, Fault::Empty, Fault::Away];
        faults.extend(places(Fault::Lost).chain(places(Fault::Crash)).chain(places(Fault::Wants)));
        for order in 0..ORDERS.len() {
            actions.extend(faults.iter().map(|fault| Some((order, *fault))));
        }
    }

    fn next_state(&self, last: &Run, action: Self::Action) -> Option<Run> {
        let mut next = last.clone();
        match action {
            Some(round) => next.rounds.push(round),
            None => next.outcome = Some(self.outcome(last)),
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(AT_MOST, |_, run: &Run| run.outcome.is_none_or(|outcome| outcome.most <= 1_000)),
            Property::eventually(USED, |_, run: &Run| {
                run.outcome.is_some_and(|outcome| 10 * outcome.least >= 9 * outcome.wanted.min(1_000))
            }),
        ]
    }
}

const AT_MOST: &str = "the shares add up to at most the limit";
const USED: &str = "the living use nine tenths of the limit, or what they want";

// Rules F9, F24, F27, F35.
#[test]
fn the_shares_add_up_to_the_limit_after_all_runs() {
    Shares { rounds: crate::faults(), is_waiting_unknown: false }.check().assert_properties();
}

#[test]
fn shares_of_processes_that_do_not_know_who_waits_are_found() {
    Shares { rounds: 1, is_waiting_unknown: true }.check().assert_any_discovery(AT_MOST);
}
