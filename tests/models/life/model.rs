//! A strategy in the course of a program, and what the rules say about it.

mod answers;

use super::Step;
use super::rules::Rules;
use crate::support::{ByHand, Failed, millis, secs};
use retry_config::{ConfiguredStrategy, ConfiguredToken, RetryConfig, RetryMode};
use retry_core::{Failure, Jitter, RetrySafety, RetryStrategy, StandardRetryStrategy};
use std::time::Duration;

/// An operation, and what it has of a limiter.
struct Operation {
    token: ConfiguredToken,
    name: u32,
    place: Place,
}

/// What an operation has of the limiter of the mode in which its attempt began.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    mode: RetryMode,
    /// Whether its send was granted, and for the paced limiter, the number of cuts that were known then.
    granted: Option<u32>,
    /// Whether the send is the probe of a hold.
    is_probe: bool,
    is_sent: bool,
}

/// A strategy, and what the rules say about it.
pub(super) struct Life {
    clock: ByHand,
    strategy: ConfiguredStrategy,
    has_ramp: bool,
    mode: RetryMode,
    adaptive: Rules,
    paced: Rules,
    pace: Pace,
    operations: Vec<Option<Operation>>,
    names: u32,
}

/// What the rules say about the paced limiter alone.
#[derive(Debug, Default)]
struct Pace {
    has_begun: bool,
    imposed: Option<f64>,
    /// The time at which the limit began.
    begun: Duration,
    /// The number of rejections and orders that can have been cuts, and of limits that began.
    cuts: u32,
    /// That number at the last one that was certainly a cut.
    certain_cuts: u32,
    /// How many rejections were evaluated, over all limits.
    rejected: u64,
    /// Whether a request was rejected in this limit.
    was_rejected: bool,
    rejected_in_a_row: u32,
    /// The requests that were accepted since the limiter was last asked, and in this limit.
    accepted: u32,
    accepted_in_all: u32,
    /// Whether the last hold proved too long.
    was_too_long: bool,
}

impl Life {
    pub(super) fn new(has_ramp: bool) -> Self {
        let clock = ByHand::at(secs(100_000));
        let standard = StandardRetryStrategy::new().jitter(Jitter::None).seed(1);
        let mut life = Self {
            strategy: Self::config(RetryMode::Adaptive, has_ramp).build_on(standard).unwrap(),
            clock,
            has_ramp,
            mode: RetryMode::Adaptive,
            adaptive: Rules::new(1.0),
            paced: Rules::new(0.05),
            pace: Pace::default(),
            operations: (0..8).map(|_| None).collect(),
            names: 0,
        };
        // The adaptive limiter is on from the start, because what it lets in before the first throttling does not show.
        let token = life.strategy.acquire_initial_token(&life.clock).unwrap();
        let throttled = Failure::of(&Failed { safety: RetrySafety::No, ..Failed::THROTTLED });
        life.strategy.refresh_retry_token(token, &throttled, &life.clock).unwrap_err();
        let now = life.adaptive.observe(life.clock.time());
        life.adaptive.begin(now, life.strategy.send_rate().unwrap());
        life
    }

    fn config(mode: RetryMode, has_ramp: bool) -> RetryConfig {
        RetryConfig::new()
            .mode(mode)
            .paced_ramp(has_ramp)
            .quota_capacity(1_000_000)
            .paced_max_throttled_time(secs(1_000_000))
    }

    fn change_mode(&mut self, mode: RetryMode) {
        self.strategy.apply(&Self::config(mode, self.has_ramp), &self.clock).unwrap();
        self.mode = mode;
    }

    /// Returns the rate of the limiter of a mode.
    fn rate_of(&self, mode: RetryMode) -> Option<f64> {
        if mode == self.mode {
            return self.strategy.send_rate();
        }
        self.strategy.apply(&Self::config(mode, self.has_ramp), &self.clock).unwrap();
        let rate = self.strategy.send_rate();
        self.strategy.apply(&Self::config(self.mode, self.has_ramp), &self.clock).unwrap();
        rate
    }

