//! Probes: what is sent where there is no evidence.

use super::{Line, paying, waits, waits_with};
use crate::support::{ByHand, Failed, Wakes, millis, secs};
use retry_core::limit::Ready;
use retry_core::strategy::PatientRetryToken;
use retry_core::{Failure, PatientRetryStrategy, RetryStrategy, RetryToken};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

impl Line {
    /// Lets the operation be sent as the next probe, and returns how long that takes.
    fn probe(&self, token: &mut PatientRetryToken) -> Duration {
        let wait = self.wait(token);
        self.clock.advance(wait);
        assert_eq!(self.ask(token), Ready::Now, "after {wait:?}");
        wait
    }
}

fn failed() -> Failure {
    Failure::of(&Failed::SAFE)
}

/// A line in which operations may wait for an hour.
fn patient() -> Line {
    Line::of(waits().max_wait_for_service(secs(3_600)))
}

/// Asserts that a wait has jitter: that it is half of this time at least.
fn assert_jittered(wait: Duration, most: Duration, what: &str) {
    assert!((most / 2..=most).contains(&wait), "{what}: {wait:?} of {most:?}");
}

// Rule U11.
#[test]
fn the_first_probe_follows_a_second_after_the_latest_send() {
    let line = patient();
    let mut token = line.joins();
    assert_eq!(line.wait(&mut token), secs(1));
    line.clock.advance(millis(100));
    line.begin();
    assert_eq!(line.wait(&mut token), secs(1));
    line.clock.advance(millis(999));
    assert_eq!(line.wait(&mut token), millis(1));
    line.clock.advance(millis(1));
    assert_eq!(line.ask(&mut token), Ready::Now);
}

// Rule U11.
#[test]
fn probes_follow_after_1_2_4_8_and_16_seconds_with_jitter() {
    let mut parts = Vec::new();
    for _ in 0..20 {
        let line = patient();
        let mut token = line.joins();
        assert_eq!(line.probe(&mut token), secs(1));
        for most in [2, 4, 8, 16, 16, 16].map(secs) {
            token = line.fails(token, &failed());
            let wait = line.probe(&mut token);
            assert_jittered(wait, most, "a probe");
            parts.push(wait.as_secs_f64() / most.as_secs_f64());
        }
    }
    let (least, most) =
        parts.iter().fold((1.0_f64, 0.0_f64), |(least, most), part| (least.min(*part), most.max(*part)));
    assert!(least < 0.6 && most > 0.9, "from {least} to {most}");
}

// Rule U11.
#[test]
fn after_a_success_the_next_probe_follows_after_a_second_again() {
    let line = patient();
    let [mut first, mut second] = [(); 2].map(|()| line.joins());
    for _ in 0..4 {
        line.probe(&mut first);
        first = line.fails(first, &failed());
        line.probe(&mut second);
        second = line.fails(second, &failed());
    }
    line.probe(&mut first);
    let wakes = Arc::new(Wakes::default());
    assert!(matches!(line.ask_with(&mut second, &wakes), Ready::After(wait) if wait > secs(3)));
    // It is slow, so it sends nobody. But the next probe is told that it is due earlier.
    line.succeed(first, 400);
    assert_eq!(wakes.count(), 1);
    assert_jittered(line.wait(&mut second) + millis(400), secs(1), "after the send");
}

// Rules U7, U11.
#[test]
fn one_operation_at_a_time_is_a_probe_and_one_that_fails_goes_to_the_end() {
    let line = patient();
    let [mut first, mut second, mut third] = [(); 3].map(|()| line.joins());
    line.clock.advance(secs(1));
    assert_eq!(line.sent([&mut second, &mut third]), [false, false], "it is the turn of the first one");
    assert_eq!(line.sent([&mut first, &mut second, &mut third]), [true, false, false]);
    // While the probe has no answer, too.
    line.clock.advance(millis(900));
    assert_eq!(line.sent([&mut second, &mut third]), [false, false]);
    let mut first = line.fails(first, &failed());
    line.clock.advance(secs(60));
    assert_eq!(line.sent([&mut first, &mut third, &mut second]), [false, false, true]);
    let mut second = line.fails(second, &failed());
    line.clock.advance(secs(60));
    assert_eq!(line.sent([&mut second, &mut first, &mut third]), [false, false, true]);
    line.clock.advance(secs(60));
    assert_eq!(line.sent([&mut second, &mut first]), [false, true]);
}

