//! Fast successes send the operations that wait, in order.

use super::{Line, paying, waits, waits_with};
use crate::support::{Failed, Wakes, millis, secs};
use retry_core::limit::Ready;
use retry_core::strategy::DelaySource;
use retry_core::{Failure, RetryStrategy, RetryToken};
use std::sync::Arc;
use std::time::Duration;

// Rules U1, U7, U8.
#[test]
fn two_fast_successes_send_the_operation_that_has_waited_longest() {
    let line = Line::cold(waits());
    let [mut first, mut second, mut third] = [(); 3].map(|()| line.joins());
    let sends = |expected: [bool; 3], tokens: [&mut _; 3]| {
        line.answers(100);
        assert_eq!(line.sent(tokens), expected);
    };
    sends([false, false, false], [&mut first, &mut second, &mut third]);
    sends([true, false, false], [&mut first, &mut second, &mut third]);
    sends([true, false, false], [&mut first, &mut second, &mut third]);
    sends([true, true, false], [&mut first, &mut second, &mut third]);
    sends([true, true, false], [&mut first, &mut second, &mut third]);
    sends([true, true, true], [&mut first, &mut second, &mut third]);
    assert_eq!(line.waiting(), Some(0));
}

// Rule U8.
#[test]
fn what_is_sent_from_the_line_is_evidence_too() {
    let line = Line::new();
    let [mut first, mut second, mut third] = [(); 3].map(|()| line.joins());
    line.answers(100);
    assert_eq!(line.sent([&mut first, &mut second]), [true, false], "a half credit was kept");
    line.answers(100);
    line.succeed(first, 100);
    assert_eq!(line.sent([&mut second, &mut third]), [true, false]);
    line.succeed(second, 100);
    line.answers(100);
    assert_eq!(line.sent([&mut third]), [true]);
}

// Rule U8.
#[test]
fn successes_while_nobody_waits_send_nobody_later() {
    let line = Line::new();
    (0..50).for_each(|_| line.answers(100));
    let [mut first, mut second] = [(); 2].map(|()| line.joins());
    assert_eq!(line.sent([&mut first, &mut second]), [false, false]);
    line.answers(100);
    assert_eq!(line.sent([&mut first, &mut second]), [true, false]);
}

// Rule U8.
#[test]
fn slow_successes_send_nobody() {
    let line = Line::without_probes();
    let mut token = line.joins();
    for _ in 0..20 {
        line.answers(201);
        assert_eq!(line.sent([&mut token]), [false]);
    }
    line.answers(200);
    assert_eq!(line.sent([&mut token]), [true]);
}

// Rule U9.
#[test]
fn a_success_is_fast_below_a_part_of_the_timeout_or_a_multiple_of_the_least_latency() {
    let timeout = |timeout| Failure::of(&Failed::SAFE).with_attempt_timeout(Some(timeout));
    for (failure, fast) in [
        (Failure::of(&Failed::SAFE), 200),
        (timeout(secs(10)), 1_500),
        (timeout(secs(2)), 300),
        (timeout(secs(1)), 150),
        (timeout(millis(300)), 150),
    ] {
        for (time, is_sent) in [(fast, true), (fast + 1, false)] {
            let line = Line::without_probes();
            let mut token = line.joins_after(&failure);
            line.answers(time);
            assert_eq!(line.sent([&mut token]), [is_sent], "{time} ms after {failure:?}");
        }
    }
}

// Rule U9.
#[test]
fn without_an_attempt_timeout_it_is_the_time_that_the_latest_timeout_took() {
    for (time, is_sent) in [(600, true), (601, false)] {
        let line = Line::without_probes();
        let token = line.begin();
        line.clock.advance(secs(4));
        let mut token = line.fails(token, &Failure::of(&Failed::TIMEOUT));
        // How long another failure takes says nothing.
        let other = line.begin();
        line.clock.advance(millis(500));
        line.strategy.refresh_retry_token(other, &Failure::of(&Failed::FATAL), &line.clock).unwrap_err();
        line.answers(time);
        assert_eq!(line.sent([&mut token]), [is_sent], "{time} ms");
    }
}

