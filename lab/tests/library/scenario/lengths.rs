use lab::report::Report;
use lab::scenario::Plan;
use lab::scenario::lengths::{Options, SCENARIO};
use lab::study::OneByOne;

fn report() -> Report {
    (SCENARIO.study)(&Plan { short: true, ..Plan::default() }, &OneByOne).unwrap()
}

fn mid(report: &Report, strategy: &str, length: &str, measure: &str) -> Option<f64> {
    report.table("lengths").unwrap().value(&[strategy, length], measure).unwrap().mid
}

#[test]
fn a_short_outage_is_bridged_by_backoff_and_a_longer_one_by_waiting() {
    let report = report();
    let bridged = |strategy, length| mid(&report, strategy, length, "bridged, %").unwrap();
    assert!(bridged("no retries", "3") < 1e-9);
    assert!(bridged("no quota", "3") > 95.0 && bridged("patient", "3") > 99.0);
    assert!(bridged("new()", "10") < 5.0 && bridged("no quota", "10") < 40.0 && bridged("patient", "10") > 99.0);
}

#[test]
fn backoff_alone_keeps_sending_more_than_the_server_can_serve() {
    let report = report();
    let after = |strategy| mid(&report, strategy, "10", "requests in the minute after, % of the capacity").unwrap();
    let without = 100.0 * Options::default().load;
    assert!((after("no retries") - without).abs() < 1e-9 && after("patient") < 1.3 * without);
    assert!(after("no quota") > 200.0 && mid(&report, "no quota", "10", "recovery, s").is_none());
    assert_eq!(mid(&report, "patient", "10", "recovery, s"), Some(0.0));
}
