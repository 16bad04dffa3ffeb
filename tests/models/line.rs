//! The patient strategy: who waits for the service, who is sent for which evidence or as a probe, and who is woken.

mod model;

use crate::program::{check, each};
use crate::support::{ByHand, Failed, Wakes, millis, secs};
use model::Model;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use retry_core::limit::{LazyWaker, Ready};
use retry_core::strategy::{DelaySource, PatientRetryToken};
use retry_core::{
    ExponentialBackoff, Failure, Jitter, PatientRetryStrategy, RetryError, RetryStrategy, RetryToken,
    StandardRetryStrategy, Success, TokenBucket,
};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// The number of places for operations.
const PLACES: usize = 8;

/// One step of a program. Times are in milliseconds.
#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u64),
    /// An operation begins, if the place is free.
    Begin(usize, Limits),
    /// An attempt that was sent gets this answer.
    Answer(usize, Answer),
    /// An operation that waits asks, although it need not.
    Ask(usize),
    /// All operations that are woken, or whose waits are over, ask.
    Poll,
    /// An operation is dropped. If its attempt was sent, nobody is told.
    Drop(usize),
    /// What is spare is taken, and other processes grant sends, and say whether operations of theirs wait, and how long at least.
    Peers(u32, Option<u64>),
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    max_time: Option<u64>,
    is_attempt_bound: bool,
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    Success,
    /// A failure, with a wait that the server asks for.
    Failure(Option<u64>),
    TimedOut,
    Fatal,
    /// It was not sent after all, and fails. The quota always pays for a retry.
    Unsent,
    /// It was not sent after all, and fails. The quota may refuse to pay for a retry.
    UnsentCostly,
    /// It was not sent after all, and the operation goes.
    Released,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    max_attempts: u32,
    max_waiting: u32,
    max_wait: u64,
    /// The capacity of the quota. A retry costs 5 or 10, and a success gives back 1.
    quota: u32,
}

fn settings() -> impl Strategy<Value = Settings> {
    let quota = prop_oneof![2 => Just(0_u32), 1 => 5..30_u32];
    let max_waiting = prop_oneof![3 => Just(10_000_u32), 1 => 1..6_u32];
    let max_wait = prop_oneof![3 => Just(15_000_u64), 1 => 1..60_000_u64];
    (2..6_u32, max_waiting, max_wait, quota).prop_map(|(max_attempts, max_waiting, max_wait, quota)| Settings {
        max_attempts,
        max_waiting,
        max_wait,
        quota,
    })
}

fn steps() -> impl Strategy<Value = Step> {
    let place = || 0..PLACES;
    let limits = (option::weighted(0.4, prop_oneof![1..1_500_u64, 1..20_000_u64]), prop::bool::weighted(0.9))
        .prop_map(|(max_time, is_attempt_bound)| Limits { max_time, is_attempt_bound });
    let hint = option::weighted(0.1, 1..4_000_u64);
    let answer = prop_oneof![
        8 => Just(Answer::Success),
        8 => hint.prop_map(Answer::Failure),
        2 => Just(Answer::TimedOut),
        1 => Just(Answer::Fatal),
        1 => Just(Answer::Unsent),
        2 => Just(Answer::UnsentCostly),
        1 => Just(Answer::Released),
    ];
    prop_oneof![
        8 => prop_oneof![4 => 1..140_u64, 2 => 140..1_100_u64, 1 => 1_100..20_000_u64].prop_map(Step::Advance),
        12 => (place(), limits).prop_map(|(place, limits)| Step::Begin(place, limits)),
        16 => (place(), answer).prop_map(|(place, answer)| Step::Answer(place, answer)),
        3 => place().prop_map(Step::Ask),
        8 => Just(Step::Poll),
        4 => place().prop_map(Step::Drop),
        2 => (prop_oneof![2 => Just(0_u32), 1 => 0..4_u32], option::of(prop_oneof![Just(0_u64), 1..15_000_u64]))
            .prop_map(|(sends, wait)| Step::Peers(sends, wait)),
    ]
}

fn as_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap()
}