// Rules U11, U18.
#[test]
fn the_next_probe_is_woken_when_the_one_before_it_is_sent_or_leaves() {
    let line = patient();
    let wakes = [(); 4].map(|()| Arc::new(Wakes::default()));
    let mut tokens = wakes.each_ref().map(|wakes| {
        let mut token = line.joins();
        line.ask_with(&mut token, wakes);
        token
    });
    let counts = || [0, 1, 2, 3].map(|number: usize| wakes[number].count());
    let [first, second, ..] = &mut tokens;
    assert_eq!(line.wait(second), secs(3_600), "it sleeps until it is woken");
    line.ask_with(second, &wakes[1]);
    line.probe(first);
    assert_eq!(counts(), [0, 1, 0, 0]);
    assert!(line.wait(second) < secs(3));
    let [_, second, mut third, fourth] = tokens;
    line.strategy.release(second);
    assert_eq!(counts(), [0, 1, 1, 0]);
    line.ask_with(&mut third, &wakes[2]);
    line.strategy.release(fourth);
    assert_eq!(counts(), [0, 1, 1, 0], "the third one is the next probe already");
    line.strategy.release(third);
    assert_eq!(counts(), [0, 1, 1, 0], "nobody is left");
}

// Rule U17.
#[test]
fn nothing_is_kept_of_operations_that_wait_no_longer() {
    let line = patient();
    let [first, mut second, mut third] = [(); 3].map(|()| line.joins());
    line.strategy.release(first);
    line.answers(100);
    assert_eq!(line.sent([&mut second]), [true]);
    line.probe(&mut third);
    let state = format!("{:?}", line.strategy);
    assert!(state.contains("queue: [], probers: []"), "{state}");
}

// Rule U14.
#[test]
fn the_last_attempt_of_an_operation_is_never_a_probe() {
    let line = Line::of(waits_with(3).max_wait_for_service(secs(3_600)));
    let mut last = line.joins();
    line.probe(&mut last);
    let mut last = line.fails(last, &failed());
    assert_eq!(last.attempt(), 3);
    line.clock.advance(secs(1_000));
    assert_eq!(line.wait(&mut last), secs(3_600 - 1_000 - 1));
    // One behind it is a probe.
    let mut other = line.joins();
    line.probe(&mut other);
    assert_eq!(line.sent([&mut last]), [false]);
    // Evidence sends it.
    line.succeed(other, 100);
    line.answers(100);
    assert_eq!(line.sent([&mut last]), [true]);
    let end = line.strategy.refresh_retry_token(last, &failed(), &line.clock);
    assert_eq!(end.unwrap_err(), retry_core::RetryError::MaxAttempts);
}

// Rules U4, U14.
#[test]
fn an_operation_with_unlimited_attempts_has_no_last_one_and_waits_without_end() {
    let line = Line::of(waits_with(2));
    let unlimited = failed().with_attempt_bound(false);
    let mut token = line.joins_after(&unlimited);
    for attempt in 2..400 {
        assert_eq!(token.attempt(), attempt);
        line.probe(&mut token);
        token = line.fails(token, &unlimited);
    }
    line.clock.advance(secs(1_000_000));
    assert_eq!(line.ask(&mut token), Ready::Now);
    assert!(token.waited() > secs(1_000_000));
    line.fails(token, &unlimited);
}

/// Returns the line of a process whose first attempts go on, at this distance, while an operation waits.
fn with_calls_beside_each_other(gap: Duration) -> Line {
    let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
    let waiting = line.joins();
    line.clock.advance(gap);
    line.answers(0);
    line.strategy.release(waiting);
    line.clock.advance(gap);
    line
}

/// Returns the wait of the first probe of a process whose first attempts begin at this distance, in milliseconds.
fn wait_with_gaps(gap: u64) -> Duration {
    wait_of(&with_calls_beside_each_other(millis(gap)), gap)
}

/// The same for a process that makes one call after the other.
fn wait_with_pauses(gap: u64) -> Duration {
    wait_of(&Line::cold(waits().max_wait_for_service(secs(3_600))), gap)
}

