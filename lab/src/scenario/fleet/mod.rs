//! The outage of scenario [`outage`](super::outage), with clients in many processes: quotas of their own, one quota, or
//! that of a fleet.
//!
//! One quota for all processes is the bound: no network could share it faster. The processes of a fleet share by a store
//! that takes some time to answer, and can be away or emptied. Other tables are of processes that live for two seconds, and
//! of a server that fails all or some requests immediately.

mod run;

pub use run::run;

use super::{Plan, Scenario, number, outage, seconds, share};
use crate::report::{Report, Spread, Table};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "fleet", title: "Many processes that share a quota, or have one each, in an outage", study };

/// The options. They apply to all tables, unless they say otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The requests that the server can serve in a second: 300.
    pub rate: f64,
    /// The arrivals, as parts of that rate: 0.47, 0.8 and 0.93. All tables but that of the outage have the last one.
    pub loads: Vec<f64>,
    /// The client's timeout of an attempt: 1 s.
    pub timeout_s: f64,
    /// The numbers of processes: 100 and 1,000.
    pub processes: Vec<u32>,
    /// The capacity of each separate quota, and of a small shared one: 500, as `new()`.
    pub capacity: u32,
    /// The capacity of a shared quota for each of its processes: 28, the cost of two retries.
    pub capacity_per_process: u32,
    /// When the server stalls or begins to fail: after 60 s.
    pub fault_after_s: u32,
    /// How long it stalls: 10 s.
    pub stall_s: u32,
    /// How long it fails requests immediately: 60 s.
    pub fails_s: u32,
    /// The part of the requests that it fails in a partial outage: 0.1.
    pub fails_part: f64,
    /// The length of the run: 600 s.
    pub duration_s: u32,
    /// The shortest and the longest time that the store of the fleet needs to answer: 1 ms and 50 ms.
    pub store_latency_ms: (f64, f64),
    /// How long the store is away, from the begin of the stall, in the cases with that fault: 20 s.
    pub store_away_s: u32,
    /// How long a short-lived process lives: 2 s.
    pub lives_s: f64,
    /// As in [`outage::Options::goodput`]: 0.95.
    pub goodput: f64,
    /// As in [`outage::Options::steady_s`]: 10.
    pub steady_s: u32,
    /// The number of runs: 5.
    pub seeds: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rate: 300.0,
            loads: vec![0.47, 0.8, 0.93],
            timeout_s: 1.0,
            processes: vec![100, 1_000],
            capacity: 500,
            capacity_per_process: 28,
            fault_after_s: 60,
            stall_s: 10,
            fails_s: 60,
            fails_part: 0.1,
            duration_s: 600,
            store_latency_ms: (1.0, 50.0),
            store_away_s: 20,
            lives_s: 2.0,
            goodput: 0.95,
            steady_s: 10,
            seeds: 5,
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        Self {
            loads: vec![0.8],
            processes: vec![100],
            fault_after_s: 20,
            fails_s: 20,
            duration_s: 160,
            seeds: 2,
            ..Self::default()
        }
    }

    /// Returns the options of an outage in which the server does not work for this time.
    fn outage(&self, fault_s: u32) -> outage::Options {
        outage::Options {
            rate: self.rate,
            timeout_s: self.timeout_s,
            stall_after_s: self.fault_after_s,
            stall_s: fault_s,
            duration_s: self.duration_s,
            goodput: self.goodput,
            steady_s: self.steady_s,
            ..outage::Options::default()
        }
    }

    fn fault_s(&self, fault: Fault) -> u32 {
        match fault {
            Fault::Stall => self.stall_s,
            Fault::Errors(_) => self.fails_s,
        }
    }
}

/// What happens to the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// It does not work, and then works off its queue.
    Stall,
    /// It fails this part of the requests immediately.
    Errors(f64),
}

/// The quotas of the processes.
#[derive(Clone, Debug)]
pub enum Quotas {
    /// No process retries.
    NoRetries,
    /// One quota of this capacity, as if all clients were in one process.
    One(u32),
    /// A quota for each process.
    Separate(u32),
    /// The quota of a fleet.
    Shared(u32, StoreFault),
    /// A caller of this strategy for each process. What it draws is not counted.
    Own(Strategy),
}

/// What happens to the store of the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFault {
    /// Nothing.
    None,
    /// It is away for some time from the begin of the server's fault.
    Away,
    /// It is away, and has lost its memory when it comes back.
    Emptied,
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The arrivals, as a part of the server's rate.
    pub load: f64,
    /// What happens to the server.
    pub fault: Fault,
    /// The number of processes.
    pub processes: u32,
    /// Their quotas.
    pub quotas: Quotas,
    /// How long a process lives, if it is replaced by another one after some time.
    pub lives: Option<Duration>,
}