    /// Returns the place of an attempt that begins now. With the ramp, the first one begins to limit sends.
    fn place(&mut self) -> Place {
        if self.mode == RetryMode::Paced && !std::mem::replace(&mut self.pace.has_begun, true) && self.has_ramp {
            self.begin_limit(100.0);
        }
        Place { mode: self.mode, granted: None, is_probe: false, is_sent: false }
    }

    /// Begins a paced limit at this rate. Returns the time.
    fn begin_limit(&mut self, rate: f64) -> Duration {
        let now = self.paced.observe(self.clock.time());
        self.paced.begin(now, rate);
        let Pace { cuts, rejected, accepted, .. } = self.pace;
        let (begun, cuts) = (now, cuts + 1);
        self.pace = Pace {
            has_begun: true,
            begun,
            cuts,
            certain_cuts: cuts,
            rejected,
            accepted,
            accepted_in_all: accepted,
            ..Pace::default()
        };
        now
    }

    /// Returns the rules for the places of a mode, if sends are limited in it.
    fn rules(&mut self, mode: RetryMode) -> Option<&mut Rules> {
        match mode {
            RetryMode::Adaptive => Some(&mut self.adaptive),
            RetryMode::Paced => Some(&mut self.paced),
            _ => None,
        }
    }

    fn ask(&mut self, slot: usize) {
        if self.operations[slot].is_none() {
            let token = self.strategy.acquire_initial_token(&self.clock).unwrap();
            self.names += 1;
            let (name, place) = (self.names, self.place());
            self.operations[slot] = Some(Operation { token, name, place });
        }
        // One that was sent without a limit does not ask again.
        let asks = |it: &mut Operation| !it.place.is_sent || it.place.granted.is_some();
        let Some(mut operation) = self.operations[slot].take_if(asks) else { return };
        let answer = self.strategy.ready(&mut operation.token, &self.clock, None).wait();
        let expected = self.expected_answer(&mut operation);
        let is_same = match (answer, expected) {
            (Some(answer), Some(expected)) => (answer.as_secs_f64() - expected.min(0.1)).abs() < 1e-6,
            (answer, expected) => answer.is_none() && expected.is_none(),
        };
        let Operation { name, place, .. } = operation;
        assert!(is_same, "{name} was told {answer:?} instead of {expected:?}: {place:?}");
        if let Some(wait) = answer {
            let rules = self.rules(place.mode).unwrap();
            let now = rules.now();
            rules.told(name, now + wait);
        } else {
            operation.place.is_sent = true;
        }
        self.operations[slot] = Some(operation);
    }

    /// Returns what the rules answer to an operation that asks, and changes its place.
    fn expected_answer(&mut self, operation: &mut Operation) -> Option<f64> {
        let (name, place) = (operation.name, operation.place);
        let (now, mode) = (self.clock.time(), self.mode);
        if place.granted.is_some() || place.mode == RetryMode::Standard {
            return None;
        }
        if place.mode != mode {
            operation.place = self.place();
            self.rules(place.mode)?.leave(name);
        }
        let rate = self.rate_of(mode);
        let rules = self.rules(mode)?;
        if !rules.is_limiting {
            rules.leave(name);
            return None;
        }
        let now = rules.observe(now);
        if mode == RetryMode::Paced {
            self.hand_over();
        }
        let wait = self.rules(mode)?.ask(now, rate.unwrap(), name);
        if wait.is_none() {
            operation.place.granted = Some(self.pace.cuts);
            operation.place.is_probe = self.paced.hold.as_ref().is_some_and(|hold| hold.probes.contains(&name));
        }
        wait
    }

