//! The limiter compared with the formulas of its rules, written down plainly, on random sequences of calls.

use super::{ask, eager, new_token};
use crate::support::{ByHand, Failed, millis, secs};
use proptest::prelude::*;
use retry_core::{Failure, RetryStrategy, Success};
use std::time::Duration;

/// The formulas, in seconds and with everything computed at each step.
#[derive(Clone, Copy, Debug)]
struct Formulas {
    enabled: bool,
    fill: f64,
    max_capacity: f64,
    capacity: f64,
    last_refill: Option<f64>,
    measured: f64,
    last_bucket: f64,
    count: f64,
    w_max: f64,
    last_throttle: f64,
}

impl Formulas {
    fn new(now: f64) -> Self {
        Self {
            enabled: false,
            fill: 0.0,
            max_capacity: 0.0,
            capacity: 0.0,
            last_refill: None,
            measured: 0.0,
            last_bucket: bucket(now),
            count: 0.0,
            w_max: 0.0,
            last_throttle: now,
        }
    }

    fn refill(&mut self, now: f64) {
        if let Some(last) = self.last_refill {
            self.capacity = self.max_capacity.min(self.capacity + (now - last).max(0.0) * self.fill);
        }
        self.last_refill = Some(now);
    }

    /// Returns the wait in seconds, or `None` if the send is granted.
    fn acquire(&mut self, now: f64) -> Option<f64> {
        if !self.enabled {
            return None;
        }
        self.refill(now);
        // No clock can measure a wait of less than a nanosecond.
        let wait = (1.0 - self.capacity) / self.fill;
        if wait < 1e-9 {
            self.capacity -= 1.0;
            return None;
        }
        Some(wait)
    }

    fn response(&mut self, now: f64, throttled: bool) {
        self.count += 1.0;
        if bucket(now) > self.last_bucket {
            self.measured = 0.8 * self.count / (bucket(now) - self.last_bucket) + 0.2 * self.measured;
            self.count = 0.0;
            self.last_bucket = bucket(now);
        }
        let rate = if throttled {
            let rate = if self.enabled { self.measured.min(self.fill) } else { self.measured };
            self.w_max = rate;
            self.last_throttle = now;
            self.enabled = true;
            0.7 * rate
        } else {
            let k = (self.w_max * (1.0 - 0.7) / 0.4).cbrt();
            0.4 * (now - self.last_throttle - k).powi(3) + self.w_max
        };
        let rate = rate.min(2.0 * self.measured);
        self.refill(now);
        self.fill = rate.max(0.5);
        self.max_capacity = rate.max(1.0);
        self.capacity = self.capacity.min(self.max_capacity);
    }
}

fn bucket(now: f64) -> f64 {
    (2.0 * now).floor() / 2.0
}

/// One step of a sequence.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(Duration),
    /// This many responses at one instant. The last one is throttled, if any is.
    Responses(u32, bool),
    /// A request that asks for a send and, if it must wait, goes away.
    Ask,
    /// A request that asks for a send until it is granted.
    Wait,
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..40_000_000_u64).prop_map(|nanos| Step::Advance(Duration::from_nanos(nanos))),
        2 => (0..3_000_u64).prop_map(|time| Step::Advance(millis(time))),
        1 => (0..40_u64).prop_map(|time| Step::Advance(secs(time))),
        4 => (1..100_u32).prop_map(|count| Step::Responses(count, false)),
        1 => (1..100_u32).prop_map(|count| Step::Responses(count, true)),
        4 => Just(Step::Ask),
        2 => Just(Step::Wait),
    ]
}

/// Compares an answer with the formulas. An answer is at most [`LONGEST`], and a part of a nanosecond is rounded up.
fn is_same(answer: Option<Duration>, expected: Option<f64>) -> bool {
    match (answer, expected) {
        (None, None) => true,
        (Some(answer), Some(expected)) => (answer.as_secs_f64() - expected.min(LONGEST)).abs() <= 3e-9,
        // At a difference of rounding, one is granted and the other waits for a nanosecond.
        (Some(wait), None) => wait <= Duration::from_nanos(2),
        (None, Some(wait)) => wait <= 2e-9,
    }
}

/// The longest answer in seconds.
const LONGEST: f64 = 0.1;

proptest! {
    // Rules A1, A2, A5, A6, A7, A8, A9, A14.
    #[test]
    fn each_wait_and_each_rate_is_that_of_the_formulas(steps in prop::collection::vec(steps(), 1..150)) {
        let (clock, strategy) = (ByHand::at(secs(1000)), eager());
        let now = || clock.time().as_secs_f64();
        strategy.release(new_token(&strategy, &clock));
        let mut formulas = Formulas::new(now());
        for step in steps {
            match step {
                Step::Advance(time) => clock.advance(time),
                Step::Responses(count, throttled) => for response in 1..=count {
                    let (token, throttled) = (new_token(&strategy, &clock), throttled && response == count);
                    formulas.response(now(), throttled);
                    if throttled {
                        let failure = Failure::of(&Failed { throttle: true, ..Failed::FATAL });
                        strategy.refresh_retry_token(token, &failure, &clock).unwrap_err();
                    } else {
                        strategy.record_success(token, &Success::default(), &clock).unwrap();
                    }
                },
                Step::Ask | Step::Wait => {
                    let mut token = new_token(&strategy, &clock);
                    loop {
                        let (answer, expected) = (ask(&strategy, &clock, &mut token), formulas.acquire(now()));
                        prop_assert!(is_same(answer, expected), "{answer:?} instead of {expected:?} from {formulas:?}");
                        // From here on, both have granted it or neither has.
                        match (answer, expected) {
                            (None, Some(_)) => formulas.capacity -= 1.0,
                            (Some(_), None) => formulas.capacity += 1.0,
                            _ => {}
                        }
                        match answer {
                            Some(wait) if matches!(step, Step::Wait) => clock.advance(wait),
                            // A send that was granted is made, and is not answered yet.
                            None => break,
                            Some(_) => {
                                strategy.release(token);
                                break;
                            }
                        }
                    }
                }
            }
            let expected = formulas.enabled.then_some(formulas.fill);
            let rate = strategy.send_rate();
            prop_assert!(
                rate.is_some() == expected.is_some()
                    && (rate.unwrap_or_default() - expected.unwrap_or_default()).abs()
                        <= 1e-9 * expected.unwrap_or_default().max(1.0),
                "{rate:?} instead of {expected:?} from {formulas:?}"
            );
        }
    }
}
