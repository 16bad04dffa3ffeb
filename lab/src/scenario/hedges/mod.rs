//! Worlds in which hedges help, do nothing, or could harm.
//!
//! As in [`tail`](super::tail), each server has some slots and a queue, first come, first served, and also serves requests whose clients have
//! given up. The time of a request is lognormal. Attempts have a time limit, calls too, and each goes to a server at random.
//! The strategy is the patient one with its quota by evidence; a fixed delay has the standard strategy with its bucket, and
//! asks another server.
//!
//! Each world has a goal for the hedges. It is that of a client that could tell the worlds apart.

mod list;
mod run;

pub use list::worlds;
pub use run::{Outcome, run};

use super::{Plan, Scenario, UNTUNED};
use crate::report::{Report, Spread, Table};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use retry_core::{PatientRetryStrategy, StandardRetryStrategy};
use serde::{Deserialize, Serialize};

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "hedges", title: "Worlds in which hedges help, do nothing, or could harm", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The worlds.
    pub worlds: Vec<World>,
    /// A part of the names of the worlds to run; all, if it is empty.
    pub only: String,
    /// The median time of a request at a server: 10 ms.
    pub median_ms: f64,
    /// The deviation of the logarithm of that time: 0.5.
    pub sigma: f64,
    /// The longest time of a call: 10 s.
    pub max_time_s: f64,
    /// The calls before those that are measured, in which the hedges learn: 20,000.
    pub warm_up_calls: u32,
    /// The part of the calls that are measured: 1.
    pub part: f64,
    /// The first seed. Reports have [`UNTUNED`]; seeds from 100 on are for tuning.
    pub first_seed: u64,
    /// The number of runs: 40, because those of an overload differ much.
    pub seeds: u64,
}

/// A world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// The name.
    pub name: String,
    /// The servers.
    pub servers: u32,
    /// The requests that a server works on at a time.
    pub slots: u32,
    /// The arrivals, as a part of what the servers can serve.
    pub load: f64,
    /// The processes that call the servers, each with a strategy and a hedge.
    pub processes: u32,
    /// What is wrong.
    pub fault: Fault,
    /// The longest time of an attempt.
    pub attempt_timeout_s: f64,
    /// Whether the calls that are measured are the first ones of their processes.
    pub is_cold: bool,
    /// The calls that are measured.
    pub calls: u32,
    /// A fixed delay to compare, in milliseconds.
    pub fixed_ms: Option<f64>,
    /// What hedges should reach.
    pub goal: Goal,
}

/// What is wrong with the servers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Nothing.
    None,
    /// One server never answers.
    Hang,
    /// Each server pauses regularly, each at other times.
    Pauses {
        /// How long a server pauses.
        pause_s: f64,
        /// The time from the beginning of a pause to the next one.
        every_s: f64,
    },
    /// Some requests take so many times as long.
    SomeSlow {
        /// Their part of all requests.
        share: f64,
        /// How many times.
        factor: f64,
    },
    /// One server always takes so many times as long.
    SlowServer {
        /// How many times.
        factor: f64,
    },
    /// All requests take so many times as long while calls are measured.
    Slower {
        /// How many times.
        factor: f64,
    },
    /// More calls arrive while calls are measured.
    Overload {
        /// The arrivals, as a part of what the servers can serve.
        load: f64,
    },
}

/// What `p95` should reach, unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// The highest 99th percentile, in milliseconds.
    P99(f64),
    /// The same for the fixed delay.
    P99OfFixed(f64),
    /// The highest 99th percentile, as a multiple of that without hedges.
    P99Times(f64),
    /// The highest median, as a multiple of that without hedges.
    MedianTimes(f64),
    /// The percentage points by which more calls may fail than without hedges.
    FailedPoints(f64),
    /// The most calls with a hedge, in percent.
    HedgedPercent(f64),
}

