use lab::scenario::faults::Outcome;
use std::time::Duration;

/// Returns the outcome of an operation in each second, which takes as long as a function says, if it succeeds.
fn outcome(seconds: u64, takes: impl Fn(u64) -> Option<u64>) -> Outcome {
    let mut outcome = Outcome::default();
    for second in 0..seconds {
        let began = Duration::from_secs(second);
        outcome.begin(began);
        if let Some(takes) = takes(second) {
            outcome.succeed(began, began + Duration::from_secs(takes));
        }
    }
    outcome
}

fn is(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
}

#[test]
fn a_backlog_that_succeeds_late_is_bridged_and_is_no_recovery() {
    // A fault from 10 to 20. What begins before 25 succeeds at 30.
    let outcome = outcome(60, |second| Some(if (10..25).contains(&second) { 30 - second } else { 0 }));
    is(outcome.bridged(10, 20), 100.0);
    is(outcome.success(10, 20), 0.0);
    assert_eq!(outcome.recovery(20, 60), Some(5.0));
    assert_eq!(outcome.recovery(20, 36), None, "the run is too short");
}

#[test]
fn what_is_lost_is_neither_bridged_nor_a_recovery() {
    let outcome = outcome(100, |second| (!(10..50).contains(&second)).then_some(0));
    is(outcome.bridged(10, 20), 0.0);
    is(outcome.bystanders(20), 50.0);
    assert_eq!(outcome.recovery(20, 100), Some(30.0));
}

#[test]
fn events_of_runs_add_up() {
    let mut both = outcome(100, |_| Some(0));
    both.add(&outcome(200, |second| (second % 2 == 0).then_some(0)));
    is(both.bridged(0, 100), 75.0);
    is(both.bridged(100, 200), 50.0);
}