// Rule U9.
#[test]
fn the_limit_of_a_timeout_that_is_paid_for_counts_only_while_operations_wait() {
    for (waits, fast) in [(true, 150), (false, 200)] {
        for (time, is_sent) in [(fast, true), (fast + 1, false)] {
            let line = Line::of(paying());
            (0..15).for_each(|_| line.answers(100));
            let before = waits.then(|| line.joins());
            let timed_out = Failure::of(&Failed::TIMEOUT).with_attempt_timeout(Some(secs(1)));
            let paid = line.strategy.refresh_retry_token(line.begin(), &timed_out, &line.clock).unwrap();
            assert_eq!(paid.delay_source(), DelaySource::Backoff);
            let mut waiting = before.unwrap_or_else(|| line.joins());
            line.answers(time);
            assert_eq!(line.sent([&mut waiting]), [is_sent], "{time} ms, waits: {waits}");
        }
    }
}

// Rule U10.
#[test]
fn the_least_latency_is_measured_again_after_operations_have_waited_and_rises_slowly() {
    let is_fast = |line: &Line, time: u64| {
        let mut token = line.joins();
        // Half a credit can be left.
        (0..2).any(|_| {
            line.answers(time);
            line.sent([&mut token]) == [true]
        })
    };
    // The service is slower by and by. How often operations have waited, and the longest time that is fast then.
    for (waits_before, fast) in [(0, 200), (1, 300), (2, 450), (3, 675)] {
        for (time, expected) in [(fast, true), (fast + 1, false)] {
            let line = Line::without_probes();
            (0..20).for_each(|_| line.answers(100));
            for time in [150, 225, 300].into_iter().take(waits_before) {
                assert!(is_fast(&line, time));
                (0..20).for_each(|_| line.answers(1_000));
            }
            assert_eq!(is_fast(&line, time), expected, "{time} ms after {waits_before} waits");
        }
    }
}

// Rule U7.
#[test]
fn the_first_success_of_a_process_sends_nobody() {
    let line = Line::cold(waits_with(2));
    let mut token = line.joins();
    line.answers(100);
    assert_eq!(line.sent([&mut token]), [false]);
    line.answers(100);
    assert_eq!(line.sent([&mut token]), [true]);
}

// Rules U8, U16.
#[test]
fn what_no_operation_has_time_for_is_not_saved_for_later_ones() {
    let line = Line::of(waits_with(2));
    let short = Failure::of(&Failed::SAFE).with_attempt_timeout(Some(secs(1)));
    let _without_time = line.joins_after(&short.with_remaining(Some(millis(250))));
    let hinted = Failure::of(&Failed::SAFE.after(millis(10)));
    let tokens = [(); 3].map(|()| line.strategy.refresh_retry_token(line.begin(), &hinted, &line.clock).unwrap());
    (0..6).for_each(|_| line.answers(10));
    let [mut first, mut second, mut third] = tokens;
    assert_eq!([&mut first, &mut second, &mut third].map(|token| line.ask(token) == Ready::Now), [true, false, false]);
}

// Rule U10.
#[test]
fn a_faster_success_lowers_the_least_latency_immediately() {
    let line = Line::without_probes();
    line.answers(10);
    let mut token = line.joins();
    line.answers(21);
    assert_eq!(line.sent([&mut token]), [false]);
    line.answers(20);
    assert_eq!(line.sent([&mut token]), [true]);
}

// Rules U7, U8.
#[test]
fn an_operation_whose_retry_fails_joins_at_the_end() {
    let line = Line::new();
    let [mut first, mut second] = [(); 2].map(|()| line.joins());
    line.answers(100);
    assert_eq!(line.sent([&mut first, &mut second]), [true, false]);
    let mut first = line.fails(first, &Failure::of(&Failed::SAFE));
    assert_eq!(first.attempt(), 3);
    (0..2).for_each(|_| line.answers(100));
    assert_eq!(line.sent([&mut first, &mut second]), [false, true]);
    (0..2).for_each(|_| line.answers(100));
    assert_eq!(line.sent([&mut first, &mut second]), [true, true]);
}

