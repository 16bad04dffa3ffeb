//! A run of the scenario.

use super::super::outage::{self, index_of};
use super::super::{number, seconds, share};
use super::columns::{Column, Measure};
use super::server::Server;
use super::{Case, Options};
use crate::World;
use crate::call::{Call, Caller, Outcome as Response};
use crate::strategies::Strategy;
use crate::world::Random;
use outage::Outcome;
use retry_core::time::{Clock, Timer, Timestamp};
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

/// The processes of each service in a row, and the server that the last one calls.
struct Services {
    world: World,
    strategy: Strategy,
    seed: u64,
    timeout: Duration,
    /// The callers of the processes, by service and process.
    callers: Vec<Vec<RefCell<Rc<dyn Caller>>>>,
    choices: RefCell<Random>,
    server: Server,
    outcome: RefCell<Outcome>,
}

impl Services {
    fn caller(strategy: &Strategy, seed: u64, service: usize, number: u64) -> Rc<dyn Caller> {
        strategy.caller(seed ^ number << 32 ^ (service as u64) << 56)
    }

    /// Calls what is behind a service from one of its processes, with retries and a timeout for each attempt.
    fn call(self: Rc<Self>, service: usize) -> Pin<Box<dyn Future<Output = Response>>> {
        let callers = &self.callers[service];
        let choice = index_of(self.choices.borrow_mut().uniform(), callers.len());
        let caller = Rc::clone(&*callers[choice].borrow());
        Box::pin(async move {
            let services = Rc::clone(&self);
            let attempt = move || Rc::clone(&services).attempt(service);
            caller.call(Call::new(&self.world, attempt).attempt_timeout(self.timeout)).await
        })
    }

    /// Makes an attempt: a call of the next service, or a request to the server.
    fn attempt(self: Rc<Self>, service: usize) -> Pin<Box<dyn Future<Output = Response>>> {
        if service + 1 < self.callers.len() {
            return self.call(service + 1);
        }
        self.outcome.borrow_mut().attempts.count(self.world.elapsed());
        let (at, response) = self.server.respond(self.world.now());
        let arrives = self.world.sleep_until(at);
        Box::pin(async move {
            arrives.await;
            response
        })
    }

    /// Lets operations arrive as a Poisson process.
    async fn arrive(self: Rc<Self>, arrivals_per_second: f64) {
        let mut arrivals = Random::new(self.seed, "arrivals");
        loop {
            self.world.sleep(arrivals.interval(arrivals_per_second)).await;
            let began = self.world.elapsed();
            self.outcome.borrow_mut().arrivals.count(began);
            let services = Rc::clone(&self);
            self.world.spawn(async move {
                if Rc::clone(&services).call(0).await.is_ok() {
                    services.outcome.borrow_mut().goodput.count(services.world.elapsed());
                }
            });
        }
    }

    /// Replaces a process again and again. What it has begun continues.
    async fn replace(self: Rc<Self>, process: usize, lives: Duration) {
        let count = self.callers[0].len();
        // The ends of the first lives are spread evenly, and so are all later ones.
        self.world.sleep(lives.mul_f64(number((process + 1) as u64) / number(count as u64))).await;
        for number in (process..).step_by(count).skip(1) {
            self.callers[0][process].replace(Self::caller(&self.strategy, self.seed, 0, number as u64));
            self.world.sleep(lives).await;
        }
    }
}

/// Runs a case, and returns what it measures. `None` means never.
pub fn run(options: &Options, case: &Case, seed: u64) -> Option<f64> {
    let column = case.column;
    let (from, to) = (options.fault_after_s, options.fault_after_s + column.fault_s);
    let rate = options.rate * column.size;
    let span = (f64::from(from), f64::from(to));
    let world = World::new();
    let callers = (0..column.services as usize).map(|service| {
        let callers = (0..u64::from(case.quotas.max(1)))
            .map(|number| RefCell::new(Services::caller(&case.strategy, seed, service, number)));
        callers.collect()
    });
    let services = Rc::new(Services {
        world: world.clone(),
        strategy: case.strategy.clone(),
        seed,
        timeout: seconds(options.timeout_s),
        callers: callers.collect(),
        choices: RefCell::new(Random::new(seed, "clients")),
        server: Server::new(column.fault, rate, options.round_trip_ms / 1e3, span, seed),
        outcome: RefCell::default(),
    });
    if let Some(lives) = column.lives_s {
        for process in 0..services.callers[0].len() {
            world.spawn(Rc::clone(&services).replace(process, seconds(lives)));
        }
    }
    world.spawn(Rc::clone(&services).arrive(rate * column.load));
    let end = to + column.after_s.min(options.longest_recovery_s);
    world.run_until(Timestamp::START.saturating_add(Duration::from_secs(end.into())));
    measure(column, &services.outcome.borrow(), (from as usize, to as usize, end))
}

fn measure(column: &Column, run: &Outcome, (from, to, end): (usize, usize, u32)) -> Option<f64> {
    match column.measure {
        Measure::Recovery => run.recovery(&outage::Options {
            stall_after_s: u32::try_from(from).unwrap_or(u32::MAX),
            stall_s: column.fault_s,
            duration_s: end,
            ..outage::Options::default()
        }),
        Measure::Load => Some(share(run.attempts.between(from, to), run.arrivals.between(from, to))),
        Measure::Success => Some(100.0 * share(run.goodput.between(from, to), run.arrivals.between(from, to))),
        Measure::Bridged => {
            // All operations that begin shortly before the fault or soon after it succeed, if those in it do.
            let around = |events: &super::PerSecond| number(events.between(from.saturating_sub(2), to + 6));
            let lost = around(&run.arrivals) - around(&run.goodput);
            Some(100.0 * (1.0 - lost / number(run.arrivals.between(from, to))))
        }
    }
}
