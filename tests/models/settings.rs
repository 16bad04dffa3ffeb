//! Settings that change while a strategy runs, with refills of its quota: operations whose failures are judged by the settings of
//! the moment, and a balance that lives through all changes.

mod model;

use crate::program::{check, each};
use crate::support::{ByHand, Failed, millis};
use model::Model;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use retry_config::{ConfiguredStrategy, ConfiguredToken, RetryConfig, RetryMode};
use retry_core::strategy::{Refund, RetryCosts};
use retry_core::{Failure, Jitter, RetryError, RetryQuota, RetryStrategy, RetryToken, StandardRetryStrategy, Success};
use std::time::Duration;

/// One step of a program. Times are in milliseconds.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u64),
    SetBack(u64),
    /// One of the operations fails. If it has ended, the next one begins before.
    Fail(usize, Kind, Option<u64>, Option<u64>),
    Succeed(usize),
    /// One of the operations goes away before its attempt was sent.
    Leave(usize),
    Apply(Settings),
    Turn(bool),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Throttled,
    TimedOut,
    Conflict,
    Other,
    Final,
}

/// The settings of a configuration. What is not set comes from the strategy.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::option_option, reason = "what is not set, and no limit")]
struct Settings {
    is_off: bool,
    max_attempts: Option<u32>,
    /// The base and the cap.
    delays: Option<(u64, u64)>,
    throttling_base: Option<u64>,
    conflict_base: Option<u64>,
    max_retry_after: Option<Option<u64>>,
    capacity: Option<u32>,
    refill: Option<(u32, u64)>,
    /// After throttling, a timeout, a conflict, and any other failure.
    costs: Option<[u32; 4]>,
    /// After a first attempt, and after a retry; `None` for the cost of the last retry.
    refunds: Option<(u32, Option<u32>)>,
}

impl Settings {
    fn config(&self) -> RetryConfig {
        let mut config = RetryConfig::new().mode(if self.is_off { RetryMode::Off } else { RetryMode::Standard });
        if let Some(max_attempts) = self.max_attempts {
            config = config.try_max_attempts(max_attempts).unwrap();
        }
        if let Some((base, cap)) = self.delays {
            config = config.backoff(millis(base), millis(cap));
        }
        if let Some(base) = self.throttling_base {
            config = config.throttling_base(millis(base));
        }
        if let Some(base) = self.conflict_base {
            config = config.conflict_base(millis(base));
        }
        if let Some(longest) = self.max_retry_after {
            config = config.max_retry_after(longest.map(millis));
        }
        if let Some(capacity) = self.capacity {
            config = config.quota_capacity(capacity);
        }
        if let Some((amount, every)) = self.refill {
            config = config.try_quota_refill(amount, millis(every)).unwrap();
        }
        if let Some([throttled, timed_out, conflict, other]) = self.costs {
            let costs = RetryCosts::new(other).throttling(throttled).timeout(timed_out).conflict(conflict);
            config = config.retry_costs(costs);
        }
        if let Some((first, retry)) = self.refunds {
            config = config.refunds(first, retry.map_or(Refund::LastCost, Refund::Amount));
        }
        config
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let times = || prop_oneof![Just(0), Just(20), Just(700), Just(5_000)];
    let delays = option::of((times(), times()));
    let capacity = option::weighted(0.7, prop_oneof![Just(0_u32), Just(3), Just(30), Just(500), 0..100_u32]);
    let refill = option::weighted(0.7, (0..12_u32, prop_oneof![Just(1_u64), Just(100), Just(700), Just(30_000)]));
    let costs = option::of([0..12_u32, 0..12_u32, 0..12_u32, 0..12_u32]);
    (
        (prop::bool::weighted(0.15), option::of(1..6_u32), delays, option::of(times()), option::of(times())),
        (option::of(option::of(times())), capacity, refill, costs, option::of((0..9_u32, option::of(0..9_u32)))),
    )
        .prop_map(|(one, other)| {
            let (is_off, max_attempts, delays, throttling_base, conflict_base) = one;
            let (max_retry_after, capacity, refill, costs, refunds) = other;
            let delays_of_code = Settings { is_off, max_attempts, delays, throttling_base, ..Settings::default() };
            Settings { conflict_base, max_retry_after, capacity, refill, costs, refunds, ..delays_of_code }
        })
}

fn steps() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        3 => Just(Kind::Throttled), 3 => Just(Kind::TimedOut), 2 => Just(Kind::Conflict), 6 => Just(Kind::Other), 1 => Just(Kind::Final)
    ];
    let times = || option::weighted(0.2, prop_oneof![0..6_000_u64, Just(700), Just(5_000), Just(400_000)]);
    prop_oneof![
        6 => prop_oneof![1..200_u64, Just(100), Just(700), 1..90_000_u64].prop_map(Step::Advance),
        1 => prop_oneof![1..250_u64, 250..100_000_u64].prop_map(Step::SetBack),
        12 => (0..4_usize, kind, times(), times()).prop_map(|(slot, kind, hint, left)| Step::Fail(slot, kind, hint, left)),
        4 => (0..4_usize).prop_map(Step::Succeed),
        2 => (0..4_usize).prop_map(Step::Leave),
        4 => settings().prop_map(Step::Apply),
        1 => any::<bool>().prop_map(Step::Turn),
    ]
}

