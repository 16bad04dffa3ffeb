//! Whole calls with their time limits: `max_time`, `deadline`, `attempt_timeout`, waits that the server asks for, long polling,
//! a stop, calls inside of attempts, calls that are dropped, and hedges.

mod model;

use crate::program::{check, each};
use crate::script::{Error, judge};
use crate::support::by_hand::by_hand;
use crate::support::{Failed, kept, millis};
use model::{End, Model};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use retry_core::drive::Operation;
use retry_core::strategy::{LongPolling, Refund};
use retry_core::{Hedge, Jitter, Report, RetryQuota, StandardRetryStrategy, Stop, TokioTimer, policy_fn, retry};
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

type Outcome = Result<u32, Error>;
type Reported<'a> = Pin<Box<dyn Future<Output = Report<Outcome>> + 'a>>;

/// A call. Times are in milliseconds.
#[derive(Clone, Debug)]
struct Call {
    /// What happens in each attempt. The last entry is repeated.
    attempts: Vec<Attempt>,
    max_time: Option<u64>,
    /// The deadline, counted from the start. It can be in the past.
    deadline: Option<i64>,
    attempt_timeout: Option<u64>,
    hedge: Option<u64>,
    long_polling: bool,
    /// When the call is stopped. Never at the time of anything else.
    stop: Option<u64>,
    /// Whether it is driven by hand, without a hedge.
    is_by_hand: bool,
}

#[derive(Clone, Debug)]
enum Attempt {
    Takes(u64, Outcome),
    Calls(Box<Call>),
}

impl Call {
    fn attempt(&self, number: usize) -> &Attempt {
        &self.attempts[(number - 1).min(self.attempts.len() - 1)]
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The call of this number, which is dropped after a time.
    Call(usize, Option<u64>),
    /// Others take this amount of the quota.
    Spend(u32),
    Turn(bool),
}

/// A strategy for calls, and one for calls inside of their attempts.
#[derive(Clone, Copy, Debug)]
struct Settings {
    capacities: [u32; 2],
    max_attempts: u32,
    refunds_last_cost: bool,
}

/// What calls are made with.
struct World {
    strategies: [StandardRetryStrategy; 2],
    began: Instant,
    /// The depth, the number and the start of each attempt.
    begun: RefCell<Vec<(usize, usize, u64)>>,
    running: Cell<u32>,
}

struct Running<'a>(&'a Cell<u32>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl World {
    fn new(settings: Settings) -> Self {
        let refund = if settings.refunds_last_cost { Refund::LastCost } else { Refund::Amount(1) };
        let strategies = settings.capacities.map(|capacity| {
            StandardRetryStrategy::new()
                .max_attempts(settings.max_attempts)
                .backoff(millis(100), millis(500))
                .max_retry_after(Some(millis(1_000)))
                .quota_capacity(capacity)
                .refunds(1, refund)
                .jitter(Jitter::None)
        });
        Self { strategies, began: Instant::now(), begun: RefCell::default(), running: Cell::new(0) }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap()
    }

    async fn attempt(&self, depth: usize, number: usize, attempt: &Attempt) -> Outcome {
        self.begun.borrow_mut().push((depth, number, self.now()));
        self.running.set(self.running.get() + 1);
        let _running = Running(&self.running);
        match attempt {
            Attempt::Takes(0, outcome) => *outcome,
            Attempt::Takes(time, outcome) => {
                sleep(millis(*time)).await;
                *outcome
            }
            Attempt::Calls(call) => self.call(depth + 1, call).await.outcome,
        }
    }

