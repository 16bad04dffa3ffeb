//! One client and a limit that changes, and bulk copies with the figures of a real one.
//!
//! The first part shows how a client follows a limit that falls and rises. The second part repeats the
//! [bulk copy](super::copy) with the figures of the article that it refers to: 3,500 requests per second and a burst of
//! as many, 4,003 and ten times as many operations; then with a limit for each whole second, with rejections that cost the
//! server a part of a token, and with long round trips.

use super::limited::Limited;
use super::per_second::add_line;
use super::{PerSecond, Plan, Scenario, UNTUNED, copy, number, share};
use crate::World;
use crate::report::{Plot, Report, Spread, Table};
use crate::servers::TokenBucketLimit;
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use retry_core::time::{Clock, Timer, Timestamp};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario = Scenario { name: "changing", title: "One client and a limit that changes", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The limits that follow each other, in requests per second: 100, 40 and 160. The burst is that of one second of
    /// the first one.
    pub rates: Vec<f64>,
    /// How long each limit lasts: 60 s.
    pub phase_s: u32,
    /// The number of workers: 64.
    pub workers: u32,
    /// The maximum number of attempts in all, throttled ones included: 3.
    pub max_attempts: u32,
    /// Whether rejections carry a wait in whole seconds: no.
    pub retry_after: bool,
    /// The mean time from a request to its response: 20 ms. Less than 1 ms is treated as 1 ms.
    pub round_trip_ms: f64,
    /// The standard deviation of the time of a message, as a part of its mean: 0.1.
    pub deviation: f64,
    /// The bulk copies, by name.
    pub copies: Vec<(String, copy::Options)>,
    /// The first seed: [`UNTUNED`].
    pub first_seed: u64,
    /// The number of runs: 20.
    pub seeds: u64,
}

impl Default for Options {
    fn default() -> Self {
        let copy = copy::Options {
            operations: 4_003,
            workers: vec![256, 1_024],
            rate: 3_500.0,
            burst: 3_500.0,
            retry_after: false,
            ..copy::Options::default()
        };
        let large = copy::Options { operations: 40_030, ..copy.clone() };
        let copies = [
            ("token bucket", copy.clone()),
            ("token bucket", large.clone()),
            ("fixed window", copy::Options { window_s: Some(1.0), ..large.clone() }),
            ("rejections cost 0.2", copy::Options { rejection_cost: 0.2, ..large.clone() }),
            ("round trip 200 ms", copy::Options { round_trip_ms: 200.0, ..large }),
        ];
        Self {
            rates: vec![100.0, 40.0, 160.0],
            phase_s: 60,
            workers: 64,
            max_attempts: 3,
            retry_after: false,
            round_trip_ms: 20.0,
            deviation: 0.1,
            copies: copies.map(|(name, options)| (name.to_owned(), options)).into(),
            first_seed: UNTUNED,
            seeds: 20,
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        let mut options = Self { phase_s: 20, seeds: 2, ..Self::default() };
        options.copies.truncate(1);
        options
    }

    fn duration(&self) -> u32 {
        self.phase_s.saturating_mul(u32::try_from(self.rates.len()).unwrap_or(u32::MAX))
    }
}

/// The outcome of a run, by the second.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The operations that succeeded.
    pub succeeded: PerSecond,
    /// The operations that failed.
    pub failed: PerSecond,
    /// The requests.
    pub requests: PerSecond,
    /// The rejected requests.
    pub rejected: PerSecond,
}

