//! A run of the scenario.

use super::super::outage::{Load, index_of};
use super::super::{millis, seconds};
use super::{Case, Fault, Options, Outcome, Quotas, StoreFault};
use crate::World;
use crate::call::{CallError, Caller};
use crate::fleet::{Counted, FleetStore, Ledger};
use crate::servers::FifoServer;
use crate::strategies::{Strategy, caller};
use crate::world::Random;
use retry_core::time::{Clock, Timer, Timestamp};
use retry_core::{RetryQuota, StandardRetryStrategy, TokenBucket};
use retry_fleet::{FleetQuota, Member};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The processes of a run, each with what calls the server.
struct Processes {
    world: World,
    quotas: Quotas,
    seed: u64,
    ledger: Arc<Ledger>,
    store: Rc<FleetStore>,
    /// The quota of all, if it is one.
    one: Arc<TokenBucket>,
    running: Vec<RefCell<Rc<dyn Caller>>>,
}

impl Processes {
    /// Starts a process, which takes no more operations at `ends`.
    fn start(&self, number: u64, ends: Option<Timestamp>) -> Rc<dyn Caller> {
        let seed = self.seed ^ number << 32;
        match &self.quotas {
            Quotas::NoRetries => Strategy::no_retries().caller(seed),
            Quotas::One(_) => self.caller(seed, Arc::clone(&self.one)),
            Quotas::Separate(capacity) => self.caller(seed, TokenBucket::new(*capacity)),
            Quotas::Own(strategy) => strategy.caller(seed),
            Quotas::Shared(capacity, _) => {
                let quota = Arc::new(FleetQuota::new(*capacity));
                let id = format!("{}.{number}", self.seed);
                let member = Member::new("lab", id, self.world.now()).quota(Arc::clone(&quota));
                self.world.spawn(Rc::clone(&self.store).run(member, Some(Arc::clone(&quota)), ends));
                self.caller(seed, quota)
            }
        }
    }

    fn caller(&self, seed: u64, quota: impl RetryQuota + Send + Sync + 'static) -> Rc<dyn Caller> {
        caller(StandardRetryStrategy::new().seed(seed).with_quota(Counted::new(quota, &self.ledger)))
    }
}

/// Runs a case.
pub fn run(options: &Options, case: &Case, seed: u64) -> Outcome {
    let world = World::new();
    let at = |seconds: u32| Timestamp::START.saturating_add(Duration::from_secs(seconds.into()));
    let (from, to) = (at(options.fault_after_s), at(options.fault_after_s + options.fault_s(case.fault)));
    let (latency, away_until) = (options.store_latency_ms, at(options.fault_after_s + options.store_away_s));
    let mut store = FleetStore::new(&world, (millis(latency.0 / 2.0), millis(latency.1 / 2.0)), seed);
    let store_fault = if let Quotas::Shared(_, fault) = case.quotas { fault } else { StoreFault::None };
    if store_fault != StoreFault::None {
        store = store.away(from, away_until);
    }
    let store = Rc::new(store);
    if store_fault == StoreFault::Emptied {
        let (world, store, back) = (world.clone(), Rc::clone(&store), world.sleep_until(away_until));
        world.spawn(async move {
            back.await;
            store.forget();
        });
    }
    let ledger = Arc::new(Ledger::default());
    let mut processes = Processes {
        world: world.clone(),
        quotas: case.quotas.clone(),
        seed,
        ledger: Arc::clone(&ledger),
        store: Rc::clone(&store),
        one: Arc::new(TokenBucket::new(if let Quotas::One(capacity) = case.quotas { capacity } else { 0 })),
        running: Vec::new(),
    };
    let count = case.processes.max(1);
    // The ends of the first lives are spread evenly, and so are all later ones.
    let ends = |number| case.lives.map(|lives| Timestamp::START.saturating_add(lives * (number + 1) / count));
    let running = (0..count).map(|number| RefCell::new(processes.start(number.into(), ends(number)))).collect();
    processes.running = running;
    let processes = Rc::new(processes);
    if let Some(lives) = case.lives.filter(|lives| !lives.is_zero()) {
        for number in 0..count {
            world.spawn(replace(Rc::clone(&processes), number, lives, lives * (number + 1) / count));
        }
    }

    let server = FifoServer::new(seconds(1.0 / options.rate));
    let fault = case.fault;
    let server = if fault == Fault::Stall { server.stall(from, to) } else { server };
    let failures = RefCell::new(Random::new(seed, "failures"));
    let respond = move |now| match fault {
        Fault::Errors(part) if now >= from && now < to && failures.borrow_mut().occurs(part) => {
            (now, Err(CallError::Failed))
        }
        _ => (server.enqueue(now), Ok(())),
    };
    let choose = move |part| Rc::clone(&*processes.running[index_of(part, processes.running.len())].borrow());
    let load = Load { arrivals_per_second: options.rate * case.load, timeout: seconds(options.timeout_s), seed };
    let operations = load.arrive(&world, respond, choose);
    world.run_until(at(options.duration_s));
    let losses = u64::from(store_fault == StoreFault::Emptied);
    let allowed = match case.quotas {
        Quotas::NoRetries | Quotas::Own(_) => 0,
        Quotas::One(capacity) => capacity.into(),
        Quotas::Separate(capacity) => u64::from(capacity) * u64::from(count),
        Quotas::Shared(capacity, _) => u64::from(capacity) * (1 + losses) + store.pockets(),
    };
    Outcome { operations: operations.take(), most_drawn: ledger.most_drawn(), allowed, calls: store.calls() }
}

/// Replaces a process again and again.
async fn replace(processes: Rc<Processes>, mut number: u32, lives: Duration, first: Duration) {
    let (slot, count) = (number as usize, u32::try_from(processes.running.len()).unwrap_or(u32::MAX));
    processes.world.sleep(first).await;
    loop {
        number = number.wrapping_add(count);
        let ends = processes.world.now().saturating_add(lives);
        let next = processes.start(number.into(), Some(ends));
        processes.running[slot].replace(next);
        processes.world.sleep(lives).await;
    }
}
