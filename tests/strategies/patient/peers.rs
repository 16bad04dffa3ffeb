//! Successes of one process send operations of another one.

use super::Line;
use crate::support::{ByHand, secs};
use retry_core::strategy::Ready;
use retry_core::{RetryStrategy, Success};

impl Line {
    /// Operations of others wait, and they grant this many sends.
    fn granted(&self, sends: u32) {
        self.strategy.grant(sends, true, &self.clock);
    }

    /// Operations of others wait no longer.
    fn alone(&self) {
        self.strategy.grant(0, false, &self.clock);
    }
}

// Rule U23.
#[test]
fn successes_that_no_operation_uses_are_spare_while_operations_of_others_wait() {
    let line = Line::new();
    (0..20).for_each(|_| line.answers(100));
    assert_eq!(line.strategy.take_spare_sends(), 0, "nobody waits");
    line.granted(0);
    assert_eq!(line.strategy.take_spare_sends(), 0, "only half a credit was kept");
    (0..7).for_each(|_| line.answers(100));
    line.answers(400);
    assert_eq!([(); 2].map(|()| line.strategy.take_spare_sends()), [4, 0], "half a send of each fast success");
    let [mut first, mut second] = [(); 2].map(|()| line.joins());
    assert_eq!(line.strategy.in_line(), 2);
    (0..2).for_each(|_| line.answers(100));
    assert_eq!((line.sent([&mut first, &mut second]), line.strategy.take_spare_sends()), ([true, false], 0));
    (0..6).for_each(|_| line.answers(100));
    assert_eq!((line.sent([&mut second]), line.strategy.take_spare_sends()), ([true], 2));
    (0..6).for_each(|_| line.answers(100));
    line.alone();
    line.granted(0);
    assert_eq!(line.strategy.take_spare_sends(), 0, "it was for those who wait no longer");
}

// Rules U7, U23.
#[test]
fn sends_that_others_grant_are_for_the_operations_that_have_waited_longest() {
    let line = Line::without_probes();
    let [mut first, mut second, mut third] = [(); 3].map(|()| line.joins());
    line.granted(0);
    assert_eq!(line.sent([&mut first, &mut second, &mut third]), [false; 3]);
    line.granted(2);
    assert_eq!((line.sent([&mut first, &mut second, &mut third]), line.strategy.in_line()), ([true, true, false], 1));
    line.granted(3);
    assert_eq!((line.sent([&mut third]), line.strategy.take_spare_sends()), ([true], 1));
}

// Rule U23.
#[test]
fn sends_that_others_grant_wait_for_no_later_operation() {
    let line = Line::without_probes();
    line.granted(9);
    line.alone();
    let mut token = line.joins();
    assert_eq!(line.sent([&mut token]), [false]);
    line.strategy.grant(9, false, &line.clock);
    assert_eq!(line.sent([&mut token]), [true]);
    let mut next = line.joins();
    assert_eq!(line.sent([&mut next]), [false]);
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
