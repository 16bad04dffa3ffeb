//! Contention: many clients each want one optimistic write to the same row.
//!
//! A client reads the row and writes it. The write fails if another one came between. Then the client backs off and
//! starts again. Without jitter the clients collide again and again.
//!
//! Reference: Marc Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015. That simulation counts its
//! backoff from 1, so its base of 5 ms is a base of 10 ms here. As there, a call is a write.

use super::{Plan, Scenario, millis, number, seconds};
use crate::World;
use crate::call::{Call, CallError};
use crate::report::{Plot, Report, Spread, Table};
use crate::servers::Row;
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use crate::world::Network;
use retry_core::backoff::NoBackoff;
use retry_core::quota::NoQuota;
use retry_core::strategy::StandardRetrySettings;
use retry_core::{ExponentialBackoff, Jitter, StandardRetryStrategy};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "contention", title: "Clients that each want one optimistic write to the same row", study };

/// The options, with the numbers of the reference as defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The numbers of clients: 10, 20, .. 190.
    pub clients: Vec<u32>,
    /// The mean time of a message: 10 ms.
    pub message_ms: f64,
    /// The standard deviation of that time: 2 ms.
    pub message_deviation_ms: f64,
    /// The base of the backoff: 10 ms.
    pub base_ms: f64,
    /// The cap of the backoff: 2 s.
    pub cap_s: f64,
    /// The number of runs: 100.
    pub seeds: u64,
}

impl Default for Options {
    fn default() -> Self {
        let clients = (1..20).map(|tens| tens * 10).collect();
        Self { clients, message_ms: 10.0, message_deviation_ms: 2.0, base_ms: 10.0, cap_s: 2.0, seeds: 100 }
    }
}

impl Options {
    /// Returns options for a run of a second.
    pub fn short() -> Self {
        Self { clients: vec![10, 50, 100], seeds: 5, ..Self::default() }
    }
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// How the clients retry.
    pub strategy: Strategy,
    /// The number of clients.
    pub clients: u32,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of writes, failed ones included.
    pub attempts: u64,
    /// The number of clients that gave up.
    pub failed: u64,
    /// The time until the last client was done.
    pub time: Duration,
}

/// Returns the strategies to compare.
pub fn strategies(options: &Options) -> Vec<Strategy> {
    let (base, cap) = (millis(options.base_ms), seconds(options.cap_s));
    let settings = StandardRetrySettings::new().max_attempts(u32::MAX);
    let exponential = move |name, jitter| {
        Strategy::of(name, move |seed| {
            let backoff = ExponentialBackoff::new(base, cap).jitter(jitter).seed(seed);
            StandardRetryStrategy::from_parts(settings, backoff, NoQuota)
        })
    };
    vec![
        Strategy::of("no backoff", move |_| StandardRetryStrategy::from_parts(settings, NoBackoff, NoQuota)),
        exponential("no jitter", Jitter::None),
        exponential("equal jitter", Jitter::Equal),
        exponential("full jitter", Jitter::Full),
        Strategy::of("new(), as shipped", |seed| StandardRetryStrategy::new().seed(seed)),
    ]
}

/// Runs a case.
pub fn run(options: &Options, case: &Case, seed: u64) -> Outcome {
    let (world, outcome) = (World::new(), Rc::new(Cell::new(Outcome::default())));
    let caller = case.strategy.caller(seed);
    let (message, deviation) = (millis(options.message_ms), millis(options.message_deviation_ms));
    let network = Rc::new(Network::new(&world, message, deviation, seed));
    let row = Rc::new(Row::default());
    for _ in 0..case.clients {
        let (client, caller, counted) = (world.clone(), Rc::clone(&caller), Rc::clone(&outcome));
        let (network, row, writes) = (Rc::clone(&network), Rc::clone(&row), Rc::clone(&outcome));
        let attempt = move || {
            let (network, row, writes) = (Rc::clone(&network), Rc::clone(&row), Rc::clone(&writes));
            async move {
                network.message().await;
                let version = row.read();
                network.message().await;
                network.message().await;
                let written = row.write(version);
                update(&writes, |outcome| outcome.attempts += 1);
                network.message().await;
                written
            }
        };
        world.spawn(async move {
            let result: Result<(), CallError> = caller.call(Call::new(&client, attempt)).await;
            update(&counted, |outcome| {
                outcome.failed += u64::from(result.is_err());
                outcome.time = client.elapsed();
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
        .flat_map(|strategy| options.clients.iter().map(move |&clients| Case { strategy: strategy.clone(), clients }))
        .collect();
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, seed| run(&options, case, seed));

    let mut table = Table::new("contention", &["strategy", "clients"], &["attempts", "time, s", "failed clients"]);
    let mut attempts = Plot::new("attempts", "Writes until all clients are done", "clients", "writes");
    let mut time = Plot::new("time", "Time until all clients are done", "clients", "seconds");
    for (case, runs) in cases.iter().zip(&runs) {
        let spread = |measure: fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
        let values = [
            spread(|run| number(run.attempts)),
            spread(|run| run.time.as_secs_f64()),
            spread(|run| number(run.failed)),
        ];
        attempts.add(case.strategy.name(), f64::from(case.clients), values[0]);
        time.add(case.strategy.name(), f64::from(case.clients), values[1]);
        table.add(vec![case.strategy.name().to_owned(), case.clients.to_string()], values.to_vec());
    }
    for &clients in &options.clients {
        attempts.add("ideal", f64::from(clients), Spread::exactly(f64::from(clients)));
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table], vec![attempts, time]))
}
