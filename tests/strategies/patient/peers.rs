//! Successes of one process send operations of another one.

use super::{Line, waits};
use crate::support::{ByHand, Failed, millis, secs};
use retry_core::limit::Ready;
use retry_core::{Failure, Jitter, PatientRetryStrategy, RetryStrategy, StandardRetryStrategy, Success};
use std::time::Duration;

impl Line {
    /// Operations of others wait, and they grant this many sends.
    fn granted(&self, sends: u32) {
        self.strategy.grant(sends, Some(Duration::ZERO), &self.clock);
    }

    /// Takes what is spare, in halves of a send.
    fn spare(&self) -> u32 {
        self.strategy.take_spare_halves(&self.clock)
    }

    fn wanted(&self) -> u32 {
        self.strategy.wanted_sends(&self.clock).0
    }

    /// Operations of others wait no longer.
    fn alone(&self) {
        self.strategy.grant(0, None, &self.clock);
    }
}

// Rule U23.
#[test]
fn successes_that_no_operation_uses_are_spare_while_operations_of_others_wait() {
    let line = Line::new();
    (0..20).for_each(|_| line.answers(100));
    assert_eq!(line.spare(), 0, "nobody waits");
    line.granted(0);
    assert_eq!(line.spare(), 0, "only half a credit was kept");
    (0..7).for_each(|_| line.answers(100));
    line.answers(400);
    assert_eq!([(); 2].map(|()| line.spare()), [8, 0], "half a send of each fast success");
    let [mut first, mut second] = [(); 2].map(|()| line.joins());
    assert_eq!(line.wanted(), 2);
    (0..2).for_each(|_| line.answers(100));
    assert_eq!((line.sent([&mut first, &mut second]), line.spare()), ([true, false], 0));
    (0..6).for_each(|_| line.answers(100));
    assert_eq!((line.sent([&mut second]), line.spare()), ([true], 4));
    (0..6).for_each(|_| line.answers(100));
    line.alone();
    line.granted(0);
    assert_eq!(line.spare(), 0, "it was for those who wait no longer");
}

// Rule U23.
#[test]
fn half_a_send_from_before_operations_began_to_fail_is_given_with_the_next_success() {
    let line = Line::new();
    line.granted(0);
    line.strategy.release(line.joins());
    assert_eq!(line.spare(), 0);
    line.answers(100);
    assert_eq!(line.spare(), 2);
}

// Rules U17, U23.
#[test]
fn a_send_that_is_given_back_while_no_operation_waits_here_is_spare_after_the_next_success() {
    let line = Line::new();
    let mut token = line.joins();
    line.granted(1);
    assert_eq!(line.sent([&mut token]), [true]);
    line.strategy.release(token);
    assert_eq!(line.spare(), 0);
    // It need not be fast.
    line.answers(201);
    assert_eq!(line.spare(), 2);
}

// Rules U7, U23.
#[test]
fn sends_that_others_grant_are_for_the_operations_that_have_waited_longest() {
    let line = Line::without_probes();
    let [mut first, mut second, mut third] = [(); 3].map(|()| line.joins());
    line.granted(0);
    assert_eq!(line.sent([&mut first, &mut second, &mut third]), [false; 3]);
    line.granted(2);
    assert_eq!((line.sent([&mut first, &mut second, &mut third]), line.wanted()), ([true, true, false], 1));
    line.granted(3);
    assert_eq!((line.sent([&mut third]), line.spare()), ([true], 2));
}

// Rule U23.
#[test]
fn sends_that_others_grant_wait_for_no_later_operation() {
    let line = Line::without_probes();
    line.granted(9);
    line.alone();
    let mut token = line.joins();
    assert_eq!(line.sent([&mut token]), [false]);
    line.strategy.grant(9, None, &line.clock);
    assert_eq!(line.sent([&mut token]), [true]);
    let mut next = line.joins();
    assert_eq!(line.sent([&mut next]), [false]);
}

