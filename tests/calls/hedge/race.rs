//! What a race leaves behind, and which of its attempts a step is about.

use super::*;
use retry_core::limit::{LazyWaker, Ready};
use retry_core::policy::Usage;
use retry_core::strategy::ForeignToken;
use retry_core::time::Timestamp;
use retry_core::{
    Clock, ErrorFault, Event, EventKind, Failure, Observer, RetryDirective, RetryPolicy, RetryStrategy, Success, Timer,
    policy_fn,
};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

// Rule V7.
#[tokio::test(start_paused = true)]
async fn of_two_failures_of_the_same_severity_the_class_of_the_later_one_counts() {
    let server = Failed { fault: ErrorFault::Server, ..Failed::SAFE };
    for (first, second) in [(server, Failed::SAFE), (Failed::SAFE, server)] {
        for (first_time, second_time, later) in [(200, 300, second), (500, 50, first)] {
            let (strategy, hedge) = (Recorder::new().selling_hedges(), after());
            let service = Service::new([(first_time, Err(first)), (second_time, Err(second)), (0, Ok(1))]);
            assert_eq!(retry(&strategy, || service.call()).idempotent(true).hedge(hedge).run().await, Ok(1));
            let error_type = strategy.last_failure().unwrap().error_type();
            assert_eq!(error_type, Some(RetryErrorType::of(&later)));
        }
    }
}

// Rules V3, V6.
#[tokio::test(start_paused = true)]
async fn a_hedge_that_is_cut_and_not_retried_leaves_the_failure_of_the_first_attempt() {
    let (strategy, hedge) = (standard(), after());
    let judge = policy_fn(|outcome: &Outcome| match outcome {
        Ok(_) => RetryDirective::succeed(),
        Err(error) if error.timeout => RetryDirective::fail(None),
        Err(_) => RetryDirective::retry(RetryErrorType::Other),
    })
    .idempotent(true);
    let service = Service::new([(150, Err(Failed::SAFE)), (1000, Ok(2)), (0, Ok(3))]);
    let call = retry(&strategy, || service.call()).policy(judge).attempt_timeout(millis(300));
    let report = call.hedge(hedge).report().await;
    assert_eq!((report.outcome, report.attempts, report.elapsed), (Ok(3), 3, millis(400 + 2000)));
}

// Rule V1.
#[tokio::test(start_paused = true)]
async fn the_retry_after_a_race_has_no_hedge() {
    let plan = [(200, Err(Failed::SAFE)), (50, Err(Failed::SAFE)), (700, Ok(9))];
    assert_eq!(ended(plan).await, ends(Ok(9), 3, None, 400 - 10 + 1, 200 + 2000 + 700));
}

// Rule V2.
#[tokio::test(start_paused = true)]
async fn a_call_waits_for_the_rest_of_a_delay_that_has_grown_since_and_its_success_lowers_the_delay() {
    let (strategy, hedge, began) = (standard(), kept(Hedge::p95()), Instant::now());
    warm(hedge, 40).await;
    let (requests, first) = (RefCell::default(), hedge.delay());
    let call = async |name: &'static str, takes: u64| {
        let send = async || {
            RefCell::<Vec<_>>::borrow_mut(&requests).push((name, began.elapsed(), hedge.delay()));
            sleep(millis(takes)).await;
            Ok::<_, Failed>(name)
        };
        (retry(&strategy, send).idempotent(true).hedge(hedge).run().await, hedge.delay())
    };
    // The last one is answered between both delays.
    let (one, other, last) = tokio::join!(call("one", 1000), call("other", 1000), call("last", 36));
    assert_eq!((one.0, other.0, last.0), (Ok("one"), Ok("other"), Ok("last")));
    let requests = requests.take();
    assert!(requests[..3].iter().all(|(_, time, _)| time.is_zero()) && requests.len() == 5, "{requests:?}");
    let [(hedged, time, grown), (waited, later, _)] = requests[3..] else { unreachable!() };
    assert!([("one", "other"), ("other", "one")].contains(&(hedged, waited)), "{requests:?}");
    // Sleeps end at the next whole millisecond.
    let rounded = |delay: Duration| delay..=delay + millis(2);
    assert!(rounded(first).contains(&time) && grown > first + millis(6), "{requests:?}");
    assert!(rounded(grown).contains(&later), "{requests:?}");
    assert!(last.1 < grown, "{last:?} lowered {grown:?}");
}

/// A timer that counts the sleeps that exist.
#[derive(Clone, Default)]
struct Counting(Rc<Cell<i32>>);

struct Counted(Pin<Box<tokio::time::Sleep>>, Rc<Cell<i32>>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.set(self.1.get() - 1);
    }
}

impl Future for Counted {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl Clock for Counting {
    fn now(&self) -> Timestamp {
        TokioTimer.now()
    }
}

impl Timer for Counting {
    type Sleep = Counted;

    fn sleep(&self, delay: Duration) -> Counted {
        self.0.set(self.0.get() + 1);
        Counted(Box::pin(sleep(delay)), Rc::clone(&self.0))
    }
}

/// An observer of the events of an end, and how many attempts and sleeps exist at that time.
struct Left<'a> {
    service: &'a Service,
    timer: Counting,
    seen: RefCell<Vec<(&'static str, i32, i32)>>,
}

impl Observer for Left<'_> {
    fn observe(&self, event: &Event) {
        if matches!(event.kind, EventKind::HedgeEnded { .. } | EventKind::Stopped { .. } | EventKind::Succeeded { .. })
        {
            self.seen.borrow_mut().push((event.kind.as_str(), self.service.running.get(), self.timer.0.get()));
        }
    }
}

