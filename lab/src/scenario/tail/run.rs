//! A run of the scenario.

use super::super::outage::index_of;
use super::super::{millis, seconds, share};
use super::{Against, Case, Fault, Options};
use crate::World;
use crate::call::{Call, Caller};
use crate::world::Random;
use retry_core::Hedge;
use retry_core::time::{Clock, Timer, Timestamp};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::time::Duration;

/// The outcome of a run, for the calls that begin after the warm-up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The times of the calls that succeeded, in milliseconds, in order.
    pub times_ms: Vec<f64>,
    /// The calls.
    pub calls: u64,
    /// The calls that failed.
    pub failed: u64,
    /// The requests of all calls.
    pub requests: u64,
    /// The time from the end of the stall until no more calls wait than before it, in seconds. `None` if there was no stall, or if
    /// it is never over.
    pub stall_over_s: Option<f64>,
}

impl Outcome {
    /// Returns the requests beyond one for each call, in percent.
    pub fn extra_percent(&self) -> f64 {
        100.0 * (share(self.requests, self.calls) - 1.0)
    }

    /// Returns the calls that failed, in percent.
    pub fn failed_percent(&self) -> f64 {
        100.0 * share(self.failed, self.calls)
    }
}

/// The servers.
struct Servers {
    /// When each slot of each server is free, in nanoseconds since the start.
    free: Vec<BinaryHeap<Reverse<u128>>>,
    choices: Random,
    times: Random,
    median_s: f64,
    sigma: f64,
    slow_part: f64,
    slow_factor: f64,
    /// How many times as long the first server takes.
    first_factor: f64,
    /// When the servers stall, in nanoseconds since the start.
    stall: Option<(u128, u128)>,
}

impl Servers {
    fn new(options: &Options, case: &Case, seed: u64) -> Self {
        let slots: BinaryHeap<_> = (0..case.slots.max(1)).map(|_| Reverse(0)).collect();
        let from = seconds(f64::from(options.warm_up_calls) / options.rate(case));
        let to = from + Duration::from_secs(options.stall_s.into());
        Self {
            free: vec![slots; options.servers.max(1) as usize],
            choices: Random::new(seed, "servers"),
            times: Random::new(seed, "times"),
            median_s: options.median_ms / 1e3,
            sigma: options.sigma,
            slow_part: case.slow_part,
            slow_factor: options.slow_factor,
            first_factor: if case.fault == Fault::SlowServer { options.slow_server_factor } else { 1.0 },
            stall: (case.fault == Fault::Stall).then_some((from.as_nanos(), to.as_nanos())),
        }
    }

    /// Returns when the response to a request that arrives now is there.
    fn respond(&mut self, now: Timestamp) -> Timestamp {
        let server = index_of(self.choices.uniform(), self.free.len());
        let is_slow = self.times.occurs(self.slow_part);
        let mut time = self.median_s * (self.sigma * self.times.standard_normal()).exp();
        if is_slow {
            time *= self.slow_factor;
        }
        if server == 0 {
            time *= self.first_factor;
        }
        let slots = &mut self.free[server];
        let free = slots.pop().map_or(0, |Reverse(free)| free);
        let mut start = free.max(now.saturating_since(Timestamp::START).as_nanos());
        if let Some((from, to)) = self.stall
            && (from..to).contains(&start)
        {
            start = to;
        }
        let end = start + seconds(time).as_nanos();
        slots.push(Reverse(end));
        Timestamp::START.saturating_add(Duration::from_nanos(u64::try_from(end).unwrap_or(u64::MAX)))
    }
}

/// What is counted while the scenario runs.
#[derive(Default)]
struct Counts {
    outcome: Outcome,
    /// The calls that have begun and not ended.
    running: u64,
    /// The calls that ran in the second before the stall, at most.
    usual: u64,
}

/// Runs a case.
pub fn run(options: &Options, case: &Case, seed: u64) -> Outcome {
    let world = World::new();
    let process = |number: u64| -> (Rc<dyn Caller>, Option<&'static Hedge>) {
        // Calls of one process share a hedge, as those of a program share a static.
        let hedge = match case.against {
            Against::Nothing | Against::Cut(_) => None,
            Against::Steered => Some(Hedge::p95()),
            Against::Fixed(delay) => Some(Hedge::after(millis(delay))),
        };
        (case.strategy.caller(seed ^ number << 32), hedge.map(|hedge| &*Box::leak(Box::new(hedge))))
    };
    let processes: Vec<_> = (0..u64::from(options.processes.max(1))).map(process).collect();
    let servers = Rc::new(RefCell::new(Servers::new(options, case, seed)));
    let counts = Rc::new(RefCell::new(Counts::default()));
    let rate = options.rate(case);
    let (warm_up, stall) = (f64::from(options.warm_up_calls) / rate, f64::from(options.stall_s));
    let end = warm_up + f64::from(options.calls) / rate;
    let limit = if let Against::Cut(limit) = case.against { Some(millis(limit)) } else { None };
    let is_stall = case.fault == Fault::Stall;

    let (source, counted) = (world.clone(), Rc::clone(&counts));
    world.spawn(async move {
        let (mut arrivals, mut clients) = (Random::new(seed, "arrivals"), Random::new(seed, "clients"));
        loop {
            source.sleep(arrivals.interval(rate)).await;
            let began = source.elapsed();
            let is_measured = (warm_up..end).contains(&began.as_secs_f64());
            if began.as_secs_f64() >= end {
                return;
            }
            let (caller, hedge) = &processes[index_of(clients.uniform(), processes.len())];
            let (caller, hedge) = (Rc::clone(caller), *hedge);
            let (servers, timer, requests) = (Rc::clone(&servers), source.clone(), Rc::clone(&counted));
            let attempt = move || {
                requests.borrow_mut().outcome.requests += u64::from(is_measured);
                let answered = timer.sleep_until(servers.borrow_mut().respond(timer.now()));
                async move {
                    answered.await;
                    Ok(())
                }
            };
            let call = Call { attempt_timeout: limit, hedge, ..Call::new(&source, attempt) };
            counted.borrow_mut().begin(began.as_secs_f64(), warm_up);
            let (world, counted) = (source.clone(), Rc::clone(&counted));
            source.spawn(async move {
                let result = caller.call(call).await;
                let mut counts = counted.borrow_mut();
                let now = world.elapsed();
                if is_measured {
                    counts.outcome.calls += 1;
                    match result {
                        Ok(()) => counts.outcome.times_ms.push(1e3 * now.saturating_sub(began).as_secs_f64()),
                        Err(_) => counts.outcome.failed += 1,
                    }
                }
                counts.end(now.as_secs_f64(), is_stall.then_some(warm_up + stall));
            });
        }
    });
    world.run();
    let mut outcome = std::mem::take(&mut counts.borrow_mut().outcome);
    outcome.times_ms.sort_by(f64::total_cmp);
    outcome
}

impl Counts {
    fn begin(&mut self, now: f64, stalls_at: f64) {
        self.running += 1;
        if now < stalls_at && now + 1.0 >= stalls_at {
            self.usual = self.usual.max(self.running);
        }
    }

    fn end(&mut self, now: f64, stall_ends: Option<f64>) {
        self.running -= 1;
        if let Some(ends) = stall_ends
            && now > ends
            && self.running <= self.usual
            && self.outcome.stall_over_s.is_none()
        {
            self.outcome.stall_over_s = Some(now - ends);
        }
    }
}
