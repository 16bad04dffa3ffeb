//! Many worlds: servers of many kinds, and what a bulk copy costs there.
//!
//! Most limiters are tuned in one world, in which a rejection means that a bucket is empty. Here are others: rejections
//! at random, waits that servers ask for without need, long windows, times in which everything is rejected, limits
//! without a burst, jobs that are shorter than a ramp. Each world has the time of an ideal client, which knows the server.
//!
//! The strategies have the same maximum number of attempts in all, throttled ones included, and the same longest wait that a
//! server may ask for. The plain limiters of [`aimd`](crate::aimd) have no quota.

mod list;
mod server;

pub use list::worlds;
pub use server::{Hint, Kind, Running, Server};

use super::limited::Limited;
use super::{Plan, Scenario, UNTUNED, number, seconds, share};
use crate::World as Time;
use crate::aimd;
use crate::report::{Report, Spread, Table};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use retry_core::quota::NoQuota;
use retry_core::time::Timestamp;
use retry_core::{AdaptiveRetryStrategy, StandardRetryStrategy};
use retry_limits::{PacedRetryStrategy, Rejections};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario = Scenario { name: "worlds", title: "A bulk copy in many worlds", study };

/// The time at which a run is cut off, if a strategy never gets done.
const LONGEST: Duration = Duration::from_secs(100_000);

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The worlds.
    pub worlds: Vec<World>,
    /// A part of the names of the worlds to run; all, if it is empty.
    pub only: String,
    /// The name of the strategy to run; all, if it is empty.
    pub strategy: String,
    /// The maximum number of attempts of all strategies: 21.
    pub max_attempts: u32,
    /// The standard deviation of the time of a message, as a part of its mean: 0.1.
    pub deviation: f64,
    /// The first seed. Reports have [`UNTUNED`]; seeds from 100 on are for tuning.
    pub first_seed: u64,
    /// The number of runs: 5.
    pub seeds: u64,
}

/// A world: a job and a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// The name.
    pub name: String,
    /// What kind of world it is, for the picture.
    pub kind: String,
    /// The number of operations.
    pub operations: u64,
    /// The number of workers.
    pub workers: u32,
    /// The mean time from a request to its response.
    pub round_trip_ms: f64,
    /// Operations that come before, and the time without operations after them, in seconds. They are not measured.
    pub before: Option<(u64, f64)>,
    /// The server.
    pub server: Server,
    /// The time of an ideal client.
    pub ideal_s: f64,
    /// The longest wait that a server may ask for, if it is not that of the strategy.
    pub max_retry_after_s: Option<u64>,
    /// Whether the paced strategy is told that server errors are rejections.
    pub server_errors: bool,
}

