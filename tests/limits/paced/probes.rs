//! Whose send is the probe of a hold, and what becomes of a send that is given back in a hold.

use super::{at_a_hundred, throttled};
use crate::support::{ByHand, Failed, millis, secs};
use retry_core::{Failure, RetryStrategy, Success};
use retry_limits::{PacedRetryStrategy, PacedRetryToken};
use std::time::Duration;

/// A strategy whose server has asked for a wait of a minute.
struct Held {
    clock: ByHand,
    // Its tokens know it by its address.
    strategy: Box<PacedRetryStrategy>,
}

impl Held {
    /// Also returns two operations that were granted their sends before the wait.
    fn new() -> (Self, [PacedRetryToken; 2]) {
        let clock = ByHand::at(secs(1000));
        let strategy = Box::new(at_a_hundred(&clock));
        let granted = [(); 2].map(|()| {
            let mut token = strategy.acquire_initial_token(&clock).unwrap();
            assert_eq!(strategy.ready(&mut token, &clock, None).wait(), None);
            clock.advance(millis(20));
            token
        });
        let held = Self { clock, strategy };
        held.reject(held.begin(), Some(secs(60)));
        (held, granted)
    }

    fn begin(&self) -> PacedRetryToken {
        self.strategy.acquire_initial_token(&self.clock).unwrap()
    }

    fn is_granted(&self, token: &mut PacedRetryToken) -> bool {
        self.strategy.ready(token, &self.clock, None).wait().is_none()
    }

    /// Returns an operation that waited for its send.
    fn after_a_wait(&self) -> PacedRetryToken {
        let mut token = self.begin();
        for _ in 0..100 {
            if self.is_granted(&mut token) {
                return token;
            }
            self.clock.advance(millis(20));
        }
        panic!("no send comes in");
    }

    /// Returns an operation that takes the probe.
    fn probe(&self) -> PacedRetryToken {
        let mut token = self.begin();
        assert!(self.is_granted(&mut token));
        token
    }

    /// The server rejects a request, and asks for this wait.
    fn reject(&self, token: PacedRetryToken, wait: Option<Duration>) {
        drop(self.strategy.refresh_retry_token(token, &throttled(wait), &self.clock));
    }

    /// A request fails in a way that has nothing to do with the limit of the server.
    fn fail(&self, token: PacedRetryToken, error: Failed) {
        drop(self.strategy.refresh_retry_token(token, &Failure::of(&error), &self.clock));
    }

    fn accept(&self, token: PacedRetryToken) {
        self.strategy.record_success(token, &Success::default(), &self.clock).unwrap();
    }

    /// Returns whether an operation gets no send within 100 ms, in which one comes in if there is no hold.
    fn is_held(&self) -> bool {
        let mut token = self.begin();
        let mut is_granted = self.is_granted(&mut token);
        self.clock.advance(millis(100));
        is_granted |= self.is_granted(&mut token);
        self.strategy.release(token);
        !is_granted
    }
}

// Rules A13, L33.
#[test]
fn a_probe_that_is_given_back_ends_no_hold() {
    let (held, [late, _]) = Held::new();
    held.clock.advance(secs(1));
    held.strategy.release(held.probe());
    held.accept(late);
    // The next operation that asks takes the probe.
    let probe = held.probe();
    assert!(held.is_held());
    held.accept(probe);
    assert!(!held.is_held());
}

// Rules A12, L33.
#[test]
fn a_probe_that_is_kept_for_a_late_operation_ends_no_hold() {
    let (held, [late, _]) = Held::new();
    held.clock.advance(millis(950));
    let mut first = held.begin();
    assert!(!held.is_granted(&mut first));
    // It asks after 50 ms, and is late by 10 ms.
    held.clock.advance(millis(60));
    assert!(held.is_held());
    held.accept(late);
    assert!(held.is_held());
    assert!(held.is_granted(&mut first));
    held.accept(first);
    assert!(!held.is_held());
}

// Rules A13, L31, L33.
#[test]
fn a_send_from_before_a_hold_that_is_given_back_is_not_sent_in_it() {
    let (held, [late, unsent]) = Held::new();
    held.strategy.release(unsent);
    assert!(held.is_held());
    held.accept(late);
    assert!(held.is_held());
}

