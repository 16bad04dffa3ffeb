//! Outages of [`outlast`], with many processes whose operations wait for the service: each by itself, or in a fleet, whose successes
//! send the operations of all.
//!
//! The store of the fleet needs 1 to 50 ms to answer, or is away from the beginning of the fault on.

use super::outlast::{Measured, Retries, World, run, worlds};
use super::{Plan, Scenario, UNTUNED};
use crate::report::{Report, Table};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use retry_core::PatientRetryStrategy;
use serde::{Deserialize, Serialize};

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "fleet_outages", title: "Outages, and many processes whose operations wait together", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The names of the worlds of [`outlast`](super::outlast). Operations live as long as any of the world may.
    pub worlds: Vec<String>,
    /// The least number of processes: 100. A world is run with each of its numbers that is not lower.
    pub least_processes: u32,
    /// As in [`World::after_s`]: 200 s.
    pub after_s: u32,
    /// The number of runs: 3.
    pub seeds: u64,
    /// The first seed. Reports have [`UNTUNED`].
    pub first_seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        let worlds = [
            "down 10 s, load 0.5",
            "down 30 s, load 0.5",
            "stall 10 s, load 0.5",
            "stall 10 s, load 0.8",
            "stall 10 s, 15,000 processes",
            "down 10 s, then half for 5 s",
            "one of three replicas hangs",
            "20 % of answers lost",
        ];
        Self {
            worlds: worlds.map(str::to_owned).to_vec(),
            least_processes: 100,
            after_s: 200,
            seeds: 3,
            first_seed: UNTUNED,
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        let worlds = ["down 10 s, load 0.5", "one of three replicas hangs"];
        Self {
            worlds: worlds.map(str::to_owned).to_vec(),
            least_processes: 1_000,
            after_s: 100,
            seeds: 1,
            ..Self::default()
        }
    }

    fn worlds(&self) -> Vec<World> {
        let worlds = worlds().into_iter().filter(|world| self.worlds.contains(&world.name));
        worlds.map(|world| World { after_s: self.after_s, ..world }).collect()
    }
}

/// A case.
struct Case {
    world: World,
    name: &'static str,
    retries: Retries,
    processes: u32,
}

fn cases(options: &Options) -> Vec<Case> {
    let alone = Strategy::of("alone", |seed| PatientRetryStrategy::new().seed(seed));
    let ways = [
        ("alone", Retries::Alone(alone)),
        ("fleet", Retries::Fleet { is_store_away: false }),
        ("fleet, store away", Retries::Fleet { is_store_away: true }),
    ];
    let mut cases = Vec::new();
    for world in options.worlds() {
        for (name, retries) in &ways {
            let numbers = world.processes.iter().filter(|number| **number >= options.least_processes);
            let case = |&processes| Case { world: world.clone(), name, retries: retries.clone(), processes };
            cases.extend(numbers.map(case));
        }
    }
    cases
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let cases = cases(&options);
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, number| {
        let Case { world, retries, processes, .. } = case;
        run(world, retries.clone(), world.live_s.last().copied().flatten(), *processes, options.first_seed + number)
    });
    let mut table = Table::new("outages", &["world", "processes", "strategy"], &Measured::NAMES);
    for (case, runs) in cases.iter().zip(&runs) {
        let keys = vec![case.world.name.clone(), case.processes.to_string(), case.name.to_owned()];
        table.add(keys, Measured::spreads(runs));
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table], Vec::new()))
}
