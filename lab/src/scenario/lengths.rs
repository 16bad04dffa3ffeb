//! Outages by their length: the calls that begin in an outage and succeed, and what the server gets after it.
//!
//! The world is that of [`outlast`](super::outlast): some processes call a server under an open load. The server fails each request
//! immediately for a time, and has the same capacity as before afterwards. Backoff without a quota bridges an outage that is shorter
//! than its waits. Beyond, it sends more than the server can serve, and the requests that time out in its queue are retried, too.
//!
//! The references are those of [`outage`](super::outage).

use super::outlast::{Measured, World, run};
use super::{Plan, Scenario, UNTUNED, faults::Fault};
use crate::report::{Plot, Report, Spread, Table};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use retry_core::quota::NoQuota;
use retry_core::{PatientRetryStrategy, StandardRetryStrategy};
use serde::{Deserialize, Serialize};

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "lengths", title: "Calls that begin in an outage, by the length of the outage", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The requests that the server can serve in a second: 300.
    pub rate: f64,
    /// The calls that begin in a second, as a part of that rate: 0.5.
    pub load: f64,
    /// The processes that make them, each with a quota: 10.
    pub processes: u32,
    /// The client's timeout of an attempt: 1 s.
    pub timeout_s: f64,
    /// How long the server is down: 1 s to 30 s.
    pub lengths_s: Vec<u32>,
    /// The limit on the time of a call, for the strategy that is run with one, too: 30 s.
    pub max_time_s: f64,
    /// How long the server may take to recover: 400 s.
    pub after_s: u32,
    /// The number of runs: 20.
    pub seeds: u64,
    /// The first seed. Reports have [`UNTUNED`].
    pub first_seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rate: 300.0,
            load: 0.5,
            processes: 10,
            timeout_s: 1.0,
            lengths_s: vec![1, 2, 3, 5, 7, 10, 15, 20, 30],
            max_time_s: 30.0,
            after_s: 400,
            seeds: 20,
            first_seed: UNTUNED,
        }
    }
}

impl Options {
    /// Returns options for a run of a second.
    pub fn short() -> Self {
        Self { lengths_s: vec![3, 10], after_s: 100, seeds: 1, ..Self::default() }
    }

    /// Returns the world with an outage of this length.
    fn world(&self, length_s: u32) -> World {
        World {
            rate: self.rate,
            load: self.load,
            timeout_s: Some(self.timeout_s),
            fault_s: length_s,
            faults: vec![Fault::Down.into()],
            after_s: self.after_s,
            ..World::default()
        }
    }
}

/// The name of the strategy with a limit on the time of a call.
pub const WITH_MAX_TIME: &str = "patient, max_time";

/// A strategy, the limit on the time of a call, and the length of an outage.
struct Case {
    strategy: Strategy,
    max_time_s: Option<f64>,
    length_s: u32,
}

/// Returns the strategies to compare, as they are shipped, with the limit on the time of a call.
fn strategies(options: &Options) -> Vec<(Strategy, Option<f64>)> {
    let standard = |seed| StandardRetryStrategy::new().seed(seed);
    let patient = |seed| PatientRetryStrategy::new().seed(seed);
    vec![
        (Strategy::no_retries(), None),
        (Strategy::of("no quota", move |seed| standard(seed).with_quota(NoQuota)), None),
        (Strategy::of("new()", standard), None),
        (Strategy::of("patient", patient), None),
        (Strategy::of(WITH_MAX_TIME, patient), Some(options.max_time_s)),
    ]
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values): (Options, _) = plan.options(Options::short)?;
    let mut strategies = strategies(&options);
    strategies.extend(plan.strategies.iter().map(|strategy| (strategy.clone(), None)));
    let mut cases = Vec::new();
    for (strategy, max_time_s) in strategies {
        let of = |&length_s| Case { strategy: strategy.clone(), max_time_s, length_s };
        cases.extend(options.lengths_s.iter().map(of));
    }
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, number| {
        let world = options.world(case.length_s);
        run(&world, &case.strategy, case.max_time_s, options.processes, options.first_seed + number)
    });

    let measures = [
        "bridged, %",
        "recovery, s",
        "lost in the minute after, %",
        "attempts per operation",
        "requests in the minute after, % of the capacity",
    ];
    let mut table = Table::new("lengths", &["strategy", "down, s"], &measures);
    let x = "length of the outage, s";
    let mut bridged = Plot::new("bridged", "Calls of an outage that succeed", x, "calls of the outage that succeed, %");
    let mut after =
        Plot::new("after", "Requests after an outage", x, "requests in the minute after, % of the capacity");
    for (case, runs) in cases.iter().zip(&runs) {
        let spread = |measure: &dyn Fn(&Measured) -> f64| Spread::of(runs.iter().map(measure));
        let values = vec![
            spread(&|run| run.bridged),
            Spread::of_optional(runs.iter().map(|run| run.recovery_s)),
            spread(&|run| run.bystanders_lost),
            spread(&|run| run.load),
            spread(&|run| 100.0 * options.load * run.load_after),
        ];
        let (name, length) = (case.strategy.name(), f64::from(case.length_s));
        bridged.add(name, length, values[0]);
        after.add(name, length, values[4]);
        table.add(vec![name.to_owned(), case.length_s.to_string()], values);
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table], vec![bridged, after]))
}
