//! A run under an open load.

use super::super::faults::{Outcome, caller_seed, first_life};
use super::super::outage::index_of;
use super::super::seconds;
use super::site::Site;
use super::world::World;
use crate::World as Time;
use crate::call::Caller;
use crate::fleet::FleetStore;
use crate::report::Spread;
use crate::strategies::{Strategy, caller};
use crate::world::Random;
use retry_core::PatientRetryStrategy;
use retry_core::time::{Clock, Timer, Timestamp};
use retry_fleet::Member;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The shortest and the longest time of a message to the store of a fleet, or from it.
const STORE_MESSAGE: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(25));

/// The minute after the fault.
const MINUTE_S: u32 = 60;

/// This minute, and the time of an operation that begins in it and lives long, in seconds.
const BYSTANDERS_S: u32 = MINUTE_S + 32;

/// What is measured of the runs of a seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The operations that begin in the fault and succeed, in percent.
    pub bridged: f64,
    /// The attempts in the fault for each operation that begins in it.
    pub load: f64,
    /// The attempts in the minute after the fault for each operation that begins in it.
    pub load_after: f64,
    /// The seconds from the end of the fault to the recovery, or `None` if there is none.
    pub recovery_s: Option<f64>,
    /// The operations of the minute after the fault that are lost, in percent.
    pub bystanders_lost: f64,
}

impl Measured {
    /// The names of the measures that [`spreads`](Self::spreads) returns.
    pub const NAMES: [&str; 4] = ["bridged, %", "attempts per operation", "recovery, s", "bystanders lost, %"];

    /// Returns the spread of each measure over these runs, without the attempts after the fault.
    pub fn spreads(runs: &[Self]) -> Vec<Spread> {
        let spread = |measure: &dyn Fn(&Self) -> f64| Spread::of(runs.iter().map(measure));
        vec![
            spread(&|run| run.bridged),
            spread(&|run| run.load),
            Spread::of_optional(runs.iter().map(|run| run.recovery_s)),
            spread(&|run| run.bystanders_lost),
        ]
    }

    /// Returns what is measured of the events of a world up to `end`, in seconds.
    pub fn of(world: &World, outcome: &Outcome, end: u32) -> Self {
        let (from, to) = (world.begins_s as usize, (world.begins_s + world.fault_s) as usize);
        Self {
            bridged: outcome.bridged(from, to),
            load: outcome.load(from, to),
            load_after: outcome.load(to, to + MINUTE_S as usize),
            recovery_s: outcome.recovery(to, end as usize),
            bystanders_lost: outcome.bystanders(to),
        }
    }
}

/// How the processes retry.
#[derive(Clone, Debug)]
pub enum Retries {
    /// By a strategy in each process, which knows only what the process does.
    Alone(Strategy),
    /// By the patient strategy, in processes that are a fleet. Its store may be away from the beginning of the fault on.
    Fleet {
        /// Whether it is.
        is_store_away: bool,
    },
}

impl From<&Strategy> for Retries {
    fn from(strategy: &Strategy) -> Self {
        Self::Alone(strategy.clone())
    }
}

/// The processes, and the server that they call.
struct Load {
    time: Time,
    retries: Retries,
    /// The store of the fleet.
    store: Rc<FleetStore>,
    seed: u64,
    site: Rc<Site>,
    /// The callers of the processes; none if a new process makes each operation.
    callers: Vec<RefCell<Rc<dyn Caller>>>,
    outcome: Rc<RefCell<Outcome>>,
}

impl Load {
    /// Starts a process, which lives for this time, or for ever.
    fn process(&self, number: u64, lives: Option<Duration>) -> Rc<dyn Caller> {
        let seed = caller_seed(self.seed, 0, number);
        if let Retries::Alone(strategy) = &self.retries {
            return strategy.caller(seed);
        }
        let now = self.time.now();
        let strategy = Arc::new(PatientRetryStrategy::new().seed(seed));
        let member = Member::new("lab", format!("{}.{number}", self.seed), now);
        let member = member.patient(Arc::clone(&strategy));
        self.time.spawn(Rc::clone(&self.store).run(member, lives.map(|lives| now.saturating_add(lives))));
        caller(strategy)
    }

