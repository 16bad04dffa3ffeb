//! A bulk copy against a rate limit: many workers share a list of operations, and the server admits so many per second.
//!
//! The server is a token bucket. Its rejections cost nothing, unless an option says so, and ask for a wait in whole
//! seconds. The ideal client sends as fast as the server admits, and is done after
//! `(operations - burst) / rate` seconds: 39 s with the defaults.
//!
//! Reference: "Let's Try Again: Making Retries Work With Cloud Services", on a copy between two S3 buckets that failed
//! with the standard retries of boto3 and worked with the adaptive ones.

use super::limited::Limited;
use super::{Plan, Scenario, UNTUNED, number, seconds, share};
use crate::World;
use crate::report::{Plot, Report, Spread, Table, quantile_of};
use crate::servers::{FixedWindowLimit, Limit, TokenBucketLimit};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use retry_core::quota::NoQuota;
use retry_core::time::Clock;
use retry_core::{AdaptiveRetryStrategy, PatientRetryStrategy, StandardRetryStrategy};
use retry_limits::PacedRetryStrategy;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario = Scenario { name: "copy", title: "A bulk copy against a rate limit", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The number of operations: 4,000.
    pub operations: u64,
    /// The numbers of workers: 16, 64 and 256.
    pub workers: Vec<u32>,
    /// The maximum number of attempts in all, throttled ones included: 3.
    pub max_attempts: u32,
    /// The limit, in requests per second: 100.
    pub rate: f64,
    /// The burst that the server admits: 100.
    pub burst: f64,
    /// The length of the window, if the limit is one for each fixed window instead of a token bucket: none.
    pub window_s: Option<f64>,
    /// Whether rejections carry a wait in whole seconds: yes. A fixed window sends none.
    pub retry_after: bool,
    /// The part of a token that a rejection costs: 0.
    pub rejection_cost: f64,
    /// The mean time from a request to its response: 20 ms. A message takes half of it on average.
    /// Less than 1 ms is treated as 1 ms.
    pub round_trip_ms: f64,
    /// The standard deviation of the time of a message, as a part of its mean: 0.1. Without it, all requests of a run
    /// would stay in step, and a run would show one of many possible patterns.
    pub deviation: f64,
    /// The first seed: [`UNTUNED`].
    pub first_seed: u64,
    /// The number of runs: 20.
    pub seeds: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            operations: 4_000,
            workers: vec![16, 64, 256],
            max_attempts: 3,
            rate: 100.0,
            burst: 100.0,
            window_s: None,
            retry_after: true,
            rejection_cost: 0.0,
            round_trip_ms: 20.0,
            deviation: 0.1,
            first_seed: UNTUNED,
            seeds: 20,
        }
    }
}

impl Options {
    /// Returns options for a run of a second.
    pub fn short() -> Self {
        Self { operations: 1_000, seeds: 3, ..Self::default() }
    }

    /// Returns the time that an ideal client needs.
    pub fn ideal(&self) -> f64 {
        ((number(self.operations) - self.burst) / self.rate).max(0.0)
    }

    fn limit(&self) -> Rc<dyn Limit> {
        if let Some(window) = self.window_s {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "floats saturate")]
            let requests = (self.rate * window) as u64;
            return Rc::new(FixedWindowLimit::new(requests, seconds(window)));
        }
        let bucket = TokenBucketLimit::new(self.rate, self.burst);
        Rc::new(bucket.rejection_cost(self.rejection_cost).retry_after(self.retry_after))
    }
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// How the workers retry. They share one strategy.
    pub strategy: Strategy,
    /// The number of workers.
    pub workers: u32,
}

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The number of operations that failed.
    pub failed: u64,
    /// The time until all operations were done.
    pub time: Duration,
    /// The number of requests.
    pub requests: u64,
    /// The number of rejected requests.
    pub rejected: u64,
    /// The median time of an operation, failed ones included, in seconds.
    pub median: f64,
    /// The 99th percentile of the time of an operation, in seconds.
    pub p99: f64,
}

