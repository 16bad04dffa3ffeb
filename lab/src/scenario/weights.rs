//! A bulk job against a limit on the sum of the weights of its requests, such as tokens per minute.

use super::{Plan, Scenario, UNTUNED, millis, number, share};
use crate::World as Time;
use crate::call::{Call, CallError, Weight};
use crate::report::{Report, Spread, Table};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use crate::world::{Network, Random};
use retry_core::StandardRetryStrategy;
use retry_core::quota::NoQuota;
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::time::Timestamp;
use retry_limits::{PacedLimiter, PacedRetryStrategy, Weights};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario = Scenario { name: "weights", title: "A bulk job against a limit on weights", study };

/// The time at which a run is cut off, if a strategy never gets done.
const LONGEST: Duration = Duration::from_secs(100_000);
/// The round trip, whose messages deviate by a tenth.
const ROUND_TRIP_MS: f64 = 20.0;

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The jobs.
    pub jobs: Vec<Job>,
    /// The maximum number of attempts: 21.
    pub max_attempts: u32,
    /// The first seed. Reports have [`UNTUNED`].
    pub first_seed: u64,
    /// The number of runs: 5.
    pub seeds: u64,
}

/// A job and its server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The name.
    pub name: String,
    /// The number of operations.
    pub operations: u64,
    /// The number of workers.
    pub workers: u32,
    /// The lightest and the heaviest weight.
    pub weights: (f64, f64),
    /// Whether weights are drawn by their logarithms, so that most are light.
    pub is_log: bool,
    /// The factor by which the estimate of a weight is wrong, at most.
    pub off_by: f64,
    /// The limit: weights per second.
    pub rate: f64,
    /// The weights that the server saves up.
    pub burst: f64,
}

impl Default for Options {
    fn default() -> Self {
        let job = |name: &str, weights, is_log, rate, burst| {
            let (name, operations, workers, off_by) = (name.to_owned(), 4_000, 64, 1.0);
            Job { name, operations, workers, weights, is_log, off_by, rate, burst }
        };
        let even = job("1 to 100, 500/s, burst 500", (1.0, 100.0), false, 500.0, 500.0);
        let jobs = vec![
            even.clone(),
            Job { name: "1 to 100, 500/s, burst 500, estimates off by 1.5".to_owned(), off_by: 1.5, ..even.clone() },
            Job { name: "1 to 100, 500/s, burst 100".to_owned(), burst: 100.0, ..even.clone() },
            Job { name: "1 to 100, 500/s, burst 5,000".to_owned(), burst: 5_000.0, ..even },
            job("1 to 100, 50,000/s, burst 5,000", (1.0, 100.0), false, 50_000.0, 5_000.0),
            Job {
                operations: 400,
                workers: 32,
                ..job("prompts of 100 to 4,000 tokens, 100,000/min", (100.0, 4_000.0), true, 1e5 / 60.0, 1e5)
            },
        ];
        Self { jobs, max_attempts: 21, first_seed: UNTUNED, seeds: 5 }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        Self { seeds: 1, ..Self::default() }
    }
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The number of operations that failed.
    pub failed: u64,
    /// The time until all operations were done, by that of an ideal client.
    pub time: f64,
    /// The number of requests.
    pub requests: u64,
    /// The number of rejected requests.
    pub rejected: u64,
}

/// Returns the strategies to compare for a job.
pub fn strategies(max_attempts: u32, job: &Job) -> Vec<Strategy> {
    let standard = move |seed| StandardRetryStrategy::new().max_attempts(max_attempts.max(1)).seed(seed);
    let rate = job.rate;
    let by_weight =
        move |limiter: PacedLimiter<Weights>, seed| LimitedRetryStrategy::with_limiter(standard(seed), limiter);
    vec![
        Strategy::of("new(), no quota", move |seed| standard(seed).with_quota(NoQuota)),
        Strategy::of("paced, counts requests", move |seed| PacedRetryStrategy::over(standard(seed)).seed(seed)),
        Strategy::of("paced by weights", move |seed| by_weight(PacedLimiter::of_weights().seed(seed), seed)),
        Strategy::of("paced by weights, told", move |seed| {
            by_weight(PacedLimiter::of_weights().max_rate(rate).seed(seed), seed)
        }),
    ]
}

/// The server and its clients.
struct State {
    random: Random,
    /// What the server has saved up, and when.
    saved: (f64, f64),
    begun: u64,
    /// The sum of the weights of all operations.
    sum: f64,
    outcome: Outcome,
}

