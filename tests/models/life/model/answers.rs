//! What limiters learn from answers, by the rules.

use super::super::Outcome;
use super::{Life, Operation, Place};
use crate::support::{Failed, millis};
use retry_config::RetryMode;
use retry_core::{Failure, RetryStrategy, RetryToken, Success};
use std::time::Duration;

/// A wait that a server asks for holds back all operations if it is longer.
const HOLDS_ALL: Duration = millis(1500);
/// The time from the start of a ramp in which a rejection need not be a cut.
const FIRST_ANSWERS: Duration = millis(250);
/// The number of accepted requests from which a rejection can be noise: as many in a quarter of a second are more than 30 per second.
const BUSY: u32 = 8;

impl Life {
    /// Hands the accepted requests over.
    pub(super) fn hand_over(&mut self) {
        if std::mem::take(&mut self.pace.accepted) == 0 {
            return;
        }
        self.pace.rejected_in_a_row = 0;
    }

    /// An operation with a probe is accepted. That ends the hold, unless it is another one by now.
    fn accept_probe(&mut self, name: u32) {
        let now = self.paced.observe(self.clock.time());
        if let Some(hold) = &self.paced.hold
            && hold.probes.contains(&name)
            && now < hold.until
        {
            self.pace.was_too_long = hold.until.saturating_sub(now) > now.saturating_sub(hold.begun);
            self.paced.end_hold(now);
        }
        self.hand_over();
    }

    pub(super) fn answer(&mut self, slot: usize, outcome: Outcome) {
        let Some(operation) = self.operations[slot].take() else { return };
        let Operation { token, name, place } = operation;
        match outcome {
            Outcome::Unknown if place.is_sent => {}
            Outcome::Unknown => self.operations[slot] = Some(Operation { token, name, place }),
            Outcome::Success => {
                self.strategy.record_success(token, &Success::default(), &self.clock).unwrap();
                self.learn(place, name, None);
            }
            Outcome::Failure => {
                let failure = Failure::of(&Failed::FATAL);
                self.strategy.refresh_retry_token(token, &failure, &self.clock).unwrap_err();
                self.learn_failure(place, name, None);
            }
            Outcome::Rejection(wait) => {
                self.refill_at_the_estimate();
                // How far a wait is stretched shows only in the mode `paced`.
                let wait = millis(if self.mode == RetryMode::Paced { wait } else { wait.min(1000) });
                let failure = Failure::of(&Failed::THROTTLED.after(wait));
                let next = self.strategy.refresh_retry_token(token, &failure, &self.clock).ok();
                // In other modes, the delay is a backoff.
                let shown = next.as_ref().filter(|_| self.mode == RetryMode::Paced);
                let delay = shown.map_or(Duration::ZERO, RetryToken::delay);
                self.learn_failure(place, name, Some(delay));
                self.operations[slot] = next.map(|token| {
                    self.names += 1;
                    Operation {
                        token,
                        name: self.names,
                        place: Place { mode: self.mode, granted: None, is_probe: false, is_sent: false },
                    }
                });
            }
        }
    }

    /// The limiter of the attempt's mode learns, and after a change the limiter of the new mode, too.
    fn learn_failure(&mut self, place: Place, name: u32, rejection: Option<Duration>) {
        self.learn(place, name, rejection);
        if place.mode != self.mode {
            let place = self.place();
            self.learn(place, name, rejection);
        }
    }

    /// A limiter learns of a request that was accepted, or rejected with this wait. Its operation leaves its place.
    fn learn(&mut self, place: Place, name: u32, rejection: Option<Duration>) {
        let Some(rules) = self.rules(place.mode) else { return };
        rules.leave(name);
        match (place.mode, rejection) {
            (RetryMode::Adaptive, _) => {
                let (reading, rate) = (self.clock.time(), self.rate_of(RetryMode::Adaptive).unwrap());
                let now = self.adaptive.observe(reading);
                self.adaptive.refill(now, self.adaptive.rate);
                self.adaptive.rate = rate;
                self.adaptive.save_up();
            }
            (_, None) if self.paced.is_limiting => {
                self.pace.accepted += 1;
                self.pace.accepted_in_all += 1;
                if place.is_probe {
                    self.accept_probe(name);
                }
            }
            (_, None) => {}
            (_, Some(delay)) => self.reject(place.granted, delay),
        }
    }

    fn reject(&mut self, sent_after: Option<u32>, delay: Duration) {
        let mut is_asked = false;
        let now = if self.paced.is_limiting {
            let now = self.paced.observe(self.clock.time());
            self.hand_over();
            let is_evaluated = self.is_evaluated(sent_after).unwrap_or_else(|| {
                is_asked = true;
                self.counts_rejection()
            });
            if is_evaluated {
                self.evaluate(now, delay);
            }
            now
        } else {
            let now = self.begin_limit(0.0);
            self.pace.rejected_in_a_row = 1;
            now
        };
        self.pace.was_rejected |= self.pace.rejected_in_a_row > 0;
        self.paced.rate = self.rate_of(RetryMode::Paced).unwrap();
        if delay > HOLDS_ALL && (self.pace.rejected_in_a_row >= 3 || !self.pace.was_too_long) {
            self.paced.refill(now, self.paced.rate);
            self.paced.hold(now, delay);
            self.pace.was_too_long = false;
        }
        if is_asked {
            self.paced.refill(now, self.paced.rate);
        }
    }

    /// Returns whether a rejection is evaluated: not if the request was sent before the last cut was known. Returns `None` if it is not
    /// certain that the rejections in between were cuts.
    fn is_evaluated(&self, sent_after: Option<u32>) -> Option<bool> {
        match sent_after {
            Some(cuts) if cuts == self.pace.cuts => Some(true),
            Some(cuts) if cuts >= self.pace.certain_cuts => None,
            _ => Some(false),
        }
    }

    /// Asks the strategy whether it evaluated the last rejection.
    fn counts_rejection(&mut self) -> bool {
        let answers = self.strategy.pace_at(self.pace.imposed, false, &self.clock);
        self.paced.observe(self.clock.time());
        answers.rejected > self.pace.rejected
    }

    /// Evaluates a rejection. It is certainly a cut if it asks for a long wait. Otherwise it can be noise: in the first moment of a ramp, while
    /// no send has to wait, and while much is accepted.
    fn evaluate(&mut self, now: Duration, delay: Duration) {
        self.pace.rejected += 1;
        self.paced.refill(now, self.paced.rate);
        self.pace.rejected_in_a_row += 1;
        if self.pace.imposed.is_some() {
            return;
        }
        self.pace.cuts += 1;
        let is_slow = self.pace.accepted_in_all < BUSY && now.saturating_sub(self.pace.begun) > FIRST_ANSWERS;
        if delay > HOLDS_ALL || is_slow && self.paced.is_limited(now) {
            self.pace.certain_cuts = self.pace.cuts;
        }
    }
}
