//! How soon a fleet uses its limit, when it begins, after deaths, without its store, and after damage to what the store knows.

use crate::limit_world::{Counts, World};
use crate::millis::at;
use retry_core::time::Timestamp;
use retry_fleet::Member;
use retry_fleet::protocol::{LimitReply, Reply, Step};
use retry_limits::{GoodputEstimator, PacedRetryStrategy};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Returns the part of the limit that was used, and the requests that were rejected, in seconds of the limit.
fn used_and_rejected(counts: &Counts, seconds: Range<usize>, rate: f64) -> (f64, f64) {
    let limit = rate * f64::from(u32::try_from(seconds.len()).unwrap());
    let sums = counts.of_each(seconds);
    let (accepted, rejected) = sums.iter().fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    (f64::from(accepted) / limit, f64::from(rejected) / rate)
}

// Rules L37, L52, F38.
#[test]
fn a_fleet_that_begins_uses_the_limit_after_five_seconds_whatever_the_burst() {
    for (processes, rate) in [(20, 200.0), (20, 2_000.0), (5, 100.0), (50, 500.0)] {
        // A server that saves up five seconds accepts far more than its limit at first, and rejects more afterwards.
        for (burst, most) in [(0.1, 0.7), (1.0, 1.7), (5.0, 5.0)] {
            let counts = World::new(processes, rate).burst(burst).run(10);
            let ((_, rejected), (used, _)) =
                (used_and_rejected(&counts, 0..10, rate), used_and_rejected(&counts, 5..10, rate));
            let case = format!("{processes} on {rate}, burst of {burst} s: {used} used, {rejected} s rejected");
            assert!(used > 0.9 && rejected < most, "{case}");
        }
    }
}

// Rules F35, F37.
#[test]
fn requests_that_dead_processes_did_not_send_do_not_lower_the_estimate() {
    for burst in [0.1, 1.0] {
        for dead in [5, 10, 15, 18] {
            let has_crashed = |process, second| process < dead && second >= 30;
            let counts = World::new(20, 200.0).burst(burst).crash(has_crashed).run(60);
            for seconds in [35..40, 40..50, 50..60] {
                let (used, rejected) = used_and_rejected(&counts, seconds.clone(), 200.0);
                let case =
                    format!("{dead} died, burst of {burst} s: {used} used, {rejected} s rejected in {seconds:?}");
                assert!(used > 0.9 && rejected < 0.3, "{case}");
            }
        }
    }
}

// Rule F37.
#[test]
fn after_a_call_with_fewer_processes_the_measurement_begins_again() {
    let reply = |members, step| {
        let mut reply = Reply::new("epoch", members);
        let rate = Some((200.0, 200.0));
        reply.limit = Some(LimitReply { version: 50, cut: 1, rate, satisfied: 0, waiting: members, step });
        reply
    };
    let by_store = |millis| Timestamp::from_origin(Duration::from_millis(millis));
    for (left, is_begun_again) in [(20, false), (18, false), (17, true), (10, true)] {
        let mut member = Member::new("orders", "p1", at(0)).limit(Arc::new(PacedRetryStrategy::new()));
        member.call(at(0), false);
        member.answered(at(5), &reply(20, None));
        member.call(at(250), false);
        // Half of the limit was accepted for three seconds.
        let mut estimator = GoodputEstimator::for_all_at(200.0, by_store(0));
        estimator.accept(by_store(2_750), 275);
        let state = Some(estimator.to_string());
        let step = Step { version: 50, now: 3_000, elapsed: 250, accepted: 40, rejected: 0, state };
        member.answered(at(255), &reply(left, Some(step)));
        let posted = member.call(at(256), false).limit.unwrap().posted.unwrap();
        let mut estimator: GoodputEstimator = posted.state.parse().unwrap();
        estimator.accept(by_store(5_500), 500);
        estimator.reject(by_store(5_500));
        let estimate = estimator.estimate().unwrap();
        assert_eq!(estimate > 199.0, is_begun_again, "{left} of 20 are left: {estimate}");
    }
}

// Rules F10, F36.
#[test]
fn a_fleet_whose_store_dies_young_looks_for_the_limit_without_it() {
    for (died, burst) in [(2, 0.1), (3, 0.1), (4, 0.1), (6, 0.1), (3, 1.0), (4, 1.0)] {
        let counts = World::new(20, 400.0).burst(burst).cut_off(|_, second| second >= died).run(120);
        let (used, rejected) = used_and_rejected(&counts, 60..120, 400.0);
        println!("{died} s, {burst}: {used} used, {rejected} s rejected");
        assert!(used > 0.9 && rejected < 2.0, "after {died} s: {used} used, {rejected} s rejected");
    }
}

// Rules F10, F36, F51.
#[test]
fn a_fleet_of_small_shares_whose_store_answers_too_late_while_it_is_young_finds_the_limit() {
    for (processes, rate, burst) in [(50, 100.0, 0.1), (50, 100.0, 1.0), (20, 40.0, 1.0), (100, 200.0, 0.1)] {
        let counts = World::new(processes, rate).burst(burst).slow(8..1_000).run(63);
        let of = |seconds| used_and_rejected(&counts, seconds, rate);
        // An estimate that was right costs more rejections, because each process searches until its first one.
        let ((used, _), (_, rejected)) = (of(33..63), of(8..63));
        println!("{processes} on {rate}, {burst} s: {used} used, {rejected} s rejected");
        assert!(
            used > 0.9 && rejected < 3.0,
            "{processes} on {rate}, burst of {burst} s: {used} used, {rejected} s rejected"
        );
    }
}

// Rule F39.
#[test]
fn rates_that_another_program_writes_are_bounded_by_what_the_processes_know() {
    let reply = |rate, step| {
        let mut reply = Reply::new("epoch", 10);
        reply.limit =
            Some(LimitReply { version: 50, cut: 1, rate: Some((rate, rate)), satisfied: 0, waiting: 10, step });
        reply
    };
    let strategy = Arc::new(PacedRetryStrategy::new());
    let mut member = Member::new("orders", "p1", at(0)).limit(Arc::clone(&strategy));
    member.call(at(0), false);
    member.answered(at(5), &reply(200.0, None));
    assert_eq!(strategy.send_rate(), Some(20.0));
    member.call(at(250), false);
    let step =
        Step { version: 50, now: 255, elapsed: 250, accepted: 50, rejected: 0, state: Some("garbage".to_owned()) };
    member.answered(at(255), &reply(4e15, Some(step)));
    assert_eq!(strategy.send_rate(), Some(80.0));
    // The process that computes the next rate continues with the estimate that it knows.
    let posted = member.call(at(256), false).limit.unwrap().posted.unwrap();
    assert!((150.0..=200.0).contains(&posted.estimate) && posted.rate <= 200.0, "{posted:?}");
}