    fn call<'a>(&'a self, depth: usize, call: &'a Call) -> Reported<'a> {
        Box::pin(async move {
            // A static, for operations that are driven by hand.
            let stop: &'static Stop = Box::leak(Box::default());
            let stops = async {
                if let Some(time) = call.stop {
                    sleep(millis(time)).await;
                    stop.stop();
                }
                std::future::pending::<()>().await;
            };
            let number = Cell::new(0);
            let attempt = || {
                number.set(number.get() + 1);
                self.attempt(depth, number.get(), call.attempt(number.get()))
            };
            let hedge = kept(Hedge::after(millis(call.hedge.unwrap_or_default())));
            // Each option changes the type of the call.
            macro_rules! report {
                ($retry:expr) => {
                    match call.hedge {
                        None => Box::pin($retry.report()) as Reported<'_>,
                        Some(_) => Box::pin($retry.hedge(hedge).report()),
                    }
                };
            }
            macro_rules! stoppable {
                ($retry:expr) => {
                    if call.stop.is_some() { report!($retry.stop(stop)) } else { report!($retry) }
                };
            }
            macro_rules! timed {
                ($retry:expr) => {
                    match call.attempt_timeout {
                        Some(time) => stoppable!($retry.attempt_timeout(millis(time))),
                        None => stoppable!($retry),
                    }
                };
            }
            macro_rules! limited {
                ($retry:expr) => {
                    match (call.max_time, call.deadline) {
                        (None, None) => timed!($retry),
                        (Some(time), None) => timed!($retry.max_time(millis(time))),
                        (time, Some(deadline)) => {
                            let part = millis(deadline.unsigned_abs());
                            let now = Instant::now();
                            let retry = $retry.deadline(if deadline < 0 { now - part } else { now + part });
                            timed!(retry.max_time(time.map_or(Duration::MAX, millis)))
                        }
                    }
                };
            }
            let strategy = &self.strategies[depth.min(1)];
            let polls = LongPolling::over(strategy);
            let report = if call.is_by_hand {
                self.drive_by_hand(depth, call, stop, attempt)
            } else if call.long_polling {
                limited!(retry(&polls, attempt).policy(policy_fn(judge).idempotent(true)))
            } else {
                limited!(retry(strategy, attempt).policy(policy_fn(judge).idempotent(true)))
            };
            tokio::select! {
                biased;
                report = report => report,
                () = stops => unreachable!(),
            }
        })
    }

    fn drive_by_hand<'a>(
        &'a self,
        depth: usize,
        call: &'a Call,
        stop: &'static Stop,
        mut attempt: impl AsyncFnMut() -> Outcome + 'a,
    ) -> Reported<'a> {
        Box::pin(async move {
            let strategy = &self.strategies[depth.min(1)];
            let polls = LongPolling::over(strategy);
            macro_rules! drive {
                ($strategy:expr) => {{
                    let mut builder = Operation::builder($strategy, "by hand");
                    if let Some(time) = call.max_time {
                        builder = builder.max_time(millis(time));
                    }
                    if let Some(deadline) = call.deadline {
                        let (part, now) = (millis(deadline.unsigned_abs()), Instant::now());
                        builder = builder.deadline(if deadline < 0 { now - part } else { now + part });
                    }
                    if let Some(time) = call.attempt_timeout {
                        builder = builder.attempt_timeout(millis(time));
                    }
                    by_hand(builder.stop(stop), policy_fn(judge), &mut attempt).await
                }};
            }
            if call.long_polling { drive!(&polls) } else { drive!(strategy) }
        })
    }

    async fn step(&self, step: Step, calls: &[Call], model: &mut Model) {
        match step {
            Step::Call(number, dropped_after) => {
                let (call, start) = (&calls[number % calls.len()], self.now());
                let dropped_at = dropped_after.map_or(u64::MAX, |time| start + time);
                let time = dropped_after.map_or(Duration::MAX / 4, millis);
                let report = timeout(time, self.call(0, call)).await.ok();
                let seen = report.map(|report| End {
                    outcome: report.outcome,
                    attempts: report.attempts,
                    reason: report.reason,
                    at: start + u64::try_from(report.elapsed.as_millis()).unwrap(),
                });
                assert_eq!(seen, model.call(0, call, start, dropped_at), "{call:?}");
                assert_eq!(*self.begun.borrow(), model.begun, "{call:?}");
                assert_eq!(self.running.get(), 0, "an attempt is left of {call:?}");
            }
            Step::Spend(amount) => {
                let is_paid = self.strategies[0].quota().try_acquire(amount, &TokioTimer);
                assert_eq!(is_paid, model.spend(amount));
            }
            Step::Turn(is_on) => {
                self.strategies[0].set_enabled(is_on);
                model.is_on = is_on;
            }
        }
        let balances = [0, 1].map(|depth| self.strategies[depth].quota().available());
        assert_eq!(balances, model.balances);
    }
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    let failed = prop_oneof![
        5 => Just(Failed::SAFE),
        3 => Just(Failed::THROTTLED),
        2 => Just(Failed::TIMEOUT),
        2 => Just(Failed::CONFLICT),
        2 => Just(Failed::FATAL),
        3 => (0..12_u64).prop_map(|wait| Failed::SAFE.after(millis(100 * wait))),
    ];
    prop_oneof![2 => Just(Ok(1)), 1 => Just(Ok(0)), 7 => failed.prop_map(|failed| Err(Error::Failed(failed)))]
}

