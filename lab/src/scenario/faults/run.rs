//! A run of the scenario.

use super::super::outage::index_of;
use super::super::{number, seconds};
use super::columns::{Column, Measure};
use super::outcome::Outcome;
use super::server::{Server, Spell};
use super::{Case, Options};
use crate::World;
use crate::call::{Call, Caller, Outcome as Response};
use crate::world::Random;
use retry_core::time::{Clock, Timer, Timestamp};
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

/// Starts a process: of the service with this index, with a number that no other process of the service has, and until it
/// takes no more operations, if that time comes.
pub type Start = Box<dyn Fn(usize, u64, Option<Timestamp>) -> Rc<dyn Caller>>;

/// The processes of each service in a row, and the server that the last one calls.
struct Services {
    world: World,
    start: Start,
    seed: u64,
    timeout: Duration,
    /// The callers of the processes, by service and process.
    callers: Vec<Vec<RefCell<Rc<dyn Caller>>>>,
    choices: RefCell<Random>,
    server: Server,
    outcome: RefCell<Outcome>,
}

impl Services {
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
        self.outcome.borrow_mut().attempt(self.world.elapsed());
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
            self.outcome.borrow_mut().begin(began);
            let services = Rc::clone(&self);
            self.world.spawn(async move {
                if Rc::clone(&services).call(0).await.is_ok() {
                    services.outcome.borrow_mut().succeed(began, services.world.elapsed());
                }
            });
        }
    }

    /// Replaces a process again and again. What it has begun continues.
    async fn replace(self: Rc<Self>, process: usize, lives: Duration) {
        let count = self.callers[0].len();
        self.world.sleep(first_life(lives, process, count)).await;
        for number in (process..).step_by(count).skip(1) {
            let ends = self.world.now().saturating_add(lives);
            self.callers[0][process].replace((self.start)(0, number as u64, Some(ends)));
            self.world.sleep(lives).await;
        }
    }
}

/// Returns how long the first processes live. Their ends are spread evenly, and so are all later ones.
pub fn first_life(lives: Duration, process: usize, count: usize) -> Duration {
    lives.mul_f64(number((process + 1) as u64) / number(count as u64))
}

/// Runs a case, and returns what it measures. `None` means never.
pub fn run(options: &Options, case: &Case, seed: u64) -> Option<f64> {
    let strategy = case.strategy.clone();
    run_processes(options, (case.column, case.quotas), seed, |_| {
        Box::new(move |service, number, _| strategy.caller(caller_seed(seed, service, number)))
    })
}

/// Returns the seed of the jitter of a process.
pub fn caller_seed(seed: u64, service: usize, number: u64) -> u64 {
    seed ^ number << 32 ^ (service as u64) << 56
}

/// Runs a column with this number of processes for each service, and returns what it measures. `None` means never.
pub fn run_processes(
    options: &Options,
    (column, processes): (&Column, u32),
    seed: u64,
    start: impl FnOnce(&World) -> Start,
) -> Option<f64> {
    let (from, to) = (options.fault_after_s, options.fault_after_s + column.fault_s);
    let rate = options.rate * column.size;
    let spell = Spell { fault: column.fault, from: from.into(), to: to.into() };
    let world = World::new();
    let start = start(&world);
    let count = processes.max(1) as usize;
    let callers = (0..column.services as usize).map(|service| {
        let lives = column.lives_s.filter(|_| service == 0).map(seconds);
        let ends = |number| Some(Timestamp::START.saturating_add(first_life(lives?, number, count)));
        let callers = (0..count).map(|number| RefCell::new(start(service, number as u64, ends(number))));
        callers.collect()
    });
    let services = Rc::new(Services {
        world: world.clone(),
        callers: callers.collect(),
        start,
        seed,
        timeout: seconds(options.timeout_s),
        choices: RefCell::new(Random::new(seed, "clients")),
        server: Server::new(vec![spell], rate, options.round_trip_ms / 1e3, seed),
        outcome: RefCell::default(),
    });
    if let Some(lives) = column.lives_s {
        for process in 0..services.callers[0].len() {
            world.spawn(Rc::clone(&services).replace(process, seconds(lives)));
        }
    }
    world.spawn(Rc::clone(&services).arrive(rate * column.load));
    let end = to + options.after_s(column);
    world.run_until(Timestamp::START.saturating_add(Duration::from_secs(end.into())));
    let (run, from, to) = (services.outcome.borrow(), from as usize, to as usize);
    match column.measure {
        Measure::Recovery => run.recovery(to, end as usize),
        Measure::Load => Some(run.load(from, to)),
        Measure::Success => Some(run.success(from, to)),
        Measure::Bridged => Some(run.bridged(from, to)),
        Measure::Bystanders => Some(run.bystanders(to)),
    }
}