/// Runs a job with one strategy.
pub fn run(job: &Job, strategy: &Strategy, seed: u64) -> Outcome {
    let time = Time::new();
    let message = millis(ROUND_TRIP_MS) / 2;
    let network = Rc::new(Network::new(&time, message, message / 10, seed));
    let random = Random::new(seed, "weights");
    let (saved, begun, sum, outcome) = ((job.burst, 0.0), 0, 0.0, Outcome::default());
    let state = Rc::new(RefCell::new(State { random, saved, begun, sum, outcome }));
    let caller = strategy.caller(seed);
    for _ in 0..job.workers {
        let (world, caller, network, state, job) =
            (time.clone(), Rc::clone(&caller), Rc::clone(&network), Rc::clone(&state), job.clone());
        time.spawn(async move {
            loop {
                let begun = state.borrow_mut().begin(&job);
                let Some(weight) = begun else { return };
                let result = caller.call(call(&world, &network, &state, &job, weight)).await;
                let outcome = &mut state.borrow_mut().outcome;
                outcome.failed += u64::from(result.is_err());
                outcome.time = world.elapsed().as_secs_f64();
            }
        });
    }
    time.run_until(Timestamp::START.saturating_add(LONGEST));
    let (begun, sum, mut outcome) = {
        let state = state.borrow();
        (state.begun, state.sum, state.outcome)
    };
    outcome.failed += job.operations - begun;
    outcome.time /= (sum - job.burst) / job.rate;
    outcome
}

impl State {
    /// Begins an operation. Returns its weight, and the estimate of it.
    fn begin(&mut self, job: &Job) -> Option<(f64, f64)> {
        if self.begun >= job.operations {
            return None;
        }
        self.begun += 1;
        let ((lightest, heaviest), part) = (job.weights, self.random.uniform());
        let weight = if job.is_log {
            lightest * (heaviest / lightest).powf(part)
        } else {
            lightest + part * (heaviest - lightest)
        };
        let weight = weight.round();
        self.sum += weight;
        Some((weight, (weight * job.off_by.powf(2.0 * self.random.uniform() - 1.0)).round()))
    }

    /// Takes a weight from the limit, or rejects the request.
    fn admit(&mut self, job: &Job, weight: f64, now: f64) -> Result<(), CallError> {
        let (saved, since) = self.saved;
        let saved = (saved + (now - since) * job.rate).min(job.burst);
        let is_rejected = saved < weight - 1e-6;
        self.saved = (if is_rejected { saved } else { saved - weight }, now);
        self.outcome.requests += 1;
        self.outcome.rejected += u64::from(is_rejected);
        if is_rejected { Err(CallError::Throttled { retry_after: None }) } else { Ok(()) }
    }
}

/// Creates the call of an operation of this weight and estimate.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousands at most")]
fn call(world: &Time, network: &Rc<Network>, state: &Rc<RefCell<State>>, job: &Job, weights: (f64, f64)) -> Call {
    let (weight, estimate) = weights;
    let (clock, network, state, job) = (world.clone(), Rc::clone(network), Rc::clone(state), job.clone());
    let call = Call::new(world, move || {
        let (clock, network, state, job) = (clock.clone(), Rc::clone(&network), Rc::clone(&state), job.clone());
        async move {
            network.message().await;
            let admitted = state.borrow_mut().admit(&job, weight, clock.elapsed().as_secs_f64());
            network.message().await;
            admitted
        }
    });
    Call { weight: Some(Weight { estimate: estimate as u32, used: weight as u32 }), ..call }
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let cases: Vec<(&Job, Strategy)> = options
        .jobs
        .iter()
        .flat_map(|job| {
            plan.with(strategies(options.max_attempts, job)).into_iter().map(move |strategy| (job, strategy))
        })
        .collect();
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |(job, strategy), seed| {
        run(job, strategy, options.first_seed + seed)
    });
    let mut table = Table::new(
        "weights",
        &["job", "strategy"],
        &["failed operations", "time / ideal", "requests", "rejected share"],
    );
    for ((job, strategy), runs) in cases.iter().zip(&runs) {
        let spread = |measure: &dyn Fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
        let values = vec![
            spread(&|run| number(run.failed)),
            spread(&|run| run.time),
            spread(&|run| number(run.requests)),
            spread(&|run| share(run.rejected, run.requests)),
        ];
        table.add(vec![job.name.clone(), strategy.name().to_owned()], values);
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table], Vec::new()))
}