fn wait_of(line: &Line, gap: u64) -> Duration {
    for _ in 0..4 {
        line.answers(0);
        line.clock.advance(millis(gap));
    }
    let mut token = line.joins();
    line.wait(&mut token)
}

// Rule U11.
#[test]
fn what_is_sent_from_the_line_counts_as_a_send_once_it_asks() {
    let line = patient();
    let [mut first, mut second] = [(); 2].map(|()| line.joins());
    line.answers(100);
    line.clock.advance(millis(700));
    assert_eq!(line.sent([&mut first]), [true]);
    assert_eq!(line.wait(&mut second), secs(1));
}

// Rule U11.
#[test]
fn a_retry_that_the_quota_pays_for_counts_as_a_send() {
    let line = Line::of(paying());
    let [first, second] = [(); 2].map(|()| line.begin());
    let timed_out = Failure::of(&Failed::TIMEOUT);
    let mut paid = line.strategy.refresh_retry_token(first, &timed_out, &line.clock).unwrap();
    let mut waiting = line.fails(second, &failed());
    line.clock.advance(millis(700));
    assert_eq!(line.ask(&mut paid), Ready::Now);
    assert_eq!(line.wait(&mut waiting), secs(1));
}

// Rule U11.
#[test]
fn an_operation_that_joins_is_no_send() {
    let line = patient();
    let [first, second] = [(); 2].map(|()| line.begin());
    let mut first = line.fails(first, &failed());
    line.clock.advance(millis(900));
    let _second = line.fails(second, &failed());
    assert_eq!(line.wait(&mut first), millis(100));
}

// Rule U11.
#[test]
fn the_first_probe_follows_a_second_after_the_origin_of_the_clock() {
    let line = Line { strategy: waits(), clock: ByHand::at(Duration::ZERO) };
    let mut token = line.joins();
    assert_eq!(line.wait(&mut token), secs(1));
}

// Rule U12.
#[test]
fn a_time_in_which_nothing_was_measured_is_no_gap() {
    let line = patient();
    (0..15).for_each(|_| line.answers(100));
    line.clock.advance(secs(100));
    let mut token = line.joins();
    line.answers(201);
    assert_eq!(line.wait(&mut token), millis(1_000 - 201));
}

// Rule U12.
#[test]
fn no_probe_is_sent_before_eight_times_the_usual_gap_between_first_attempts() {
    for (gap, wait) in [(0, 1_000), (125, 1_000), (126, 1_008), (1_000, 8_000), (3_500, 28_000), (3_800, 30_000)] {
        assert_eq!(wait_with_gaps(gap), millis(wait), "{gap} ms");
    }
}

// Rule U12.
#[test]
fn after_a_probe_that_failed_the_longer_of_both_waits_counts() {
    let line = with_calls_beside_each_other(millis(375));
    for _ in 0..3 {
        line.answers(0);
        line.clock.advance(millis(375));
    }
    let mut token = line.joins();
    assert_eq!(line.probe(&mut token), secs(3));
    for most in [3, 4, 8, 16].map(secs) {
        token = line.fails(token, &failed());
        assert_jittered(line.probe(&mut token), most, "the next one");
    }
}

// Rule U12.
#[test]
fn a_rare_caller_whose_service_answered_in_the_last_four_gaps_probes_three_times_soon() {
    assert_eq!(wait_with_gaps(30_000), secs(1));
    assert_eq!(wait_with_gaps(29_999), secs(30));
    let after_a_gap = |gap: u64| {
        let line = with_calls_beside_each_other(secs(30));
        for _ in 0..8 {
            line.answers(0);
            line.clock.advance(secs(30));
        }
        line.answers(0);
        line.clock.advance(secs(gap));
        line
    };
    // The mean gap is an eighth of 7 x 30 s and this one. Four of them are 215, 210 and 200 s.
    for gap in [220, 210] {
        let line = after_a_gap(gap);
        assert_eq!(line.wait(&mut line.joins()), secs(30), "{gap} s");
    }
    let line = after_a_gap(190);
    let mut token = line.joins();
    assert_eq!(line.probe(&mut token), secs(1));
    for most in [2, 4].map(secs) {
        token = line.fails(token, &failed());
        assert_jittered(line.probe(&mut token), most, "one of the first three");
    }
    let mut token = line.fails(token, &failed());
    assert_jittered(line.probe(&mut token), secs(30), "the next one");
}