/// Runs the first part with one strategy.
pub fn run(options: &Options, strategy: &Strategy, seed: u64) -> Outcome {
    let (world, outcome) = (World::new(), Rc::new(RefCell::new(Outcome::default())));
    let caller = strategy.caller(seed);
    let first = options.rates.first().copied().unwrap_or(0.0);
    let limit = Rc::new(TokenBucketLimit::new(first, first).retry_after(options.retry_after));
    let (clock, changing, rates) = (world.clone(), Rc::clone(&limit), options.rates.clone());
    let phase = Duration::from_secs(options.phase_s.into());
    world.spawn(async move {
        for rate in rates {
            changing.set_rate(rate, clock.now());
            clock.sleep(phase).await;
        }
    });
    let (clock, counted) = (world.clone(), Rc::clone(&outcome));
    let server = Limited::new(&world, limit, (options.round_trip_ms, options.deviation), seed, move |is_rejected| {
        let outcome = &mut *counted.borrow_mut();
        outcome.requests.count(clock.elapsed());
        if is_rejected {
            outcome.rejected.count(clock.elapsed());
        }
    });
    for _ in 0..options.workers {
        let (worker, caller, server, outcome) =
            (world.clone(), Rc::clone(&caller), Rc::clone(&server), Rc::clone(&outcome));
        world.spawn(async move {
            loop {
                let result = caller.call(server.call()).await;
                let outcome = &mut *outcome.borrow_mut();
                match result {
                    Ok(()) => outcome.succeeded.count(worker.elapsed()),
                    Err(_) => outcome.failed.count(worker.elapsed()),
                }
            }
        });
    }
    world.run_until(Timestamp::START.saturating_add(Duration::from_secs(options.duration().into())));
    outcome.take()
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let strategies = plan.with(copy::strategies(options.max_attempts));
    let (following, throughput) = study_limit(&options, &strategies, workers);
    let copies = study_copies(&options, &strategies, workers);
    Ok(SCENARIO.report(values, options.seeds, vec![following, copies], vec![throughput]))
}

fn study_limit(options: &Options, strategies: &[Strategy], workers: &dyn Workers) -> (Table, Plot) {
    let runs = outcomes(SCENARIO.name, strategies, options.seeds, workers, |strategy, seed| {
        run(options, strategy, options.first_seed + seed)
    });
    let measures = ["limit used, %", "rejected share", "failed share of operations"];
    let mut table = Table::new("limit", &["strategy", "from, s", "limit, 1/s"], &measures);
    let mut plot = Plot::new("throughput", "Successes under a limit that changes", "time, s", "successes per second");
    let phase = options.phase_s as usize;
    for (strategy, runs) in strategies.iter().zip(&runs) {
        for (index, &rate) in options.rates.iter().enumerate() {
            let (from, to) = (index * phase, (index + 1) * phase);
            let spread = |measure: &dyn Fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
            let values = vec![
                spread(&|run| number(run.succeeded.between(from, to)) / (rate * number(phase as u64)) * 100.0),
                spread(&|run| share(run.rejected.between(from, to), run.requests.between(from, to))),
                spread(&|run| {
                    let failed = run.failed.between(from, to);
                    share(failed, failed + run.succeeded.between(from, to))
                }),
            ];
            table.add(vec![strategy.name().to_owned(), from.to_string(), rate.to_string()], values);
        }
        let lines: Vec<&PerSecond> = runs.iter().map(|run| &run.succeeded).collect();
        add_line(&mut plot, strategy.name(), &lines, options.duration() as usize, 2);
    }
    for (index, &rate) in options.rates.iter().enumerate() {
        plot.add("limit", number((index * phase) as u64), Spread::exactly(rate));
        plot.add("limit", number(((index + 1) * phase) as u64), Spread::exactly(rate));
    }
    (table, plot)
}

fn study_copies(options: &Options, strategies: &[Strategy], workers: &dyn Workers) -> Table {
    let mut table = Table::new("copies", &["server", "operations", "strategy", "workers"], &copy::MEASURES);
    for (name, copied) in &options.copies {
        let cases: Vec<copy::Case> = strategies
            .iter()
            .flat_map(|strategy| {
                copied.workers.iter().map(move |&workers| copy::Case { strategy: strategy.clone(), workers })
            })
            .collect();
        let title = format!("changing: copy of {}, {name}", copied.operations);
        let runs = outcomes(&title, &cases, options.seeds, workers, |case, seed| {
            copy::run(copied, case, options.first_seed + seed)
        });
        for (case, runs) in cases.iter().zip(&runs) {
            let strategy = case.strategy.name().to_owned();
            let keys = vec![name.clone(), copied.operations.to_string(), strategy, case.workers.to_string()];
            table.add(keys, copy::measures(copied, runs));
        }
    }
    table
}