    /// Lets operations arrive as a Poisson process.
    async fn arrive(self: Rc<Self>, arrivals_per_second: f64) {
        let (mut arrivals, mut clients) = (Random::new(self.seed, "arrivals"), Random::new(self.seed, "clients"));
        for number in 0.. {
            self.time.sleep(arrivals.interval(arrivals_per_second)).await;
            let began = self.time.elapsed();
            self.outcome.borrow_mut().begin(began);
            let caller = if self.callers.is_empty() {
                self.process(number, Some(Duration::ZERO))
            } else {
                Rc::clone(&*self.callers[index_of(clients.uniform(), self.callers.len())].borrow())
            };
            let (time, outcome) = (self.time.clone(), Rc::clone(&self.outcome));
            let (clock, sent) = (self.time.clone(), Rc::clone(&self.outcome));
            let call = self.site.call(move || sent.borrow_mut().attempt(clock.elapsed()));
            self.time.spawn(async move {
                if caller.call(call).await.is_ok() {
                    outcome.borrow_mut().succeed(began, time.elapsed());
                }
            });
        }
    }

    /// Replaces a process again and again. What it has begun continues.
    async fn replace(self: Rc<Self>, process: usize, lives: Duration) {
        let count = self.callers.len();
        self.time.sleep(first_life(lives, process, count)).await;
        for number in (process..).step_by(count).skip(1) {
            self.callers[process].replace(self.process(number as u64, Some(lives)));
            self.time.sleep(lives).await;
        }
    }
}

/// Begins a run.
fn begin(world: &World, retries: &Retries, live_s: Option<f64>, processes: u32, seed: u64) -> (Time, Rc<Load>) {
    let time = Time::new();
    let mut store = FleetStore::new(&time, STORE_MESSAGE, seed);
    if let Retries::Fleet { is_store_away: true } = retries {
        let begins = Timestamp::START.saturating_add(Duration::from_secs(world.begins_s.into()));
        store = store.away(begins, Timestamp::from_origin(Duration::MAX));
    }
    let mut load = Load {
        time: time.clone(),
        retries: retries.clone(),
        store: Rc::new(store),
        seed,
        site: Site::new(&time, world, live_s, seed),
        callers: Vec::new(),
        outcome: Rc::default(),
    };
    if !world.is_lone {
        let first = |number: u32| {
            let first_life = |lives| first_life(seconds(lives), number as usize, processes.max(1) as usize);
            RefCell::new(load.process(number.into(), world.lives_s.map(first_life)))
        };
        load.callers = (0..processes.max(1)).map(first).collect();
    }
    let load = Rc::new(load);
    if let Some(lives) = world.lives_s {
        for process in 0..load.callers.len() {
            time.spawn(Rc::clone(&load).replace(process, seconds(lives)));
        }
    }
    time.spawn(Rc::clone(&load).arrive(world.rate * world.load));
    (time, load)
}

/// Runs a world with this number of processes.
pub fn run(world: &World, retries: impl Into<Retries>, live_s: Option<f64>, processes: u32, seed: u64) -> Measured {
    let retries = retries.into();
    let runs: Vec<_> = (0..u64::from(world.runs.max(1)))
        .map(|number| begin(world, &retries, live_s, processes, seed ^ number << 48))
        .collect();
    let to = world.begins_s + world.fault_s;
    let until = |end: u32| {
        let mut outcome = Outcome::default();
        for (time, load) in &runs {
            time.advance_to(Timestamp::START.saturating_add(Duration::from_secs(end.into())));
            outcome.add(&load.outcome.borrow());
        }
        Measured::of(world, &outcome, end)
    };
    // Most servers have recovered when the bystanders are done.
    let (early, late) = (to + world.after_s.min(BYSTANDERS_S), to + world.after_s);
    let mut measured = until(early);
    if measured.recovery_s.is_none() && early < late {
        measured = until(late);
    }
    for (time, _) in &runs {
        // Tasks that still wait hold what they call.
        time.run_until(time.now());
    }
    measured
}