// Rule U22.
#[test]
fn a_process_that_makes_one_call_after_the_other_probes_after_one_gap_or_four_seconds() {
    for (gap, wait) in [(0, 1_000), (1_000, 1_000), (2_500, 2_500), (4_000, 4_000), (29_000, 4_000), (30_000, 1_000)] {
        assert_eq!(wait_with_pauses(gap), millis(wait), "{gap} ms");
    }
    let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
    for _ in 0..4 {
        line.answers(0);
        line.clock.advance(secs(10));
    }
    let mut token = line.joins();
    assert_eq!(line.probe(&mut token), secs(4));
    for most in [4, 4, 8, 16].map(secs) {
        token = line.fails(token, &failed());
        assert_jittered(line.probe(&mut token), most, "one after the other");
    }
    // It may mean that the service has too much to do.
    token = line.fails(token, &Failure::of(&Failed::TIMEOUT));
    assert_jittered(line.wait(&mut token), secs(30), "after a timeout");
}

// Rule U22.
#[test]
fn after_a_timeout_a_process_that_makes_one_call_after_the_other_probes_after_four_gaps() {
    for (gap, wait) in [(100, 1_000), (1_000, 4_000), (2_500, 10_000), (20_000, 30_000)] {
        let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
        for _ in 0..4 {
            line.answers(0);
            line.clock.advance(millis(gap));
        }
        assert_eq!(line.wait(&mut line.joins_after(&timed_out())), millis(wait), "{gap} ms");
    }
}

// Rule U22.
#[test]
fn a_first_attempt_beside_a_wait_shows_otherwise_until_the_outage_is_over() {
    // The first attempt of the operation that waits is the last one.
    for (calls, wait) in [(14, 16), (15, 2)] {
        let line = with_calls_beside_each_other(secs(2));
        for _ in 0..calls {
            line.answers(0);
            line.clock.advance(secs(2));
        }
        assert_eq!(line.wait(&mut line.joins()), secs(wait), "after {calls}");
    }
}

/// A timeout of an attempt that could take 100 ms.
fn timed_out() -> Failure {
    Failure::of(&Failed::TIMEOUT).with_attempt_timeout(Some(millis(100)))
}

// Rule U27.
#[test]
fn what_the_first_call_of_a_process_waits_for_its_probe_is_no_gap_between_calls() {
    let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
    let mut token = line.joins_after(&timed_out());
    assert_eq!(line.probe(&mut token), secs(5));
    line.succeed(token, 0);
    // One call after the other. Otherwise, it is eight times five seconds.
    assert_jittered(line.wait(&mut line.joins_after(&timed_out())), secs(1), "after a timeout");
}

// Rules U13, U25.
#[test]
fn a_process_without_any_success_that_sees_timeouts_probes_once_after_five_seconds_and_then_rarely() {
    for calls in 1..=4 {
        let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
        let mut tokens: VecDeque<_> = (0..calls).map(|_| line.joins_after(&timed_out())).collect();
        let mut first = tokens.pop_front().unwrap();
        assert_eq!(line.probe(&mut first), secs(5), "of {calls}");
        tokens.push_back(line.fails(first, &timed_out()));
        for _ in 0..5 {
            let mut next = tokens.pop_front().unwrap();
            assert_jittered(line.probe(&mut next), secs(30), "a later probe");
            tokens.push_back(line.fails(next, &timed_out()));
        }
        let mut next = tokens.pop_front().unwrap();
        line.probe(&mut next);
        line.succeed(next, 20);
        let mut next = tokens.pop_front().unwrap_or_else(|| line.joins());
        assert_jittered(line.wait(&mut next) + millis(if calls == 1 { 0 } else { 20 }), secs(1), "after the success");
    }
}

