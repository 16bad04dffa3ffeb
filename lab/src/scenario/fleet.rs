//! The faults of scenario [`faults`], with many processes whose quotas share what they know, or know only their own traffic.
//!
//! The processes of a fleet share by a store that takes some time to answer, and loses messages, is away or comes back empty in
//! some cases.

use super::faults::{self, COLUMNS, Column, Measure, Start, caller_seed};
use super::{Plan, Scenario, millis};
use crate::World;
use crate::call::Caller;
use crate::fleet::FleetStore;
use crate::report::{Report, Spread};
use crate::strategies::{Strategy, caller};
use crate::study::{Workers, outcomes};
use retry_core::StandardRetryStrategy;
use retry_core::quota::EvidenceQuota;
use retry_core::time::{Clock, Timestamp};
use retry_fleet::Member;
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "fleet", title: "Faults, and many processes that share what their quotas know", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// As in [`faults::Options::rate`]: 300.
    pub rate: f64,
    /// As in [`faults::Options::timeout_s`]: 1 s.
    pub timeout_s: f64,
    /// As in [`faults::Options::fault_after_s`]: 60 s.
    pub fault_after_s: u32,
    /// As in [`faults::Options::longest_recovery_s`]: 540 s.
    pub longest_recovery_s: u32,
    /// The numbers of processes: 100 and 1,000.
    pub processes: Vec<u32>,
    /// The names of the faults to run.
    pub faults: Vec<String>,
    /// The shortest and the longest time that the store of the fleet needs to answer: 1 ms and 50 ms.
    pub store_latency_ms: (f64, f64),
    /// How long the store is away, from the begin of the fault, in the cases with that: 20 s.
    pub store_away_s: u32,
    /// The part of the messages to the store and from it that are lost, in the cases with that: 0.3.
    pub store_loses: f64,
    /// The number of runs: 5.
    pub seeds: u64,
    /// The seed of the first run: 0.
    pub first_seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        let faults = [
            "stall",
            "stall at 93 %",
            "stall, lives of 2 s",
            "down",
            "the last of three is down",
            "down for 1 s",
            "sheds half",
            "5 % of answers lost",
            "30 % fail",
            "50 % fail, spare 100 %",
        ];
        Self {
            rate: 300.0,
            timeout_s: 1.0,
            fault_after_s: 60,
            longest_recovery_s: 540,
            processes: vec![100, 1_000],
            faults: faults.map(str::to_owned).to_vec(),
            store_latency_ms: (1.0, 50.0),
            store_away_s: 20,
            store_loses: 0.3,
            seeds: 5,
            first_seed: 0,
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        Self {
            fault_after_s: 20,
            longest_recovery_s: 120,
            processes: vec![100],
            faults: ["stall", "down", "30 % fail"].map(str::to_owned).to_vec(),
            seeds: 1,
            ..Self::default()
        }
    }
}

/// What happens to the store of the fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoreFault {
    /// Nothing.
    None,
    /// It is away for some time from the begin of the server's fault.
    Away,
    /// It is down, and has lost its data when it returns.
    Emptied,
    /// It loses messages.
    Loses,
}

/// How the processes retry.
#[derive(Clone, Debug)]
enum Quotas {
    /// By a strategy in each process.
    Own(Strategy),
    /// By quotas that share what they know.
    Shared(StoreFault),
}

/// A case.
struct Case {
    column: &'static Column,
    name: String,
    quotas: Quotas,
    processes: u32,
}

fn cases(options: &Options, plan: &Plan) -> Vec<Case> {
    let new = |seed| StandardRetryStrategy::new().seed(seed);
    let mut own = vec![
        Strategy::of("new()", new),
        Strategy::of("evidence, alone", move |seed| new(seed).with_quota(EvidenceQuota::new())),
    ];
    own.extend(plan.strategies.iter().cloned());
    let mut cases = Vec::new();
    for column in COLUMNS.iter().filter(|column| options.faults.iter().any(|name| name == column.name)) {
        let mut case = |name: &str, quotas, processes| {
            cases.push(Case { column, name: name.to_owned(), quotas, processes });
        };
        case("no retries", Quotas::Own(Strategy::no_retries()), 1);
        for &processes in &options.processes {
            for strategy in &own {
                case(strategy.name(), Quotas::Own(strategy.clone()), processes);
            }
            case("evidence, shared", Quotas::Shared(StoreFault::None), processes);
            if column.measure == Measure::Recovery && column.lives_s.is_none() {
                case("evidence, shared, messages lost", Quotas::Shared(StoreFault::Loses), processes);
                case("evidence, shared, store away", Quotas::Shared(StoreFault::Away), processes);
                case("evidence, shared, store emptied", Quotas::Shared(StoreFault::Emptied), processes);
            }
        }
    }
    cases
}

