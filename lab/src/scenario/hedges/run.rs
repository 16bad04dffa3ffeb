//! A run of the scenario.

use super::super::outage::index_of;
use super::super::{millis, seconds, share};
use super::{Against, Case, Fault, Options, World};
use crate::World as Lab;
use crate::call::{Call, CallError, Caller};
use crate::report::quantile_of;
use crate::world::Random;
use retry_core::Hedge;
use retry_core::time::{Timer, Timestamp};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::time::Duration;

/// The outcome of a run, for the calls that are measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The times of the calls that succeeded, in milliseconds, in order.
    pub times_ms: Vec<f64>,
    /// The calls.
    pub calls: u64,
    /// The calls that failed.
    pub failed: u64,
    /// The calls with a hedge.
    pub hedged: u64,
    /// The hedges that answered first.
    pub won: u64,
}

impl Outcome {
    /// Returns a quantile of the times of the calls that succeeded.
    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        quantile_of(&self.times_ms, quantile).unwrap_or(0.0)
    }

    /// Returns the calls with a hedge, in percent.
    pub fn hedged_percent(&self) -> f64 {
        100.0 * share(self.hedged, self.calls)
    }

    /// Returns the hedges that answered first, in percent.
    pub fn won_percent(&self) -> f64 {
        100.0 * share(self.won, self.hedged)
    }

    /// Returns the calls that failed, in percent.
    pub fn failed_percent(&self) -> f64 {
        100.0 * share(self.failed, self.calls)
    }
}

/// The servers.
struct Servers {
    /// When each slot of each server is free, in seconds since the start.
    free: Vec<BinaryHeap<Reverse<Duration>>>,
    /// When the pauses of each server begin, as a part of the time between two.
    phases: Vec<f64>,
    choices: Random,
    times: Random,
    faults: Random,
    median_s: f64,
    sigma: f64,
    fault: Fault,
    /// When the calls begin that are measured, and when they are over.
    span: (Duration, Duration),
}

impl Servers {
    fn new(options: &Options, world: &World, span: (Duration, Duration), seed: u64) -> Self {
        let slots: BinaryHeap<_> = (0..world.slots.max(1)).map(|_| Reverse(Duration::ZERO)).collect();
        let mut phases = Random::new(seed, "phases");
        Self {
            free: vec![slots; world.servers.max(2) as usize],
            phases: (0..world.servers.max(2)).map(|_| phases.uniform()).collect(),
            choices: Random::new(seed, "servers"),
            times: Random::new(seed, "times"),
            faults: Random::new(seed, "faults"),
            median_s: options.median_ms / 1e3,
            sigma: options.sigma,
            fault: world.fault,
            span,
        }
    }

    /// Chooses a server, but not this one.
    fn choose(&mut self, but: Option<usize>) -> usize {
        let count = self.free.len();
        match but {
            None => index_of(self.choices.uniform(), count),
            Some(but) => (but + 1 + index_of(self.choices.uniform(), count - 1)) % count,
        }
    }

    /// Returns when the response of a server to a request that arrives now is there, or `None` if it never is.
    fn respond(&mut self, server: usize, now: Duration) -> Option<Duration> {
        let mut time = self.median_s * (self.sigma * self.times.standard_normal()).exp();
        match self.fault {
            Fault::Hang if server == 0 => return None,
            Fault::SomeSlow { share, factor } if self.faults.uniform() < share => time *= factor,
            Fault::SlowServer { factor } if server == 0 => time *= factor,
            Fault::Slower { factor } if (self.span.0..self.span.1).contains(&now) => time *= factor,
            _ => {}
        }
        let slots = &mut self.free[server];
        let free = slots.pop().map_or(Duration::ZERO, |Reverse(free)| free);
        let mut start = free.max(now);
        if let Fault::Pauses { pause_s, every_s } = self.fault {
            let since = (start.as_secs_f64() + self.phases[server] * every_s) % every_s;
            start += seconds((pause_s - since).max(0.0));
        }
        let end = start + seconds(time);
        slots.push(Reverse(end));
        Some(end)
    }
}

/// The attempts of a call.
#[derive(Default)]
struct Attempts {
    /// The attempts so far.
    made: Cell<u32>,
    /// The attempts that run.
    running: Cell<u32>,
    /// The server of the last one.
    server: Cell<Option<usize>>,
    /// The number of the hedge, if there is one.
    hedge: Cell<Option<u32>>,
    /// The attempt that succeeded.
    answered: Cell<u32>,
}

/// An attempt while it runs.
struct Running(Rc<Attempts>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.set(self.0.running.get() - 1);
    }
}

