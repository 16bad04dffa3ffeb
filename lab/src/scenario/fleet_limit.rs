//! Many processes, one limit, as in scenario [`many`](super::many): processes with limiters of their own, and a fleet that
//! shares one.
//!
//! Other tables are of a fleet whose store is away for some time, and of a limit that changes.

use super::limited::Limited;
use super::{Plan, Scenario, UNTUNED, many, millis, number, share};
use crate::World;
use crate::call::Caller;
use crate::fleet::FleetStore;
use crate::report::{Report, Spread, Table};
use crate::servers::TokenBucketLimit;
use crate::strategies::{Strategy, caller};
use crate::study::{Workers, outcomes};
use retry_core::time::{Clock, Timer, Timestamp};
use retry_core::{AdaptiveRetryStrategy, StandardRetryStrategy};
use retry_fleet::Member;
use retry_limits::PacedRetryStrategy;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "fleet_limit", title: "Many processes on one limit, with a limiter each or a shared one", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The numbers of processes: 100 and 1,000.
    pub processes: Vec<u32>,
    /// The workers of each process: 4.
    pub workers: u32,
    /// The time over which the processes start, evenly spaced: 30 s.
    pub arrive_s: u32,
    /// The limits, in requests per second: 100, 500 and 2,000. The burst is that of one second.
    pub rates: Vec<f64>,
    /// The limits that follow each other in the table of a limit that changes: 500, 200 and 800.
    pub changes: Vec<f64>,
    /// The limit in the table of a store that is away: 500.
    pub away_rate: f64,
    /// How long the store is away, from the begin of the measured time: 20 s.
    pub store_away_s: u32,
    /// The mean time from a request to its response: 20 ms. Less than 1 ms is treated as 1 ms.
    pub round_trip_ms: f64,
    /// The standard deviation of the time of a message, as a part of its mean: 0.1.
    pub deviation: f64,
    /// The shortest and the longest time that the store of the fleet needs to answer: 1 ms and 50 ms.
    pub store_latency_ms: (f64, f64),
    /// The time from which on the run is measured: 60 s.
    pub measured_from_s: u32,
    /// The measured time, and that of each limit that follows: 60 s.
    pub measured_s: u32,
    /// The first seed: [`UNTUNED`].
    pub first_seed: u64,
    /// The number of runs: 3.
    pub seeds: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            processes: vec![100, 1_000],
            workers: 4,
            arrive_s: 30,
            rates: vec![100.0, 500.0, 2_000.0],
            changes: vec![500.0, 200.0, 800.0],
            away_rate: 500.0,
            store_away_s: 20,
            round_trip_ms: 20.0,
            deviation: 0.1,
            store_latency_ms: (1.0, 50.0),
            measured_from_s: 60,
            measured_s: 60,
            first_seed: UNTUNED,
            seeds: 3,
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        Self {
            processes: vec![100],
            arrive_s: 10,
            rates: vec![500.0],
            changes: vec![500.0, 200.0],
            measured_from_s: 40,
            measured_s: 30,
            seeds: 2,
            ..Self::default()
        }
    }

    fn at(seconds: u32) -> Timestamp {
        Timestamp::START.saturating_add(Duration::from_secs(seconds.into()))
    }
}

/// The limiters of the processes.
#[derive(Clone, Debug)]
pub enum Limiters {
    /// One for each process.
    Separate(Strategy),
    /// The paced strategy with the limit of a fleet.
    Shared,
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The number of processes.
    pub processes: u32,
    /// The limiters.
    pub limiters: Limiters,
    /// The limits that follow each other in the measured time, with the seconds that each lasts.
    pub limits: Vec<(f64, u32)>,
    /// Whether the store is away at the begin of the measured time.
    pub is_away: bool,
}

/// The outcome of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What happened under each limit.
    pub limits: Vec<many::Outcome>,
    /// The calls to the store.
    pub calls: u64,
}

