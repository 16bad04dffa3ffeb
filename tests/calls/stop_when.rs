//! A future that ends its operation.

use crate::script::{Error, SAFE, time_was_up};
use crate::support::{Failed, assert_send, kept, millis, poll_once, secs};
use async_trait::async_trait;
use retry_core::{
    Event, Hedge, Jitter, Observer, PatientRetryStrategy, Report, RetryError, RetryQuota, RetryStrategy,
    StandardRetryStrategy, Stop, TimeLimit, retry, retry_with_context, retryable, test,
};
use std::cell::{Cell, RefCell};
use std::future::{Future, IntoFuture, pending, poll_fn, ready};
use std::marker::PhantomPinned;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::{Instant, sleep};

type Outcome = Result<u32, Error>;

/// Delays of 1, 2 and so on seconds, and a cost of 5 for each retry.
const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

const FORMS: [&str; 6] = ["closure", "context", "hedge", "attribute", "attribute with a hedge", "async block"];

static HEDGE: Hedge = Hedge::after(Duration::from_millis(100));

#[retryable(strategy = strategy, stop_when = when, on_end = |report| *end = numbers(report))]
async fn annotated<T>(
    strategy: &StandardRetryStrategy,
    calls: &Cell<u32>,
    when: impl Future<Output = T>,
    outcome: Outcome,
    end: &mut (u32, Option<RetryError>),
) -> Outcome {
    calls.set(calls.get() + 1);
    outcome
}

#[retryable(strategy = strategy, stop_when = when, hedge = HEDGE, idempotent, on_end = |report| end.set(numbers(report)))]
async fn annotated_with_a_hedge<T>(
    strategy: &StandardRetryStrategy,
    calls: &Cell<u32>,
    when: impl Future<Output = T>,
    outcome: Outcome,
    end: &Cell<(u32, Option<RetryError>)>,
) -> Outcome {
    calls.set(calls.get() + 1);
    outcome
}

#[retryable(strategy = strategy, stop_when = when, on_end = |report| end.set(numbers(report)))]
fn with_a_block<T>(
    strategy: &StandardRetryStrategy,
    calls: &Cell<u32>,
    when: impl Future<Output = T>,
    outcome: Outcome,
    end: &Cell<(u32, Option<RetryError>)>,
) -> impl Future<Output = Outcome> {
    async move {
        calls.set(calls.get() + 1);
        outcome
    }
}

fn numbers<R>(report: &Report<R>) -> (u32, Option<RetryError>) {
    (report.attempts, report.reason)
}

/// The outcome of a call in one of the [`FORMS`], and its report.
async fn call<T>(
    form: &str,
    strategy: &StandardRetryStrategy,
    calls: &Cell<u32>,
    when: impl Future<Output = T>,
    outcome: Outcome,
) -> (Outcome, (u32, Option<RetryError>)) {
    let attempt = || {
        calls.set(calls.get() + 1);
        ready(outcome)
    };
    let of_report = |report: Report<Outcome>| (report.outcome, numbers(&report));
    let (mut end, ended) = ((0, None), Cell::new((0, None)));
    match form {
        "closure" => of_report(retry(strategy, attempt).stop_when(when).report().await),
        "context" => of_report(retry_with_context(strategy, |_| attempt()).stop_when(when).report().await),
        "hedge" => {
            let call = retry(strategy, attempt).idempotent(true).hedge(&HEDGE);
            of_report(call.stop_when(when).report().await)
        }
        "attribute" => {
            let outcome = annotated(strategy, calls, when, outcome, &mut end).await;
            (outcome, end)
        }
        "attribute with a hedge" => {
            let outcome = annotated_with_a_hedge(strategy, calls, when, outcome, &ended).await;
            (outcome, ended.get())
        }
        _ => {
            let outcome = with_a_block(strategy, calls, when, outcome, &ended).await;
            (outcome, ended.get())
        }
    }
}

/// A future that can't be moved once it is polled, and must not be polled once it was ready.
struct Demanding {
    ready_after: u32,
    polls: Rc<Cell<u32>>,
    _pinned: PhantomPinned,
}

