//! Runs mutants against the tests that reach them.

use crate::suite::{Ended, Suite, WORKERS, command, run};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A run of tests that takes this long, and ten times as long as usual, has hung.
const HUNG: Duration = Duration::from_secs(10);

/// A test that takes longer without a mutant has only this time with one, and has passed if it is not over. Most of these tests try
/// many cases, and fail early if they fail.
const LONG: Duration = Duration::from_secs(4);

/// How many tests are run before the other mutants have their turn.
const SPECIFIC: usize = 84;

/// How many tests are run first. Each further time, there are four times as many.
const FIRST: usize = 4;

/// A mutant to be run.
#[derive(Debug, Clone)]
pub(crate) struct Due {
    pub(crate) number: u32,
    /// Mutants of the same function are often killed by the same test.
    pub(crate) function: String,
}

/// What has come of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Killed,
    /// It survived the tests that are most specific. The others come after all other mutants.
    SurvivedSome,
    Survived,
}

/// Runs the mutants, until all are done or the time is over. `done` learns of each outcome.
pub(crate) fn run_all(due: Vec<Due>, suite: &Suite, end: Option<Instant>, mut done: impl FnMut(&Due, Outcome)) {
    let due = Mutex::new(due.into_iter().map(|due| (due, false)).collect::<VecDeque<_>>());
    let killers = Mutex::new(BTreeMap::<String, Vec<usize>>::new());
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            let (sender, due, killers) = (sender.clone(), &due, &killers);
            scope.spawn(move || {
                while end.is_none_or(|end| Instant::now() < end) {
                    let Some((mutant, survived_some)) = due.lock().expect("no panic").pop_front() else { return };
                    let order = order(&mutant, suite, killers);
                    let (specific, others) = order.split_at(SPECIFIC.min(order.len()));
                    let outcome = if is_killed(&mutant, if survived_some { others } else { specific }, suite, killers) {
                        Outcome::Killed
                    } else if survived_some || others.is_empty() {
                        Outcome::Survived
                    } else {
                        due.lock().expect("no panic").push_back((mutant.clone(), true));
                        Outcome::SurvivedSome
                    };
                    _ = sender.send((mutant, outcome));
                }
            });
        }
        drop(sender);
        for (mutant, outcome) in receiver {
            done(&mutant, outcome);
        }
    });
}

/// Returns the tests that reach a mutant: those that killed others of the same function, then the most specific ones. The order is the
/// same later, apart from the first ones.
fn order(mutant: &Due, suite: &Suite, killers: &Mutex<BTreeMap<String, Vec<usize>>>) -> Vec<usize> {
    let Some(reaching) = suite.reaching.get(&mutant.number) else { return Vec::new() };
    let known = killers.lock().expect("no panic").get(&mutant.function).cloned().unwrap_or_default();
    let (before, after) = reaching.split_at(SPECIFIC.min(reaching.len()));
    let mut order: Vec<_> = known.into_iter().filter(|test| before.contains(test)).collect();
    order.extend(before.iter().filter(|test| !order.contains(test)).copied().collect::<Vec<_>>());
    order.extend(after);
    order
}

fn is_killed(mutant: &Due, order: &[usize], suite: &Suite, killers: &Mutex<BTreeMap<String, Vec<usize>>>) -> bool {
    let mut order = order;
    let mut size = FIRST;
    while !order.is_empty() {
        let tests;
        (tests, order) = order.split_at(size.min(order.len()));
        size *= 4;
        let mut by_binary = BTreeMap::<&str, Vec<usize>>::new();
        for test in tests {
            by_binary.entry(&suite.tests[*test].binary.name).or_default().push(*test);
        }
        let is_long = |test: &usize| Duration::from_millis(suite.tests[*test].millis) > LONG;
        let runs = by_binary.into_values().flat_map(|tests| {
            let (long, short): (Vec<_>, Vec<_>) = tests.into_iter().partition(is_long);
            let long = long.into_iter().map(|test| vec![test]);
            [short].into_iter().filter(|short| !short.is_empty()).chain(long).collect::<Vec<_>>()
        });
        for tests in runs {
            match run_tests(mutant.number, &tests, suite) {
                Ended::Passed => continue,
                Ended::TimedOut if is_long(&tests[0]) => continue,
                Ended::TimedOut => {}
                Ended::NotRun => panic!("{} can't be run", suite.tests[tests[0]].binary.program.display()),
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
    let usual = Duration::from_millis(usual);
    run(command, if usual > LONG && tests.len() == 1 { LONG } else { HUNG.max(usual * 10) })
}