/// The fleets of a case, one for each service.
struct Fleets {
    world: World,
    quotas: Quotas,
    seed: u64,
    stores: Vec<Rc<FleetStore>>,
}

impl Fleets {
    fn new(options: &Options, case: &Case, world: &World, seed: u64) -> Self {
        let at = |seconds: u32| Timestamp::START.saturating_add(Duration::from_secs(seconds.into()));
        let (from, to) = (at(options.fault_after_s), at(options.fault_after_s + options.store_away_s));
        let latency = options.store_latency_ms;
        let fault = if let Quotas::Shared(fault) = case.quotas { fault } else { StoreFault::None };
        let stores = (0..u64::from(case.column.services)).map(|service| {
            let message = (millis(latency.0 / 2.0), millis(latency.1 / 2.0));
            let store = FleetStore::new(world, message, seed ^ service << 56);
            let store = Rc::new(match fault {
                StoreFault::None => store,
                StoreFault::Loses => store.losing(options.store_loses),
                StoreFault::Away | StoreFault::Emptied => store.away(from, to),
            });
            if fault == StoreFault::Emptied {
                let (emptied, back) = (Rc::clone(&store), world.sleep_until(to));
                world.spawn(async move {
                    back.await;
                    emptied.forget();
                });
            }
            store
        });
        Self { world: world.clone(), quotas: case.quotas.clone(), seed, stores: stores.collect() }
    }

    /// Starts a process.
    fn start(&self, service: usize, number: u64, ends: Option<Timestamp>) -> Rc<dyn Caller> {
        let seed = caller_seed(self.seed, service, number);
        let Quotas::Own(strategy) = &self.quotas else {
            let quota = Arc::new(EvidenceQuota::new());
            let member = Member::new("lab", format!("{}.{service}.{number}", self.seed), self.world.now());
            let member = member.quota(Arc::clone(&quota));
            self.world.spawn(Rc::clone(&self.stores[service]).run(member, ends));
            return caller(StandardRetryStrategy::new().seed(seed).with_quota(quota));
        };
        strategy.caller(seed)
    }
}

fn run(options: &Options, case: &Case, seed: u64) -> Option<f64> {
    let of_faults = faults::Options {
        rate: options.rate,
        timeout_s: options.timeout_s,
        fault_after_s: options.fault_after_s,
        longest_recovery_s: options.longest_recovery_s,
        ..faults::Options::default()
    };
    faults::run_processes(&of_faults, (case.column, case.processes), seed, |world| {
        let fleets = Fleets::new(options, case, world, seed);
        let start: Start = Box::new(move |service, number, ends| fleets.start(service, number, ends));
        start
    })
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let cases = cases(&options, plan);
    let seed = |number: u64| options.first_seed + number;
    let runs =
        outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, number| run(&options, case, seed(number)));
    let keys = ["fault", "quotas", "processes"];
    let mut tables = Measure::ALL.map(|measure| (measure, measure.table(&keys)));
    for (case, runs) in cases.iter().zip(&runs) {
        if let Some((_, table)) = tables.iter_mut().find(|(of, _)| *of == case.column.measure) {
            let key = vec![case.column.name.to_owned(), case.name.clone(), case.processes.to_string()];
            table.add(key, vec![Spread::of_optional(runs.iter().copied())]);
        }
    }
    let tables = tables.into_iter().map(|(_, table)| table).filter(|table| !table.rows.is_empty()).collect();
    Ok(SCENARIO.report(values, options.seeds, tables, Vec::new()))
}