impl Future for Demanding {
    type Output = &'static str;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<&'static str> {
        self.polls.set(self.polls.get() + 1);
        assert!(self.polls.get() <= self.ready_after, "polled again");
        if self.polls.get() == self.ready_after {
            return Poll::Ready("ignored");
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

// Rules T17, T18, T21.
#[tokio::test(start_paused = true)]
async fn a_wait_ends_immediately_with_the_last_outcome_and_its_cost_comes_back() {
    for form in FORMS {
        let (strategy, calls, began) = (standard(), Cell::new(0), Instant::now());
        // In the middle of the second delay.
        let (outcome, numbers) = call(form, &strategy, &calls, sleep(secs(2)), SAFE).await;
        assert_eq!((outcome, numbers), (SAFE, (2, Some(RetryError::Stopped))), "{form}");
        assert_eq!((calls.get(), began.elapsed()), (2, secs(2)), "{form}");
        assert_eq!(strategy.quota().available(), 500 - 5, "{form}");
    }
}

// Rule T21.
#[tokio::test(start_paused = true)]
async fn if_the_future_is_ready_at_once_nothing_is_sent() {
    for form in FORMS {
        let (strategy, calls) = (standard(), Cell::new(0));
        let (outcome, numbers) = call(form, &strategy, &calls, ready(7), Ok(1)).await;
        assert_eq!(time_was_up(&outcome), Some((TimeLimit::Stop, Duration::ZERO)), "{form}");
        assert_eq!((numbers, calls.get()), ((0, Some(RetryError::Stopped)), 0), "{form}");
    }
}

// Rule T21.
#[tokio::test(start_paused = true)]
async fn if_the_future_is_never_ready_all_attempts_are_made() {
    for form in FORMS {
        let (strategy, calls) = (standard().max_attempts(2), Cell::new(0));
        let (outcome, numbers) = call(form, &strategy, &calls, pending::<()>(), SAFE).await;
        assert_eq!((outcome, numbers), (SAFE, (2, Some(RetryError::MaxAttempts))), "{form}");
        let (outcome, numbers) = call(form, &strategy, &calls, pending::<()>(), Ok(1)).await;
        assert_eq!((outcome, numbers), (Ok(1), (1, None)), "{form}");
    }
}

// Rule T21.
#[tokio::test(start_paused = true)]
async fn the_future_is_polled_until_it_is_ready_and_then_dropped() {
    for form in FORMS {
        let (strategy, calls, polls) = (standard(), Cell::new(0), Rc::new(Cell::new(0)));
        let when = Demanding { ready_after: 3, polls: Rc::clone(&polls), _pinned: PhantomPinned };
        let (outcome, numbers) = call(form, &strategy, &calls, when, SAFE).await;
        assert_eq!((outcome, numbers.1, polls.get()), (SAFE, Some(RetryError::Stopped), 3), "{form}");
        assert_eq!(Rc::strong_count(&polls), 1, "{form}");
    }
}

// Rule T21.
#[tokio::test(start_paused = true)]
async fn channels_end_a_call_by_a_message_and_by_being_closed() {
    let strategy = standard();
    for is_sent in [true, false] {
        let (quit, quits) = oneshot::channel();
        let (report, ()) = tokio::join!(retry(&strategy, || ready(SAFE)).stop_when(quits).report(), async {
            sleep(millis(500)).await;
            if is_sent { quit.send("now").unwrap() } else { drop(quit) }
        });
        assert_eq!((report.reason, report.elapsed), (Some(RetryError::Stopped), millis(500)));
    }
    let (state, mut states) = watch::channel(1);
    let call = retry(&strategy, || ready(SAFE)).stop_when(states.wait_for(|state| *state == 3));
    let (report, ()) = tokio::join!(call.report(), async {
        for number in [2, 3] {
            sleep(millis(300)).await;
            state.send(number).unwrap();
        }
    });
    assert_eq!((report.reason, report.elapsed), (Some(RetryError::Stopped), millis(600)));
    let notify = Notify::new();
    let (report, ()) = tokio::join!(retry(&strategy, || ready(SAFE)).stop_when(notify.notified()).report(), async {
        sleep(millis(500)).await;
        notify.notify_waiters();
    });
    assert_eq!((report.reason, report.elapsed), (Some(RetryError::Stopped), millis(500)));
}

// Rule T21.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_runs_is_not_cut_and_is_not_retried() {
    for (answer, reason) in [(Ok(1), None), (SAFE, Some(RetryError::Stopped))] {
        let (strategy, told) = (standard(), RefCell::new(Vec::new()));
        let call = retry(&strategy, || async {
            sleep(secs(1)).await;
            answer
        });
        let call = call.on_retry(|_, event| told.borrow_mut().push(event.kind.as_str())).stop_when(sleep(millis(500)));
        let report = call.report().await;
        assert_eq!((report.outcome, report.attempts, report.reason), (answer, 1, reason));
        assert_eq!((report.elapsed, strategy.quota().available()), (secs(1), 500));
        let expected: &[_] = if reason.is_some() { &["stopped"] } else { &[] };
        assert_eq!(*told.borrow(), expected);
    }
}

/// The kinds and the reasons of events.
#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Observer for Told {
    fn observe(&self, event: &Event) {
        let reason = event.kind.reason().map_or("", |reason| reason.as_str());
        self.0.borrow_mut().push(format!("{} {reason}", event.kind.as_str()).trim_end().to_owned());
    }
}

// Rule T21.
#[tokio::test(start_paused = true)]
async fn the_events_say_that_it_was_stopped() {
    let (strategy, told) = (standard(), Told::default());
    let call = retry(&strategy, || ready(SAFE)).observer(&told).stop_when(sleep(millis(500)));
    assert_eq!(call.run().await, SAFE);
    let told = told.0.take();
    assert_eq!(told, ["attempt_started", "attempt_failed", "retry_scheduled", "stopped stopped"]);
}

// Rules T19, T21.
#[tokio::test(start_paused = true)]
async fn limits_and_a_handle_apply_beside_it() {
    let (strategy, stop) = (standard(), Stop::new());
    let slow = || async {
        sleep(secs(10)).await;
        Ok::<u32, Error>(1)
    };
    let call = || retry(&strategy, slow);
    let all = Some((TimeLimit::Operation, secs(2)));
    assert_eq!(time_was_up(&call().max_time(secs(2)).stop_when(pending::<()>()).run().await), all);
    assert_eq!(time_was_up(&call().stop(&stop).max_time(secs(2)).stop_when(pending::<()>()).run().await), all);
    let each = Some((TimeLimit::Attempt, secs(1)));
    let limited = call().attempt_timeout(secs(1)).deadline(Instant::now() + secs(9)).stop_when(sleep(millis(500)));
    let report = limited.report().await;
    assert_eq!((time_was_up(&report.outcome), report.reason), (each, Some(RetryError::Stopped)));

    // Either of both ends it.
    let fails = || retry(&strategy, || ready(SAFE));
    let report = fails().stop(&stop).stop_when(sleep(millis(500))).report().await;
    assert_eq!((report.reason, report.elapsed), (Some(RetryError::Stopped), millis(500)));
    let stops = async {
        sleep(millis(500)).await;
        stop.stop();
    };
    let (report, ()) = tokio::join!(fails().stop(&stop).stop_when(pending::<()>()).report(), stops);
    assert_eq!((report.reason, report.elapsed), (Some(RetryError::Stopped), millis(500)));
    let report = fails().stop(&stop).stop_when(pending::<()>()).report().await;
    assert_eq!((report.attempts, report.reason), (0, Some(RetryError::Stopped)));
    // The future stops its own call only.
    let stop = Stop::new();
    assert_eq!(fails().stop(&stop).stop_when(ready(())).report().await.attempts, 0);
    assert!(!stop.is_stopped());
}

// Rule T21.
#[tokio::test(start_paused = true)]
async fn a_call_is_send_if_the_future_is() {
    static STORE: StandardRetryStrategy = standard();
    static STOP: Stop = Stop::new();

    #[retryable(strategy = STORE, stop = STOP, stop_when = quits)]
    async fn spawned(quits: oneshot::Receiver<()>, key: String) -> Outcome {
        sleep(secs(u64::from(key.is_empty()))).await;
        SAFE
    }

    let (_quit, quits) = oneshot::channel::<()>();
    let call = retry(&STORE, || ready(SAFE)).stop(&STOP).max_time(secs(9)).stop_when(quits);
    let spawned_call = tokio::spawn(assert_send(call.run()));
    let (quit, quits) = oneshot::channel();
    let function = tokio::spawn(assert_send(spawned(quits, String::new())));
    let hedged =
        tokio::spawn(retry(&STORE, || ready(SAFE)).idempotent(true).hedge(&HEDGE).stop_when(sleep(millis(500))).run());
    sleep(millis(2500)).await;
    assert!(hedged.is_finished());
    drop(quit);
    assert_eq!(function.await.unwrap(), SAFE);
    assert_eq!(spawned_call.await.unwrap(), SAFE);
}

struct Client {
    strategy: StandardRetryStrategy,
    quits: watch::Receiver<bool>,
    sent: u32,
}

impl Client {
    #[retryable(strategy = STORE, stop_when = quits.wait_for(|quits| *quits))]
    async fn send(&mut self, mut quits: watch::Receiver<bool>) -> Outcome {
        self.sent += 1;
        SAFE
    }

