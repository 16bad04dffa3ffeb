//! Worlds that no limiter was tuned on: none of their constants was tuned on them when the worlds were chosen.
//!
//! Part of the operations can go to a key that rejects everything, such as a tenant over its quota; then a run ends when all
//! others are done. Beside jobs there are open loads, in which operations begin whether others are done or not. A limit can be
//! split into cells, one for each key, and a server can ban clients that send too much. Where a limit and its burst are known, the
//! strategies that can be told are told.
//!
//! As in [`worlds`](super::worlds), each world has the time of an ideal client, and all strategies but the paced ones have 21
//! attempts in all.

mod list;
mod run;
mod server;

pub use list::worlds;
pub use run::{Outcome, run};
pub use server::{Ban, Gate, Key, Site};

use super::{Plan, Scenario, UNTUNED, number, share};
use crate::aimd;
use crate::report::{Report, Spread, Table};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use retry_core::quota::NoQuota;
use retry_core::{AdaptiveRetryStrategy, StandardRetryStrategy};
use retry_limits::PacedRetryStrategy;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario = Scenario { name: "untold", title: "Worlds that no limiter was tuned on", study };

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
    /// The first seed. Reports have [`UNTUNED`]; seeds from 100 on are for tuning.
    pub first_seed: u64,
    /// The number of runs: 5.
    pub seeds: u64,
}

/// A world: a job or an open load, and a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// The name.
    pub name: String,
    /// The operations of each process.
    pub operations: u64,
    /// The processes, each with a separate strategy.
    pub processes: u32,
    /// The workers of each process.
    pub workers: u32,
    /// The operations that begin in each second, at random times, in place of workers.
    pub per_second: Option<f64>,
    /// The mean time from a request to its response.
    pub round_trip_ms: f64,
    /// Every so many operations, one goes to a key that rejects everything. 0 stands for never.
    pub bad_every: u64,
    /// The longest time of an operation.
    pub max_time_s: Option<f64>,
    /// The server.
    pub site: Site,
    /// The time of an ideal client.
    pub ideal_s: f64,
    /// The limit in requests per second and its burst, if they are known.
    pub told: Option<(f64, u32)>,
}

impl Default for Options {
    fn default() -> Self {
        let (only, strategy, max_attempts) = (String::new(), String::new(), 21);
        Self { worlds: worlds(), only, strategy, max_attempts, first_seed: UNTUNED, seeds: 5 }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        Self { seeds: 1, ..Self::default() }
    }
}

/// Returns the strategies to compare in a world.
pub fn strategies(max_attempts: u32, world: &World) -> Vec<Strategy> {
    let standard = move |seed| StandardRetryStrategy::new().max_attempts(max_attempts.max(1)).seed(seed);
    let longest = standard(0).settings().max_retry_after.unwrap_or(Duration::MAX);
    let paced = move |seed| PacedRetryStrategy::over(standard(seed)).seed(seed);
    let mut strategies = vec![
        Strategy::of("new(), no quota", move |seed| standard(seed).with_quota(NoQuota)),
        Strategy::of("adaptive", move |seed| AdaptiveRetryStrategy::over(standard(seed))),
        aimd::rate(max_attempts, longest),
        aimd::window(max_attempts, longest),
        Strategy::of("paced", paced),
    ];
    if let Some((rate, burst)) = world.told {
        strategies.push(aimd::told((rate, f64::from(burst)), max_attempts, longest));
        strategies.push(Strategy::of("paced, told", move |seed| paced(seed).max_rate(rate).burst(burst)));
    }
    strategies
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
        run(world, strategy, options.first_seed + seed)
    });
    let measures =
        ["failed operations", "time / ideal", "requests", "rejected share", "mean latency, s", "goodput, per second"];
    let mut table = Table::new("untold", &["world", "strategy"], &measures);
    for ((world, strategy), runs) in cases.iter().zip(&runs) {
        let spread = |measure: &dyn Fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
        let values = vec![
            spread(&|run| number(run.failed)),
            spread(&|run| run.time.as_secs_f64() / world.ideal_s),
            spread(&|run| number(run.requests)),
            spread(&|run| share(run.rejected, run.requests)),
            spread(&Outcome::mean_latency_s),
            spread(&Outcome::goodput),
        ];
        table.add(vec![world.name.clone(), strategy.name().to_owned()], values);
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table], Vec::new()))
}
