//! Calls that are stored in fields, whose types are written out, and code that is generic over calls.
#![expect(clippy::type_complexity, reason = "the written-out types are tested")]

use crate::script::{Error, SAFE, time_was_up};
use crate::support::{Failed, assert_send, secs};
use retry_core::policy::PolicyFn;
use retry_core::retry::{
    AsyncAttempts, Limited, LimitsOn, NoRetryAfter, OptionalObserver, Retry, TimeLimits, Unlimited, Unobserved,
    WhenPolicy,
};
use retry_core::time::{DefaultTimer, ManualTimer};
use retry_core::{
    Event, Jitter, Observer, Report, RetryDirective, RetryError, RetryErrorType, RetryPolicy, RetryStrategy,
    StandardRetryPolicy, StandardRetryStrategy, TimeLimit, Timer, TokioTimer, policy_fn, retry,
};
use std::future::{Pending, Ready, pending, ready};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

type Outcome = Result<u32, Error>;

/// Delays of 1, 2, 4 and 8 seconds.
static STRATEGY: StandardRetryStrategy =
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).quota_capacity(100_000);

#[derive(Default)]
struct Attempts(AtomicU32);

impl Attempts {
    /// Returns a new counter for one test, leaked because the calls need a `'static` observer.
    fn of_a_test() -> &'static Self {
        Box::leak(Box::default())
    }
}

