//! An outage with queueing: a server stalls for some seconds, and then works off its queue.
//!
//! Requests arrive as a Poisson process, whatever happens to earlier ones. The server is one queue, first come, first
//! served, and also serves the requests whose clients have given up. So while its queue is longer than the clients'
//! timeout, all of its work is wasted, and retries make the queue longer. With too many retries, the queue never gets
//! short again.
//!
//! References: Bronson and others, "Metastable Failures in Distributed Systems", workshop `HotOS`, 2021; Huang and
//! others, "Metastable Failures in the Wild", OSDI, 2022.

use super::per_second::add_line;
use super::{PerSecond, Plan, Scenario, number, seconds, share};
use crate::World;
use crate::call::{Call, Caller, Outcome as Response};
use crate::report::{Plot, Report, Spread, Table};
use crate::servers::FifoServer;
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use crate::world::Random;
use retry_core::quota::NoQuota;
use retry_core::time::{Clock, Timer, Timestamp};
use retry_core::{PatientRetryStrategy, StandardRetryStrategy};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "outage", title: "A server that stalls for some seconds under an open load", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The requests that the server can serve in a second: 300.
    pub rate: f64,
    /// The arrivals, as parts of that rate: 0.47, 0.8 and 0.93.
    pub loads: Vec<f64>,
    /// The client's timeout of an attempt: 1 s.
    pub timeout_s: f64,
    /// When the server stalls: after 60 s.
    pub stall_after_s: u32,
    /// How long it stalls: 10 s.
    pub stall_s: u32,
    /// The length of the run: 600 s.
    pub duration_s: u32,
    /// The numbers of strategies that the clients have, each with its own quota: 1, 100 and 1,000.
    pub quotas: Vec<u32>,
    /// The part of the arrivals that has to succeed in each second, for the server to count as recovered: 0.95.
    pub goodput: f64,
    /// The number of these seconds: 10.
    pub steady_s: u32,
    /// The number of runs: 20.
    pub seeds: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rate: 300.0,
            loads: vec![0.47, 0.8, 0.93],
            timeout_s: 1.0,
            stall_after_s: 60,
            stall_s: 10,
            duration_s: 600,
            quotas: vec![1, 100, 1_000],
            goodput: 0.95,
            steady_s: 10,
            seeds: 20,
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        Self {
            loads: vec![0.8],
            quotas: vec![1, 1_000],
            stall_after_s: 20,
            duration_s: 200,
            seeds: 2,
            ..Self::default()
        }
    }

    fn stall(&self) -> (Timestamp, Timestamp) {
        let from = Timestamp::START.saturating_add(Duration::from_secs(self.stall_after_s.into()));
        (from, from.saturating_add(Duration::from_secs(self.stall_s.into())))
    }

    /// Returns the first second after the stall.
    fn recovers_from(&self) -> usize {
        (self.stall_after_s + self.stall_s) as usize
    }
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// How the clients retry.
    pub strategy: Strategy,
    /// The number of strategies.
    pub quotas: u32,
    /// The arrivals, as a part of the server's rate.
    pub load: f64,
}

/// The outcome of a run: events by the second of the run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The operations that began.
    pub arrivals: PerSecond,
    /// The operations that succeeded.
    pub goodput: PerSecond,
    /// The attempts that reached the server.
    pub attempts: PerSecond,
}

impl Outcome {
    /// Returns the time from the end of the stall to the recovery, in seconds, or `None` if there is none.
    ///
    /// The server has recovered in the first second from which on the goodput is high enough for some seconds. The
    /// goodput of a second is compared with the mean arrivals of these seconds.
    pub fn recovery(&self, options: &Options) -> Option<f64> {
        let (from, steady) = (options.recovers_from(), options.steady_s.max(1) as usize);
        let last = (options.duration_s as usize).checked_sub(steady)?;
        (from..=last)
            .find(|&second| {
                let arrivals = number(self.arrivals.between(second, second + steady));
                number(self.goodput.between(second, second + steady)) >= options.goodput * arrivals
            })
            .map(|second| number((second - from) as u64))
    }
}

/// Returns the strategies to compare, and whether the number of quotas matters to them.
fn strategies() -> Vec<(Strategy, bool)> {
    vec![
        (Strategy::no_retries(), false),
        (Strategy::of("new()", |seed| StandardRetryStrategy::new().seed(seed)), true),
        (Strategy::of("patient", |seed| PatientRetryStrategy::new().seed(seed)), true),
        (Strategy::of("aws_2_1()", |seed| StandardRetryStrategy::aws_2_1().seed(seed)), true),
        (Strategy::of("new(), no quota", |seed| StandardRetryStrategy::new().seed(seed).with_quota(NoQuota)), false),
    ]
}

