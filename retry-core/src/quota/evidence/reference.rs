//! The rules Q12 to Q16 as a plain model, with which the tests compare the quota.

use super::EvidenceQuota;
use super::ledger::Ledger;
use crate::policy::RetryErrorType::{Other, Timeout};
use crate::quota::RetryQuota;
use crate::time::{ManualTimer, Timestamp};
use std::time::Duration;

/// A retry, in the unit of all amounts.
const RETRY: u64 = 64;

/// The quota, in the words of the rules.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the rules have four conditions")]
struct Model {
    missing: u64,
    /// The successes since the latest failure.
    streak: u64,
    has_succeeded: bool,
    is_settled: bool,
    has_helped: bool,
    is_congested: bool,
    began: Option<Timestamp>,
    attempts: u64,
    timed_out: Option<Timestamp>,
    score: u64,
}

impl Model {
    fn succeed(&mut self, is_first: bool) {
        if self.is_settled {
            return;
        }
        let gain = match (is_first, self.is_congested) {
            (true, false) => 3,
            (true, true) => 20,
            (false, false) => 2 * RETRY,
            (false, true) => 0,
        };
        self.has_helped |= !is_first && !self.is_congested;
        self.missing = self.missing.saturating_sub(gain);
        self.streak += 1;
        if !self.has_succeeded {
            (self.missing, self.streak, self.has_succeeded) = (0, 32, true);
        }
        self.settle();
    }

    fn give_back(&mut self, retries: u64) {
        self.missing = self.missing.saturating_sub(retries * RETRY);
        self.settle();
    }

    fn settle(&mut self) {
        self.is_settled = self.has_succeeded && self.missing == 0 && self.streak >= 32;
    }

    fn fail(&mut self, is_timeout: bool, now: Timestamp) -> bool {
        // There are two retries whatever the traffic is, so while they suffice, time does not matter.
        let is_measured = is_timeout || self.is_congested || !self.has_succeeded || self.missing > RETRY;
        if is_measured {
            // If the clock was set back, no time has passed.
            for time in [&mut self.began, &mut self.timed_out].into_iter().flatten() {
                *time = (*time).min(now);
            }
        }
        if self.is_settled || self.began.is_none() {
            (self.began, self.attempts, self.has_helped) = (Some(now), 0, false);
            self.score = if self.has_succeeded { 5 } else { 0 };
        } else {
            self.attempts += self.streak;
            self.score = (self.score + self.streak).min(32);
        }
        self.attempts += 1;
        (self.streak, self.is_settled) = (0, false);
        if is_timeout {
            (self.timed_out, self.has_helped) = (Some(now), false);
        }
        self.timed_out = self.timed_out.filter(|at| now.saturating_since(*at) < Duration::from_secs(120));
        self.is_congested = self.timed_out.is_some();
        let measured = if is_measured { self.measured(now) } else { 0 };

        let capacity = measured.max(2 * RETRY) + if self.has_helped { 2 * RETRY } else { 0 };
        let is_doubtful = is_timeout && self.score < 5;
        self.score = self.score.saturating_sub(5);
        let is_paid = !is_doubtful && self.missing + RETRY <= capacity;
        if is_paid {
            self.missing += RETRY;
        } else if is_timeout {
            let most = capacity.max(measured * 3 / 2);
            self.missing = self.missing.max((self.missing + RETRY).min(most));
        }
        is_paid
    }

    /// Returns the cost of retrying all attempts of 1 5/8 seconds.
    fn measured(&mut self, now: Timestamp) -> u64 {
        let (window, half) = (Duration::from_secs(10), Duration::from_secs(5));
        let mut age = now.saturating_since(self.began.unwrap());
        if age > window {
            let attempts = u128::from(self.attempts) * half.as_millis() / age.as_millis();
            self.attempts = u64::try_from(attempts).unwrap().max(1);
            (age, self.began) = (half, Some(now.saturating_sub(half)));
        }
        let age = u64::try_from(age.as_millis()).unwrap() + 500;
        ((2 * self.attempts - 1) * 1_625 * RETRY / 2 / age).min(16_384 * RETRY)
    }
}

