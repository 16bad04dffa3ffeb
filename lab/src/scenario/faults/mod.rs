//! Servers with a fault, and quotas in one to a thousand processes.
//!
//! A quota has to stop retries that keep an overloaded server down, and to pay for those that help. It sees only the
//! outcomes of the attempts of its own process. So each kind of fault is a column: a stall or a slow server, after which a
//! queue has to be worked off; a server that is down; one that sheds load; failures that are independent of each other,
//! with and without spare capacity for retries; and lost answers. The traffic of all processes together is the same, however many they are.
//!
//! References: Bronson and others, "Metastable Failures in Distributed Systems", workshop `HotOS`, 2021; Marc Brooker,
//! "Fixing retries with token buckets and circuit breakers", 2022.

mod columns;
mod outcome;
mod run;
mod server;

pub use columns::{COLUMNS, Column, Measure};
pub use outcome::Outcome;
pub use run::{Start, caller_seed, first_life, run, run_processes};
pub use server::{Fault, Server, Spell};

use super::{Plan, Scenario};
use crate::report::{Report, Spread};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use retry_core::StandardRetryStrategy;
use retry_core::quota::{EvidenceQuota, NoQuota};
use serde::{Deserialize, Serialize};

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "faults", title: "Servers with each kind of fault, and quotas in many processes", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The requests that the server can serve in a second: 300.
    pub rate: f64,
    /// The time from a request to its response if the server needs none: 20 ms.
    pub round_trip_ms: f64,
    /// The client's timeout of an attempt: 1 s.
    pub timeout_s: f64,
    /// When the fault begins: after 60 s.
    pub fault_after_s: u32,
    /// How long a server may take to recover, in seconds: 830. Some columns have less, and other measures have times of their own.
    pub longest_recovery_s: u32,
    /// The numbers of processes, each with a quota: 1, 10, 100 and 1,000.
    pub quotas: Vec<u32>,
    /// The names of the columns to run: all.
    pub columns: Vec<String>,
    /// The number of runs: 6.
    pub seeds: u64,
    /// The seed of the first run: 0.
    pub first_seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rate: 300.0,
            round_trip_ms: 20.0,
            timeout_s: 1.0,
            fault_after_s: 60,
            longest_recovery_s: 830,
            quotas: vec![1, 10, 100, 1_000],
            columns: COLUMNS.iter().map(|column| column.name.to_owned()).collect(),
            seeds: 6,
            first_seed: 0,
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        let columns = [
            "stall",
            "stall, lives of 2 s",
            "down",
            "the last of three is down",
            "sheds half",
            "30 % fail",
            "30 % fail, spare 25 %",
            "50 % fail, spare 100 %",
            "5 % of answers lost",
            "down for 1 s",
            "after 10 s of being down",
        ];
        Self {
            fault_after_s: 5,
            longest_recovery_s: 60,
            quotas: vec![1, 100],
            columns: columns.map(str::to_owned).to_vec(),
            seeds: 1,
            ..Self::default()
        }
    }

    /// Returns how long a run of a column lasts after the fault, in seconds.
    fn after_s(&self, column: &Column) -> u32 {
        let longest = if column.measure == Measure::Recovery { self.longest_recovery_s } else { u32::MAX };
        column.after_s.min(longest)
    }
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The fault.
    pub column: &'static Column,
    /// How the clients retry.
    pub strategy: Strategy,
    /// The number of processes, each with a quota.
    pub quotas: u32,
}

/// Returns the strategies to compare, and whether the number of quotas matters to them.
fn strategies() -> Vec<(Strategy, bool)> {
    let strategy = |seed| StandardRetryStrategy::new().seed(seed);
    vec![
        (Strategy::no_retries(), false),
        (Strategy::of("no quota", move |seed| strategy(seed).with_quota(NoQuota)), false),
        (Strategy::of("new()", strategy), true),
        (Strategy::of("evidence", move |seed| strategy(seed).with_quota(EvidenceQuota::new())), true),
    ]
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let mut strategies = strategies();
    strategies.extend(plan.strategies.iter().map(|strategy| (strategy.clone(), true)));
    let mut cases = Vec::new();
    for column in COLUMNS.iter().filter(|column| options.columns.iter().any(|name| name == column.name)) {
        for (strategy, has_quotas) in &strategies {
            let quotas = if *has_quotas { &options.quotas[..] } else { &[1] };
            let quotas = quotas.iter().filter(|&&quotas| quotas <= column.most_quotas);
            cases.extend(quotas.map(|&quotas| Case { column, strategy: strategy.clone(), quotas }));
        }
    }
    let seed = |number: u64| options.first_seed + number;
    let runs =
        outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, number| run(&options, case, seed(number)));

    let keys = ["fault", "strategy", "quotas"];
    let mut tables = Measure::ALL.map(|measure| (measure, measure.table(&keys)));
    let mut previous = "";
    for (case, runs) in cases.iter().zip(&runs) {
        let Column { name, measure, .. } = *case.column;
        let key = |strategy: &str| vec![name.to_owned(), strategy.to_owned(), case.quotas.to_string()];
        let table = tables.iter_mut().find(|(of, _)| *of == measure).map(|(_, table)| table);
        let Some(table) = table else { continue };
        if let Some(ideal) = case.column.ideal().filter(|_| previous != name) {
            table.add(key("ideal"), vec![Spread::exactly(ideal)]);
        }
        previous = name;
        table.add(key(case.strategy.name()), vec![Spread::of_optional(runs.iter().copied())]);
    }
    let tables = tables.into_iter().map(|(_, table)| table).filter(|table| !table.rows.is_empty()).collect();
    Ok(SCENARIO.report(values, options.seeds, tables, Vec::new()))
}