// Rule U25.
#[test]
fn the_first_probe_of_a_new_process_follows_after_a_third_of_its_time() {
    // Without a limit, an operation waits for 15 s.
    for (left, wait) in [(None, 5), (Some(60), 5), (Some(9), 3), (Some(6), 2), (Some(2), 1)] {
        let line = Line::cold(waits());
        let mut first = line.joins_after(&timed_out().with_remaining(left.map(secs)));
        // An operation behind it has less time.
        let _second = line.joins_after(&timed_out().with_remaining(Some(secs(1))));
        assert_eq!(line.probe(&mut first), secs(wait), "of {left:?}");
    }
    let line = Line::cold(waits());
    let mut first = line.joins_after(&timed_out().with_attempt_bound(false));
    assert_eq!(line.wait(&mut first), secs(5), "without an end");
}

// Rules U11, U13.
#[test]
fn a_process_without_any_success_probes_rarely_only_while_the_latest_failure_is_a_timeout() {
    let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
    let mut token = line.joins_after(&timed_out());
    assert_eq!(line.probe(&mut token), secs(5));
    // It answers, so it has not too much to do.
    for most in [2, 4, 8].map(secs) {
        token = line.fails(token, &failed());
        assert_jittered(line.probe(&mut token), most, "after a failure");
    }
    for failure in [timed_out(), timed_out()] {
        token = line.fails(token, &failure);
        assert_jittered(line.probe(&mut token), secs(30), "after a timeout");
    }
}

// Rules U13, U25.
#[test]
fn probes_before_the_first_timeout_do_not_count_as_the_first_one_after_it() {
    let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
    let mut token = line.joins();
    assert_eq!(line.probe(&mut token), secs(1));
    for most in [5, 30].map(secs) {
        token = line.fails(token, &timed_out());
        assert_jittered(line.probe(&mut token), most, "after a timeout");
    }
}

// Rule U13.
#[test]
fn a_success_just_before_the_timeout_does_not_end_the_rare_probes_of_a_new_process() {
    // A service may report timeouts faster than it succeeds.
    for (latency, most) in [(75, 1), (76, 30), (100, 30), (101, 1)] {
        let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
        let [mut first, mut second] = [(); 2].map(|()| line.joins_after(&timed_out()));
        line.probe(&mut first);
        line.succeed(first, latency);
        assert_jittered(line.wait(&mut second) + millis(latency), secs(most), "the next probe");
    }
}

// Rule U13.
#[test]
fn a_success_is_judged_by_a_timeout_that_is_known_later() {
    for (latency, most) in [(75, 2), (76, 30)] {
        let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
        let [first, sent] = [(); 2].map(|()| line.begin());
        line.succeed(first, latency);
        let mut second = line.fails(sent, &timed_out());
        let mut third = line.joins_after(&timed_out());
        line.probe(&mut second);
        let _second = line.fails(second, &timed_out());
        assert_jittered(line.probe(&mut third), secs(most), "the second probe");
    }
}

// Rule U13.
#[test]
fn a_success_while_nobody_waits_ends_the_rare_probes_of_a_new_process() {
    let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
    // With little time, it probes after a second, so that the mean gap is short.
    let mut first = line.joins_after(&timed_out().with_remaining(Some(secs(3))));
    line.probe(&mut first);
    line.succeed(first, 80);
    // The line is empty.
    line.succeed(line.begin(), 80);
    let mut second = line.joins_after(&timed_out());
    line.probe(&mut second);
    let mut second = line.fails(second, &timed_out());
    assert!(line.probe(&mut second) < secs(5), "it has seen a service that is slow, and not overloaded");
}

// Rules U13, U18.
#[test]
fn a_failure_that_ends_the_rare_probes_wakes_the_next_probe() {
    for (failure, is_woken) in [(failed(), true), (timed_out(), false)] {
        let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
        let [mut first, mut second] = [(); 2].map(|()| line.joins_after(&timed_out()));
        line.probe(&mut first);
        let wakes = Arc::new(Wakes::default());
        assert!(matches!(line.ask_with(&mut second, &wakes), Ready::After(wait) if wait > secs(10)));
        line.fails(first, &failure);
        assert_eq!(wakes.count() > 0, is_woken, "{failure:?}");
        assert_jittered(line.wait(&mut second), secs(if is_woken { 2 } else { 30 }), "the next probe");
    }
}

