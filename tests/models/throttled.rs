//! Operations that are throttled in the mode `paced`, and in others before and after: what their attempts cost, which of them
//! count, when they give up, and how many sends a limit of the user's lets through.

use crate::program::{check, each};
use crate::support::{ByHand, Failed, millis, secs};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use retry_config::{ConfiguredStrategy, ConfiguredToken, RetryConfig, RetryMode};
use retry_core::strategy::{DelaySource, HintLimit};
use retry_core::{
    ErrorFault, Failure, Jitter, RetryError, RetryQuota, RetryStrategy, RetryToken, StandardRetryStrategy, Success,
};
use retry_limits::Rejections;
use std::time::Duration;

const CAPACITY: u32 = 40;

/// One step of a program. Times are in milliseconds.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u64),
    Ask(usize),
    /// One of the operations fails, with a wait that the server asks for and what is left of `max_time`.
    Fail(usize, Kind, Option<u64>, Option<u64>),
    Succeed(usize),
    Leave(usize),
    Apply(Settings),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Throttled,
    /// Throttled, and not safe to repeat.
    ThrottledForGood,
    ServerError,
    TimedOut,
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    mode: RetryMode,
    max_attempts: u32,
    rejections: Rejections,
    max_throttled_time: u64,
    max_retry_after: Option<u64>,
    hint_limit: HintLimit,
}

const AT_START: Settings = Settings {
    mode: RetryMode::Paced,
    max_attempts: 3,
    rejections: Rejections::Throttling,
    max_throttled_time: 20_000,
    max_retry_after: None,
    hint_limit: HintLimit::Unlimited,
};

impl Settings {
    fn config(self, max_rate: Option<f64>, ramp: bool) -> RetryConfig {
        let config = RetryConfig::new()
            .mode(self.mode)
            .paced_ramp(ramp)
            .paced_rejections(self.rejections)
            .paced_max_throttled_time(millis(self.max_throttled_time))
            .max_retry_after(self.max_retry_after.map(millis))
            .hint_limit(self.hint_limit)
            .backoff(millis(100), secs(2))
            .quota_capacity(CAPACITY)
            .try_max_attempts(self.max_attempts)
            .unwrap();
        // A mode that would send without the limit refuses it.
        let is_limited = matches!(self.mode, RetryMode::Paced | RetryMode::Off);
        match max_rate.filter(|_| is_limited) {
            Some(rate) => config.try_paced_max_rate(rate).unwrap(),
            None => config,
        }
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let modes = [RetryMode::Paced, RetryMode::Paced, RetryMode::Standard, RetryMode::Adaptive, RetryMode::Off];
    let rejections = [Rejections::Throttling, Rejections::ServerErrors, Rejections::Timeouts];
    let limits = [HintLimit::Unlimited, HintLimit::MaxBackoff, HintLimit::BeyondBackoff(secs(1))];
    let times = prop_oneof![Just(0_u64), Just(2_000), 2_000..40_000_u64];
    let longest = option::of(prop_oneof![Just(1_000_u64), Just(4_000)]);
    (0..5_usize, 1..5_u32, 0..3_usize, times, longest, 0..3_usize).prop_map(
        move |(mode, max_attempts, which, max_throttled_time, max_retry_after, limit)| Settings {
            mode: modes[mode],
            max_attempts,
            rejections: rejections[which],
            max_throttled_time,
            max_retry_after,
            hint_limit: limits[limit],
        },
    )
}

fn steps() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![
        8 => Just(Kind::Throttled),
        1 => Just(Kind::ThrottledForGood),
        3 => Just(Kind::ServerError),
        2 => Just(Kind::TimedOut),
        2 => Just(Kind::Other),
    ];
    let hint = option::weighted(0.4, prop_oneof![Just(1_000_u64), Just(4_000), 0..6_000_u64]);
    let left = option::weighted(0.1, 0..6_000_u64);
    prop_oneof![
        10 => prop_oneof![3 => 1..50_u64, 2 => 50..3_000_u64, 1 => 3_000..20_000_u64].prop_map(Step::Advance),
        16 => (0..6_usize).prop_map(Step::Ask),
        10 => (0..6_usize, kind, hint, left).prop_map(|(slot, kind, hint, left)| Step::Fail(slot, kind, hint, left)),
        3 => (0..6_usize).prop_map(Step::Succeed),
        1 => (0..6_usize).prop_map(Step::Leave),
        2 => settings().prop_map(Step::Apply),
    ]
}

