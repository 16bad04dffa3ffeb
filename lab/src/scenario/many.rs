//! Many clients, one limit: clients that know nothing of each other share the limit of one server.
//!
//! Each client has its own strategy and some workers, which begin their next operation as soon as the last one is done.
//! A fair outcome gives each client the same part of the limit. Jain's index is 1 then, and `1 / clients` if a single
//! client gets everything.
//!
//! The server reports how many requests remain. Only the strategy `paced, reports` reads it.
//!
//! Reference: Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer
//! Networks", 1989.

use super::limited::Limited;
use super::{Plan, Scenario, UNTUNED, number, share};
use crate::World;
use crate::report::{Plot, Report, Spread, Table};
use crate::servers::TokenBucketLimit;
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use retry_core::quota::NoQuota;
use retry_core::time::{Timer, Timestamp};
use retry_core::{AdaptiveRetryStrategy, StandardRetryStrategy};
use retry_limits::PacedRetryStrategy;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario = Scenario { name: "many", title: "Many clients that share one limit", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The number of clients: 100.
    pub clients: u32,
    /// The workers of each client: 4.
    pub workers: u32,
    /// The time over which the clients start, evenly spaced: 30 s.
    pub arrive_s: u32,
    /// The limits, in requests per second: 100, 500 and 2,000. The burst is that of one second.
    pub rates: Vec<f64>,
    /// Whether rejections carry a wait in whole seconds: no.
    pub retry_after: bool,
    /// The mean time from a request to its response: 20 ms. Less than 1 ms is treated as 1 ms.
    pub round_trip_ms: f64,
    /// The standard deviation of the time of a message, as a part of its mean: 0.1.
    pub deviation: f64,
    /// The length of the run: 120 s.
    pub duration_s: u32,
    /// The time from which on the run is measured: 60 s.
    pub measured_from_s: u32,
    /// The first seed. Reports have [`UNTUNED`]; seeds from 100 on are for tuning.
    pub first_seed: u64,
    /// The number of runs: 5.
    pub seeds: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            clients: 100,
            workers: 4,
            arrive_s: 30,
            rates: vec![100.0, 500.0, 2_000.0],
            retry_after: false,
            round_trip_ms: 20.0,
            deviation: 0.1,
            duration_s: 120,
            measured_from_s: 60,
            first_seed: UNTUNED,
            seeds: 5,
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        let rates = vec![100.0];
        Self { clients: 20, arrive_s: 10, rates, duration_s: 40, measured_from_s: 20, seeds: 2, ..Self::default() }
    }
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// How the clients retry.
    pub strategy: Strategy,
    /// The limit, in requests per second.
    pub rate: f64,
}

/// The outcome of a run, in the measured time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The operations of each client that succeeded.
    pub succeeded: Vec<u64>,
    /// The operations that failed.
    pub failed: u64,
    /// The requests.
    pub requests: u64,
    /// The rejected requests.
    pub rejected: u64,
}

impl Outcome {
    /// Returns Jain's index of fairness.
    pub fn fairness(&self) -> f64 {
        let sum: u64 = self.succeeded.iter().sum();
        let squares: u64 = self.succeeded.iter().map(|operations| operations * operations).sum();
        if squares == 0 {
            return 1.0;
        }
        number(sum).powi(2) / (number(self.succeeded.len() as u64) * number(squares))
    }

    /// Returns the operations of the client with the fewest, as a part of the mean.
    pub fn poorest(&self) -> f64 {
        let fewest = self.succeeded.iter().min().copied().unwrap_or(0);
        share(fewest * self.succeeded.len() as u64, self.succeeded.iter().sum())
    }

    pub(super) fn operations(&self) -> u64 {
        self.succeeded.iter().sum::<u64>() + self.failed
    }
}