/// An operation.
struct Operation {
    token: PatientRetryToken,
    limits: Limits,
    began: u64,
    place: Place,
}

/// Where an operation is.
enum Place {
    /// Its attempt was sent at this time, for a credit or not, and is measured or not.
    Sent { at: u64, is_measured: bool, for_credit: bool },
    /// It sleeps until this time, because the server asked for it.
    Sleeps { until: u64 },
    /// It has asked, and asks again at this time, or when it is woken.
    Waits { asks_at: u64, woken: Arc<Wakes> },
}

struct World {
    clock: ByHand,
    strategy: PatientRetryStrategy<ExponentialBackoff, TokenBucket>,
    settings: Settings,
    operations: [Option<Operation>; PLACES],
    model: Model,
}

impl World {
    fn new(settings: Settings) -> Self {
        let standard = StandardRetryStrategy::new().max_attempts(settings.max_attempts).quota_capacity(settings.quota);
        let strategy = PatientRetryStrategy::over(standard.jitter(Jitter::Fixed(0.0)))
            .max_waiting(settings.max_waiting)
            .max_wait_for_service(millis(settings.max_wait));
        let (clock, model) = (ByHand::at(secs(1_000)), Model::new());
        Self { clock, strategy, settings, operations: [const { None }; PLACES], model }
    }

    /// Makes the least latency zero and the timeout a second, so that an answer is fast if it takes 150 ms at most. A strategy that
    /// is moved is another one, so this is not a part of `new`.
    fn start(&mut self) {
        let limits = Limits { max_time: None, is_attempt_bound: true };
        for answer in [Answer::Success, Answer::Failure(None)] {
            self.begin(0, limits);
            self.answer(0, answer);
        }
        self.leave(0);
    }

    fn now(&self) -> u64 {
        as_millis(self.clock.time())
    }

    fn begin(&mut self, place: usize, limits: Limits) {
        if self.operations[place].is_some() {
            return;
        }
        let (now, is_measured) = (self.now(), !self.strategy.starts_empty());
        self.model.begins(now, is_measured);
        let mut token = None;
        let readings = self.clock.readings_of(|| {
            token = Some(self.strategy.acquire_initial_token(&self.clock).unwrap());
        });
        assert_eq!(readings > 0, is_measured, "the clock is read only if the attempt is measured");
        let mut token = token.unwrap();
        assert_eq!(self.strategy.ready(&mut token, &self.clock, None), Ready::Now);
        let place_of = Place::Sent { at: now, is_measured, for_credit: false };
        self.operations[place] = Some(Operation { token, limits, began: now, place: place_of });
    }

    fn answer(&mut self, place: usize, answer: Answer) {
        let Some(Operation { token, limits, began, place: Place::Sent { at, is_measured, for_credit } }) =
            self.operations[place].take_if(|operation| matches!(operation.place, Place::Sent { .. }))
        else {
            return;
        };
        let now = self.now();
        let is_sent = !matches!(answer, Answer::Unsent | Answer::UnsentCostly | Answer::Released);
        if for_credit && !is_sent {
            self.model.gives_back();
        }
        let failed = match answer {
            Answer::Success => {
                let readings = self.clock.readings_of(|| {
                    self.strategy.record_success(token, &Success::default(), &self.clock).unwrap();
                });
                assert_eq!(readings > 0, is_measured);
                if is_measured {
                    self.model.succeeds(now, now - at);
                }
                return;
            }
            Answer::Failure(None) | Answer::UnsentCostly => Failed::SAFE,
            Answer::Failure(Some(hint)) => Failed::SAFE.after(millis(hint)),
            Answer::TimedOut => Failed { timeout: true, ..Failed::SAFE },
            Answer::Fatal => Failed::FATAL,
            Answer::Unsent => Failed::CONFLICT,
            Answer::Released => return self.strategy.release(token),
        };
        let left = limits.max_time.map(|time| (began + time).saturating_sub(now));
        let failure = Failure::of(&failed)
            .with_attempt_timeout(Some(secs(1)))
            .with_attempt_bound(limits.is_attempt_bound)
            .with_remaining(left.map(millis))
            .with_sent(is_sent);
        if is_sent && failure.is_retryable() {
            self.model.fails(matches!(answer, Answer::TimedOut), is_measured.then_some(at));
        }
        let (attempts, waited) = (token.attempt(), token.waited());
        let is_last = attempts >= self.settings.max_attempts && limits.is_attempt_bound;
        let hint = failed.retry_after.unwrap_or_default();
        let refused = match self.strategy.refresh_retry_token(token, &failure, &self.clock) {
            Ok(next) => {
                assert!(!is_last && failure.is_retryable());
                assert_eq!(next.attempt(), attempts + 1);
                return self.continues(
                    place,
                    Operation { token: next, limits, began, place: Place::Sleeps { until: now } },
                    hint,
                );
            }
            Err(reason) => reason,
        };
        let is_full = self.model.waiting() >= self.settings.max_waiting;
        let has_time = left.is_some() || !limits.is_attempt_bound || waited < millis(self.settings.max_wait);
        let expected = match () {
            () if !failure.is_retryable() => RetryError::NotRetryable,
            () if is_last => RetryError::MaxAttempts,
            () if left.is_some_and(|left| hint > millis(left)) => RetryError::MaxTime,
            () if is_full || !has_time => RetryError::QuotaExhausted,
            () => panic!("{refused:?} of an operation that can wait"),
        };
        assert_eq!(refused, expected);
    }