// Rule U18.
#[test]
fn an_operation_that_is_to_be_sent_is_woken() {
    let line = Line::new();
    let mut tokens = [(); 3].map(|()| line.joins());
    let wakes = [(); 3].map(|()| Arc::new(Wakes::default()));
    for (token, wakes) in tokens.iter_mut().zip(&wakes) {
        assert!(matches!(line.ask_with(token, wakes), Ready::After(_)));
    }
    let counts = || [0, 1, 2].map(|number: usize| wakes[number].count());
    line.answers(100);
    // The second one is the next that may be sent as a probe, so it is told that it is the first one now.
    assert_eq!(counts(), [1, 1, 0]);
    let [first, second, third] = &mut tokens;
    assert_eq!(line.sent([first, third]), [true, false]);
    assert!(matches!(line.ask_with(second, &wakes[1]), Ready::After(_)));
    line.answers(100);
    assert_eq!(counts(), [1, 1, 0]);
    line.answers(100);
    assert_eq!(counts()[1], 2);
}

// Rules U11, U18.
#[test]
fn the_one_behind_is_woken_although_the_one_that_is_sent_was_woken_before_for_another_reason() {
    let line = Line::new();
    let mut tokens = [(); 3].map(|()| line.joins());
    let wakes = [(); 3].map(|()| Arc::new(Wakes::default()));
    for (token, wakes) in tokens.iter_mut().zip(&wakes) {
        assert!(matches!(line.ask_with(token, wakes), Ready::After(_)));
    }
    let counts = || [0, 1, 2].map(|number: usize| wakes[number].count());
    let [first, mut second, mut third] = tokens;
    line.strategy.release(first);
    assert_eq!(counts(), [0, 1, 0], "it is the next probe");
    // Before it asks, it is sent.
    line.answers(100);
    assert_eq!(counts(), [0, 1, 1], "the third one is the next probe");
    assert_eq!(line.sent([&mut second, &mut third]), [true, false]);
}

// Rules U3, U7.
#[test]
fn the_time_of_a_wait_is_in_the_token() {
    let line = Line::new();
    let mut token = line.joins();
    assert_eq!(token.waited(), Duration::ZERO);
    line.clock.advance(millis(700));
    line.answers(100);
    assert_eq!(line.sent([&mut token]), [true]);
    assert_eq!(token.waited(), millis(800));
    line.clock.advance(secs(3));
    let mut token = line.fails(token, &Failure::of(&Failed::SAFE));
    line.clock.advance(millis(100));
    (0..2).for_each(|_| line.answers(100));
    assert_eq!(line.sent([&mut token]), [true]);
    assert_eq!(token.waited(), millis(800 + 300), "all waits together");
}

// Rule U3.
#[test]
fn a_wait_in_which_the_clock_is_set_back_lasts_no_time() {
    let line = Line::new();
    let mut token = line.joins();
    line.answers(100);
    line.clock.set(secs(900));
    assert_eq!(line.sent([&mut token]), [true]);
    assert_eq!(token.waited(), Duration::ZERO);
}

// Rule U3.
#[test]
fn the_longest_time_of_a_wait_is_24_days() {
    let longest = u64::from(u32::MAX / 2);
    for (time, waited) in [(longest, longest), (longest + 1, 0)] {
        let line = Line::of(waits_with(2));
        let mut token = line.joins_after(&Failure::of(&Failed::SAFE).with_attempt_bound(false));
        line.clock.advance(millis(time));
        assert_eq!(line.sent([&mut token]), [true], "a probe");
        assert_eq!(token.waited(), millis(waited));
    }
}

// Rule U21.
#[test]
fn where_no_first_attempts_are_sent_each_fast_success_sends_the_next_operation() {
    let line = Line::new();
    let [mut first, mut second, mut third] = [(); 3].map(|()| {
        line.clock.advance(millis(100));
        line.joins()
    });
    let wait = line.wait(&mut first);
    line.clock.advance(wait);
    assert_eq!(line.sent([&mut first, &mut second]), [true, false]);
    line.succeed(first, 100);
    assert_eq!(line.sent([&mut second, &mut third]), [true, false]);
    line.succeed(second, 201);
    assert_eq!(line.sent([&mut third]), [false], "a slow success");
}

// Rule U21.
#[test]
fn first_attempts_are_missed_after_eight_times_their_mean_gap_but_at_least_1_and_at_most_30_seconds() {
    for (gap, missed) in [(0, 1_000), (125, 1_000), (1_000, 8_000), (3_750, 30_000), (10_000, 30_000)] {
        for (after, is_sent) in [(missed, false), (missed + 1, true)] {
            let line = Line::cold(waits_with(2).max_wait_for_service(secs(100)));
            let failure = Failure::of(&Failed::SAFE).with_attempt_timeout(Some(secs(1_000)));
            let early = line.begin();
            let mut waiting = [(); 2].map(|()| {
                line.clock.advance(millis(gap));
                line.joins_after(&failure)
            });
            line.succeed(early, after);
            assert_eq!(line.sent([&mut waiting[0]]), [is_sent], "{after} ms after the last of one each {gap} ms");
        }
    }
}