impl Observer for Attempts {
    fn observe(&self, event: &Event) {
        if event.kind.as_str() == "attempt_started" {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

type Shared = &'static StandardRetryStrategy;

/// Stored calls. All type parameters but the first two have defaults, and all types can be named.
struct Calls {
    plain: Retry<Shared, fn() -> Ready<Outcome>>,
    spelled: Retry<Shared, fn() -> Ready<Outcome>, StandardRetryPolicy, DefaultTimer, Unobserved, Unlimited>,
    limited: Retry<Shared, fn() -> Pending<Outcome>, StandardRetryPolicy, TokioTimer, Unobserved, Limited>,
    observed: Retry<Shared, fn() -> Ready<Outcome>, StandardRetryPolicy, TokioTimer, &'static Attempts, Limited>,
    judged: Retry<Shared, fn() -> Ready<u32>, PolicyFn<fn(&u32) -> RetryDirective>, ManualTimer>,
    foreign:
        Retry<Shared, fn() -> Ready<Result<(), &'static str>>, WhenPolicy<fn(&&'static str) -> bool, NoRetryAfter>>,
}

impl Calls {
    fn new(attempts: &'static Attempts) -> Self {
        let fails: fn() -> Ready<Outcome> = || ready(SAFE);
        let stuck: fn() -> Pending<Outcome> = pending;
        let (zero, busy): (fn() -> Ready<u32>, fn() -> Ready<_>) = (|| ready(0), || ready(Err("busy")));
        let (judge, when): (fn(&u32) -> _, fn(&&'static str) -> bool) =
            (|_| RetryDirective::retry(RetryErrorType::Other), |error| *error == "idle");
        Self {
            plain: retry(&STRATEGY, fails),
            spelled: retry(&STRATEGY, fails).policy(StandardRetryPolicy::new().idempotent(true)).name("spelled"),
            limited: retry(&STRATEGY, stuck).attempt_timeout(secs(3)),
            observed: retry(&STRATEGY, fails).max_time(secs(2)).observer(attempts),
            judged: retry(&STRATEGY, zero).policy(policy_fn(judge)).timer(ManualTimer::new()),
            foreign: retry(&STRATEGY, busy).when(when),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_can_be_stored_in_a_field_and_run_from_there() {
    let attempts = Attempts::of_a_test();
    let calls = Calls::new(attempts);
    for round in 1..=2 {
        let report = calls.plain.clone().report().await;
        assert_eq!((report.outcome, report.attempts, report.elapsed), (SAFE, 5, secs(1 + 2 + 4 + 8)));

        let report = calls.limited.clone().report().await;
        assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Attempt, secs(3))));
        assert_eq!((report.attempts, report.elapsed), (5, secs(5 * 3 + 15)));

        let report = tokio::spawn(assert_send(calls.observed.clone().report())).await.unwrap();
        assert_eq!((report.outcome, report.reason), (SAFE, Some(RetryError::MaxTime)));
        assert_eq!((report.attempts, attempts.0.load(Ordering::Relaxed)), (2, round * 2));

        assert_eq!(calls.foreign.clone().run().await, Err("busy"));
    }
    assert_eq!(calls.spelled.run().await, SAFE);
    let mut judged = std::pin::pin!(calls.judged.run());
    crate::support::poll_once(judged.as_mut());
}

/// Runs a call of any type.
async fn report<S, F, Fut, P, T, O, L>(call: &Retry<S, F, P, T, O, L>) -> Report<Fut::Output>
where
    S: RetryStrategy,
    F: FnMut() -> Fut,
    Fut: Future,
    P: RetryPolicy<Fut::Output>,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<Fut::Output>,
    Retry<S, F, P, T, O, L>: Clone,
{
    call.clone().report().await
}

/// Sets `max_time` of a call with any limits.
fn within<S, F, P, T, O, L: TimeLimits>(
    call: Retry<S, F, P, T, O, L>,
    time: Duration,
) -> Retry<S, F, P, T, O, L::Limited> {
    call.max_time(time)
}

/// Sets the attempt timeout of a call with any limits.
fn with_attempts_within<S, F: AsyncAttempts, P, T, O, L: TimeLimits>(
    call: Retry<S, F, P, T, O, L>,
    time: Duration,
) -> Retry<S, F, P, T, O, L::Limited> {
    call.attempt_timeout(time)
}

/// Stores the call that a generic function returned.
struct Bounded<F, L: TimeLimits> {
    call: Retry<Shared, F, StandardRetryPolicy, TokioTimer, Unobserved, L::Limited>,
}

impl<F, Fut, L> Bounded<F, L>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Outcome>,
    L: TimeLimits<Limited: LimitsOn<Outcome>>,
{
    async fn report(self) -> Report<Outcome> {
        self.call.report().await
    }
}

#[tokio::test(start_paused = true)]
async fn generic_code_can_name_the_limits_with_an_attempt_timeout() {
    let stuck: fn() -> Pending<Outcome> = pending;
    let call = || retry(&STRATEGY, stuck);
    let plain: Bounded<_, Unlimited> = Bounded { call: with_attempts_within(call(), secs(2)) };
    let twice: Bounded<_, Limited> = Bounded { call: with_attempts_within(call().attempt_timeout(secs(1)), secs(2)) };
    for report in [plain.report().await, twice.report().await] {
        assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Attempt, secs(2))));
        assert_eq!((report.attempts, report.elapsed), (5, secs(5 * 2 + 15)));
    }
    let both: Bounded<_, Limited> = Bounded { call: with_attempts_within(call().max_time(secs(4)), secs(2)) };
    let report = both.report().await;
    assert_eq!((report.attempts, report.reason, report.elapsed), (2, Some(RetryError::MaxTime), secs(4)));
    let _: Retry<_, _, _, _, _, Limited> = with_attempts_within(call(), secs(2));
}

#[tokio::test(start_paused = true)]
async fn code_can_be_generic_over_calls_with_their_observers_and_limits() {
    let calls = Calls::new(Attempts::of_a_test());
    assert_eq!(report(&calls.plain).await.attempts, 5);
    assert_eq!(report(&calls.observed).await.attempts, 2);
    assert_eq!(report(&calls.foreign).await.attempts, 1);
    let bounded = within(calls.plain, secs(3));
    assert_eq!(report(&bounded).await.elapsed, secs(1 + 2));
    let bounded = within(within(calls.limited, secs(1000)), secs(5));
    let outcome = report(&bounded).await;
    assert_eq!(
        (outcome.attempts, outcome.elapsed),
        (2, secs(5)),
        "each attempt takes at most 3 seconds, and the call 5"
    );
}

/// A client that is generic over the observer and the limits of its stored call.
struct Client<O, L> {
    call: Retry<Shared, fn() -> Ready<Result<u32, Failed>>, StandardRetryPolicy, TokioTimer, O, L>,
}

impl<O: OptionalObserver + Clone, L: LimitsOn<Result<u32, Failed>>> Client<O, L> {
    async fn get(&self) -> Result<u32, Failed> {
        self.call.clone().run().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_struct_can_be_generic_over_observers_and_limits() {
    let answer: fn() -> Ready<Result<u32, Failed>> = || ready(Ok(7));
    let unobserved: Client<Unobserved, Unlimited> = Client { call: retry(&STRATEGY, answer) };
    assert_eq!(unobserved.get().await, Ok(7));
    let call = retry(&STRATEGY, answer).attempt_timeout(secs(1)).max_time(secs(9)).observer(Attempts::of_a_test());
    let observed: Client<&'static Attempts, Limited> = Client { call };
    assert_eq!(assert_send(observed.get()).await, Ok(7));
    assert_eq!(observed.get().await, Ok(7));
}