    #[retryable(strategy = self.strategy, stop_when = is_over(self.quits.clone()))]
    async fn read(&self, sent: &Cell<u32>) -> Outcome {
        sent.set(sent.get() + 1);
        SAFE
    }
}

static STORE: StandardRetryStrategy = standard();

async fn is_over(mut quits: watch::Receiver<bool>) {
    let _closed = quits.wait_for(|quits| *quits).await;
}

#[async_trait]
trait Store {
    async fn get(&mut self, key: &str) -> Outcome;
}

#[async_trait]
impl Store for Client {
    #[retryable(strategy = STORE, stop_when = is_over(self.quits.clone()))]
    async fn get(&mut self, key: &str) -> Outcome {
        self.sent += u32::try_from(key.len()).unwrap();
        SAFE
    }
}

// Rule T21.
#[tokio::test(start_paused = true)]
async fn the_attribute_takes_it_on_methods() {
    let (quit, quits) = watch::channel(false);
    let mut client = Client { strategy: standard(), quits, sent: 0 };
    let quits_at_500 = async {
        sleep(millis(500)).await;
        quit.send(true).unwrap();
    };
    let quits = client.quits.clone();
    let (outcome, ()) = tokio::join!(client.send(quits), quits_at_500);
    assert_eq!((outcome, client.sent), (SAFE, 1));
    let sent = Cell::new(0);
    assert_eq!(time_was_up(&client.read(&sent).await), Some((TimeLimit::Stop, Duration::ZERO)));
    quit.send(false).unwrap();
    let (outcome, ()) = tokio::join!(assert_send(client.get("key")), async {
        sleep(millis(500)).await;
        quit.send(true).unwrap();
    });
    assert_eq!((outcome, client.sent, sent.get()), (SAFE, 1 + 3, 0));
}

#[retryable(strategy = STORE, stop_when = &mut *quits)]
async fn lent(quits: &mut oneshot::Receiver<()>) -> Outcome {
    SAFE
}

#[retryable(strategy = STORE, stop_when = &mut quits)]
async fn owned(mut quits: oneshot::Receiver<()>, sent: &Cell<u32>) -> Outcome {
    sent.set(sent.get() + 1);
    SAFE
}

/// What can be awaited, but is not a future.
struct After(Duration);

impl IntoFuture for After {
    type Output = ();
    type IntoFuture = tokio::time::Sleep;