    /// An operation continues with a retry that is paid for, or waits.
    fn continues(&mut self, place: usize, mut operation: Operation, hint: Duration) {
        let (now, token) = (self.now(), &mut operation.token);
        if token.delay_source() == DelaySource::Service {
            assert_eq!(token.delay(), hint);
            let left = match operation.limits {
                Limits { max_time: Some(time), .. } => Some(((operation.began + time).saturating_sub(now), true)),
                Limits { is_attempt_bound: false, .. } => None,
                _ => Some((self.settings.max_wait.saturating_sub(as_millis(token.waited())) + as_millis(hint), false)),
            };
            let end = left.map(|(left, is_hard)| (now + left, is_hard));
            let may_probe = token.attempt() < self.settings.max_attempts || !operation.limits.is_attempt_bound;
            self.model.refused(place, end, may_probe);
            operation.place = Place::Sleeps { until: now + as_millis(hint) };
        } else {
            // Its delay is of no interest here.
            let is_measured = !self.strategy.starts_empty();
            assert_eq!(self.strategy.ready(token, &self.clock, None), Ready::Now);
            if is_measured {
                self.model.sends(now);
            }
            operation.place = Place::Sent { at: now, is_measured, for_credit: false };
        }
        self.operations[place] = Some(operation);
    }