// Rule U23.
#[test]
fn operations_that_wait_much_shorter_than_those_of_others_leave_them_the_successes() {
    let line = Line::without_probes();
    let mut first = line.joins();
    line.clock.advance(secs(3));
    let mut second = line.joins();
    assert_eq!(line.strategy.wanted_sends(&line.clock), (2, secs(3)));
    let others_wait = |time| line.strategy.grant(0, Some(time), &line.clock);
    // They wait for exactly two seconds longer than the first operation.
    others_wait(secs(5));
    (0..4).for_each(|_| line.answers(100));
    assert_eq!((line.sent([&mut first, &mut second]), line.spare()), ([true, false], 3));
    line.strategy.grant(1, Some(secs(5)), &line.clock);
    assert_eq!(line.sent([&mut second]), [true], "a send that others grant is for any operation");
    let mut third = line.joins();
    others_wait(secs(5));
    (0..3).for_each(|_| line.answers(100));
    assert_eq!((line.sent([&mut third]), line.spare()), ([false], 3));
    // Nothing is heard of the others.
    line.clock.advance(millis(15_001));
    (0..2).for_each(|_| line.answers(100));
    assert_eq!(line.sent([&mut third]), [true]);
}

// Rules U20, U23.
#[test]
fn successes_are_measured_while_operations_of_others_wait() {
    let line = Line::new();
    (0..20).for_each(|_| line.answers(100));
    let is_measured = || {
        let mut token = line.strategy.acquire_initial_token(&line.clock).unwrap();
        assert_eq!(line.ask(&mut token), Ready::Now);
        ByHand::readings_of(&line.clock, || {
            line.strategy.record_success(token, &Success::default(), &line.clock).unwrap();
        }) > 0
    };
    assert!(!is_measured());
    line.granted(0);
    line.clock.advance(secs(100));
    assert!(is_measured());
    line.alone();
    assert!(!is_measured());
}

// Rule U23.
#[test]
fn nothing_is_kept_for_others_of_whom_nothing_is_heard() {
    let line = Line::new();
    (0..20).for_each(|_| line.answers(100));
    line.granted(0);
    line.answers(100);
    line.clock.advance(secs(15));
    assert_eq!((line.strategy.starts_empty(), line.spare()), (false, 0));
    assert!(line.strategy.starts_empty(), "nothing is measured any longer");
    line.granted(0);
    line.clock.advance(secs(16));
    line.answers(100);
    assert!(line.strategy.starts_empty(), "nothing is measured any longer");
}

// Rules U21, U23.
#[test]
fn a_time_in_which_nothing_was_measured_is_no_time_without_first_attempts() {
    let line = Line::of(PatientRetryStrategy::over(
        StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).max_attempts(1_000).quota_capacity(20),
    ));
    (0..20).for_each(|_| line.answers(100));
    let tokens = [(); 3].map(|()| line.begin());
    line.clock.advance(secs(100));
    line.granted(0);
    let spare = tokens.map(|token| {
        let mut token = line.strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &line.clock).unwrap();
        assert_eq!(line.ask(&mut token), Ready::Now);
        line.succeed(token, 10);
        line.spare()
    });
    // Half a send was kept before.
    assert_eq!(spare, [2, 1, 1], "half a send of each");
}

// Rule U24.
#[test]
fn after_a_granted_send_has_failed_a_process_asks_as_rarely_as_it_probes() {
    let line = Line::of(waits().max_wait_for_service(secs(1_000)));
    let failure = Failure::of(&Failed::SAFE);
    let mut tokens = [(); 3].map(|()| Some(line.joins()));
    let mut fail = |line: &Line, count| {
        line.granted(count);
        for token in &mut tokens {
            let mut sent = token.take().unwrap();
            *token = Some(if line.sent([&mut sent]) == [true] { line.fails(sent, &failure) } else { sent });
        }
    };
    assert_eq!(line.wanted(), 3);
    fail(&line, 2);
    for wait in [1, 2, 4, 8, 16, 16] {
        line.clock.advance(millis(1_000 * wait - 1));
        assert_eq!(line.wanted(), 0);
        line.clock.advance(millis(1));
        assert_eq!(line.wanted(), 1);
        fail(&line, 1);
    }
    line.answers(100);
    assert_eq!(line.wanted(), 2, "it is not cut off, and the success sends one");
}

// Rule U24.
#[test]
fn attempts_that_were_sent_before_the_first_grant_show_nothing_about_it() {
    let line = Line::without_probes();
    let early = line.begin();
    let _tokens = [(); 2].map(|()| line.joins());
    line.clock.advance(secs(1));
    line.granted(1);
    let _late = line.fails(early, &Failure::of(&Failed::SAFE));
    assert_eq!(line.wanted(), 2);
}