/// The outcome of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The operations and attempts.
    pub operations: outage::Outcome,
    /// What was spent and not refunded, at most.
    pub most_drawn: u64,
    /// What the invariant allows, without refunds.
    pub allowed: u64,
    /// The calls to the store.
    pub calls: u64,
}

impl Outcome {
    /// Returns the retries that were sent in some seconds. The first attempt of an operation is sent when it arrives.
    fn retries(&self, from: usize, to: usize) -> u64 {
        self.operations.attempts.between(from, to).saturating_sub(self.operations.arrivals.between(from, to))
    }
}

/// Returns the name of quotas in the tables.
fn name(quotas: &Quotas, options: &Options) -> String {
    let size = |capacity: u32| if capacity == options.capacity { capacity } else { options.capacity_per_process };
    let each = |capacity| if capacity == options.capacity { "" } else { " each" };
    let (kind, capacity, fault) = match *quotas {
        Quotas::NoRetries => return "no retries".to_owned(),
        Quotas::Own(ref strategy) => return strategy.name().to_owned(),
        Quotas::Separate(capacity) => return format!("separate, {capacity} each"),
        Quotas::One(capacity) => ("one", capacity, ""),
        Quotas::Shared(capacity, StoreFault::None) => ("shared", capacity, ""),
        Quotas::Shared(capacity, StoreFault::Away) => ("shared", capacity, ", store away"),
        Quotas::Shared(capacity, StoreFault::Emptied) => ("shared", capacity, ", store emptied"),
    };
    format!("{kind}, {}{}{fault}", size(capacity), each(capacity))
}

/// Returns the cases, each with the name of its table.
fn cases(options: &Options, plan: &Plan) -> Vec<(&'static str, Case)> {
    let (lives, load) = (Some(seconds(options.lives_s)), options.loads.last().copied().unwrap_or(0.0));
    let outages = options.loads.iter().map(|&load| ("outage", load, Fault::Stall, None));
    let others = [
        ("short-lived", load, Fault::Stall, lives),
        ("total outage", load, Fault::Errors(1.0), None),
        ("partial outage", load, Fault::Errors(options.fails_part), None),
    ];
    let mut cases = Vec::new();
    for (table, load, fault, lives) in outages.chain(others) {
        cases.push((table, Case { load, fault, processes: 1, quotas: Quotas::NoRetries, lives }));
        for &processes in &options.processes {
            let (small, each) = (options.capacity, options.capacity_per_process);
            let large = each.saturating_mul(processes);
            let mut quotas =
                vec![Quotas::One(small), Quotas::One(large), Quotas::Separate(small), Quotas::Separate(each)];
            quotas.extend([small, large].map(|capacity| Quotas::Shared(capacity, StoreFault::None)));
            if table == "outage" {
                quotas.extend([StoreFault::Away, StoreFault::Emptied].map(|fault| Quotas::Shared(large, fault)));
            }
            quotas.extend(plan.strategies.iter().cloned().map(Quotas::Own));
            cases.extend(quotas.into_iter().map(|quotas| (table, Case { load, fault, processes, quotas, lives })));
        }
    }
    cases
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let cases = cases(&options, plan);
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |(_, case), seed| run(&options, case, seed));

    let measures = [
        "recovery, s",
        "successes in the fault, %",
        "retries in the fault",
        "retries",
        "most drawn",
        "allowed",
        "store calls, 1/s",
    ];
    let mut tables: Vec<Table> = Vec::new();
    let end = options.duration_s as usize;
    for ((table, case), runs) in cases.iter().zip(&runs) {
        let spread = |measure: &dyn Fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
        let fault_s = options.fault_s(case.fault);
        let (outage, from) = (options.outage(fault_s), options.fault_after_s as usize);
        let to = from + fault_s as usize;
        let successes = |run: &Outcome| {
            share(run.operations.goodput.between(from, to), run.operations.arrivals.between(from, to)) * 100.0
        };
        let row = vec![
            Spread::of_optional(runs.iter().map(|run| run.operations.recovery(&outage))),
            spread(&successes),
            spread(&|run| number(run.retries(from, to))),
            spread(&|run| number(run.retries(0, end))),
            spread(&|run| number(run.most_drawn)),
            spread(&|run| number(run.allowed)),
            spread(&|run| number(run.calls) / number(end as u64)),
        ];
        let keys = vec![case.load.to_string(), name(&case.quotas, &options), case.processes.to_string()];
        if tables.last().is_none_or(|last| last.name != *table) {
            tables.push(Table::new(table, &["load", "quotas", "processes"], &measures));
        }
        if let Some(last) = tables.last_mut() {
            last.add(keys, row);
        }
    }
    Ok(SCENARIO.report(values, options.seeds, tables, Vec::new()))
}