// Rule U21.
#[test]
fn after_the_first_sixteen_they_are_missed_from_when_the_first_operation_waits() {
    for (after, is_sent) in [(1_000, false), (1_001, true)] {
        let line = Line::without_probes();
        let failure = Failure::of(&Failed::SAFE).with_attempt_timeout(Some(secs(100)));
        (0..13).for_each(|_| line.answers(100));
        let [early, late] = [(); 2].map(|()| {
            let token = line.begin();
            line.clock.advance(millis(100));
            token
        });
        let unmeasured = [(); 2].map(|()| line.begin());
        line.clock.advance(secs(1));
        let [mut first, mut second] = unmeasured.map(|token| line.fails(token, &failure));
        line.succeed(early, 0);
        assert_eq!(line.sent([&mut first, &mut second]), [true, false], "half a credit was kept");
        line.succeed(late, after);
        assert_eq!(line.sent([&mut second]), [is_sent], "{after} ms");
    }
}

// Rule U21.
#[test]
fn an_attempt_that_was_not_sent_is_no_timeout() {
    let line = Line::cold(waits_with(2));
    let early = line.begin();
    let mut waiting = line.joins_after(&Failure::of(&Failed::SAFE).with_sent(false));
    line.succeed(early, 1_001);
    assert_eq!(line.sent([&mut waiting]), [true]);
}

// Rule U21.
#[test]
fn the_latest_failure_decides_whether_successes_give_whole_credits() {
    let [timeout, other] =
        [Failed::TIMEOUT, Failed::SAFE].map(|failed| Failure::of(&failed).with_attempt_timeout(Some(secs(10))));
    for (failures, is_sent) in [([&timeout, &other], true), ([&other, &timeout], false)] {
        let line = Line::cold(waits_with(2));
        let early = line.begin();
        let mut waiting = failures.map(|failure| line.joins_after(failure));
        line.succeed(early, 1_001);
        assert_eq!(line.sent([&mut waiting[0]]), [is_sent], "{failures:?}");
    }
}

// Rule U21.
#[test]
fn after_a_timeout_successes_give_whole_credits_if_they_take_at_most_one_and_a_half_times_the_least_latency() {
    let timeout = Failure::of(&Failed::TIMEOUT).with_attempt_timeout(Some(secs(10)));
    for (latency, is_sent) in [(150, true), (151, false)] {
        let line = Line::new();
        let [mut first, mut second, mut third] = [(); 3].map(|()| line.joins_after(&timeout));
        let wait = line.wait(&mut first);
        line.clock.advance(wait);
        assert_eq!(line.sent([&mut first, &mut second]), [true, false]);
        line.succeed(first, latency);
        assert_eq!(line.sent([&mut second, &mut third]), [true, false], "half a credit was kept");
        line.succeed(second, latency);
        assert_eq!(line.sent([&mut third]), [is_sent], "{latency} ms");
    }
}

// Rule U21.
#[test]
fn after_timeouts_only_the_first_success_of_a_new_process_gives_half_a_credit() {
    let line = Line::cold(waits());
    let timeout = Failure::of(&Failed::TIMEOUT).with_attempt_timeout(Some(secs(1)));
    let mut waiting = [(); 20].map(|()| Some(line.joins_after(&timeout)));
    let mut send = |index: usize, expected| {
        let mut token = waiting[index].take().unwrap();
        assert_eq!(line.sent([&mut token]), [expected], "operation {index}");
        token
    };
    let succeed_as_probe = |mut token| {
        let wait = line.wait(&mut token);
        line.clock.advance(wait);
        assert_eq!(line.sent([&mut token]), [true]);
        line.succeed(token, 20);
    };
    succeed_as_probe(send(0, false));
    succeed_as_probe(send(1, false));
    for index in 2..20 {
        line.succeed(send(index, true), 20);
    }
    assert_eq!(line.waiting(), Some(0));
}
