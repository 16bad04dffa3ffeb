//! A run of a world with one strategy.

use super::World;
use super::server::{Gate, Key};
use crate::World as Time;
use crate::call::{Call, Caller};
use crate::scenario::limited::Limited;
use crate::scenario::outage::index_of;
use crate::scenario::worlds::Running;
use crate::scenario::{number, seconds};
use crate::strategies::Strategy;
use crate::world::Random;
use retry_core::time::{Clock, Timer, Timestamp};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// The time at which a run is cut off, if a strategy never gets done.
const LONGEST: Duration = Duration::from_secs(100_000);
/// The standard deviation of the time of a message, as a part of its mean.
const DEVIATION: f64 = 0.1;

/// The outcome of a run, up to the end of the last operation that does not go to the bad key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The number of operations that failed. Operations of the bad key are not included.
    pub failed: u64,
    /// The number of operations that succeeded.
    pub succeeded: u64,
    /// The time from the start until all operations were done.
    pub time: Duration,
    /// The time that operations which succeeded took, in all.
    pub latency: Duration,
    /// The number of requests.
    pub requests: u64,
    /// The number of rejected requests.
    pub rejected: u64,
}

impl Outcome {
    /// Returns the mean time of an operation that succeeded, in seconds.
    pub fn mean_latency_s(&self) -> f64 {
        self.latency.as_secs_f64() / number(self.succeeded.max(1))
    }

    /// Returns the operations that succeeded in each second.
    pub fn goodput(&self) -> f64 {
        number(self.succeeded) / self.time.as_secs_f64().max(1e-9)
    }
}

/// The processes and their server.
struct Run {
    time: Time,
    max_time: Option<Duration>,
    /// The bad key comes last.
    keys: Vec<Rc<Limited<Key>>>,
    bad_every: u64,
    /// Picks the key of an operation.
    pick: RefCell<Random>,
    outcome: Rc<RefCell<Outcome>>,
}

impl Run {
    fn is_bad(&self, operation: u64) -> bool {
        operation.checked_rem(self.bad_every) == Some(self.bad_every / 2)
    }

    async fn call(&self, caller: &dyn Caller, operation: u64) {
        let (is_bad, begun) = (self.is_bad(operation), self.time.now());
        let good = self.keys.len() - 1;
        let key = if is_bad { good } else { index_of(self.pick.borrow_mut().uniform(), good) };
        let result = caller.call(Call { max_time: self.max_time, ..self.keys[key].call() }).await;
        if is_bad {
            return;
        }
        let outcome = &mut *self.outcome.borrow_mut();
        match result {
            Ok(()) => {
                outcome.succeeded += 1;
                outcome.latency += self.time.now().saturating_since(begun);
            }
            Err(_) => outcome.failed += 1,
        }
        outcome.time = self.time.elapsed();
    }
}

/// Runs a world with one strategy.
pub fn run(world: &World, strategy: &Strategy, seed: u64) -> Outcome {
    let (time, outcome) = (Time::new(), Rc::new(RefCell::new(Outcome::default())));
    let gate = Rc::new(Gate::new(world.site.ban));
    let limits = (0..u64::from(world.site.cells.max(1))).map(|cell| {
        let limit = Box::new(Running::new(&world.site.server, seed.wrapping_add(cell << 32)));
        Key::Good { limit, gate: Rc::clone(&gate) }
    });
    let keys = limits.chain([Key::Bad]).map(|key| {
        let counted = Rc::clone(&outcome);
        Limited::new(&time, Rc::new(key), (world.round_trip_ms, DEVIATION), seed, move |is_rejected| {
            let outcome = &mut *counted.borrow_mut();
            outcome.requests += 1;
            outcome.rejected += u64::from(is_rejected);
        })
    });
    let (keys, max_time) = (keys.collect(), world.max_time_s.map(seconds));
    let (bad_every, counted) = (world.bad_every, Rc::clone(&outcome));
    let running = Rc::new(Run {
        time: time.clone(),
        max_time,
        keys,
        bad_every,
        pick: RefCell::new(Random::new(seed, "keys")),
        outcome: counted,
    });
    for process in 0..u64::from(world.processes) {
        begin(world, &running, strategy.caller(seed.wrapping_mul(10_000) + process), seed ^ process << 32);
    }
    let good = (0..world.operations).filter(|operation| !running.is_bad(*operation)).count() as u64;
    let all = good * u64::from(world.processes);
    let done = || outcome.borrow().failed + outcome.borrow().succeeded;
    time.advance_to(Timestamp::START);
    while done() < all
        && let Some(next) = time.next_event().filter(|next| *next <= Timestamp::START.saturating_add(LONGEST))
    {
        time.advance_to(next);
    }
    let mut ended = outcome.borrow().clone();
    // What was not done in time is treated as failed.
    ended.failed += all - done();
    time.run_until(Timestamp::START);
    ended
}

/// Begins a process.
fn begin(world: &World, running: &Rc<Run>, caller: Rc<dyn Caller>, seed: u64) {
    let (time, operations) = (running.time.clone(), world.operations);
    if let Some(per_second) = world.per_second {
        let running = Rc::clone(running);
        let mut arrivals = Random::new(seed, "arrivals");
        running.time.clone().spawn(async move {
            for operation in 0..operations {
                time.sleep(arrivals.interval(per_second)).await;
                let (running, caller) = (Rc::clone(&running), Rc::clone(&caller));
                time.spawn(async move { running.call(&*caller, operation).await });
            }
        });
        return;
    }
    let begun = Rc::new(RefCell::new(0..operations));
    for _ in 0..world.workers {
        let (running, caller, begun) = (Rc::clone(running), Rc::clone(&caller), Rc::clone(&begun));
        time.spawn(async move {
            loop {
                let next = begun.borrow_mut().next();
                let Some(operation) = next else { return };
                running.call(&*caller, operation).await;
            }
        });
    }
}