    fn ask(&mut self, place: usize) {
        let now = self.now();
        let Some(operation) = &mut self.operations[place] else { return };
        match operation.place {
            Place::Sent { .. } => return,
            Place::Sleeps { until } if now < until => return,
            Place::Sleeps { .. } => self.model.joins(place, now),
            Place::Waits { .. } => {}
        }
        let woken = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&woken));
        let token = &mut operation.token;
        let before = token.waited();
        let ready = self.strategy.ready(token, &self.clock, Some(&LazyWaker::from(&waker)));
        let verdict = self.model.asks(place, now);
        match ready {
            Ready::After(wait) => {
                assert!(verdict.may_wait, "it waits, {verdict:?}");
                let wait = u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap();
                assert!(verdict.left.is_none_or(|left| wait <= left), "{wait} ms of {verdict:?}");
                operation.place = Place::Waits { asks_at: now + wait, woken };
                return;
            }
            Ready::Now => {
                assert!(verdict.may_send, "it is sent, {verdict:?}");
                let for_credit = self.model.sent(place, now);
                operation.place = Place::Sent { at: now, is_measured: true, for_credit };
            }
            Ready::Stop => {
                assert!(verdict.may_stop, "it ends, {verdict:?}");
                self.model.leaves(place);
            }
            ready => panic!("{ready:?}"),
        }
        assert_eq!(token.waited(), before + millis(verdict.waited), "the time that it waited");
        if ready == Ready::Stop
            && let Some(Operation { token, .. }) = self.operations[place].take()
        {
            self.strategy.release(token);
        }
    }

    /// Lets the operations ask that are woken, or whose waits are over, until none is.
    fn poll(&mut self) {
        for _ in 0..PLACES {
            for place in 0..PLACES {
                let is_due = self.operations[place].as_ref().is_some_and(|operation| match &operation.place {
                    Place::Sent { .. } => false,
                    Place::Sleeps { until } => *until <= self.now(),
                    Place::Waits { asks_at, woken } => *asks_at <= self.now() || woken.count() > 0,
                });
                if is_due {
                    self.ask(place);
                }
            }
        }
    }

    fn leave(&mut self, place: usize) {
        let Some(Operation { token, place: at, .. }) = self.operations[place].take() else { return };
        if !matches!(at, Place::Sent { .. }) {
            self.model.leaves(place);
            self.strategy.release(token);
        }
    }

    fn exchange(&mut self, granted: u32, others_wait: Option<u64>) {
        let (sends, longest) = self.model.wanted(self.now());
        assert_eq!(self.strategy.wanted_sends(&self.clock), (sends, millis(longest)));
        assert_eq!(self.strategy.take_spare_halves(&self.clock), self.model.take_spare(self.now()));
        let is_measured = !self.strategy.starts_empty();
        self.strategy.grant(granted, others_wait.map(millis), &self.clock);
        self.model.peers(granted, others_wait, is_measured, self.now());
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Advance(time) => self.clock.advance(millis(time)),
            Step::Begin(place, limits) => self.begin(place, limits),
            Step::Answer(place, answer) => self.answer(place, answer),
            Step::Ask(place) => self.ask(place),
            Step::Poll => self.poll(),
            Step::Drop(place) => self.leave(place),
            Step::Peers(granted, others_wait) => self.exchange(granted, others_wait),
        }
        self.check();
    }

    /// What holds after each step.
    fn check(&self) {
        assert_eq!(self.strategy.waiting_operations(), Some(self.model.waiting()));
        assert!(self.model.waiting() <= self.settings.max_waiting);
        assert!(
            self.model.is_settled() || !self.strategy.starts_empty(),
            "attempts are measured while operations wait"
        );
        for (place, operation) in self.operations.iter().enumerate() {
            let Some(Operation { token, limits, place: at, .. }) = operation else { continue };
            assert!(token.attempt() <= self.settings.max_attempts || !limits.is_attempt_bound);
            if let Place::Waits { asks_at, woken } = at
                && let Some(by) = self.model.must_ask_by(place)
            {
                assert!(
                    woken.count() > 0 || *asks_at <= by,
                    "place {place} is not woken, and asks {asks_at} after {by}"
                );
            }
        }
    }

    /// All operations end, and nothing is left.
    fn end(&mut self) {
        for _ in 0..20 {
            for place in 0..PLACES {
                self.answer(place, Answer::Fatal);
            }
            self.poll();
            self.check();
            self.clock.advance(secs(6));
        }
        // Only those without an end of their wait are left.
        let is_endless =
            |operation: &Operation| !operation.limits.is_attempt_bound && operation.limits.max_time.is_none();
        assert!(self.operations.iter().flatten().all(is_endless), "an operation does not end");
        (0..PLACES).for_each(|place| self.leave(place));
        assert_eq!(self.strategy.waiting_operations(), Some(0));
        self.exchange(0, None);
        for _ in 0..16 {
            self.begin(0, Limits { max_time: None, is_attempt_bound: true });
            self.answer(0, Answer::Success);
        }
        assert!(self.strategy.starts_empty(), "nothing is measured any longer");
        self.model.check_total();
    }
}

// Rules U1, U3, U5, U6, U7, U8, U9, U11, U14, U16, U17, U18, U20, U21, U23, U24.
#[test]
fn operations_are_sent_in_order_for_evidence_or_one_at_a_time_as_probes() {
    check(file!(), 500, (settings(), vec(steps(), 1..200)), |(settings, steps)| {
        let mut world = World::new(settings);
        world.start();
        each(steps, |step| world.step(step));
        world.end();
    });
}
