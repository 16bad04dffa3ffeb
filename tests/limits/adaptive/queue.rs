//! The queue of waiters compared with its rules, written down plainly, on random sequences of calls.

use super::{Token, ask, eager, new_token, respond};
use crate::support::{ByHand, Failed, millis, secs};
use proptest::prelude::*;
use retry_core::{AdaptiveRetryStrategy, RetrySafety, RetryStrategy};
use std::time::Duration;

/// The rules. Every question looks at every waiter.
struct Rules {
    rate: f64,
    capacity: f64,
    refilled_at: Duration,
    /// The waiters in the order in which they came.
    waiters: Vec<Waiter>,
    /// The waiter that a send is kept for, and since when.
    kept: Option<(usize, Duration)>,
}

struct Waiter {
    name: usize,
    /// The time at which the waiter is expected to ask; `None` if it is passed over until it asks.
    asks_at: Option<Duration>,
}

impl Rules {
    /// Returns the wait in seconds, or `None` if the send is granted. [`told`](Rules::told) records it.
    fn ask(&mut self, now: Duration, name: usize) -> Option<f64> {
        self.capacity += now.abs_diff(self.refilled_at).as_secs_f64() * self.rate;
        self.give_back(0.0);
        self.refilled_at = now;
        let grace = millis(50).max(Duration::from_secs_f64(1.0 / self.rate));
        for waiter in &mut self.waiters {
            waiter.asks_at = waiter.asks_at.filter(|asks_at| now.saturating_sub(*asks_at) <= grace);
        }
        if self.kept.is_some_and(|(_, since)| now.abs_diff(since) > secs(10)) {
            self.kept = None;
            self.give_back(1.0);
        }
        let first = self.waiters.iter_mut().take_while(|waiter| waiter.name != name).find(|it| it.asks_at.is_some());
        if let Some(first) = first
            && self.kept.is_none()
            && first.asks_at.is_some_and(|asks_at| asks_at < now)
            && self.capacity > ALMOST_ONE
        {
            // It does not wait for another send, so it is not counted below.
            first.asks_at = None;
            self.kept = Some((first.name, now));
            self.capacity -= 1.0;
        }
        if self.kept.is_some_and(|(kept, _)| kept == name) {
            self.kept = None;
            self.waiters.retain(|waiter| waiter.name != name);
            return None;
        }
        let ahead = self.waiters.iter().take_while(|waiter| waiter.name != name).filter(|it| it.asks_at.is_some());
        let sends = ahead.fold(1.0, |sends, _| sends + 1.0);
        if self.capacity > sends - 1.0 + ALMOST_ONE {
            self.capacity -= 1.0;
            self.waiters.retain(|waiter| waiter.name != name);
            return None;
        }
        Some((sends - self.capacity) / self.rate)
    }

    /// Records when a waiter is expected to ask.
    fn told(&mut self, name: usize, asks_at: Duration) {
        match self.waiters.iter_mut().find(|waiter| waiter.name == name) {
            Some(waiter) => waiter.asks_at = Some(asks_at),
            None => self.waiters.push(Waiter { name, asks_at: Some(asks_at) }),
        }
    }

    fn leave(&mut self, name: usize) {
        if self.kept.is_some_and(|(kept, _)| kept == name) {
            self.kept = None;
            self.give_back(1.0);
        }
        self.waiters.retain(|waiter| waiter.name != name);
    }

    fn give_back(&mut self, sends: f64) {
        self.capacity = (self.capacity + sends).min(self.rate.max(1.0));
    }
}

/// What is counted as one send. The rest is far less than what comes in between two steps.
const ALMOST_ONE: f64 = 1.0 - 1e-6;

/// One step of a sequence.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(Duration),
    /// One of the operations asks. If it has ended, the next one begins.
    Ask(usize),
    /// One of the operations goes away, whether it waits or not.
    Leave(usize),
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..40_u64).prop_map(|time| Step::Advance(2 * millis(time))),
        1 => (1..1_500_u64).prop_map(|time| Step::Advance(2 * millis(time))),
        12 => (0..8_usize).prop_map(Step::Ask),
        1 => (0..8_usize).prop_map(Step::Leave),
    ]
}

/// Returns a strategy that limits sends to 0.7 times the measured rate and has saved up as many as it can.
fn limited(clock: &ByHand, measured: u32) -> AdaptiveRetryStrategy {
    let strategy = eager();
    for _ in 0..20 * measured {
        respond(&strategy, clock, None);
        clock.advance(secs(1) / measured);
    }
    respond(&strategy, clock, Some(Failed { safety: RetrySafety::No, ..Failed::THROTTLED }));
    clock.advance(secs(10));
    strategy
}

proptest! {
    // Rules A9, A10, A11, A12, A13.
    #[test]
    fn each_answer_is_that_of_the_rules_whoever_asks_is_late_or_goes_away(
        measured in prop_oneof![Just(2_u32), Just(10), Just(50)],
        steps in prop::collection::vec(steps(), 1..300),
    ) {
        let clock = ByHand::at(secs(1000));
        let strategy = limited(&clock, measured);
        let rate = strategy.send_rate().unwrap();
        let mut rules =
            Rules { rate, capacity: rate.max(1.0), refilled_at: clock.time(), waiters: Vec::new(), kept: None };
        let mut operations: Vec<Option<Token>> = (0..8).map(|_| None).collect();
        for step in steps {
            match step {
                Step::Advance(time) => clock.advance(time),
                Step::Ask(name) => {
                    let token = operations[name].get_or_insert_with(|| new_token(&strategy, &clock));
                    let (answer, expected) = (ask(&strategy, &clock, token), rules.ask(clock.time(), name));
                    let is_same = match (answer, expected) {
                        (Some(answer), Some(expected)) => (answer.as_secs_f64() - expected.min(0.1)).abs() < 1e-6,
                        (answer, expected) => answer.is_none() && expected.is_none(),
                    };
                    prop_assert!(is_same, "{name} was told {answer:?} instead of {expected:?}");
                    match answer {
                        Some(wait) => rules.told(name, clock.time() + wait),
                        // It is sent, and its response is not reported, so that the rate stays the same.
                        None => operations[name] = None,
                    }
                }
                Step::Leave(name) => if let Some(token) = operations[name].take() {
                    strategy.release(token);
                    rules.leave(name);
                }
            }
        }
    }
}
