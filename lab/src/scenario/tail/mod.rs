//! Servers that answer a few requests slowly, and hedges: a second request to another server if the first one has no answer.
//!
//! Each server has some slots and a queue, first come, first served. It also serves the requests whose clients have given up, so
//! each hedge is load. The time of a request is lognormal, and a small part takes many times as long. Beside that, one server can be slow,
//! and all can stall for some seconds. Each attempt goes to a server at random.
//!
//! Reference: Dean and Barroso, "The Tail at Scale", Communications of the ACM 56(2), 2013.

mod run;

pub use run::{Outcome, run};

use super::{Plan, Scenario};
use crate::report::{Plot, Report, Spread, Table, quantile_of};
use crate::strategies::Strategy;
use crate::study::{Workers, outcomes};
use retry_core::StandardRetryStrategy;
use serde::{Deserialize, Serialize};

/// The scenario for the program.
pub const SCENARIO: Scenario =
    Scenario { name: "tail", title: "Servers that answer a few requests slowly, and hedges", study };

/// The options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The servers: 10.
    pub servers: u32,
    /// The requests that a server works on at a time: 4 and 32.
    pub slots: Vec<u32>,
    /// The median time of a request at a server: 10 ms.
    pub median_ms: f64,
    /// The deviation of the logarithm of that time: 0.5.
    pub sigma: f64,
    /// How many times as long a slow request takes: 20.
    pub slow_factor: f64,
    /// The parts of the requests that are slow: 0.01, 0.02 and 0.03.
    pub slow_parts: Vec<f64>,
    /// How many times as long the one slow server takes for each request, where there is one: 3.
    pub slow_server_factor: f64,
    /// The arrivals, as parts of what the servers can serve: 0.3, 0.5, 0.6, 0.7 and 0.8.
    pub loads: Vec<f64>,
    /// The load and the part of slow requests where all kinds of hedges are compared, at the first number of slots: 0.3 and 0.02.
    pub compared: (f64, f64),
    /// The fixed delays of hedges to compare, in milliseconds: 100, 50, 30, 20 and 15.
    pub fixed_ms: Vec<f64>,
    /// A time limit of attempts, in milliseconds, with which retries cut the tail instead: 50.
    pub cut_ms: f64,
    /// The processes that call the servers, each with a strategy and a hedge: 10.
    pub processes: u32,
    /// The calls before those that are measured, in which the hedges learn: 10,000.
    pub warm_up_calls: u32,
    /// The calls that are measured: 80,000.
    pub calls: u32,
    /// How long all servers stall, where they do, at a load of 0.6: 5 s.
    pub stall_s: u32,
    /// The number of runs: 10.
    pub seeds: u64,
    /// The seed of the first run: 0.
    pub first_seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            servers: 10,
            slots: vec![4, 32],
            median_ms: 10.0,
            sigma: 0.5,
            slow_factor: 20.0,
            slow_parts: vec![0.01, 0.02, 0.03],
            slow_server_factor: 3.0,
            loads: vec![0.3, 0.5, 0.6, 0.7, 0.8],
            compared: (0.3, 0.02),
            fixed_ms: vec![100.0, 50.0, 30.0, 20.0, 15.0],
            cut_ms: 50.0,
            processes: 10,
            warm_up_calls: 10_000,
            calls: 80_000,
            stall_s: 5,
            seeds: 10,
            first_seed: 0,
        }
    }
}

impl Options {
    /// Returns options for a run of some seconds.
    pub fn short() -> Self {
        Self {
            slots: vec![4],
            slow_parts: vec![0.02],
            loads: vec![0.3, 0.8],
            fixed_ms: vec![100.0, 20.0],
            calls: 8_000,
            seeds: 1,
            ..Self::default()
        }
    }

    /// Returns whether all kinds of hedges are compared at this load and this part of slow requests.
    fn is_compared(&self, load: f64, slow_part: f64) -> bool {
        (load - self.compared.0).abs() < 1e-9 && (slow_part - self.compared.1).abs() < 1e-9
    }

    /// Returns the calls in a second in a case.
    pub fn rate(&self, case: &Case) -> f64 {
        // The mean of a lognormal time.
        let usual = self.median_ms / 1e3 * (self.sigma * self.sigma / 2.0).exp();
        let mean = usual * (1.0 - case.slow_part + case.slow_part * self.slow_factor);
        case.load * f64::from(self.servers) * f64::from(case.slots) / mean
    }
}

/// What a client does about slow requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Against {
    /// Nothing.
    Nothing,
    /// A hedge after a delay that follows the calls.
    Steered,
    /// A hedge after this delay in milliseconds.
    Fixed(f64),
    /// A time limit of attempts in milliseconds, after which a retry follows.
    Cut(f64),
}

impl Against {
    /// Returns the name.
    pub fn name(self) -> String {
        match self {
            Self::Nothing => "no hedge".to_owned(),
            Self::Steered => "p95".to_owned(),
            Self::Fixed(millis) => format!("{millis} ms"),
            Self::Cut(millis) => format!("limit of {millis} ms"),
        }
    }
}

/// What is wrong with the servers, besides the slow requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// One server is slow.
    SlowServer,
    /// All servers stall after the warm-up.
    Stall,
}