impl Default for Options {
    fn default() -> Self {
        let (only, strategy, max_attempts, deviation) = (String::new(), String::new(), 21, 0.1);
        Self { worlds: worlds(), only, strategy, max_attempts, deviation, first_seed: UNTUNED, seeds: 5 }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        let mut options = Self { seeds: 1, ..Self::default() };
        options.worlds.retain(|world| world.operations <= 4_003 && !world.name.contains("5,000"));
        options
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The number of operations that failed.
    pub failed: u64,
    /// The time from the start of the job until all operations were done.
    pub time: Duration,
    /// The number of requests.
    pub requests: u64,
    /// The number of rejected requests.
    pub rejected: u64,
}

/// Returns the strategies to compare in a world. All have the same number of attempts in all, except the last one, which counts
/// throttled attempts apart, as the paced strategy does by itself.
pub fn strategies(max_attempts: u32, world: &World) -> Vec<Strategy> {
    let max_retry_after = world.max_retry_after_s.map(Duration::from_secs);
    let rejections = if world.server_errors { Rejections::ServerErrors } else { Rejections::Throttling };
    let standard = move |seed| {
        let standard = StandardRetryStrategy::new().max_attempts(max_attempts.max(1)).seed(seed);
        if max_retry_after.is_some() { standard.max_retry_after(max_retry_after) } else { standard }
    };
    let longest = standard(0).settings().max_retry_after.unwrap_or(Duration::MAX);
    let paced = move |seed| PacedRetryStrategy::over(standard(seed)).rejections(rejections).seed(seed);
    vec![
        Strategy::of("new()", standard),
        Strategy::of("new(), no quota", move |seed| standard(seed).with_quota(NoQuota)),
        Strategy::of("adaptive", move |seed| AdaptiveRetryStrategy::over(standard(seed))),
        aimd::rate(max_attempts, longest),
        aimd::window(max_attempts, longest),
        Strategy::of("paced", paced).in_all(max_attempts),
        Strategy::of("paced, as shipped", paced),
    ]
}

#[derive(Default)]
struct Tally {
    begun: u64,
    outcome: Outcome,
}

/// Runs a world with one strategy.
pub fn run(deviation: f64, world: &World, strategy: &Strategy, seed: u64) -> Outcome {
    let (time, tally) = (Time::new(), Rc::new(RefCell::new(Tally::default())));
    let caller = strategy.caller(seed);
    let (before, idle) = world.before.unwrap_or((0, 0.0));
    let start = if before == 0 { Duration::ZERO } else { seconds(idle) };
    let (clock, counted) = (time.clone(), Rc::clone(&tally));
    let limit = Rc::new(Running::new(&world.server, seed));
    let server = Limited::new(&time, limit, (world.round_trip_ms, deviation), seed, move |is_rejected| {
        if clock.elapsed() >= start {
            let outcome = &mut counted.borrow_mut().outcome;
            outcome.requests += 1;
            outcome.rejected += u64::from(is_rejected);
        }
    });
    for _ in 0..world.workers {
        let (worker, caller, server, tally) = (time.clone(), Rc::clone(&caller), Rc::clone(&server), Rc::clone(&tally));
        let operations = before + world.operations;
        time.spawn(async move {
            while tally.borrow().begun < before {
                tally.borrow_mut().begun += 1;
                let _ = caller.call(server.call()).await;
            }
            worker.sleep_until(Timestamp::START.saturating_add(start)).await;
            while tally.borrow().begun < operations {
                tally.borrow_mut().begun += 1;
                let result = caller.call(server.call()).await;
                let outcome = &mut tally.borrow_mut().outcome;
                outcome.failed += u64::from(result.is_err());
                outcome.time = worker.elapsed().saturating_sub(start);
            }
        });
    }
    time.run_until(Timestamp::START.saturating_add(LONGEST));
    let Tally { begun, mut outcome } = tally.take();
    // What was not done in time is treated as failed.
    outcome.failed += before + world.operations - begun;
    outcome
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let cases: Vec<(&World, Strategy)> = options
        .worlds
        .iter()
        .filter(|world| world.name.contains(&options.only))
        .flat_map(|world| {
            plan.with(strategies(options.max_attempts, world)).into_iter().map(move |strategy| (world, strategy))
        })
        .filter(|(_, strategy)| options.strategy.is_empty() || options.strategy == strategy.name())
        .collect();
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |(world, strategy), seed| {
        run(options.deviation, world, strategy, options.first_seed + seed)
    });
    let measures = ["failed operations", "time / ideal", "requests", "rejected share"];
    let mut table = Table::new("worlds", &["world", "strategy"], &measures);
    for ((world, strategy), runs) in cases.iter().zip(&runs) {
        let spread = |measure: &dyn Fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
        let values = vec![
            spread(&|run| number(run.failed)),
            spread(&|run| run.time.as_secs_f64() / world.ideal_s),
            spread(&|run| number(run.requests)),
            spread(&|run| share(run.rejected, run.requests)),
        ];
        table.add(vec![world.name.clone(), strategy.name().to_owned()], values);
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table], Vec::new()))
}
