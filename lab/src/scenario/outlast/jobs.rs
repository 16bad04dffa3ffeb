//! A run of jobs: processes that each make some calls.

use super::super::faults::caller_seed;
use super::super::{number, seconds, share};
use super::site::Site;
use super::world::{Jobs, World};
use crate::World as Time;
use crate::call::Caller;
use crate::strategies::Strategy;
use retry_core::time::{Timer, Timestamp};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// The time at which a run is cut off, if a strategy never gets done.
const LONGEST: Duration = Duration::from_secs(100_000);

/// What happened in the runs of a seed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// The calls.
    pub calls: u64,
    /// The calls that failed.
    pub lost: u64,
    /// The attempts of all calls.
    pub attempts: u64,
    /// The processes.
    pub processes: u64,
    /// The processes of which no call failed.
    pub whole: u64,
    /// The time of all processes together, from their first call that is measured to the end of their last one.
    pub time: Duration,
}

impl Tally {
    /// Returns the calls that failed, in percent.
    pub fn lost_percent(&self) -> f64 {
        100.0 * share(self.lost, self.calls)
    }

    /// Returns the processes of which no call failed, in percent.
    pub fn whole_percent(&self) -> f64 {
        100.0 * share(self.whole, self.processes)
    }

    /// Returns the mean time of a process in seconds.
    pub fn mean_s(&self) -> f64 {
        self.time.as_secs_f64() / number(self.processes).max(1.0)
    }
}

/// A process.
struct Process {
    time: Time,
    site: Rc<Site>,
    caller: Rc<dyn Caller>,
    jobs: Jobs,
    tally: Rc<RefCell<Tally>>,
    state: RefCell<State>,
}

/// How far a process is.
#[derive(Default)]
struct State {
    begun: u32,
    done: u32,
    lost: u64,
}

impl Process {
    /// Makes the calls that are not measured, and then lets the workers make the others.
    async fn work(self: Rc<Self>, begins: Duration) {
        self.time.sleep(begins).await;
        for _ in 0..self.jobs.before {
            let _ = self.caller.call(self.site.plain_call(|| ())).await;
            self.time.sleep(Duration::from_secs(1)).await;
        }
        self.time.sleep(seconds(self.jobs.idle_s)).await;
        let started = self.time.elapsed();
        for _ in 0..self.jobs.workers {
            self.time.spawn(Rc::clone(&self).make_calls(started));
        }
    }

    /// Makes calls one after the other, as long as there are some to make.
    async fn make_calls(self: Rc<Self>, started: Duration) {
        while self.state.borrow().begun < self.jobs.calls {
            self.state.borrow_mut().begun += 1;
            let tally = Rc::clone(&self.tally);
            let call = self.site.call(move || tally.borrow_mut().attempts += 1);
            let result = self.caller.call(call).await;
            self.time.sleep(seconds(self.jobs.pause_s)).await;
            let (mut state, mut tally) = (self.state.borrow_mut(), self.tally.borrow_mut());
            state.done += 1;
            state.lost += u64::from(result.is_err());
            tally.lost += u64::from(result.is_err());
            if state.done == self.jobs.calls {
                tally.whole += u64::from(state.lost == 0);
                tally.time += self.time.elapsed().saturating_sub(started);
            }
        }
    }
}

/// Runs the jobs of a world with a strategy in each process.
pub fn run(world: &World, jobs: Jobs, strategy: &Strategy, live_s: Option<f64>, seed: u64) -> Tally {
    let mut all = Tally::default();
    for number_of_run in 0..u64::from(world.runs.max(1)) {
        let seed = seed ^ number_of_run << 48;
        let time = Time::new();
        let site = Site::new(&time, world, live_s, seed);
        let tally = Rc::new(RefCell::new(Tally::default()));
        for process in 0..u64::from(jobs.processes) {
            let begins = seconds(jobs.over_s * number(process) / number(jobs.processes.into()));
            let caller = strategy.caller(caller_seed(seed, 0, process));
            let (site, tally) = (Rc::clone(&site), Rc::clone(&tally));
            let process = Process { time: time.clone(), site, caller, jobs, tally, state: RefCell::default() };
            time.spawn(Rc::new(process).work(begins));
        }
        time.run_until(Timestamp::START.saturating_add(LONGEST));
        all.add(*tally.borrow());
        all.processes += u64::from(jobs.processes);
        all.calls += u64::from(jobs.processes) * u64::from(jobs.calls);
    }
    all
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.lost += other.lost;
        self.attempts += other.attempts;
        self.processes += other.processes;
        self.whole += other.whole;
        self.time += other.time;
    }
}
