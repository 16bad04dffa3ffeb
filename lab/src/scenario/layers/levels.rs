//! Functions of one program that call each other and all retry, and ways to keep their retries few.

use super::SCENARIO;
use crate::World;
use crate::call::{CallError, Outcome as Response};
use crate::report::{Spread, Table};
use crate::scenario::{millis, number, seconds, share};
use crate::study::{Workers, outcomes};
use crate::world::Random;
use retry_core::time::Timer;
use retry_core::{StandardRetryStrategy, retry, without_retries};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

/// The options of calls through several levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Levels {
    /// The number of levels: 3.
    pub depth: usize,
    /// The time that the service works on a request: 10 ms.
    pub work_ms: f64,
    /// The calls in a row, one per second: 20.
    pub calls: u64,
    /// The `max_time` of the outermost level, where there is one: 20 s.
    pub max_time_s: f64,
    /// The length of the outage that a single call should survive: 10 s.
    pub away_s: f64,
    /// The number of runs: 200.
    pub seeds: u64,
}

impl Default for Levels {
    fn default() -> Self {
        Self { depth: 3, work_ms: 10.0, calls: 20, max_time_s: 20.0, away_s: 10.0, seeds: 200 }
    }
}

impl Levels {
    /// Returns options for a run of some seconds.
    pub(super) fn short() -> Self {
        Self { seeds: 20, ..Self::default() }
    }
}

/// What the levels of a program have.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    NoRetries,
    /// A strategy at each level.
    Separate,
    /// One strategy, which all levels name.
    Shared,
    /// The same, with a `max_time` at the outermost level.
    SharedMaxTime,
    /// A strategy at each level, but the levels below the outermost one are in `without_retries`.
    Outermost,
}

const CHOICES: [(Choice, &str); 5] = [
    (Choice::NoRetries, "no retries"),
    (Choice::Separate, "a strategy at each level"),
    (Choice::Shared, "one for all levels"),
    (Choice::SharedMaxTime, "one for all, max_time"),
    (Choice::Outermost, "the outermost level only"),
];

/// A program, and the service that its innermost level calls.
struct Program {
    choice: Choice,
    options: Levels,
    strategies: Vec<StandardRetryStrategy>,
    /// The time at which the service works again, if it does.
    works_from: Option<Duration>,
    requests: Cell<u64>,
}

impl Program {
    fn new(choice: Choice, options: &Levels, works_from: Option<Duration>, seed: u64) -> Rc<Self> {
        let strategy = |level: usize| {
            let strategy = StandardRetryStrategy::new().seed(seed ^ (level as u64) << 32);
            if choice == Choice::NoRetries { strategy.max_attempts(1) } else { strategy }
        };
        let (options, requests) = (options.clone(), Cell::new(0));
        let strategies = (0..options.depth).map(strategy).collect();
        Rc::new(Self { choice, options, strategies, works_from, requests })
    }

    /// Makes a call of a level, or a request to the service below the innermost one.
    fn call(self: Rc<Self>, world: World, level: usize) -> Pin<Box<dyn Future<Output = Response>>> {
        if level == self.options.depth {
            return Box::pin(self.request(world));
        }
        Box::pin(async move {
            let is_shared = matches!(self.choice, Choice::Shared | Choice::SharedMaxTime);
            let is_outermost = level == 0;
            let strategy = &self.strategies[if is_shared { 0 } else { level }];
            let inner = || {
                let inner = Rc::clone(&self).call(world.clone(), level + 1);
                let is_single = is_outermost && self.choice == Choice::Outermost;
                async move { if is_single { without_retries(inner).await } else { inner.await } }
            };
            let call = retry(strategy, inner).idempotent(true).timer(world.clone());
            if is_outermost && self.choice == Choice::SharedMaxTime {
                call.max_time(seconds(self.options.max_time_s)).run().await
            } else {
                call.run().await
            }
        })
    }

    async fn request(self: Rc<Self>, world: World) -> Response {
        self.requests.set(self.requests.get() + 1);
        world.sleep(millis(self.options.work_ms)).await;
        let works = self.works_from.is_some_and(|from| world.elapsed() >= from);
        if works { Ok(()) } else { Err(CallError::Failed) }
    }
}

/// Runs calls that begin at these times, and returns the requests, and the outcome of each call with its duration.
fn run(program: &Rc<Program>, starts: &[Duration]) -> (u64, Vec<(bool, Duration)>) {
    let (world, ended) = (World::new(), Rc::new(RefCell::new(Vec::new())));
    for &start in starts {
        let (program, ended, of_call) = (Rc::clone(program), Rc::clone(&ended), world.clone());
        world.spawn(async move {
            of_call.sleep(start).await;
            let outcome = program.call(of_call.clone(), 0).await;
            ended.borrow_mut().push((outcome.is_ok(), of_call.elapsed().saturating_sub(start)));
        });
    }
    world.run();
    (program.requests.get(), ended.take())
}

/// The measures of a run.
struct Outcome {
    /// A single call while the service is down: its requests, and the seconds until its caller gets the error.
    alone: (f64, f64),
    /// Calls that begin one after the other: the requests of each.
    in_a_row: f64,
    /// Whether a single call succeeds that begins at any time of an outage.
    survives: bool,
}

fn outcome(choice: Choice, options: &Levels, seed: u64) -> Outcome {
    let (requests, calls) = run(&Program::new(choice, options, None, seed), &[Duration::ZERO]);
    let seconds_of = |calls: &[(bool, Duration)]| calls.iter().map(|(_, time)| time.as_secs_f64()).sum();
    let starts: Vec<_> = (0..options.calls).map(Duration::from_secs).collect();
    let (in_a_row, _) = run(&Program::new(choice, options, None, seed), &starts);
    let away = seconds(options.away_s);
    let start = away.mul_f64(Random::new(seed, "start").uniform());
    let (_, single) = run(&Program::new(choice, options, Some(away), seed), &[start]);
    Outcome {
        alone: (number(requests), seconds_of(&calls)),
        in_a_row: number(in_a_row) / number(options.calls.max(1)),
        survives: single.iter().all(|(is_success, _)| *is_success),
    }
}

/// Runs all choices, and returns their table.
pub(super) fn study(options: &Levels, workers: &dyn Workers) -> Table {
    let runs =
        outcomes(SCENARIO.name, &CHOICES, options.seeds, workers, |(choice, _), seed| outcome(*choice, options, seed));
    let measures = ["requests of a call", "seconds of a call", "requests per call in a row", "calls that survive, %"];
    let mut table = Table::new("levels", &["retries"], &measures);
    for ((_, name), runs) in CHOICES.iter().zip(&runs) {
        let spread = |measure: fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
        let survived = runs.iter().filter(|run| run.survives).count() as u64;
        table.add(
            vec![(*name).to_owned()],
            vec![
                spread(|run| run.alone.0),
                spread(|run| run.alone.1),
                spread(|run| run.in_a_row),
                Spread::of([share(survived, options.seeds) * 100.0]),
            ],
        );
    }
    table
}
