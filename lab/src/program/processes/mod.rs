//! `lab processes`: outages with real processes that call a real server on this machine, beside their simulation.

mod client;
mod run;
mod server;
mod table;

pub(super) use client::{Client, client};

use super::{json, text};
use clap::Args;
use lab::scenario::UNTUNED;
use lab::scenario::outlast::{self, Measured, World};
use lab::strategies::Strategy;
use retry_core::quota::NoQuota;
use retry_core::{ErasedStrategy, PatientRetryStrategy, StandardRetryStrategy};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// What to measure, and where to write it.
#[derive(Debug, Args)]
pub(super) struct Processes {
    /// Measures a short outage with few processes, which takes seconds instead of minutes.
    #[arg(long)]
    short: bool,
    /// The number of runs of each outage.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=20))]
    runs: u64,
    /// A directory to write the results to.
    #[arg(long, value_name = "DIRECTORY")]
    json: Option<PathBuf>,
}

/// How a process retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Chosen {
    None,
    Standard,
    Patient,
}

impl Chosen {
    const ALL: [Self; 3] = [Self::None, Self::Standard, Self::Patient];

    const fn name(self) -> &'static str {
        match self {
            Self::None => "no retries",
            Self::Standard => "new()",
            Self::Patient => "patient",
        }
    }

    /// Returns the strategy of a process.
    fn strategy(self, seed: u64) -> ErasedStrategy {
        match self {
            Self::None => ErasedStrategy::new(StandardRetryStrategy::new().max_attempts(1).with_quota(NoQuota)),
            Self::Standard => ErasedStrategy::new(StandardRetryStrategy::new().seed(seed)),
            Self::Patient => ErasedStrategy::new(PatientRetryStrategy::new().seed(seed)),
        }
    }
}

/// What happens, in the simulation and really.
#[derive(Clone, Debug, Serialize)]
struct Setting {
    world: World,
    processes: u32,
    /// The longest time of an operation, in seconds.
    live_s: f64,
}

impl Setting {
    /// The number of simulated runs.
    const SEEDS: u64 = 3;

    /// Returns the outages to measure, from those of [`outlast`]. They have less time before and after the fault, because it really
    /// passes.
    fn all(is_short: bool) -> Vec<Self> {
        let (names, processes, begins_s, after_s) = if is_short {
            (&["down 3 s, load 0.5"][..], 4, 2, 12)
        } else {
            (&["down 10 s, load 0.5", "stall 10 s, load 0.5", "one of three replicas hangs"][..], 10, 15, 70)
        };
        let worlds = outlast::worlds().into_iter().filter(|world| names.contains(&world.name.as_str()));
        let setting = |world: World| Self {
            world: World { load: 0.5, begins_s, fault_s: world.fault_s.min(60), after_s, ..world },
            processes,
            live_s: 30.0,
        };
        worlds.map(setting).collect()
    }

    /// Returns how long a run takes, in seconds.
    fn length_s(&self) -> u32 {
        self.world.begins_s + self.world.fault_s + self.world.after_s
    }

    fn simulated(&self, chosen: Chosen) -> Vec<Measured> {
        let strategy = Strategy::of(chosen.name(), move |seed| chosen.strategy(seed));
        let run = |seed| outlast::run(&self.world, &strategy, Some(self.live_s), self.processes, UNTUNED + seed);
        (0..Self::SEEDS).map(run).collect()
    }
}

pub(super) fn processes(arguments: &Processes) -> Result<ExitCode, Box<dyn Error>> {
    let settings = Setting::all(arguments.short);
    let seconds = arguments.runs * settings.iter().map(|setting| u64::from(setting.length_s())).sum::<u64>();
    eprintln!("{} to measure, which takes {seconds} s", text::counted(settings.len() as u64, "outage"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut table = table::new();
    for setting in &settings {
        let mut real = [const { Vec::new() }; Chosen::ALL.len()];
        for seed in 0..arguments.runs {
            eprintln!("{}: run {} of {}", setting.world.name, seed + 1, arguments.runs);
            for (runs, measured) in real.iter_mut().zip(runtime.block_on(run::all(setting, seed))?) {
                runs.push(measured);
            }
        }
        for (chosen, runs) in Chosen::ALL.into_iter().zip(&real) {
            table::add(&mut table, setting, chosen, "simulated", &setting.simulated(chosen));
            table::add(&mut table, setting, chosen, "real", runs);
        }
    }
    let differences = table::differences(&table);
    let report = table::report(table, &settings, arguments.runs);
    text::print(&report, false)?;
    if let Some(directory) = &arguments.json {
        fs::create_dir_all(directory)?;
        fs::write(directory.join(format!("{}.json", report.scenario)), json::to_string(&report)?)?;
    }
    for difference in &differences {
        eprintln!("{difference}");
    }
    Ok(if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::{Chosen, Setting, table};
    use lab::report::{Report, Spread};

    #[test]
    fn the_committed_results_of_real_processes_are_near_the_simulation_of_the_current_code() {
        let committed = include_str!("../../../results/processes.json");
        let committed: Report = serde_json::from_str(committed).unwrap();
        let real = committed.tables[0].rows.iter().filter(|row| row.keys[2] == "real");
        let mut table = table::new();
        let cases =
            Setting::all(false).into_iter().flat_map(|setting| Chosen::ALL.map(|chosen| (setting.clone(), chosen)));
        for ((setting, chosen), real) in cases.zip(real) {
            table::add(&mut table, &setting, chosen, "simulated", &setting.simulated(chosen));
            table.rows.push(real.clone());
        }
        assert!(table.rows.chunks(2).all(|pair| pair[0].keys[..2] == pair[1].keys[..2]) && table.rows.len() == 18);
        assert_eq!(table::differences(&table), [""; 0], "renew them with `lab processes --runs 3 --json lab/results`");
        table.rows[0].values[0] = Spread::exactly(50.0);
        assert_eq!(table::differences(&table).len(), 1);
    }
}