/// A strategy in the course of a program.
struct World {
    clock: ByHand,
    strategy: ConfiguredStrategy,
    tokens: [Option<ConfiguredToken>; 4],
    model: Model,
}

impl World {
    fn new(capacity: u32, refill: Option<(u32, u64)>) -> Self {
        let mut standard = StandardRetryStrategy::new().jitter(Jitter::None).quota_capacity(capacity);
        if let Some((amount, every)) = refill {
            standard = standard.quota_refill(amount, millis(every));
        }
        Self {
            clock: ByHand::at(Duration::from_secs(200_000)),
            strategy: RetryConfig::new().build_on(standard).unwrap(),
            tokens: [None, None, None, None],
            model: Model::new(capacity, refill),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.time().as_millis()).unwrap()
    }

    /// Takes the token of an operation. If it has ended, the next one begins.
    fn token(&mut self, slot: usize) -> ConfiguredToken {
        self.tokens[slot].take().unwrap_or_else(|| {
            self.model.begin(slot);
            self.strategy.acquire_initial_token(&self.clock).unwrap()
        })
    }

    fn fail(&mut self, slot: usize, kind: Kind, hint: Option<u64>, left: Option<u64>) {
        let error = match kind {
            Kind::Throttled => Failed::THROTTLED,
            Kind::TimedOut => Failed::TIMEOUT,
            Kind::Conflict => Failed::CONFLICT,
            Kind::Other => Failed::SAFE,
            Kind::Final => Failed::FATAL,
        };
        let failure = Failure::of(&Failed { retry_after: hint.map(millis), ..error }).with_remaining(left.map(millis));
        let token = self.token(slot);
        let next = self.strategy.refresh_retry_token(token, &failure, &self.clock);
        let expected = self.model.fail(slot, kind, hint, left, self.now());
        let seen = next.as_ref().map(|token| (token.attempt(), token.delay())).map_err(|reason| *reason);
        assert_eq!(seen, expected.map(|(attempt, delay)| (attempt, millis(delay))));
        self.tokens[slot] = next.ok();
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Advance(time) => self.clock.advance(millis(time)),
            Step::SetBack(time) => self.clock.set(self.clock.time().saturating_sub(millis(time))),
            Step::Fail(slot, kind, hint, left) => self.fail(slot, kind, hint, left),
            Step::Succeed(slot) => {
                let token = self.token(slot);
                self.strategy.record_success(token, &Success::default(), &self.clock).unwrap();
                self.model.succeed(slot);
            }
            Step::Leave(slot) => {
                if let Some(token) = self.tokens[slot].take() {
                    self.strategy.release(token);
                    self.model.leave(slot);
                }
            }
            Step::Apply(settings) => {
                self.strategy.apply(&settings.config(), &self.clock).unwrap();
                self.model.apply(&settings, self.now());
            }
            Step::Turn(is_on) => {
                self.strategy.set_enabled(is_on);
                self.model.is_on = is_on;
            }
        }
        let quota = self.strategy.quota();
        assert_eq!((quota.available(), quota.capacity()), (self.model.balance, self.model.capacity()));
        assert_eq!(self.strategy.is_enabled(), self.model.is_on);
    }
}

// Rules C19, C20, C21, K3, N13, Q1, Q3, Q4, Q7, R7, R9, R14, B2, B3, D1.
#[test]
fn failures_are_judged_by_the_settings_of_the_moment_and_one_balance_lives_through_all_changes() {
    let refill = option::of((0..12_u32, prop_oneof![Just(1_u64), Just(100), Just(700)]));
    check(file!(), 700, (0..600_u32, refill, vec(steps(), 1..100)), |(capacity, refill, steps)| {
        let mut world = World::new(capacity, refill);
        each(steps, |step| world.step(step));
    });
}
