//! The runs of all cases and seeds of a scenario.

use std::sync::{Mutex, PoisonError};

/// Runs independent jobs, in any order and on any threads.
pub trait Workers {
    /// Runs `job` with each number below `count`, and returns when all are done. `name` is for progress messages.
    fn run(&self, name: &str, count: usize, job: &(dyn Fn(usize) + Sync));
}

/// Runs jobs one after the other on the current thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneByOne;

impl Workers for OneByOne {
    fn run(&self, _name: &str, count: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(job);
    }
}

/// Runs each case with the seeds `0..seeds`, and returns the outcomes by case and seed. They don't depend on the
/// workers.
pub fn outcomes<C: Sync, O: Send>(
    name: &str,
    cases: &[C],
    seeds: u64,
    workers: &dyn Workers,
    run: impl Fn(&C, u64) -> O + Sync,
) -> Vec<Vec<O>> {
    let jobs: Vec<(usize, u64)> = (0..cases.len()).flat_map(|case| (0..seeds).map(move |seed| (case, seed))).collect();
    let done: Vec<Mutex<Option<O>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    workers.run(name, jobs.len(), &|job| {
        let (case, seed) = jobs[job];
        let outcome = run(&cases[case], seed);
        *done[job].lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    });
    let mut by_case: Vec<Vec<O>> = cases.iter().map(|_| Vec::new()).collect();
    for ((case, _), outcome) in jobs.into_iter().zip(done) {
        by_case[case].extend(outcome.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    by_case
}
