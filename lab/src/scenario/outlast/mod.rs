//! Operations that outlast an outage: what begins in a fault and succeeds in the end, and what that costs.
//!
//! A server is down, hangs or stalls for a time, under an open load, and has the same capacity as before afterwards. So what is saved
//! up in an outage of `D` seconds at a load `r` takes `D r / (1 - r)` seconds of spare capacity, and operations that live for `P`
//! seconds after it succeed in a part of `P (1 - r) / (D r)` at most. Each attempt that a server gets while it works off its queue
//! delays all others, and an attempt whose operation has ended is wasted.
//!
//! Other worlds are jobs: a batch, programs that make one call or some, clients that meet failures in a row.
//!
//! Options choose worlds by name or kind, and change or replace them:
//!
//! ```sh
//! lab run outlast --brief --set 'only=["outages"]' --set 'strategies=["new()","evidence"]' --set first_seed=100 --seeds 5 \
//!     --set 'with={"load":0.6,"live_s":[20],"processes":[1,50]}'
//! lab run outlast --brief --set 'worlds=[{"name":"down 7 s, then slow","load":0.6,"fault_s":7,
//!     "faults":[{"fault":"down"},{"fault":{"slow":1.5},"from_s":7,"to_s":60}]}]'
//! ```
//!
//! The references are those of [`outage`](super::outage) and [`faults`](super::faults), and RFC 6817 (LEDBAT) for traffic that uses
//! what other traffic leaves.

mod jobs;
mod list;
mod open;
mod site;
mod world;

pub use jobs::{Tally, run as run_jobs};
pub use list::worlds;
pub use open::{Measured, Retries, run};
pub use world::{Answer, Jobs, Spell, World};

use super::{Plan, Scenario, UNTUNED, number, share};
use crate::report::{Report, Spread, Table};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use retry_core::quota::{EvidenceQuota, NoQuota};
use retry_core::{PatientRetryStrategy, StandardRetryStrategy};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "outlast", title: "Operations that begin in an outage, and outlast it or not", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The names or kinds of the worlds to run; all, if it is empty.
    pub only: Vec<String>,
    /// Worlds of your own, in place of those of the scenario.
    pub worlds: Vec<World>,
    /// Fields of [`World`] that replace those of all worlds that run.
    pub with: Map<String, Value>,
    /// The names of the strategies to run; all, if it is empty.
    pub strategies: Vec<String>,
    /// The number of runs: 3.
    pub seeds: u64,
    /// The first seed. Reports have [`UNTUNED`].
    pub first_seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            only: Vec::new(),
            worlds: Vec::new(),
            with: Map::new(),
            strategies: Vec::new(),
            seeds: 3,
            first_seed: UNTUNED,
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        let only = [
            "down 10 s, load 0.5",
            "stall 10 s, load 0.5",
            "down 10 s, up 3 s, down 10 s",
            "restart 3 s, 10/s",
            "one of three replicas hangs",
            "batch, down 3 s",
            "300 calls at once, each reset once",
            "a program of 10 calls, 20 % hang",
            "warm and idle: two timeouts",
        ];
        let mut with = Map::new();
        with.insert("processes".to_owned(), vec![1, 100].into());
        with.insert("after_s".to_owned(), 100.into());
        Self { only: only.map(str::to_owned).to_vec(), with, seeds: 1, ..Self::default() }
    }

    /// Returns the worlds to run.
    fn worlds(&self) -> Result<Vec<World>, serde_json::Error> {
        let worlds = if self.worlds.is_empty() { worlds() } else { self.worlds.clone() };
        let is_selected = |world: &World| {
            self.only.is_empty() || self.only.iter().any(|name| *name == world.name || *name == world.kind)
        };
        worlds.into_iter().filter(is_selected).map(|world| self.replaced(world)).collect()
    }

    fn replaced(&self, world: World) -> Result<World, serde_json::Error> {
        let mut fields = serde_json::to_value(world)?;
        if let Value::Object(fields) = &mut fields {
            fields.extend(self.with.clone());
        }
        serde_json::from_value(fields)
    }
}

/// A case.
struct Case<'a> {
    world: &'a World,
    strategy: Strategy,
    live_s: Option<f64>,
    processes: u32,
}

/// What is measured in a world.
#[derive(Clone, Copy)]
enum Outcome {
    Open(Measured),
    Jobs(Tally),
}

/// What the results of a strategy depend on. The strategy is run with each value of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DependsOn {
    /// Neither the number of processes nor the time that an operation may take.
    Nothing,
    /// The number of processes, each with a quota.
    Processes,
    /// The number of processes, and the time that an operation may take.
    ProcessesAndTime,
}