impl Goal {
    /// Returns the name of what is measured.
    pub const fn measure(self) -> &'static str {
        match self {
            Self::P99(_) | Self::P99OfFixed(_) | Self::P99Times(_) => "p99, ms",
            Self::MedianTimes(_) => "median, ms",
            Self::FailedPoints(_) => "failed, %",
            Self::HedgedPercent(_) => "hedged, %",
        }
    }

    /// Returns what is measured.
    pub fn of(self, run: &Outcome) -> f64 {
        match self {
            Self::P99(_) | Self::P99OfFixed(_) | Self::P99Times(_) => run.quantile_ms(0.99),
            Self::MedianTimes(_) => run.quantile_ms(0.5),
            Self::FailedPoints(_) => run.failed_percent(),
            Self::HedgedPercent(_) => run.hedged_percent(),
        }
    }

    /// Returns the highest value. This is the value without hedges.
    pub const fn limit(self, without: f64) -> f64 {
        match self {
            Self::P99(limit) | Self::P99OfFixed(limit) | Self::HedgedPercent(limit) => limit,
            Self::P99Times(times) | Self::MedianTimes(times) => times * without,
            Self::FailedPoints(points) => points + without,
        }
    }
}

impl World {
    /// Returns the hedges that the goal is for.
    pub const fn judged(&self) -> Against {
        match (self.goal, self.fixed_ms) {
            (Goal::P99OfFixed(_), Some(delay)) => Against::Fixed(delay),
            _ => Against::Steered,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            worlds: worlds(),
            only: String::new(),
            median_ms: 10.0,
            sigma: 0.5,
            max_time_s: 10.0,
            warm_up_calls: 20_000,
            part: 1.0,
            first_seed: UNTUNED,
            seeds: 100,
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        Self { warm_up_calls: 5_000, part: 0.25, seeds: 1, ..Self::default() }
    }

    /// Returns the calls in a second of a world.
    pub fn rate(&self, world: &World) -> f64 {
        // The mean of a lognormal time.
        let mean_s = self.median_ms / 1e3 * (self.sigma * self.sigma / 2.0).exp();
        world.load * f64::from(world.servers) * f64::from(world.slots) / mean_s
    }
}

/// When a call has a hedge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Against {
    /// Never.
    Nothing,
    /// After a delay that follows the calls.
    Steered,
    /// After this delay in milliseconds, at another server.
    Fixed(f64),
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// The world.
    pub world: &'a World,
    /// When a call has a hedge.
    pub against: Against,
    /// How the clients retry.
    pub strategy: Strategy,
}

impl<'a> Case<'a> {
    /// Creates a case with the strategy that goes with the hedge.
    pub fn new(world: &'a World, against: Against) -> Self {
        let strategy = match against {
            Against::Nothing => Strategy::of("no hedge", |seed| PatientRetryStrategy::new().seed(seed)),
            Against::Steered => Strategy::of("p95", |seed| PatientRetryStrategy::new().seed(seed)),
            Against::Fixed(delay) => {
                let name = format!("{delay} ms, another server, new()");
                Strategy::of(name, |seed| StandardRetryStrategy::new().seed(seed))
            }
        };
        Self { world, against, strategy }
    }
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let mut cases = Vec::new();
    for world in options.worlds.iter().filter(|world| world.name.contains(&options.only)) {
        cases.extend([Against::Nothing, Against::Steered].map(|against| Case::new(world, against)));
        cases.extend(world.fixed_ms.map(|delay| Case::new(world, Against::Fixed(delay))));
        cases.extend(plan.with(Vec::new()).into_iter().map(|strategy| Case {
            world,
            against: Against::Steered,
            strategy,
        }));
    }
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, seed| {
        run(&options, case, options.first_seed + seed)
    });
    let measures = ["median, ms", "p99, ms", "hedged, %", "won, %", "failed, %"];
    let mut table = Table::new("hedges", &["world", "strategy"], &measures);
    for (case, runs) in cases.iter().zip(&runs) {
        let spread = |measure: &dyn Fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
        let values = vec![
            spread(&|run| run.quantile_ms(0.5)),
            spread(&|run| run.quantile_ms(0.99)),
            spread(&Outcome::hedged_percent),
            spread(&Outcome::won_percent),
            spread(&Outcome::failed_percent),
        ];
        table.add(vec![case.world.name.clone(), case.strategy.name().to_owned()], values);
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table], Vec::new()))
}