    /// Makes the paced limiter read the clock, so that its rate at this time shows.
    fn refill_at_the_estimate(&mut self) {
        if self.paced.is_limiting && self.pace.imposed.is_none() {
            let answers = self.strategy.pace_at(None, false, &self.clock);
            assert_eq!(answers.rejected, self.pace.rejected);
            let (now, rate) = (self.paced.observe(self.clock.time()), self.rate_of(RetryMode::Paced).unwrap());
            self.hand_over();
            self.paced.refill(now, rate);
            self.paced.rate = rate;
        }
    }

    fn pace_at(&mut self, rate: Option<f64>, is_cut: bool) {
        self.refill_at_the_estimate();
        let answers = self.strategy.pace_at(rate, is_cut, &self.clock);
        assert_eq!(answers.rejected, self.pace.rejected);
        let now = if self.paced.is_limiting { self.paced.observe(self.clock.time()) } else { self.begin_limit(0.0) };
        self.hand_over();
        // What came in before came in at the old rate.
        self.paced.refill(now, self.paced.rate);
        self.pace.imposed = rate;
        if is_cut {
            self.pace.cuts += 1;
            self.pace.certain_cuts = self.pace.cuts;
        }
        let is_limiting = rate.is_some() || self.has_ramp || self.pace.was_rejected;
        self.paced.is_limiting = is_limiting;
        let now_at = self.rate_of(RetryMode::Paced);
        assert_eq!(now_at.is_some(), is_limiting);
        self.paced.rate = now_at.unwrap_or(0.0);
    }

    fn leave(&mut self, slot: usize) {
        let Some(Operation { token, name, place }) = self.operations[slot].take() else { return };
        self.strategy.release(token);
        if let Some(rules) = self.rules(place.mode) {
            rules.leave(name);
            if place.granted.is_some() {
                rules.give_back(name);
            }
        }
    }

    /// Takes a step, and checks what holds after each.
    pub(super) fn step(&mut self, step: Step) {
        match step {
            Step::Advance(time) => self.clock.advance(millis(time)),
            Step::SetBack(time) => self.clock.set(self.clock.time().saturating_sub(millis(time))),
            Step::Ask(slot) => self.ask(slot),
            Step::Answer(slot, outcome) => self.answer(slot, outcome),
            Step::Leave(slot) => self.leave(slot),
            Step::PaceAt(rate, is_cut) => self.pace_at(rate, is_cut),
            Step::Mode(mode) => self.change_mode(mode),
        }
        let mode = self.mode;
        let rate = self.strategy.send_rate();
        let names: Vec<u32> =
            self.operations.iter().flatten().filter(|it| !it.place.is_sent).map(|it| it.name).collect();
        let expected = self.rules(mode).filter(|rules| rules.is_limiting).map(|rules| rules.rate);
        assert_eq!(rate, expected, "{mode}");
        for rules in [&self.adaptive, &self.paced] {
            assert!(rules.granted <= rules.came_in + 1e-3, "{} sends of {}", rules.granted, rules.came_in);
            assert!(rules.waiting().all(|name| names.contains(&name)), "a place without an operation");
        }
    }

    /// All operations go away. Then nothing is left of them: a newcomer gets the first send.
    pub(super) fn end(&mut self) {
        (0..self.operations.len()).for_each(|slot| self.leave(slot));
        self.clock.advance(secs(20_000));
        for mode in [RetryMode::Adaptive, RetryMode::Paced] {
            self.change_mode(mode);
            // With the ramp, the limit may begin with this operation.
            self.strategy.release(self.strategy.acquire_initial_token(&self.clock).unwrap());
            self.place();
            self.clock.advance(secs(20_000));
            self.ask(0);
            assert!(self.operations[0].as_ref().is_some_and(|it| it.place.is_sent), "{mode}");
            self.leave(0);
            if self.strategy.send_rate().is_none() {
                let mut token = self.strategy.acquire_initial_token(&self.clock).unwrap();
                let readings = self.clock.readings_of(|| self.strategy.ready(&mut token, &self.clock, None));
                assert_eq!(readings, 0, "somebody still has a place");
            }
        }
    }
}