/// A sequence of numbers without a pattern, the same in each run.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// One step of a sequence.
#[derive(Clone, Copy, Debug)]
enum Step {
    Wait(Duration),
    SetBack(Duration),
    Fail { is_timeout: bool },
    Succeed { is_first: bool },
    GiveBack,
}

/// The parameters of a sequence: the share of failures, the share of timeouts among them, and the length of the waits.
struct Kind {
    failures: u64,
    timeouts: u64,
    wait_millis: u64,
    jumps: u64,
}

impl Kind {
    fn draw(numbers: &mut Numbers) -> Self {
        let one_of = |numbers: &mut Numbers, values: &[u64]| {
            values[usize::try_from(numbers.below(values.len() as u64)).unwrap()]
        };
        Self {
            failures: one_of(numbers, &[2, 10, 30, 50, 90, 100]),
            timeouts: one_of(numbers, &[0, 0, 3, 50]),
            wait_millis: one_of(numbers, &[1, 5, 100, 2_000, 60_000]),
            jumps: one_of(numbers, &[0, 0, 1]),
        }
    }

    fn step(&self, numbers: &mut Numbers) -> Step {
        let far = Duration::from_millis(1 << numbers.below(40));
        match numbers.below(200) {
            0 if self.jumps > 0 => Step::SetBack(far),
            1 if self.jumps > 0 => Step::Wait(far),
            2..6 => Step::GiveBack,
            6..70 => Step::Wait(Duration::from_millis(numbers.below(2 * self.wait_millis))),
            _ if numbers.below(100) < self.failures => Step::Fail { is_timeout: numbers.below(100) < self.timeouts },
            _ => Step::Succeed { is_first: numbers.below(100) >= self.failures },
        }
    }
}

/// Runs a sequence of steps, and compares the quota with the model after each of them.
fn compare(seed: u64) -> [u64; 4] {
    let numbers = &mut Numbers(seed);
    let (quota, clock, mut model) = (EvidenceQuota::new(), ManualTimer::new(), Model::default());
    let now = || crate::Clock::now(&clock);
    let mut kind = Kind::draw(numbers);
    let mut counts = [0; 4];
    for number in 0..2_000 {
        if number % 400 == 399 {
            kind = Kind::draw(numbers);
        }
        let step = kind.step(numbers);
        match step {
            Step::Wait(time) => clock.advance(time),
            Step::SetBack(time) => clock.set(now().saturating_sub(time)),
            Step::Fail { is_timeout } => {
                let is_paid = quota.pay(14, if is_timeout { Timeout } else { Other }, &clock).is_some();
                assert_eq!(is_paid, model.fail(is_timeout, now()), "seed {seed}, step {number}, {step:?}: {model:?}");
                counts[usize::from(is_paid)] += 1;
            }
            Step::Succeed { is_first: true } => quota.first_succeeded(1),
            Step::Succeed { is_first: false } => quota.retry_succeeded(1, 1),
            Step::GiveBack => quota.give_back(1),
        }
        match step {
            Step::Succeed { is_first } => model.succeed(is_first),
            Step::GiveBack => model.give_back(1),
            _ => {}
        }
        let missing = u64::from(quota.with_ledger(Ledger::account).missing);
        assert_eq!(missing, model.missing, "seed {seed}, step {number}, {step:?}: {model:?}");
        assert_eq!(quota.is_full(), model.is_settled, "seed {seed}, step {number}, {step:?}: {model:?}");
        counts[2] += u64::from(model.is_settled);
        counts[3] += u64::from(model.is_congested);
    }
    counts
}

// Rules Q12, Q13, Q14, Q15, Q16.
#[test]
fn a_quota_judges_as_the_plain_model_of_its_rules() {
    let mut seen = [0; 4];
    for seed in 0..4_000 {
        for (sum, count) in seen.iter_mut().zip(compare(seed)) {
            *sum += count;
        }
    }
    assert!(seen.iter().all(|count| *count > 100_000), "refused, paid, settled, congested: {seen:?}");
}
