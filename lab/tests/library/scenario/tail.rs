use lab::scenario::number;
use lab::scenario::tail::{Against, Case, Fault, Options, run};
use lab::strategies::Strategy;

fn case(fault: Fault) -> Case {
    Case { strategy: Strategy::no_retries(), against: Against::Nothing, fault, slots: 4, load: 0.3, slow_part: 0.0 }
}

#[test]
fn times_are_lognormal_and_the_load_is_that_of_the_options() {
    let options = Options { calls: 20_000, ..Options::default() };
    let outcome = run(&options, &case(Fault::None), 1);
    assert!((number(outcome.calls) / 20_000.0 - 1.0).abs() < 0.02, "{}", outcome.calls);
    assert_eq!((outcome.calls, outcome.failed), (outcome.requests, 0));
    // The mean of the times is 11.3 ms, so 40 slots serve 3,530 in a second.
    assert!((options.rate(&case(Fault::None)) - 0.3 * 3_530.0).abs() < 1.0);
    let median = outcome.times_ms[outcome.times_ms.len() / 2];
    // At this load, next to no request waits for a slot.
    assert!((9.7..10.6).contains(&median), "{median}");
    let above = outcome.times_ms.iter().filter(|time| **time > 10.0 * 0.5_f64.exp()).count();
    // The part of a normal distribution above one deviation.
    assert!((number(above as u64) / number(outcome.calls) - 0.159).abs() < 0.02, "{above}");
}

#[test]
fn a_stall_is_over_once_the_backlog_is_served() {
    let outcome = run(&Options { calls: 20_000, ..Options::default() }, &case(Fault::Stall), 1);
    // 5 s of arrivals at a load of 0.3 are served with the rest of 0.7.
    let over = outcome.stall_over_s.unwrap();
    assert!((over - 5.0 * 0.3 / 0.7).abs() < 0.3, "{over}");
    assert_eq!(run(&Options::short(), &case(Fault::None), 1).stall_over_s, None);
}
