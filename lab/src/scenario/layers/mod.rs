//! Layers: services in a row, each of which calls the next one and retries.
//!
//! The retries of the layers multiply: with three layers of five attempts, one request of a user can become 125 requests
//! to the last service. The last service fails for a while. A service finishes a request even if its caller has given
//! up.
//!
//! [`levels`] asks the same of the functions of one program.
//!
//! References: Marc Brooker, "Timeouts, retries, and backoff with jitter", Amazon Builders' Library; "Addressing
//! Cascading Failures" in the book "Site Reliability Engineering".

pub mod levels;

use super::per_second::add_line;
use super::{PerSecond, Plan, Scenario, millis, number, seconds, share};
use crate::World;
use crate::call::{Call, CallError, Caller, Outcome as Response};
use crate::report::{Plot, Report, Spread, Table};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use crate::world::{Random, request};
use levels::Levels;
use retry_core::quota::NoQuota;
use retry_core::time::{Timer, Timestamp};
use retry_core::{PatientRetryStrategy, StandardRetryStrategy};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "layers", title: "Services in a row that all retry, while the last one fails", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The number of services: 3. Users call the first one.
    pub services: u32,
    /// Whether the users retry their calls of the first service: yes, so that each service has a caller that retries.
    pub users_retry: bool,
    /// The requests of users in a second: 100.
    pub rate: f64,
    /// The time that each service works on a request: 10 ms.
    pub work_ms: f64,
    /// The caller's timeout of an attempt, at each service: 1 s.
    pub timeout_s: f64,
    /// The maximum number of attempts: 5.
    pub max_attempts: u32,
    /// The base of the backoff, which has full jitter: 100 ms.
    pub base_ms: f64,
    /// When the last service begins to fail: after 30 s.
    pub fails_after_s: u32,
    /// How long it fails: 60 s.
    pub fails_s: u32,
    /// The length of the run: 150 s.
    pub duration_s: u32,
    /// The number of runs: 20.
    pub seeds: u64,
    /// The functions of one program.
    pub levels: Levels,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            services: 3,
            users_retry: true,
            rate: 100.0,
            work_ms: 10.0,
            timeout_s: 1.0,
            max_attempts: 5,
            base_ms: 100.0,
            fails_after_s: 30,
            fails_s: 60,
            duration_s: 150,
            seeds: 20,
            levels: Levels::default(),
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        Self {
            rate: 50.0,
            fails_after_s: 10,
            fails_s: 20,
            duration_s: 45,
            seeds: 2,
            levels: Levels::short(),
            ..Self::default()
        }
    }
}

/// The outcome of a run, by the second.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The requests of users.
    pub arrivals: PerSecond,
    /// The requests of users that succeeded, by the second in which they began.
    pub succeeded: PerSecond,
    /// The requests that reached the last service.
    pub load: PerSecond,
}

/// Returns the strategies to compare.
pub fn strategies(options: &Options) -> Vec<Strategy> {
    let (attempts, base) = (options.max_attempts.max(1), millis(options.base_ms));
    let strategy = move |seed| {
        StandardRetryStrategy::new().max_attempts(attempts).backoff(base, Duration::from_secs(20)).seed(seed)
    };
    vec![
        Strategy::no_retries(),
        Strategy::of("no quota", move |seed| strategy(seed).with_quota(NoQuota)),
        Strategy::of("quota", strategy),
        Strategy::of("patient", move |seed| {
            PatientRetryStrategy::new().max_attempts(attempts).backoff(base, Duration::from_secs(20)).seed(seed)
        }),
    ]
}

/// A row of services. Each call has a strategy of the caller's own.
struct Services {
    options: Options,
    callers: Vec<Rc<dyn Caller>>,
    outcome: Rc<RefCell<Outcome>>,
}

