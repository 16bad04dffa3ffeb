//! A partial outage: each attempt fails with the same probability, independently of all others.
//!
//! Retries turn failures into successes and into load. A quota lets retries through as long as few requests fail, and
//! stops them when many do. The scenario shows both, and finds the probability at which the quota begins to drain. The ideal
//! client repeats each request until it succeeds.
//!
//! References: Marc Brooker, "Fixing retries with token buckets and circuit breakers", 2022; "Handling Overload" in the
//! book "Site Reliability Engineering", on retry budgets of 10 %.

use super::{Plan, Scenario, number, share};
use crate::World;
use crate::call::{Call, CallError};
use crate::report::{Plot, Report, Spread, Table};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use crate::world::Random;
use retry_core::quota::NoQuota;
use retry_core::strategy::{Refund, RetryCosts};
use retry_core::time::Timer;
use retry_core::{PatientRetryStrategy, RetryQuota, StandardRetryStrategy};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "partial", title: "A server that fails each request with the same probability", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The probabilities of a failure: 0, 0.02, .. 1.
    pub probabilities: Vec<f64>,
    /// The number of operations of a run, after as many that are not measured: 20,000.
    pub operations: u64,
    /// The operations that begin in a second, as a Poisson process: none, so that each begins when the one before is done
    /// and no time passes but that of backoff. A quota that fills with time needs a rate.
    pub rate: Option<f64>,
    /// The number of operations by which each step of the search for the drain rate is decided: 100,000.
    pub drain_operations: u64,
    /// The number of steps of that search, each of which halves the interval: 14.
    pub drain_steps: u32,
    /// The number of runs: 20.
    pub seeds: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            probabilities: (0..=50).map(|step| f64::from(step) / 50.0).collect(),
            operations: 20_000,
            rate: None,
            drain_operations: 100_000,
            drain_steps: 14,
            seeds: 20,
        }
    }
}

impl Options {
    /// Returns options for a run of a second.
    pub fn short() -> Self {
        let probabilities = vec![0.0, 0.1, 0.2, 0.3, 0.5, 1.0];
        Self {
            probabilities,
            operations: 2_000,
            drain_operations: 20_000,
            drain_steps: 10,
            seeds: 3,
            ..Self::default()
        }
    }
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// How the client retries.
    pub strategy: Strategy,
    /// The probability that an attempt fails.
    pub probability: f64,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of operations.
    pub operations: u64,
    /// The operations that succeeded.
    pub succeeded: u64,
    /// The attempts.
    pub attempts: u64,
}

/// Returns the strategies to compare.
pub fn strategies() -> Vec<Strategy> {
    let budget = |seed| {
        let standard = StandardRetryStrategy::new().max_attempts(4).seed(seed);
        standard.retry_costs(RetryCosts::new(10)).refunds(1, Refund::Amount(1))
    };
    vec![
        Strategy::no_retries(),
        Strategy::of("three retries", |seed| {
            StandardRetryStrategy::new().max_attempts(4).seed(seed).with_quota(NoQuota)
        }),
        Strategy::of("10 % of successes", budget),
        Strategy::of("new()", |seed| StandardRetryStrategy::new().seed(seed)),
        Strategy::of("patient", |seed| PatientRetryStrategy::new().seed(seed)),
        Strategy::of("aws_2_0()", |seed| StandardRetryStrategy::aws_2_0().seed(seed)),
        Strategy::of("aws_2_1()", |seed| StandardRetryStrategy::aws_2_1().seed(seed)),
    ]
}

/// Runs a case.
pub fn run(options: &Options, case: &Case, seed: u64) -> Outcome {
    let caller = case.strategy.caller(seed);
    let outcome = Rc::new(Cell::new(Outcome::default()));
    let (world, counted, operations) = (World::new(), Rc::clone(&outcome), options.operations);
    let (client, failing) = (world.clone(), Failing::new(case.probability, seed));
    let (rate, mut arrivals) = (options.rate, Random::new(seed, "arrivals"));
    world.spawn(async move {
        for number in 0..2 * operations {
            let (caller, (call, attempts)) = (Rc::clone(&caller), failing.call(&client));
            let counted = Rc::clone(&counted);
            let operation = async move {
                let result = caller.call(call).await;
                if number >= operations {
                    let mut outcome = counted.get();
                    outcome.operations += 1;
                    outcome.succeeded += u64::from(result.is_ok());
                    outcome.attempts += attempts.get();
                    counted.set(outcome);
                }
            };
            if let Some(rate) = rate {
                client.sleep(arrivals.interval(rate)).await;
                client.spawn(operation);
            } else {
                operation.await;
            }
        }
    });
    world.run();
    outcome.get()
}

/// A server that fails with a probability.
struct Failing {
    probability: f64,
    random: Rc<RefCell<Random>>,
}

