//! Runs mutants against the tests that reach them.

use crate::suite::{Ended, Suite, WORKERS, command, run};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A run of tests that takes this long, and ten times as long as usual, has hung.
const HUNG: Duration = Duration::from_secs(10);

/// How many tests are run first. Each further time, there are four times as many.
const FIRST: usize = 4;

/// A mutant to be run.
#[derive(Debug, Clone)]
pub(crate) struct Due {
    pub(crate) number: u32,
    /// Mutants of the same function are often killed by the same test.
    pub(crate) function: String,
}

/// Runs the mutants, until all are done or the time is over. `done` learns of each one, with whether it was killed.
pub(crate) fn run_all(due: Vec<Due>, suite: &Suite, end: Option<Instant>, mut done: impl FnMut(&Due, bool)) {
    let due = Mutex::new(VecDeque::from(due));
    let killers = Mutex::new(BTreeMap::<String, Vec<usize>>::new());
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            let (sender, due, killers) = (sender.clone(), &due, &killers);
            scope.spawn(move || {
                while end.is_none_or(|end| Instant::now() < end) {
                    let Some(mutant) = due.lock().expect("no panic").pop_front() else { return };
                    let is_killed = is_killed(&mutant, suite, killers);
                    _ = sender.send((mutant, is_killed));
                }
            });
        }
        drop(sender);
        for (mutant, is_killed) in receiver {
            done(&mutant, is_killed);
        }
    });
}

fn is_killed(mutant: &Due, suite: &Suite, killers: &Mutex<BTreeMap<String, Vec<usize>>>) -> bool {
    let Some(reaching) = suite.reaching.get(&mutant.number) else { return false };
    let known = killers.lock().expect("no panic").get(&mutant.function).cloned().unwrap_or_default();
    let mut order: Vec<_> = known.into_iter().filter(|test| reaching.contains(test)).collect();
    order.truncate(FIRST);
    order.extend(reaching.iter().filter(|test| !order.contains(test)).copied().collect::<Vec<_>>());
    let mut order = &order[..];
    let mut size = FIRST;
    while !order.is_empty() {
        let tests;
        (tests, order) = order.split_at(size.min(order.len()));
        size *= 4;
        let mut by_binary = BTreeMap::<&str, Vec<usize>>::new();
        for test in tests {
            by_binary.entry(&suite.tests[*test].binary.name).or_default().push(*test);
        }
        for tests in by_binary.into_values() {
            match run_tests(mutant.number, &tests, suite) {
                Ended::Passed => continue,
                Ended::TimedOut => {}
                Ended::Failed(name) => {
                    let killer = tests.iter().find(|test| Some(&suite.tests[**test].name) == name.as_ref());
                    if let Some(killer) = killer {
                        let mut killers = killers.lock().expect("no panic");
                        let killers = killers.entry(mutant.function.clone()).or_default();
                        killers.retain(|known| known != killer);
                        killers.insert(0, *killer);
                    }
                }
            }
            return true;
        }
    }
    false
}

fn run_tests(number: u32, tests: &[usize], suite: &Suite) -> Ended {
    let mut command = command(&suite.tests[tests[0]].binary);
    // The first failure is enough, which libtest takes as an unstable option.
    command.env("RUSTC_BOOTSTRAP", "1").args(["-Zunstable-options", "--fail-fast", "--test-threads=1", "--exact"]);
    command.env("MUTANT", number.to_string()).args(tests.iter().map(|test| &suite.tests[*test].name));
    let usual: u64 = tests.iter().map(|test| suite.tests[*test].millis).sum();
    run(command, HUNG.max(Duration::from_millis(usual) * 10))
}