impl Fault {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "slow requests",
            Self::SlowServer => "one slow server",
            Self::Stall => "a stall",
        }
    }
}

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// How the clients retry.
    pub strategy: Strategy,
    /// What they do about slow requests.
    pub against: Against,
    /// What is wrong with the servers.
    pub fault: Fault,
    /// The requests that a server works on at a time.
    pub slots: u32,
    /// The arrivals, as a part of what the servers can serve.
    pub load: f64,
    /// The part of the requests that are slow.
    pub slow_part: f64,
}

/// The load of the stall.
const STALL_LOAD: f64 = 0.6;

fn cases(options: &Options, yours: &[Strategy]) -> Vec<(String, Case)> {
    let standard = || Strategy::of("new()", |seed| StandardRetryStrategy::new().seed(seed));
    let first = options.slots.first().copied().unwrap_or(1);
    let mut cases = Vec::new();
    let (compared_load, compared_part) = options.compared;
    let mut add = |against: &[Against], fault, slots, load, slow_part| {
        for &against in against {
            cases.push((against.name(), Case { strategy: standard(), against, fault, slots, load, slow_part }));
        }
        for strategy in yours {
            let case = Case { strategy: strategy.clone(), against: Against::Steered, fault, slots, load, slow_part };
            cases.push((strategy.name().to_owned(), case));
        }
    };
    let few = [Against::Nothing, Against::Steered];
    for &slots in &options.slots {
        for &slow_part in &options.slow_parts {
            for &load in &options.loads {
                let mut against = few.to_vec();
                if slots == first && options.is_compared(load, slow_part) {
                    against.extend(options.fixed_ms.iter().map(|&millis| Against::Fixed(millis)));
                }
                if slots == first && (slow_part - compared_part).abs() < 1e-9 {
                    against.push(Against::Cut(options.cut_ms));
                }
                add(&against, Fault::None, slots, load, slow_part);
            }
        }
        add(&few, Fault::SlowServer, slots, compared_load, compared_part);
    }
    add(&few, Fault::Stall, first, STALL_LOAD, compared_part);
    cases
}

fn study(plan: &Plan, workers: &dyn Workers) -> Result<Report, serde_json::Error> {
    let (options, values) = plan.options(Options::short)?;
    let named = cases(&options, &plan.strategies);
    let cases: Vec<Case> = named.iter().map(|(_, case)| case.clone()).collect();
    let seed = |number: u64| options.first_seed + number;
    let runs =
        outcomes(SCENARIO.name, &cases, options.seeds, workers, |case, number| run(&options, case, seed(number)));

    let measures = ["median, ms", "p99, ms", "p99.9, ms", "extra requests, %", "failed, %"];
    let mut table = Table::new("tail", &["fault", "slots", "slow, %", "load", "strategy"], &measures);
    let mut stall = Table::new("stall", &["strategy"], &["over after, s", "extra requests, %"]);
    let axes = ("extra requests, %", "time of a call, ms");
    let mut plots = [("p99", "99 % of the calls"), ("p99.9", "99.9 % of the calls")]
        .map(|(name, title)| Plot::new(name, title, axes.0, axes.1));
    let mut loads = Plot::new("loads", "99 % of the calls at each load", "load, %", "time of a call, ms");
    for ((name, case), runs) in named.iter().zip(&runs) {
        let spread = |measure: &dyn Fn(&Outcome) -> f64| Spread::of(runs.iter().map(measure));
        let extra = spread(&Outcome::extra_percent);
        if case.fault == Fault::Stall {
            let over = Spread::of_optional(runs.iter().map(|run| run.stall_over_s));
            stall.add(vec![name.clone()], vec![over, extra]);
            continue;
        }
        let at = |quantile: f64| spread(&|run: &Outcome| quantile_of(&run.times_ms, quantile).unwrap_or(0.0));
        let (p99, p999) = (at(0.99), at(0.999));
        let percent = format!("{:.0}", 100.0 * case.slow_part);
        let key = [case.fault.name().to_owned(), case.slots.to_string(), percent, case.load.to_string(), name.clone()];
        table.add(key.to_vec(), vec![at(0.5), p99, p999, extra, spread(&Outcome::failed_percent)]);

        let is_short = matches!(case.against, Against::Nothing | Against::Steered);
        if case.fault == Fault::None && is_short && (case.slow_part - options.compared.1).abs() < 1e-9 {
            loads.add(&format!("{name}, {} slots", case.slots), 100.0 * case.load, p99);
        }
        let is_compared = case.fault == Fault::None
            && Some(&case.slots) == options.slots.first()
            && options.is_compared(case.load, case.slow_part);
        if is_compared && !matches!(case.against, Against::Cut(_)) {
            let line = if matches!(case.against, Against::Fixed(_)) { "fixed delays" } else { name };
            for (plot, value) in plots.iter_mut().zip([p99, p999]) {
                plot.add(line, extra.mid.unwrap_or(0.0), value);
            }
        }
    }
    let [p99, p999] = plots;
    Ok(SCENARIO.report(values, options.seeds, vec![table, stall], vec![p99, p999, loads]))
}