impl Services {
    /// Calls a service, as its caller does: with retries and a timeout.
    fn call(self: Rc<Self>, world: World, service: usize) -> Pin<Box<dyn Future<Output = Response>>> {
        Box::pin(async move {
            let (caller, timeout) = (Rc::clone(&self.callers[service]), seconds(self.options.timeout_s));
            let client = world.clone();
            let attempt = move || {
                let (services, world, (request, response)) = (Rc::clone(&self), world.clone(), request());
                let server = world.clone();
                // The service runs as a separate task, because it continues if the caller gives up.
                server.spawn(async move { request.respond(services.serve(world, service).await) });
                response
            };
            caller.call(Call::new(&client, attempt).attempt_timeout(timeout)).await
        })
    }

    /// Serves a request.
    async fn serve(self: Rc<Self>, world: World, service: usize) -> Response {
        let next = service + 1;
        let is_last = next == self.callers.len();
        if is_last {
            self.outcome.borrow_mut().load.count(world.elapsed());
        }
        world.sleep(millis(self.options.work_ms)).await;
        if !is_last {
            return self.call(world, next).await;
        }
        let from = Duration::from_secs(self.options.fails_after_s.into());
        let to = from + Duration::from_secs(self.options.fails_s.into());
        if (from..to).contains(&world.elapsed()) { Err(CallError::Failed) } else { Ok(()) }
    }
}

/// Runs the scenario with one strategy.
pub fn run(options: &Options, strategy: &Strategy, seed: u64) -> Outcome {
    let (world, outcome) = (World::new(), Rc::new(RefCell::new(Outcome::default())));
    let callers = (0..options.services.max(1)).map(|service| {
        let strategy = if service == 0 && !options.users_retry { &Strategy::no_retries() } else { strategy };
        strategy.caller(seed ^ u64::from(service) << 32)
    });
    let services = Services { options: options.clone(), callers: callers.collect(), outcome: Rc::clone(&outcome) };
    let (services, source, rate) = (Rc::new(services), world.clone(), options.rate);
    let (counted, mut arrivals) = (Rc::clone(&outcome), Random::new(seed, "arrivals"));
    world.spawn(async move {
        loop {
            source.sleep(arrivals.interval(rate)).await;
            let began = source.elapsed();
            counted.borrow_mut().arrivals.count(began);
            let (world, services, counted) = (source.clone(), Rc::clone(&services), Rc::clone(&counted));
            source.spawn(async move {
                if services.call(world, 0).await.is_ok() {
                    counted.borrow_mut().succeeded.count(began);
                }
            });
        }
    });
    world.run_until(Timestamp::START.saturating_add(Duration::from_secs(options.duration_s.into())));
    outcome.take()
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let strategies = plan.with(strategies(&options));
    let runs =
        outcomes(SCENARIO.name, &strategies, options.seeds, workers, |strategy, seed| run(&options, strategy, seed));

    let measures = ["load per request, before", "during", "after", "highest load, 1/s", "successes during, %"];
    let mut table = Table::new("layers", &["strategy"], &measures);
    let mut plot = Plot::new("load", "Load on the last service", "time, s", "requests per second");
    let from = options.fails_after_s as usize;
    let (to, end) = (from + options.fails_s as usize, options.duration_s as usize);
    for (strategy, runs) in strategies.iter().zip(&runs) {
        let spread = |measure: &dyn Fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
        let load =
            |from: usize, to: usize| spread(&|run| share(run.load.between(from, to), run.arrivals.between(from, to)));
        let highest = spread(&|run| number((0..end).map(|second| run.load.at(second)).max().unwrap_or(0)));
        let succeeded = spread(&|run| share(run.succeeded.between(from, to), run.arrivals.between(from, to)) * 100.0);
        table.add(
            vec![strategy.name().to_owned()],
            vec![load(0, from), load(from, to), load(to, end), highest, succeeded],
        );
        let lines: Vec<&PerSecond> = runs.iter().map(|run| &run.load).collect();
        add_line(&mut plot, strategy.name(), &lines, end, 1);
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table, levels::study(&options.levels, workers)], vec![plot]))
}