impl Attempts {
    /// Begins an attempt, and returns its number. One that begins while another runs is a hedge.
    fn begin(self: &Rc<Self>, server: usize) -> (u32, Running) {
        let number = self.made.get() + 1;
        self.made.set(number);
        if self.running.get() > 0 {
            self.hedge.set(Some(number));
        }
        self.running.set(self.running.get() + 1);
        self.server.set(Some(server));
        (number, Running(Rc::clone(self)))
    }
}

/// Runs a case.
pub fn run(options: &Options, case: &Case<'_>, seed: u64) -> Outcome {
    let Case { world, against, strategy } = case;
    let lab = Lab::new();
    let process = |number: u64| -> (Rc<dyn Caller>, Option<&'static Hedge>) {
        // Calls of one process share a hedge, as those of a program share a static.
        let hedge = match against {
            Against::Nothing => None,
            Against::Steered => Some(Hedge::p95()),
            Against::Fixed(delay) => Some(Hedge::after(millis(*delay))),
        };
        (strategy.caller(seed ^ number << 32), hedge.map(|hedge| &*Box::leak(Box::new(hedge))))
    };
    let processes: Vec<_> = (0..u64::from(world.processes.max(1))).map(process).collect();

    let usual = options.rate(world);
    let during = if let Fault::Overload { load } = world.fault { usual * load / world.load } else { usual };
    let warm_up = if world.is_cold { 0.0 } else { f64::from(options.warm_up_calls) / usual };
    // The first calls of a process are few, and all of them are needed.
    let part = if world.is_cold { 1.0 } else { options.part };
    let span = (seconds(warm_up), seconds(warm_up + part * f64::from(world.calls) / during));
    let limits = (seconds(world.attempt_timeout_s), seconds(options.max_time_s));
    // Calls arrive until the last one that is measured is over.
    let end = span.1 + limits.1;

    let servers = Rc::new(RefCell::new(Servers::new(options, world, span, seed)));
    let outcome = Rc::new(RefCell::new(Outcome::default()));
    let asks_another = matches!(against, Against::Fixed(_));
    let (source, counted) = (lab.clone(), Rc::clone(&outcome));
    lab.spawn(async move {
        let (mut arrivals, mut clients) = (Random::new(seed, "arrivals"), Random::new(seed, "clients"));
        loop {
            let is_during = (span.0..span.1).contains(&source.elapsed());
            source.sleep(arrivals.interval(if is_during { during } else { usual })).await;
            let began = source.elapsed();
            if began >= end {
                return;
            }
            let (caller, hedge) = &processes[index_of(clients.uniform(), processes.len())];
            let (caller, hedge) = (Rc::clone(caller), *hedge);
            let attempts = Rc::<Attempts>::default();
            let (servers, timer, noted) = (Rc::clone(&servers), source.clone(), Rc::clone(&attempts));
            let attempt = move || {
                let mut servers = servers.borrow_mut();
                let server = servers.choose(noted.server.get().filter(|_| asks_another));
                let (number, running) = noted.begin(server);
                let end = servers.respond(server, timer.elapsed());
                let (timer, noted) = (timer.clone(), Rc::clone(&noted));
                async move {
                    let _running = running;
                    match end {
                        Some(end) => timer.sleep_until(Timestamp::START.saturating_add(end)).await,
                        None => std::future::pending().await,
                    }
                    noted.answered.set(number);
                    Ok::<(), CallError>(())
                }
            };
            let call = Call {
                attempt_timeout: Some(limits.0),
                max_time: Some(limits.1),
                hedge,
                ..Call::new(&source, attempt)
            };
            let (lab, counted) = (source.clone(), Rc::clone(&counted));
            source.spawn(async move {
                let result = caller.call(call).await;
                if (span.0..span.1).contains(&began) {
                    let time = lab.elapsed().saturating_sub(began);
                    counted.borrow_mut().add(&attempts, result.is_ok().then_some(time));
                }
            });
        }
    });
    lab.run();
    let mut outcome = std::mem::take(&mut *outcome.borrow_mut());
    outcome.times_ms.sort_by(f64::total_cmp);
    outcome
}

impl Outcome {
    /// Adds a call with the time that it took, if it succeeded.
    fn add(&mut self, attempts: &Attempts, time: Option<Duration>) {
        self.calls += 1;
        if let Some(hedge) = attempts.hedge.get() {
            self.hedged += 1;
            self.won += u64::from(attempts.answered.get() == hedge);
        }
        match time {
            Some(time) => self.times_ms.push(1e3 * time.as_secs_f64()),
            None => self.failed += 1,
        }
    }
}