/// Returns the strategies to compare. All have the same number of attempts in all, except the one that counts throttled
/// attempts apart, as the paced strategy does by itself.
pub fn strategies() -> Vec<Strategy> {
    let paced = |seed| PacedRetryStrategy::over(StandardRetryStrategy::new().seed(seed)).seed(seed);
    let attempts = StandardRetryStrategy::new().settings().max_attempts;
    vec![
        Strategy::no_retries(),
        Strategy::of("new()", |seed| StandardRetryStrategy::new().seed(seed)),
        Strategy::of("aws_2_1()", |seed| StandardRetryStrategy::aws_2_1().seed(seed)),
        Strategy::of("adaptive", |seed| AdaptiveRetryStrategy::over(StandardRetryStrategy::new().seed(seed))),
        Strategy::of("adaptive, no quota", |seed| {
            AdaptiveRetryStrategy::over(StandardRetryStrategy::new().seed(seed).with_quota(NoQuota))
        }),
        Strategy::of("paced", paced).in_all(attempts),
        Strategy::of("paced, as shipped", paced),
        Strategy::with_reports("paced, reports", paced).in_all(attempts),
    ]
}

/// Runs a case.
pub fn run(options: &Options, case: &Case, seed: u64) -> Outcome {
    run_each(options, case.rate, seed, |_| &case.strategy)
}

/// Runs clients of which each has a strategy, by its number, against a limit of `rate` requests per second.
pub fn run_each<'a>(options: &Options, rate: f64, seed: u64, strategy: impl Fn(u32) -> &'a Strategy) -> Outcome {
    let world = World::new();
    let outcome = Outcome { succeeded: vec![0; options.clients as usize], ..Outcome::default() };
    let outcome = Rc::new(RefCell::new(outcome));
    let limit = Rc::new(TokenBucketLimit::new(rate, rate).retry_after(options.retry_after));
    let measured_from = Duration::from_secs(options.measured_from_s.into());
    let (clock, counted) = (world.clone(), Rc::clone(&outcome));
    let server = Limited::new(&world, limit, (options.round_trip_ms, options.deviation), seed, move |is_rejected| {
        if clock.elapsed() >= measured_from {
            let outcome = &mut *counted.borrow_mut();
            outcome.requests += 1;
            outcome.rejected += u64::from(is_rejected);
        }
    });
    for client in 0..options.clients {
        let caller = strategy(client).caller(seed ^ u64::from(client) << 32);
        let starts = Duration::from_secs(options.arrive_s.into()) * client / options.clients;
        for _ in 0..options.workers {
            let (worker, caller, server, outcome) =
                (world.clone(), Rc::clone(&caller), Rc::clone(&server), Rc::clone(&outcome));
            world.spawn(async move {
                worker.sleep(starts).await;
                loop {
                    let result = caller.call(server.call()).await;
                    if worker.elapsed() >= measured_from {
                        let outcome = &mut *outcome.borrow_mut();
                        match result {
                            Ok(()) => outcome.succeeded[client as usize] += 1,
                            Err(_) => outcome.failed += 1,
                        }
                    }
                }
            });
        }
    }
    world.run_until(Timestamp::START.saturating_add(Duration::from_secs(options.duration_s.into())));
    outcome.take()
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let cases: Vec<Case> = plan
        .with(strategies())
        .into_iter()
        .flat_map(|strategy| options.rates.iter().map(move |&rate| Case { strategy: strategy.clone(), rate }))
        .collect();
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, seed| {
        run(&options, case, options.first_seed + seed)
    });

    let measures =
        ["fairness", "poorest client / mean", "limit used, %", "rejected share", "failed share of operations"];
    let mut table = Table::new("many", &["strategy", "limit, 1/s"], &measures);
    let mut fairness = Plot::new("fairness", "Fairness among the clients", "limit, 1/s", "Jain's index");
    let mut rejected = Plot::new("rejected", "Requests that are rejected", "limit, 1/s", "rejected share");
    let seconds = f64::from(options.duration_s.saturating_sub(options.measured_from_s));
    for (case, runs) in cases.iter().zip(&runs) {
        let spread = |measure: &dyn Fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
        let admissible = case.rate * seconds;
        let values = vec![
            spread(&Outcome::fairness),
            spread(&Outcome::poorest),
            spread(&|run| number(run.succeeded.iter().sum()) / admissible * 100.0),
            spread(&|run| share(run.rejected, run.requests)),
            spread(&|run| share(run.failed, run.operations())),
        ];
        fairness.add(case.strategy.name(), case.rate, values[0]);
        rejected.add(case.strategy.name(), case.rate, values[3]);
        table.add(vec![case.strategy.name().to_owned(), case.rate.to_string()], values);
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table], vec![fairness, rejected]))
}