/// Returns the strategies to compare. All have the same number of attempts in all, except the one that counts throttled
/// attempts apart, as the paced strategy does by itself.
pub fn strategies(max_attempts: u32) -> Vec<Strategy> {
    // An option of 0 attempts is treated as 1.
    let attempts = max_attempts.max(1);
    let standard = move |seed| StandardRetryStrategy::new().max_attempts(attempts).seed(seed);
    let paced = move |seed| PacedRetryStrategy::over(standard(seed)).seed(seed);
    let aws = move |seed| StandardRetryStrategy::aws_2_1().max_attempts(attempts).seed(seed);
    vec![
        Strategy::no_retries(),
        Strategy::of("new()", standard),
        Strategy::of("new(), no quota", move |seed| standard(seed).with_quota(NoQuota)),
        Strategy::of("aws_2_1()", aws),
        Strategy::of("aws_2_1(), no quota", move |seed| aws(seed).with_quota(NoQuota)),
        Strategy::of("adaptive", move |seed| AdaptiveRetryStrategy::over(standard(seed))),
        Strategy::of("adaptive, no quota", move |seed| AdaptiveRetryStrategy::over(standard(seed).with_quota(NoQuota))),
        Strategy::of("paced", paced).in_all(attempts),
        Strategy::of("paced, as shipped", paced),
    ]
}

/// Returns the strategies of the copy: those that other scenarios on limits have, too, and the recommended one.
fn with_patient(max_attempts: u32) -> Vec<Strategy> {
    let mut strategies = strategies(max_attempts);
    let patient = move |seed| PatientRetryStrategy::new().max_attempts(max_attempts.max(1)).seed(seed);
    // It is beside `new()`.
    strategies.insert(2, Strategy::of("patient", patient));
    strategies
}

#[derive(Default)]
struct Tally {
    begun: u64,
    outcome: Outcome,
    times: Vec<f64>,
}

/// Runs a case.
pub fn run(options: &Options, case: &Case, seed: u64) -> Outcome {
    let (world, tally) = (World::new(), Rc::new(RefCell::new(Tally::default())));
    let (caller, limit) = (case.strategy.caller(seed), options.limit());
    let (operations, counted) = (options.operations, Rc::clone(&tally));
    let round_trip = (options.round_trip_ms, options.deviation);
    let server = Limited::new(&world, limit, round_trip, seed, move |is_rejected| {
        let outcome = &mut counted.borrow_mut().outcome;
        outcome.requests += 1;
        outcome.rejected += u64::from(is_rejected);
    });
    for _ in 0..case.workers {
        let (worker, caller, server, tally) =
            (world.clone(), Rc::clone(&caller), Rc::clone(&server), Rc::clone(&tally));
        world.spawn(async move {
            while tally.borrow().begun < operations {
                tally.borrow_mut().begun += 1;
                let started = worker.now();
                let result = caller.call(server.call()).await;
                let mut tally = tally.borrow_mut();
                tally.outcome.failed += u64::from(result.is_err());
                tally.outcome.time = worker.elapsed();
                tally.times.push(worker.now().saturating_since(started).as_secs_f64());
            }
        });
    }
    world.run();
    let Tally { mut outcome, mut times, .. } = tally.take();
    times.sort_by(f64::total_cmp);
    outcome.median = quantile_of(&times, 0.5).unwrap_or(0.0);
    outcome.p99 = quantile_of(&times, 0.99).unwrap_or(0.0);
    outcome
}

/// The measures of [`measures`].
pub(super) const MEASURES: [&str; 7] =
    ["failed operations", "time, s", "time / ideal", "requests", "rejected share", "p50, s", "p99, s"];

/// Returns the measures of a case.
pub(super) fn measures(options: &Options, runs: &[Outcome]) -> Vec<Spread> {
    let ideal = options.ideal();
    let spread = |measure: &dyn Fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
    vec![
        spread(&|run| number(run.failed)),
        spread(&|run| run.time.as_secs_f64()),
        spread(&|run| run.time.as_secs_f64() / ideal),
        spread(&|run| number(run.requests)),
        spread(&|run| share(run.rejected, run.requests)),
        spread(&|run| run.median),
        spread(&|run| run.p99),
    ]
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let cases: Vec<Case> = plan
        .with(with_patient(options.max_attempts))
        .into_iter()
        .flat_map(|strategy| options.workers.iter().map(move |&workers| Case { strategy: strategy.clone(), workers }))
        .collect();
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, seed| {
        run(&options, case, options.first_seed + seed)
    });

    let mut table = Table::new("copy", &["strategy", "workers"], &MEASURES);
    let mut failed = Plot::new("failed", "Operations that fail", "workers", "failed operations");
    let mut time = Plot::new("time", "Time until all operations are done", "workers", "seconds");
    for (case, runs) in cases.iter().zip(&runs) {
        let values = measures(&options, runs);
        failed.add(case.strategy.name(), f64::from(case.workers), values[0]);
        time.add(case.strategy.name(), f64::from(case.workers), values[1]);
        table.add(vec![case.strategy.name().to_owned(), case.workers.to_string()], values);
    }
    for &workers in &options.workers {
        time.add("ideal", f64::from(workers), Spread::exactly(options.ideal()));
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table], vec![failed, time]))
}