/// Returns the strategies to compare. A strategy whose operations wait for the service depends on processes and time.
fn strategies() -> Vec<(Strategy, DependsOn)> {
    let standard = |seed| StandardRetryStrategy::new().seed(seed);
    vec![
        (Strategy::no_retries(), DependsOn::Nothing),
        (Strategy::of("no quota", move |seed| standard(seed).with_quota(NoQuota)), DependsOn::Nothing),
        (Strategy::of("new()", standard), DependsOn::Processes),
        (Strategy::of("evidence", move |seed| standard(seed).with_quota(EvidenceQuota::new())), DependsOn::Processes),
        (Strategy::of("patient", |seed| PatientRetryStrategy::new().seed(seed)), DependsOn::ProcessesAndTime),
    ]
}

/// Returns the cases of a world.
fn cases<'a>(world: &'a World, strategies: &[(Strategy, DependsOn)]) -> Vec<Case<'a>> {
    let mut cases = Vec::new();
    for (strategy, depends_on) in strategies {
        let is_one = *depends_on == DependsOn::Nothing || world.is_lone || world.jobs.is_some();
        let processes = if is_one { &[1] } else { &world.processes[..] };
        let skipped = if *depends_on == DependsOn::ProcessesAndTime { 0 } else { world.live_s.len().saturating_sub(1) };
        for &live_s in world.live_s.iter().skip(skipped) {
            let of = |&processes| Case { world, strategy: strategy.clone(), live_s, processes };
            cases.extend(processes.iter().map(of));
        }
    }
    cases
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values): (Options, Value) = plan.options(Options::short)?;
    let mut strategies = strategies();
    strategies.extend(plan.strategies.iter().map(|strategy| (strategy.clone(), DependsOn::Processes)));
    strategies.retain(|(strategy, _)| {
        options.strategies.is_empty() || options.strategies.iter().any(|name| name == strategy.name())
    });
    let worlds = options.worlds()?;
    let cases: Vec<Case<'_>> = worlds.iter().flat_map(|world| cases(world, &strategies)).collect();
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, number| {
        let Case { world, strategy, live_s, processes } = case;
        let seed = options.first_seed + number;
        match world.jobs {
            Some(jobs) => Outcome::Jobs(run_jobs(world, jobs, strategy, *live_s, seed)),
            None => Outcome::Open(run(world, strategy, *live_s, *processes, seed)),
        }
    });
    let tables = tables(&cases, &runs);
    Ok(SCENARIO.report(values, options.seeds, tables, Vec::new()))
}

fn tables(cases: &[Case<'_>], runs: &[Vec<Outcome>]) -> Vec<Table> {
    let measures = ["bridged, %", "attempts per operation", "recovery, s", "bystanders lost, %"];
    let mut outages = Table::new("outages", &["world", "strategy", "to live, s", "processes"], &measures);
    let measures = ["lost, %", "lost", "processes without a loss, %", "attempts per operation", "time, s"];
    let mut jobs = Table::new("jobs", &["world", "strategy", "to live, s"], &measures);
    for (case, runs) in cases.iter().zip(runs) {
        let live = case.live_s.map_or_else(|| "no limit".to_owned(), |seconds| seconds.to_string());
        let mut key = vec![case.world.name.clone(), case.strategy.name().to_owned(), live];
        let open = runs.iter().filter_map(|run| if let Outcome::Open(run) = run { Some(run) } else { None });
        let tallies = runs.iter().filter_map(|run| if let Outcome::Jobs(run) = run { Some(run) } else { None });
        if case.world.jobs.is_some() {
            let spread = |measure: &dyn Fn(&Tally) -> f64| Spread::of(tallies.clone().map(measure));
            let values = vec![
                spread(&Tally::lost_percent),
                spread(&|tally| number(tally.lost)),
                spread(&Tally::whole_percent),
                spread(&|tally| share(tally.attempts, tally.calls)),
                spread(&Tally::mean_s),
            ];
            jobs.add(key, values);
        } else {
            let spread = |measure: &dyn Fn(&Measured) -> f64| Spread::of(open.clone().map(measure));
            let values = vec![
                spread(&|run| run.bridged),
                spread(&|run| run.load),
                Spread::of_optional(open.clone().map(|run| run.recovery_s)),
                spread(&|run| run.bystanders_lost),
            ];
            key.push(if case.world.is_lone { "each operation".to_owned() } else { case.processes.to_string() });
            outages.add(key, values);
        }
    }
    [outages, jobs].into_iter().filter(|table| !table.rows.is_empty()).collect()
}