// Rules A12, A13, L33.
#[test]
fn a_send_from_before_a_hold_does_not_come_back_while_a_probe_is_kept() {
    let (held, [late, unsent]) = Held::new();
    held.clock.advance(millis(950));
    let mut first = held.begin();
    assert!(!held.is_granted(&mut first));
    // It asks after 50 ms, and is late by 10 ms.
    held.clock.advance(millis(60));
    assert!(held.is_held());
    held.strategy.release(unsent);
    held.strategy.release(late);
    assert!(held.is_held());
    assert!(held.is_granted(&mut first));
    assert!(held.is_held());
}

// Rules A13, L33.
#[test]
fn a_send_from_before_a_hold_does_not_come_back_while_a_probe_is_under_way() {
    let (held, granted) = Held::new();
    held.clock.advance(secs(1));
    let probe = held.probe();
    for unsent in granted {
        held.strategy.release(unsent);
        assert!(held.is_held());
    }
    held.accept(probe);
    assert!(!held.is_held());
}

// Rules L31, L33.
#[test]
fn a_hold_that_is_prolonged_keeps_its_probe_and_no_other_send() {
    let (held, [unsent, _]) = Held::new();
    held.clock.advance(secs(1));
    let rejected = held.probe();
    // The next probe is available from now on.
    held.clock.advance(secs(2));
    held.reject(rejected, Some(secs(60)));
    let probe = held.probe();
    held.strategy.release(unsent);
    assert!(held.is_held());
    // The probe still belongs to the hold.
    held.strategy.release(probe);
    held.accept(held.probe());
    assert!(!held.is_held());
}

// Rules A13, L33.
#[test]
fn a_probe_of_a_hold_that_is_over_does_not_come_back_in_the_next_one() {
    let (held, [rejected, _]) = Held::new();
    held.clock.advance(secs(1));
    let unsent = held.probe();
    // The hold ends by itself, and after it another one begins.
    held.clock.advance(secs(70));
    held.reject(rejected, Some(secs(60)));
    held.clock.advance(secs(1));
    let _probe = held.probe();
    held.strategy.release(unsent);
    assert!(held.is_held());
}

// Rules A13, L33.
#[test]
fn sends_that_are_given_back_after_a_hold_that_a_probe_ended_are_not_lost() {
    let (held, granted) = Held::new();
    held.clock.advance(secs(1));
    held.accept(held.probe());
    for unsent in granted {
        held.strategy.release(unsent);
    }
    assert!(held.is_granted(&mut held.begin()) && held.is_granted(&mut held.begin()));
}

// Rule L33.
#[test]
fn a_late_answer_ends_no_hold_while_a_probe_is_under_way() {
    let (held, [late, failed]) = Held::new();
    held.clock.advance(secs(1));
    let probe = held.probe();
    held.accept(late);
    assert!(held.is_held());
    // An error that is not a rejection is an answer, too.
    held.fail(failed, Failed::FATAL);
    assert!(held.is_held());
    held.fail(probe, Failed::FATAL);
    assert!(!held.is_held());
}

// Rule L33.
#[test]
fn a_rejected_probe_does_not_hide_the_other_one() {
    for is_first in [true, false] {
        let (held, _) = Held::new();
        held.clock.advance(secs(1));
        let first = held.probe();
        held.clock.advance(secs(2));
        let second = held.probe();
        let (rejected, accepted) = if is_first { (first, second) } else { (second, first) };
        held.reject(rejected, None);
        assert!(held.is_held());
        held.accept(accepted);
        assert!(!held.is_held(), "{is_first}");
    }
}

// Rule L33.
#[test]
fn a_probe_without_an_answer_ends_no_hold() {
    let (held, _) = Held::new();
    held.clock.advance(secs(1));
    held.fail(held.probe(), Failed::TIMEOUT);
    assert!(held.is_held());
    held.clock.advance(secs(2));
    held.accept(held.probe());
    assert!(!held.is_held());
}

// Rule L34.
#[test]
fn a_wait_that_proved_too_long_is_forgotten_when_the_next_hold_begins() {
    let (held, _) = Held::new();
    held.clock.advance(secs(1));
    held.accept(held.probe());
    for _ in 0..3 {
        assert!(!held.is_held());
        held.reject(held.after_a_wait(), Some(secs(60)));
    }
    assert!(held.is_held());
    held.clock.advance(secs(60));
    held.accept(held.after_a_wait());
    held.reject(held.after_a_wait(), Some(secs(60)));
    assert!(held.is_held());
}