// Rules U13, U18.
#[test]
fn a_success_that_ends_the_rare_probes_wakes_the_next_probe() {
    let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
    let [mut first, mut second, mut third, mut fourth] = [(); 4].map(|()| line.joins_after(&timed_out()));
    line.probe(&mut first);
    line.succeed(first, 80);
    line.probe(&mut second);
    // While first attempts are sent, a success gives half a credit only.
    line.begin();
    line.succeed(second, 80);
    assert_eq!(line.sent([&mut third]), [true], "two halves of a credit");
    // So many at once that eight times their mean gap is less than a second.
    for _ in 0..40 {
        line.begin();
    }
    let wakes = Arc::new(Wakes::default());
    assert!(matches!(line.ask_with(&mut fourth, &wakes), Ready::After(wait) if wait > secs(10)));
    line.succeed(third, 20);
    assert_eq!(wakes.count(), 1);
    assert_jittered(line.wait(&mut fourth) + millis(20), secs(1), "the next probe");
}

// Rules U11, U13.
#[test]
fn a_process_without_any_success_whose_requests_fail_at_once_probes_as_often_as_others() {
    let line = Line::cold(waits().max_wait_for_service(secs(3_600)));
    let mut token = line.joins();
    assert_eq!(line.probe(&mut token), secs(1));
    for most in [2, 4, 8].map(secs) {
        token = line.fails(token, &failed());
        assert_jittered(line.probe(&mut token), most, "a probe");
    }
}

// Rules B10, U11.
#[test]
fn a_seed_makes_the_times_of_probes_the_same() {
    let waits = |seed| {
        let strategy = PatientRetryStrategy::new().seed(seed).max_attempts(9).max_wait_for_service(secs(3_600));
        let clock = ByHand::at(secs(1_000));
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        // The quota of a new process pays for no retry of a timeout.
        let waits = (0..6).map(|_| {
            let failed = token.attempt();
            let refreshed = std::mem::replace(&mut token, strategy.acquire_initial_token(&clock).unwrap());
            token = strategy.refresh_retry_token(refreshed, &Failure::of(&Failed::TIMEOUT), &clock).unwrap();
            assert_eq!(token.attempt(), failed + 1);
            let Ready::After(wait) = strategy.ready(&mut token, &clock, None) else { panic!("it does not wait") };
            clock.advance(wait);
            assert_eq!(strategy.ready(&mut token, &clock, None), Ready::Now);
            wait
        });
        waits.collect::<Vec<_>>()
    };
    assert_eq!(waits(3), waits(3));
    assert_ne!(waits(3), waits(4));
}

// Rule U26.
#[test]
fn without_cold_probes_a_process_without_any_success_probes_rarely() {
    for failure in [failed(), timed_out()] {
        let line = Line::cold(waits().max_wait_for_service(secs(3_600)).cold_probe(false));
        let mut token = line.joins_after(&failure);
        assert_eq!(line.probe(&mut token), secs(30));
        for _ in 0..3 {
            token = line.fails(token, &failure);
            assert_jittered(line.probe(&mut token), secs(30), "a later probe");
        }
        line.succeed(token, 20);
        assert_jittered(line.wait(&mut line.joins()), secs(1), "after the success");
    }
    let line = Line::of(waits().cold_probe(false));
    assert_eq!(line.probe(&mut line.joins()), secs(1), "the service has answered");
}

// Rule U16.
#[test]
fn an_operation_without_time_for_an_answer_is_passed_over() {
    // The least latency is 100 ms.
    let left = |time| failed().with_remaining(Some(millis(time)));
    for (time, is_sent) in [(1_100, false), (1_101, true)] {
        let line = patient();
        let (mut short, mut long) = (line.joins_after(&left(time)), line.joins());
        line.clock.advance(secs(1));
        assert_eq!(line.sent([&mut short]), [is_sent], "{time} ms");
        assert_eq!(line.sent([&mut long]), [!is_sent], "{time} ms");
    }
    // The longest latency that is fast is 200 ms.
    for (time, is_sent) in [(500, false), (501, true)] {
        let line = patient();
        let (mut short, mut long) = (line.joins_after(&left(time)), line.joins());
        line.answers(100);
        assert_eq!(line.sent([&mut short, &mut long]), [is_sent, !is_sent], "{time} ms");
    }
}