    fn into_future(self) -> Self::IntoFuture {
        sleep(self.0)
    }
}

#[retryable(strategy = STORE, stop_when = After(time))]
async fn awaitable(time: Duration) -> Outcome {
    SAFE
}

// Rule T21.
#[tokio::test(start_paused = true)]
async fn arguments_may_be_lent_to_it_or_moved_into_it() {
    let (quit, mut quits) = oneshot::channel();
    let (outcome, ()) = tokio::join!(lent(&mut quits), async {
        sleep(millis(500)).await;
        quit.send(()).unwrap();
    });
    assert_eq!(outcome, SAFE);
    let (quit, quits) = oneshot::channel();
    drop(quit);
    let sent = Cell::new(0);
    assert!(time_was_up(&owned(quits, &sent).await).is_some());
    assert_eq!(sent.get(), 0);
    let began = Instant::now();
    assert_eq!(awaitable(millis(300)).await, SAFE);
    assert_eq!(retry(&STORE, || ready(SAFE)).stop_when(After(millis(300))).run().await, SAFE);
    assert_eq!(began.elapsed(), millis(600));
}

// Rules D1, T21.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_drops_the_future_and_gives_back_what_it_paid() {
    let (strategy, alive) = (standard(), Rc::new(()));
    let held = Rc::clone(&alive);
    let when = async move {
        pending::<()>().await;
        drop(held);
    };
    let mut call = Box::pin(retry(&strategy, || ready(SAFE)).stop_when(when).run());
    poll_once(call.as_mut());
    assert_eq!((strategy.quota().available(), Rc::strong_count(&alive)), (495, 2));
    drop(call);
    assert_eq!((strategy.quota().available(), Rc::strong_count(&alive)), (500, 1));
}