/// An operation, by the rules.
#[derive(Clone, Copy, Debug, Default)]
struct Operation {
    /// The attempts before this one that count, and those that do not.
    counted: u32,
    throttled: u32,
    /// The time of the first throttling, and the longest wait that the server asked for.
    since: u64,
    longest: Duration,
    paid: u32,
    /// The mode whose limiter it asks. An attempt that began in the mode `standard` asks none.
    mode: Option<RetryMode>,
    /// Whether its send was granted, and when, in the mode `paced`.
    is_sent: bool,
    sent_at: Option<u64>,
}

struct World {
    clock: ByHand,
    strategy: ConfiguredStrategy,
    max_rate: Option<f64>,
    ramp: bool,
    settings: Settings,
    /// The mode in which sends are limited. The mode `off` keeps it.
    mode: RetryMode,
    operations: [Option<(ConfiguredToken, Operation)>; 6],
    balance: u32,
    /// The times of the sends in the mode `paced`.
    sends: Vec<u64>,
    /// The number of sends that were given back later than they were granted.
    given_back: f64,
}

impl World {
    fn new(max_rate: Option<f64>, ramp: bool) -> Self {
        let config = AT_START.config(max_rate, ramp);
        Self {
            clock: ByHand::at(secs(1_000)),
            strategy: config.build_on(StandardRetryStrategy::new().jitter(Jitter::None)).unwrap(),
            max_rate,
            ramp,
            settings: AT_START,
            mode: AT_START.mode,
            operations: std::array::from_fn(|_| None),
            balance: CAPACITY,
            sends: Vec::new(),
            given_back: 0.0,
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.time().as_millis()).unwrap()
    }

    fn take(&mut self, slot: usize) -> (ConfiguredToken, Operation) {
        let operation = Operation { mode: Some(self.mode), ..Operation::default() };
        let begin = || (self.strategy.acquire_initial_token(&self.clock).unwrap(), operation);
        self.operations[slot].take().unwrap_or_else(begin)
    }

    fn ask(&mut self, slot: usize) {
        let (mut token, mut operation) = self.take(slot);
        let now = self.now();
        if self.strategy.ready(&mut token, &self.clock, None).wait().is_none() && !operation.is_sent {
            operation.is_sent = true;
            if operation.mode != Some(RetryMode::Standard) && self.mode == RetryMode::Paced {
                operation.sent_at = Some(now);
                self.sends.push(now);
            }
        }
        self.operations[slot] = Some((token, operation));
        if let Some(rate) = self.max_rate {
            // One send, or those of 2 ms, can be saved up, another one is kept for an operation that is late, and one that is
            // given back long after it came in is sent beside them.
            let saved = (0.002 * rate).max(1.0) + 1.0 + self.given_back;
            for (index, first) in self.sends.iter().enumerate() {
                #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
                let (sends, time) = ((self.sends.len() - index) as f64, (now - first) as f64 / 1e3);
                assert!(sends <= saved + rate * time + 1e-6, "{sends} sends in {time} s at {rate} per second");
            }
        }
    }