// Rule V6.
#[tokio::test(start_paused = true)]
async fn nothing_of_a_race_is_left_when_its_end_is_reported() {
    type Plan = [(u64, Outcome); 2];
    let cases: [(Plan, u64, &[_]); 5] = [
        ([(1000, Ok(1)), (30, Ok(2))], 5000, &["hedge_ended", "succeeded"]),
        ([(120, Ok(1)), (1000, Ok(2))], 5000, &["hedge_ended", "succeeded"]),
        ([(120, Err(Failed::FATAL)), (1000, Ok(2))], 5000, &["hedge_ended", "stopped"]),
        ([(1000, Ok(1)), (1000, Ok(2))], 300, &["hedge_ended", "stopped"]),
        // Without a hedge.
        ([(1000, Ok(1)), (1000, Ok(2))], 60, &["stopped"]),
    ];
    for (plan, max_time, kinds) in cases {
        let (strategy, hedge, service, timer) = (standard(), after(), Service::new(plan), Counting::default());
        let observer = Left { service: &service, timer: timer.clone(), seen: RefCell::default() };
        let call = retry(&strategy, || service.call()).timer(timer).max_time(millis(max_time)).observer(&observer);
        _ = call.idempotent(true).hedge(hedge).run().await;
        let expected: Vec<_> = kinds.iter().map(|kind| (*kind, 0, 0)).collect();
        assert_eq!(*observer.seen.borrow(), expected, "{plan:?}");
    }
}

// Rule V6.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_has_failed_leaves_no_sleep_while_the_other_one_runs() {
    let (strategy, hedge, timer) = (standard(), after(), Counting::default());
    let service = Service::new([(200, Err(Failed::SAFE)), (400, Ok(2))]);
    let call =
        retry(&strategy, || service.call()).timer(timer.clone()).max_time(millis(5000)).idempotent(true).hedge(hedge);
    let looks = async {
        let mut sleeps = Vec::new();
        // Before the hedge, with two attempts, and with the hedge alone.
        for time in [50, 100, 100] {
            sleep(millis(time)).await;
            sleeps.push(timer.0.get());
        }
        sleeps
    };
    assert_eq!(tokio::join!(call.run(), looks), (Ok(2), vec![2, 2, 1]));
}

// Rule V6.
#[tokio::test(start_paused = true)]
async fn the_outcome_of_a_hedge_that_failed_finally_is_not_kept() {
    type Shared = Result<u32, Rc<()>>;

    let (strategy, hedge, calls) = (standard(), after(), Cell::new(0));
    let failed: RefCell<Weak<()>> = RefCell::default();
    let call = retry(&strategy, async || {
        calls.set(calls.get() + 1);
        if calls.get() == 1 {
            sleep(millis(500)).await;
            return Ok(1);
        }
        let error = Rc::new(());
        failed.replace(Rc::downgrade(&error));
        Err(error)
    });
    let judge = policy_fn(|outcome: &Shared| match outcome {
        Ok(_) => RetryDirective::succeed(),
        Err(_) => RetryDirective::fail(None),
    })
    .idempotent(true);
    let looks = async {
        sleep(millis(200)).await;
        (calls.get(), failed.borrow().strong_count())
    };
    let (outcome, looked) = tokio::join!(call.policy(judge).hedge(hedge).run(), looks);
    assert_eq!((outcome, looked), (Ok(1), (2, 0)));
}

/// A strategy that records the attempts whose usage it learns.
#[derive(Default)]
struct Settling(RefCell<Vec<u32>>);

impl RetryStrategy for Settling {
    type Token = Attempt;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<Attempt, RetryError> {
        Ok(Attempt(1))
    }

    fn refresh_retry_token(&self, token: Attempt, _: &Failure, _: &dyn Clock) -> Result<Attempt, RetryError> {
        Ok(Attempt(token.0 + 1))
    }

    fn record_success(&self, _: Attempt, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        Ok(())
    }

    fn ready(&self, _: &mut Attempt, _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        Ready::Now
    }

    fn acquire_hedge(&self, token: &Attempt, _: &dyn Clock) -> Result<Attempt, RetryError> {
        Ok(Attempt(token.0 + 1))
    }

    fn used(&self, token: &mut Attempt, _: Usage) {
        self.0.borrow_mut().push(token.0);
    }
}

/// A policy that retries all errors, and knows what each attempt used.
struct Using;

impl RetryPolicy<Outcome> for Using {
    fn evaluate(&self, outcome: &Outcome) -> RetryDirective {
        if outcome.is_ok() { RetryDirective::succeed() } else { RetryDirective::retry(RetryErrorType::Other) }
    }

    fn usage(&self, _: &Outcome) -> Option<Usage> {
        Some(Usage::new(1))
    }

    fn is_idempotent(&self) -> Option<bool> {
        Some(true)
    }
}

// Rule V3.
#[tokio::test(start_paused = true)]
async fn the_usage_of_an_attempt_is_settled_with_the_token_of_that_attempt() {
    let (failed, hedge) = (Err(Failed::SAFE), after());
    let cases = [
        ([(200, failed), (200, failed), (0, Ok(3))], [1, 2, 3]),
        ([(900, failed), (50, failed), (0, Ok(3))], [2, 1, 3]),
        // Both are cut by their time limits, or only the first one.
        ([(900, failed), (900, failed), (0, Ok(3))], [1, 2, 3]),
        ([(900, failed), (350, failed), (0, Ok(3))], [1, 2, 3]),
    ];
    for (plan, settled) in cases {
        let (strategy, service) = (Settling::default(), Service::new(plan));
        let call = retry(&strategy, || service.call()).policy(Using).attempt_timeout(millis(400));
        assert_eq!(call.hedge(hedge).run().await, Ok(3));
        assert_eq!(*strategy.0.borrow(), settled, "{plan:?}");
    }
}