impl Failing {
    fn new(probability: f64, seed: u64) -> Self {
        Self { probability, random: Rc::new(RefCell::new(Random::new(seed, "failures"))) }
    }

    /// Creates a call of the server, and the number of its attempts.
    fn call(&self, world: &World) -> (Call, Rc<Cell<u64>>) {
        let (probability, random, attempts) = (self.probability, Rc::clone(&self.random), Rc::new(Cell::new(0)));
        let counted = Rc::clone(&attempts);
        let call = Call::new(world, move || {
            counted.set(counted.get() + 1);
            let fails = random.borrow_mut().occurs(probability);
            std::future::ready(if fails { Err(CallError::Failed) } else { Ok(()) })
        });
        (call, attempts)
    }
}

/// A strategy whose drain rate is wanted: a name, and a function that makes it with a capacity of its quota.
type Draining = (&'static str, fn(u32) -> StandardRetryStrategy);

const DRAINING: [Draining; 3] = [
    ("new()", |capacity| StandardRetryStrategy::new().quota_capacity(capacity)),
    ("aws_2_0()", |capacity| StandardRetryStrategy::aws_2_0().quota_capacity(capacity)),
    ("aws_2_1()", |capacity| StandardRetryStrategy::aws_2_1().quota_capacity(capacity)),
];

/// Returns the change of the quota per operation, if each attempt fails with this probability.
///
/// The quota starts half full and is so large that it gets neither empty nor full.
pub fn drift(strategy: fn(u32) -> StandardRetryStrategy, probability: f64, operations: u64, seed: u64) -> f64 {
    // The retries of an operation cost 28 at most, with the costs of each preset.
    let half = u32::try_from(operations.saturating_mul(64)).unwrap_or(u32::MAX / 2).min(u32::MAX / 2);
    let strategy = Arc::new(strategy(2 * half).seed(seed));
    let (world, failing) = (World::new(), Failing::new(probability, seed));
    strategy.quota().try_acquire(half, &world);
    let shared = Arc::clone(&strategy);
    let caller = Strategy::of("half full", move |_| Arc::clone(&shared)).caller(seed);
    let client = world.clone();
    world.spawn(async move {
        for _ in 0..operations {
            let _ = caller.call(failing.call(&client).0).await;
        }
    });
    world.run();
    (f64::from(strategy.quota().available()) - f64::from(half)) / number(operations)
}

/// Finds the probability at which the quota begins to drain.
pub fn drain_rate(options: &Options, strategy: fn(u32) -> StandardRetryStrategy, seed: u64) -> f64 {
    let (mut fills, mut drains) = (0.0, 1.0);
    for _ in 0..options.drain_steps {
        let middle = f64::midpoint(fills, drains);
        if drift(strategy, middle, options.drain_operations, seed) < 0.0 {
            drains = middle;
        } else {
            fills = middle;
        }
    }
    f64::midpoint(fills, drains)
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let cases: Vec<Case> = plan
        .with(strategies())
        .into_iter()
        .flat_map(|strategy| {
            options.probabilities.iter().map(move |&probability| Case { strategy: strategy.clone(), probability })
        })
        .collect();
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, seed| run(&options, case, seed));
    let rates = outcomes("partial: drain rate", &DRAINING, options.seeds, workers, |(_, strategy), seed| {
        drain_rate(&options, *strategy, seed)
    });

    let mut drains = Table::new("drain", &["strategy"], &["failure rate at which the quota begins to drain, %"]);
    for ((name, _), rates) in DRAINING.iter().zip(rates) {
        drains.add(vec![(*name).to_owned()], vec![Spread::of(rates.into_iter().map(|rate| rate * 100.0))]);
    }
    let mut table = Table::new("partial", &["strategy", "failures, %"], &["successes, %", "attempts per operation"]);
    let mut successes = Plot::new("successes", "Operations that succeed", "attempts that fail, %", "successes, %");
    let mut load = Plot::new("load", "Load on the server", "attempts that fail, %", "attempts per operation");
    for (case, runs) in cases.iter().zip(&runs) {
        let values = [
            Spread::of(runs.iter().map(|run| share(run.succeeded, run.operations) * 100.0)),
            Spread::of(runs.iter().map(|run| share(run.attempts, run.operations))),
        ];
        let percent = case.probability * 100.0;
        successes.add(case.strategy.name(), percent, values[0]);
        load.add(case.strategy.name(), percent, values[1]);
        table.add(vec![case.strategy.name().to_owned(), format!("{percent:.0}")], values.to_vec());
    }
    for &probability in options.probabilities.iter().filter(|&&probability| probability < 1.0) {
        successes.add("ideal", probability * 100.0, Spread::exactly(100.0));
        load.add("ideal", probability * 100.0, Spread::exactly(1.0 / (1.0 - probability)));
    }
    Ok(SCENARIO.report(values, options.seeds, vec![drains, table], vec![successes, load]))
}