    /// Returns the next attempt, its delay without a random part, and whether the attempt was rejected. Or the reasons of which
    /// one may be named.
    fn judge(
        &mut self,
        operation: &mut Operation,
        kind: Kind,
        hint: Option<u64>,
        left: Option<u64>,
    ) -> Result<(Duration, bool), Vec<RetryError>> {
        if kind == Kind::ThrottledForGood {
            return Err(vec![RetryError::NotRetryable]);
        }
        if self.settings.mode == RetryMode::Off {
            return Err(vec![RetryError::Disabled]);
        }
        let is_rejected = self.settings.mode == RetryMode::Paced
            && match kind {
                Kind::Throttled | Kind::ThrottledForGood => true,
                Kind::ServerError => self.settings.rejections != Rejections::Throttling,
                Kind::TimedOut => self.settings.rejections == Rejections::Timeouts,
                Kind::Other => false,
            };
        let is_too_long = hint.zip(self.settings.max_retry_after).is_some_and(|(hint, most)| hint > most);
        let cut = |hint: u64, backoff: u64| match self.settings.hint_limit {
            HintLimit::MaxBackoff => hint.min(2_000),
            HintLimit::BeyondBackoff(_) => hint.min(backoff + 1_000),
            _ => hint,
        };
        if is_rejected {
            return self.rejected(operation, millis(cut(hint.unwrap_or(0), 0)), is_too_long, left);
        }
        if operation.counted + 1 >= self.settings.max_attempts {
            return Err(vec![RetryError::MaxAttempts]);
        }
        if is_too_long {
            return Err(vec![RetryError::RetryAfterTooLong]);
        }
        let backoff = (100_u64 << operation.counted).min(2_000);
        let delay = backoff.max(cut(hint.unwrap_or(0), backoff));
        if left.is_some_and(|left| delay > left) {
            return Err(vec![RetryError::MaxTime]);
        }
        let cost = if kind == Kind::TimedOut { 10 } else { 5 };
        if cost > self.balance {
            return Err(vec![RetryError::QuotaExhausted]);
        }
        self.balance -= cost;
        operation.paid = cost;
        operation.counted += 1;
        Ok((millis(delay), false))
    }

    /// A rejected attempt is repeated without backoff and cost, until its time is over.
    fn rejected(
        &mut self,
        operation: &mut Operation,
        wait: Duration,
        is_too_long: bool,
        left: Option<u64>,
    ) -> Result<(Duration, bool), Vec<RetryError>> {
        let now = self.now();
        if operation.throttled == 0 {
            operation.since = now;
        }
        // The library counts in quarters of a second, and waits in whole seconds.
        let elapsed = millis(now - operation.since);
        let most = millis(self.settings.max_throttled_time) + operation.longest;
        let is_over =
            elapsed >= most + secs(1) + millis(250) || operation.longest.is_zero() && elapsed >= most + millis(250);
        let can_be_over = elapsed + millis(250) > most;
        let mut reasons = Vec::new();
        if can_be_over || left.is_some_and(|left| wait.mul_f64(1.1) > millis(left)) {
            reasons.push(RetryError::MaxTime);
        }
        if is_too_long {
            reasons.push(RetryError::RetryAfterTooLong);
        }
        if is_over || is_too_long || left.is_some_and(|left| wait > millis(left)) {
            return Err(reasons);
        }
        operation.throttled += 1;
        operation.paid = 0;
        Ok((wait, true))
    }

    fn fail(&mut self, slot: usize, kind: Kind, hint: Option<u64>, left: Option<u64>) {
        let error = match kind {
            Kind::Throttled => Failed::THROTTLED,
            Kind::ThrottledForGood => Failed { throttle: true, ..Failed::FATAL },
            Kind::ServerError => Failed { fault: ErrorFault::Server, ..Failed::SAFE },
            Kind::TimedOut => Failed::TIMEOUT,
            Kind::Other => Failed::SAFE,
        };
        let failure = Failure::of(&Failed { retry_after: hint.map(millis), ..error }).with_remaining(left.map(millis));
        let (token, mut operation) = self.take(slot);
        let attempts = operation.counted + operation.throttled + 1;
        let next = self.strategy.refresh_retry_token(token, &failure, &self.clock);
        let expected = self.judge(&mut operation, kind, hint, left);
        match (next, expected) {
            (Ok(token), Ok((delay, is_rejected))) => {
                assert_eq!(token.attempt(), attempts + 1);
                let most = if is_rejected { delay.mul_f64(1.1).min(delay + secs(5)) } else { delay };
                assert!((delay..=most).contains(&token.delay()), "{:?} instead of {delay:?}", token.delay());
                let hint = millis(hint.unwrap_or(0));
                let is_hint = token.delay_source() == DelaySource::RetryAfter;
                assert!(!is_hint || !hint.is_zero(), "the server asked for nothing");
                if is_rejected {
                    operation.longest = operation.longest.max(token.delay());
                }
                (operation.mode, operation.is_sent, operation.sent_at) = (Some(self.mode), false, None);
                self.operations[slot] = Some((token, operation));
            }
            (Err(reason), Err(reasons)) => assert!(reasons.contains(&reason), "{reason:?} instead of {reasons:?}"),
            (Err(RetryError::MaxTime), Ok((wait, true))) => self.check_time(&operation, wait, left),
            (next, expected) => panic!("{next:?} instead of {expected:?}"),
        }
    }

