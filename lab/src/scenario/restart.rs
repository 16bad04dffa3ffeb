//! A restart: a server refuses every request for a short time.
//!
//! A client whose delays end before the server is back loses its operation. With full jitter, the delays of an operation can all be short,
//! so there is no time that an operation surely rides out. With equal jitter, there is: half of the sum of the longest delays.

use super::{Plan, Scenario, millis, number, seconds, share};
use crate::World;
use crate::call::{Call, CallError};
use crate::report::{Plot, Report, Spread, Table};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use crate::world::Random;
use retry_core::time::Timer;
use retry_core::{Clock, Jitter, PatientRetryStrategy, StandardRetryStrategy};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "restart", title: "A server that restarts, and operations that begin meanwhile", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The times that the server is away: 0.1, 0.2, .. 2 s.
    pub away_s: Vec<f64>,
    /// The number of operations, which begin at random times while the server is away: 20, whose retries a full quota pays for.
    pub operations: u32,
    /// The longest delay before the first retry: 100 ms.
    pub base_ms: f64,
    /// The maximum number of attempts of an operation: 5.
    pub max_attempts: u32,
    /// The number of runs: 100.
    pub seeds: u64,
}

impl Default for Options {
    fn default() -> Self {
        let away_s = (1..=20).map(|tenths| f64::from(tenths) / 10.0).collect();
        Self { away_s, operations: 20, base_ms: 100.0, max_attempts: 5, seeds: 100 }
    }
}

impl Options {
    /// Returns options for a run of a second.
    pub fn short() -> Self {
        Self { away_s: vec![0.3, 0.7, 1.4], seeds: 20, ..Self::default() }
    }
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// How the clients retry.
    pub strategy: Strategy,
    /// The time that the server is away.
    pub away: Duration,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The number of operations.
    pub operations: u64,
    /// The operations that failed.
    pub failed: u64,
    /// The time of the operations that succeeded, in total.
    pub succeeded_in: Duration,
    /// The requests, refused ones included.
    pub requests: u64,
}

/// Returns the strategies to compare.
pub fn strategies(options: &Options) -> Vec<Strategy> {
    let (base, attempts) = (millis(options.base_ms), options.max_attempts);
    let with = move |name, jitter| {
        Strategy::of(name, move |seed| {
            let strategy = StandardRetryStrategy::new().backoff(base, seconds(20.0)).jitter(jitter).seed(seed);
            // Zero attempts count as one.
            strategy.max_attempts(attempts.max(1))
        })
    };
    vec![
        with("full jitter", Jitter::Full),
        with("equal jitter", Jitter::Equal),
        with("no jitter", Jitter::None),
        Strategy::of("new(), as shipped", |seed| StandardRetryStrategy::new().seed(seed)),
        Strategy::of("patient, as shipped", |seed| PatientRetryStrategy::new().seed(seed)),
    ]
}

/// Runs a case.
pub fn run(options: &Options, case: &Case, seed: u64) -> Outcome {
    let (world, outcome) = (World::new(), Rc::new(Cell::new(Outcome::default())));
    let caller = case.strategy.caller(seed);
    let mut begins = Random::new(seed, "begins");
    let back = world.now().saturating_add(case.away);
    for _ in 0..options.operations {
        let begin = case.away.mul_f64(begins.uniform());
        let (client, caller) = (world.clone(), Rc::clone(&caller));
        let (server, requests, counted) = (world.clone(), Rc::clone(&outcome), Rc::clone(&outcome));
        let attempt = move || {
            update(&requests, |outcome| outcome.requests += 1);
            std::future::ready(if server.now() < back { Err(CallError::Failed) } else { Ok(()) })
        };
        world.spawn(async move {
            client.sleep(begin).await;
            let result = caller.call(Call::new(&client, attempt)).await;
            update(&counted, |outcome| {
                outcome.operations += 1;
                match result {
                    Ok(()) => outcome.succeeded_in += client.elapsed().saturating_sub(begin),
                    Err(_) => outcome.failed += 1,
                }
            });
        });
    }
    world.run();
    outcome.get()
}

fn update(outcome: &Cell<Outcome>, change: impl FnOnce(&mut Outcome)) {
    let mut value = outcome.get();
    change(&mut value);
    outcome.set(value);
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let cases: Vec<Case> = plan
        .with(strategies(&options))
        .into_iter()
        .flat_map(|strategy| {
            options.away_s.iter().map(move |&away| Case { strategy: strategy.clone(), away: seconds(away) })
        })
        .collect();
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, seed| run(&options, case, seed));

    let measures = ["lost operations, %", "time of the others, s", "requests of an operation"];
    let mut table = Table::new("restart", &["strategy", "away, s"], &measures);
    let mut lost =
        Plot::new("lost", "Operations that are lost", "seconds that the server is away", "lost operations, %");
    let mut time = Plot::new("time", "Time of the other operations", "seconds that the server is away", "seconds");
    for (case, runs) in cases.iter().zip(&runs) {
        // A single call says little, so each number is that of all runs together.
        let total = |part: fn(&Outcome) -> u64| runs.iter().map(part).sum::<u64>();
        let (operations, failed) = (total(|run| run.operations), total(|run| run.failed));
        let succeeded_in: f64 = runs.iter().map(|run| run.succeeded_in.as_secs_f64()).sum();
        let succeeded = operations - failed;
        let mean = if succeeded == 0 { 0.0 } else { succeeded_in / number(succeeded) };
        let values = [share(failed, operations) * 100.0, mean, share(total(|run| run.requests), operations)]
            .map(Spread::exactly);
        let (name, away) = (case.strategy.name(), case.away.as_secs_f64());
        lost.add(name, away, values[0]);
        if succeeded > 0 {
            time.add(name, away, values[1]);
        }
        table.add(vec![name.to_owned(), format!("{away}")], values.to_vec());
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table], vec![lost, time]))
}