/// Runs a case.
pub fn run(options: &Options, case: &Case, seed: u64) -> Outcome {
    let (world, processes, from) = (World::new(), case.processes, options.measured_from_s);
    let nothing = many::Outcome { succeeded: vec![0; processes as usize], ..many::Outcome::default() };
    let outcome = Rc::new(RefCell::new(vec![nothing; case.limits.len()]));
    let first = case.limits.first().map_or(1.0, |(rate, _)| *rate);
    let limit = Rc::new(TokenBucketLimit::new(first, first));
    let (mut begins, mut end) = (Vec::new(), from);
    for &(rate, lasts) in &case.limits {
        begins.push(Duration::from_secs(end.into()));
        let (changes, clock, limit) = (world.sleep_until(Options::at(end)), world.clone(), Rc::clone(&limit));
        world.spawn(async move {
            changes.await;
            limit.set_rate(rate, clock.now());
        });
        end += lasts;
    }
    // Returns the number of the limit under which something is measured.
    let measured_at: Rc<dyn Fn(Duration) -> Option<usize>> =
        Rc::new(move |elapsed| begins.iter().rposition(|begin| elapsed >= *begin));
    let (clock, counted, limit_at) = (world.clone(), Rc::clone(&outcome), Rc::clone(&measured_at));
    let server = Limited::new(&world, limit, (options.round_trip_ms, options.deviation), seed, move |is_rejected| {
        if let Some(limit) = limit_at(clock.elapsed()) {
            let outcome = &mut counted.borrow_mut()[limit];
            outcome.requests += 1;
            outcome.rejected += u64::from(is_rejected);
        }
    });
    let latency = options.store_latency_ms;
    let mut store = FleetStore::new(&world, (millis(latency.0 / 2.0), millis(latency.1 / 2.0)), seed);
    if case.is_away {
        store = store.away(Options::at(from), Options::at(from + options.store_away_s));
    }
    let store = Rc::new(store);
    for process in 0..processes {
        let (process_seed, clock, store) = (seed ^ u64::from(process) << 32, world.clone(), Rc::clone(&store));
        let (limiters, server, outcome) = (case.limiters.clone(), Rc::clone(&server), Rc::clone(&outcome));
        let measured_at = Rc::clone(&measured_at);
        let (starts, workers) = (Duration::from_secs(options.arrive_s.into()) * process / processes, options.workers);
        world.spawn(async move {
            clock.sleep(starts).await;
            let caller: Rc<dyn Caller> = match limiters {
                Limiters::Separate(strategy) => strategy.caller(process_seed),
                Limiters::Shared => {
                    let strategy = Arc::new(paced(process_seed));
                    let member = Member::new("lab", format!("{seed}.{process}"), clock.now());
                    clock.spawn(store.run(member.limit(Arc::clone(&strategy)), None));
                    caller(strategy)
                }
            };
            for _ in 0..workers {
                let (world, caller, server) = (clock.clone(), Rc::clone(&caller), Rc::clone(&server));
                let (outcome, measured_at) = (Rc::clone(&outcome), Rc::clone(&measured_at));
                clock.spawn(async move {
                    loop {
                        let result = caller.call(server.call()).await;
                        let Some(limit) = measured_at(world.elapsed()) else { continue };
                        let outcome = &mut outcome.borrow_mut()[limit];
                        match result {
                            Ok(()) => outcome.succeeded[process as usize] += 1,
                            Err(_) => outcome.failed += 1,
                        }
                    }
                });
            }
        });
    }
    world.run_until(Options::at(end));
    Outcome { limits: outcome.take(), calls: store.calls() }
}

fn paced(seed: u64) -> PacedRetryStrategy {
    PacedRetryStrategy::over(StandardRetryStrategy::new().seed(seed)).seed(seed)
}

/// Returns the limiters to compare.
fn limiters(plan: &Plan) -> Vec<(String, Limiters)> {
    let mut strategies = vec![
        Strategy::of("adaptive", |seed| AdaptiveRetryStrategy::over(StandardRetryStrategy::new().seed(seed))),
        Strategy::of("paced", paced),
    ];
    strategies.extend(plan.strategies.iter().cloned());
    let separate = strategies.into_iter().map(|strategy| (strategy.name().to_owned(), Limiters::Separate(strategy)));
    separate.chain([("shared".to_owned(), Limiters::Shared)]).collect()
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let (mut cases, lasts): (Vec<(String, Case)>, _) = (Vec::new(), options.measured_s);
    for &processes in &options.processes {
        for (name, limiters) in limiters(plan) {
            let case = |limits| Case { processes, limiters: limiters.clone(), limits, is_away: false };
            cases.extend(options.rates.iter().map(|&rate| (name.clone(), case(vec![(rate, lasts)]))));
            cases.push((name.clone(), case(options.changes.iter().map(|&rate| (rate, lasts)).collect())));
            if matches!(limiters, Limiters::Shared) {
                let (rate, away) = (options.away_rate, options.store_away_s);
                cases.push((name, Case { is_away: true, ..case(vec![(rate, away), (rate, away)]) }));
            }
        }
    }
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |(_, case), seed| {
        run(&options, case, options.first_seed + seed)
    });

    let measures = ["fairness", "limit used, %", "rejected, %", "failed operations, %", "store calls, 1/s"];
    let tables = ["limit", "store away", "changing"];
    let mut tables = tables.map(|name| Table::new(name, &["strategy", "limit, 1/s", "processes"], &measures));
    for ((name, case), runs) in cases.iter().zip(&runs) {
        let table = &mut tables[if case.is_away { 1 } else { usize::from(case.limits.len() > 1) * 2 }];
        let end = options.measured_from_s + case.limits.iter().map(|(_, lasts)| lasts).sum::<u32>();
        for (limit, &(rate, lasts)) in case.limits.iter().enumerate() {
            let spread = |measure: &dyn Fn(&many::Outcome) -> f64| {
                Spread::of(runs.iter().map(|run| measure(&run.limits[limit])))
            };
            let row = vec![
                spread(&many::Outcome::fairness),
                spread(&|run| number(run.succeeded.iter().sum()) / (rate * f64::from(lasts)) * 100.0),
                spread(&|run| share(run.rejected, run.requests) * 100.0),
                spread(&|run| share(run.failed, run.operations()) * 100.0),
                Spread::of(runs.iter().map(|run| number(run.calls) / f64::from(end))),
            ];
            let after = if case.is_away && limit > 0 { ", store back" } else { "" };
            table.add(vec![format!("{name}{after}"), rate.to_string(), case.processes.to_string()], row);
        }
    }
    Ok(SCENARIO.report(values, options.seeds, tables.into(), Vec::new()))
}