    /// The time of an operation may be over within the precision of its counting, or that of a random part of its wait.
    fn check_time(&self, operation: &Operation, wait: Duration, left: Option<u64>) {
        let elapsed = millis(self.now() - operation.since);
        let can_be_over = elapsed + millis(250) > millis(self.settings.max_throttled_time) + operation.longest;
        assert!(can_be_over || left.is_some_and(|left| wait.mul_f64(1.1) > millis(left)), "{operation:?}");
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Advance(time) => self.clock.advance(millis(time)),
            Step::Ask(slot) => self.ask(slot),
            Step::Fail(slot, kind, hint, left) => self.fail(slot, kind, hint, left),
            Step::Succeed(slot) => {
                let (token, _) = self.take(slot);
                self.strategy.record_success(token, &Success::default(), &self.clock).unwrap();
                self.balance = CAPACITY.min(self.balance + 1);
            }
            Step::Leave(slot) => {
                if let Some((token, operation)) = self.operations[slot].take() {
                    self.strategy.release(token);
                    self.balance = CAPACITY.min(self.balance + operation.paid);
                    // Its send comes back.
                    if let Some(at) = operation.sent_at {
                        let index = self.sends.iter().rposition(|sent| *sent == at).unwrap();
                        self.sends.remove(index);
                        self.given_back += if at < self.now() { 1.0 } else { 0.0 };
                    }
                }
            }
            Step::Apply(settings) => {
                self.strategy.apply(&settings.config(self.max_rate, self.ramp), &self.clock).unwrap();
                self.settings = settings;
                if settings.mode != RetryMode::Off {
                    self.mode = settings.mode;
                }
            }
        }
        assert_eq!(self.strategy.quota().available(), self.balance);
    }
}

// Rules L7, L8, L17, L18, L30, B5, C19, R7, R9.
#[test]
fn throttled_attempts_are_repeated_without_a_cost_and_sends_stay_below_the_highest_rate() {
    let rate =
        prop_oneof![1 => Just(None), 2 => prop_oneof![Just(0.5), Just(5.0), Just(100.0), Just(3_000.0)].prop_map(Some)];
    check(file!(), 1200, (rate, any::<bool>(), vec(steps(), 1..120)), |(max_rate, ramp, steps)| {
        let mut world = World::new(max_rate, ramp);
        each(steps, |step| world.step(step));
    });
}

// Rules L18, L33.
#[test]
fn a_probe_in_a_hold_waits_for_the_highest_rate() {
    let mut world = World::new(Some(0.5), false);
    let throttled = |slot, hint| Step::Fail(slot, Kind::Throttled, hint, None);
    world.step(Step::Ask(5));
    world.step(Step::Advance(2_060));
    world.step(Step::Ask(0));
    // One send is kept for the first operation, which is late.
    world.step(Step::Advance(2_161));
    for step in [Step::Ask(0), Step::Ask(5), throttled(0, None), throttled(5, Some(4_000))] {
        world.step(step);
    }
    assert_eq!(world.sends.len(), 2);
    let held_at = world.now();
    while world.sends.len() == 2 {
        world.step(Step::Advance(10));
        world.step(Step::Ask(0));
    }
    let waited = world.now() - held_at;
    // L19: the time between two sends is 3 % longer, and 4 % more after a throttling.
    assert!((2_060..=2_150).contains(&waited), "{waited} ms");
}