/// Runs a case.
pub fn run(options: &Options, case: &Case, seed: u64) -> Outcome {
    let (world, (from, to)) = (World::new(), options.stall());
    let callers: Vec<Rc<dyn Caller>> =
        (0..case.quotas.max(1)).map(|number| case.strategy.caller(seed ^ u64::from(number) << 32)).collect();
    let server = FifoServer::new(seconds(1.0 / options.rate)).stall(from, to);
    let load = Load { arrivals_per_second: options.rate * case.load, timeout: seconds(options.timeout_s), seed };
    let respond = move |now| (server.enqueue(now), Ok(()));
    let outcome = load.arrive(&world, respond, move |part| Rc::clone(&callers[index_of(part, callers.len())]));
    world.run_until(Timestamp::START.saturating_add(Duration::from_secs(options.duration_s.into())));
    outcome.take()
}

/// Returns the index at a part of a list, for a part below 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a factor below 1")]
pub fn index_of(part: f64, length: usize) -> usize {
    (part * number(length as u64)) as usize
}

/// Operations that arrive as a Poisson process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) arrivals_per_second: f64,
    /// The client's timeout of an attempt.
    pub(super) timeout: Duration,
    pub(super) seed: u64,
}

impl Load {
    /// Lets operations arrive from now on, and counts them. `respond` returns the time and the content of the response to
    /// a request that arrives now. `choose` returns the caller of an operation, by a random number in `[0, 1)`.
    pub(super) fn arrive(
        self,
        world: &World,
        respond: impl Fn(Timestamp) -> (Timestamp, Response) + 'static,
        choose: impl Fn(f64) -> Rc<dyn Caller> + 'static,
    ) -> Rc<RefCell<Outcome>> {
        let outcome = Rc::new(RefCell::new(Outcome::default()));
        let (source, counted, respond) = (world.clone(), Rc::clone(&outcome), Rc::new(respond));
        let (mut arrivals, mut clients) = (Random::new(self.seed, "arrivals"), Random::new(self.seed, "clients"));
        world.spawn(async move {
            loop {
                source.sleep(arrivals.interval(self.arrivals_per_second)).await;
                counted.borrow_mut().arrivals.count(source.elapsed());
                let caller = choose(clients.uniform());
                let (world, counted) = (source.clone(), Rc::clone(&counted));
                let (timer, respond, attempts) = (source.clone(), Rc::clone(&respond), Rc::clone(&counted));
                source.spawn(async move {
                    let attempt = move || {
                        attempts.borrow_mut().attempts.count(timer.elapsed());
                        let (at, response) = respond(timer.now());
                        let arrives = timer.sleep_until(at);
                        async move {
                            arrives.await;
                            response
                        }
                    };
                    let result = caller.call(Call::new(&world, attempt).attempt_timeout(self.timeout)).await;
                    if result.is_ok() {
                        counted.borrow_mut().goodput.count(world.elapsed());
                    }
                });
            }
        });
        outcome
    }
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let mut strategies = strategies();
    strategies.extend(plan.strategies.iter().map(|strategy| (strategy.clone(), true)));
    let mut cases = Vec::new();
    for &load in &options.loads {
        for (strategy, has_quotas) in &strategies {
            let quotas = if *has_quotas { &options.quotas[..] } else { &[1] };
            cases.extend(quotas.iter().map(|&quotas| Case { strategy: strategy.clone(), quotas, load }));
        }
    }
    let runs = outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, seed| run(&options, case, seed));

    let measures = ["recovery, s", "goodput after the stall", "load after the stall", "attempts per arrival"];
    let mut table = Table::new("outage", &["load", "strategy", "quotas"], &measures);
    let mut plots: Vec<Plot> = Vec::new();
    for &load in &options.loads {
        let percent = load * 100.0;
        let title = format!("Successes per second at a load of {percent:.0} %");
        plots.push(Plot::new(&format!("goodput at {percent:.0} %"), &title, "time, s", "successes per second"));
        let title = format!("Attempts per second at a load of {percent:.0} %");
        plots.push(Plot::new(&format!("attempts at {percent:.0} %"), &title, "time, s", "attempts per second"));
    }
    let (from, end) = (options.recovers_from(), options.duration_s as usize);
    for (case, runs) in cases.iter().zip(&runs) {
        let spread = |measure: &dyn Fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
        let capacity = options.rate * number((end.saturating_sub(from)) as u64);
        let values = vec![
            Spread::of_optional(runs.iter().map(|run| run.recovery(&options))),
            spread(&|run| share(run.goodput.between(from, end), run.arrivals.between(from, end))),
            spread(&|run| number(run.attempts.between(from, end)) / capacity),
            spread(&|run| share(run.attempts.between(0, end), run.arrivals.between(0, end))),
        ];
        let name = case.strategy.name();
        table.add(vec![case.load.to_string(), name.to_owned(), case.quotas.to_string()], values);

        let line = if case.quotas == 1 { name.to_owned() } else { format!("{name}, {} quotas", case.quotas) };
        let at = options.loads.iter().position(|&load| load.total_cmp(&case.load).is_eq()).unwrap_or(0);
        let goodput: Vec<&PerSecond> = runs.iter().map(|run| &run.goodput).collect();
        let attempts: Vec<&PerSecond> = runs.iter().map(|run| &run.attempts).collect();
        add_line(&mut plots[2 * at], &line, &goodput, end, 5);
        add_line(&mut plots[2 * at + 1], &line, &attempts, end, 5);
    }
    Ok(SCENARIO.report(values, options.seeds, vec![table], plots))
}