// Rules D6, T21.
#[tokio::test(start_paused = true)]
async fn a_panic_of_the_future_loses_nothing() {
    for form in FORMS {
        let (strategy, calls, polls) = (standard(), Cell::new(0), Cell::new(0));
        let when = poll_fn(|_| -> Poll<()> {
            polls.set(polls.get() + 1);
            assert!(calls.get() == 0, "the future panics");
            Poll::Pending
        });
        let mut call = Box::pin(call(form, &strategy, &calls, when, SAFE));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            poll_once(call.as_mut());
            poll_once(call.as_mut());
        }));
        assert!(panicked.is_err(), "{form}");
        drop(call);
        assert_eq!(strategy.quota().available(), 500, "{form}");
    }
}

// Rules T21, U17.
#[tokio::test(start_paused = true)]
async fn it_ends_a_wait_for_the_service_and_of_a_long_poll() {
    let strategy = PatientRetryStrategy::over(standard().quota_capacity(0));
    let report = retry(&strategy, || ready(SAFE)).unlimited_attempts().stop_when(sleep(millis(500))).report().await;
    assert_eq!((report.outcome, report.reason, report.elapsed), (SAFE, Some(RetryError::Stopped), millis(500)));
    assert_eq!(strategy.waiting_operations(), Some(0));
}

// Rule T21.
#[tokio::test(start_paused = true)]
async fn it_ends_both_attempts_of_a_hedge_only_when_they_fail() {
    let strategy = standard();
    let hedge = kept(Hedge::after(millis(100)));
    let call = || {
        retry(&strategy, || async {
            sleep(secs(1)).await;
            SAFE
        })
    };
    let report = call().idempotent(true).hedge(hedge).stop_when(sleep(millis(500))).report().await;
    assert_eq!((report.attempts, report.reason, report.elapsed), (2, Some(RetryError::Stopped), millis(1100)));
    let report = call().idempotent(true).hedge(hedge).stop_when(sleep(millis(50))).report().await;
    assert_eq!((report.attempts, report.reason, report.elapsed), (1, Some(RetryError::Stopped), secs(1)));
}

// Rule T21.
#[tokio::test]
async fn under_a_test_guard_it_is_polled_between_waits_that_are_skipped() {
    let test = test::begin();
    let strategy = standard();
    let calls = Cell::new(0);
    let when = poll_fn(|_| if calls.get() == 2 { Poll::Ready(()) } else { Poll::Pending });
    let call = retry(&strategy, || {
        calls.set(calls.get() + 1);
        ready(Err::<u32, _>(Error::Failed(Failed::SAFE)))
    });
    let mut call = pin!(call.stop_when(when).run());
    assert_eq!(call.as_mut().await, SAFE);
    test.only().assert_ended(2, Some(RetryError::Stopped));
}

// Rule T21.
#[tokio::test(start_paused = true)]
async fn calls_with_a_future_that_can_be_cloned_can_be_cloned() {
    let strategy = standard();
    let call = retry(&strategy, (|| ready(SAFE)) as fn() -> _).stop_when(ready(()));
    let again = call.clone();
    assert!(!format!("{again:?}").is_empty());
    assert_eq!((call.report().await.attempts, again.report().await.attempts), (0, 0));
    // A shared handle as the future of many calls.
    let stop = Arc::new(Stop::new());
    stop.stop();
    assert_eq!(retry(&strategy, || ready(SAFE)).stop_when(stop.stopped()).report().await.attempts, 0);
}

// Rules O21, T21.
#[tokio::test(start_paused = true)]
async fn on_retry_hears_of_a_stop_before_the_first_attempt_with_the_number_0() {
    static STRATEGY: StandardRetryStrategy = StandardRetryStrategy::new();

    let attempts = RefCell::new(Vec::new());
    let call = retry(&STRATEGY, || ready(SAFE))
        .on_retry(|_, event| attempts.borrow_mut().push(event.attempt))
        .stop_when(ready(()));
    assert_eq!(time_was_up(&call.run().await), Some((TimeLimit::Stop, Duration::ZERO)));
    assert_eq!(*attempts.borrow(), [0]);
}