/// Times in steps of 100 ms, so that many things happen at the same time.
fn times(most: u64) -> impl Strategy<Value = u64> {
    (0..=most).prop_map(|time| 100 * time)
}

fn attempts() -> impl Strategy<Value = Vec<Attempt>> {
    vec((times(8), outcomes()).prop_map(|(time, outcome)| Attempt::Takes(time, outcome)), 1..5)
}

fn limited(attempts: impl Strategy<Value = Vec<Attempt>>, stop_at: u64) -> impl Strategy<Value = Call> {
    let deadline = option::weighted(0.4, (-2..25_i64).prop_map(|time| 100 * time));
    let limits = (option::of(times(25)), deadline, option::of(times(9)));
    let stop = option::weighted(0.3, times(20).prop_map(move |time| time + stop_at));
    (attempts, limits, any::<[bool; 2]>(), stop).prop_map(|(attempts, limits, [long_polling, is_by_hand], stop)| {
        let (mut max_time, deadline, attempt_timeout) = limits;
        // Which of two equal limits is named is not a rule.
        if max_time.is_some_and(|time| deadline.is_some_and(|deadline| deadline.max(0).unsigned_abs() == time)) {
            max_time = None;
        }
        Call { attempts, max_time, deadline, attempt_timeout, hedge: None, long_polling, stop, is_by_hand }
    })
}

fn nested() -> impl Strategy<Value = Vec<Attempt>> {
    let plain = || (times(8), outcomes()).prop_map(|(time, outcome)| Attempt::Takes(time, outcome));
    let inner = limited(attempts(), 3).prop_map(|call| Attempt::Calls(Box::new(call)));
    vec(prop_oneof![3 => plain(), 1 => inner], 1..5)
}

fn hedged() -> impl Strategy<Value = Call> {
    let call = (attempts(), option::weighted(0.4, times(20)), option::weighted(0.5, times(9)), times(6));
    let stop = option::weighted(0.15, times(20).prop_map(|time| time + 50));
    (call, any::<bool>(), stop).prop_map(|((attempts, max_time, attempt_timeout, hedge), long_polling, stop)| Call {
        attempts,
        max_time,
        deadline: None,
        attempt_timeout,
        hedge: Some(hedge),
        long_polling,
        stop,
        is_by_hand: false,
    })
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        9 => (0..4_usize, option::weighted(0.25, times(20))).prop_map(|(call, dropped)| Step::Call(call, dropped)),
        1 => (0..20_u32).prop_map(Step::Spend),
        1 => any::<bool>().prop_map(Step::Turn),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    ((prop_oneof![0..40_u32, Just(500)], 0..20_u32), 1..6_u32, any::<bool>()).prop_map(
        |((outer, inner), max_attempts, refunds_last_cost)| Settings {
            capacities: [outer, inner],
            max_attempts,
            refunds_last_cost,
        },
    )
}

fn run(settings: Settings, calls: &[Call], steps: Vec<Step>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let world = runtime.block_on(async { World::new(settings) });
    let mut model = Model::new(settings);
    each(steps, |step| runtime.block_on(world.step(step, calls, &mut model)));
}

// Rules R1, R7, R9, R11, R20, T1, T2, T3, T4, T5, T6, T7, T14, T17, T18, T19, D1, D2, B4, B5, Q3, Q4.
#[test]
fn time_limits_end_calls_and_calls_inside_of_attempts_when_the_rules_say_so() {
    let programs = (settings(), vec(limited(nested(), 50), 1..4), vec(steps(), 1..8));
    check(file!(), 2500, programs, |(settings, calls, steps)| run(settings, &calls, steps));
}

// Rules V3, V4, V5, V6, V7, V8, T1, T3, T6, T7, T17, D1, D2.
#[test]
fn hedges_are_sent_paid_and_judged_by_the_rules() {
    let programs = (settings(), vec(hedged(), 1..4), vec(steps(), 1..8));
    check(file!(), 2500, programs, |(settings, calls, steps)| run(settings, &calls, steps));
}
