//! When there is no hedge, and time limits.

use super::*;
use crate::support::secs;
use crate::support::timers::Noted;
use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::strategy::{ForeignToken, LimitedRetryStrategy};
use retry_core::{Clock, ErasedStrategy, ExponentialBackoff, Failure, RetryStrategy, Success, without_retries};
use std::task::{Context, Poll, Waker};

/// Makes a call whose first attempt takes 200 ms. Returns the calls of the service.
async fn calls(strategy: &impl RetryStrategy) -> usize {
    let (hedge, service) = (after(), Service::new([(200, Ok(1)), (200, Ok(2))]));
    assert_eq!(retry(strategy, || service.call()).idempotent(true).hedge(hedge).run().await, Ok(1));
    service.calls.get()
}

// Rule V5.
#[tokio::test(start_paused = true)]
async fn a_low_quota_sells_no_hedge() {
    let strategy = standard();
    assert!(strategy.quota().try_acquire(250, &TokioTimer));
    assert!(!strategy.quota().is_low(), "half is left");
    assert_eq!(calls(&strategy).await, 2);
    assert_eq!((strategy.quota().available(), strategy.quota().is_low()), (246, true));
    assert_eq!(calls(&strategy).await, 1);
    assert_eq!(strategy.quota().available(), 247, "only the refund");

    let unlimited = standard().with_quota(NoQuota);
    assert_eq!((calls(&unlimited).await, NoQuota.is_low()), (2, false));
    assert_eq!(calls(&standard().quota_capacity(4)).await, 1, "it can't pay 5");
    assert_eq!(calls(&standard().with_quota(&TokenBucket::new(0))).await, 1);
}

// Rules V5, V9.
#[tokio::test(start_paused = true)]
async fn a_quota_by_evidence_sells_hedges_from_its_upper_half() {
    let strategy = standard().with_quota(EvidenceQuota::new());
    assert_eq!((calls(&strategy).await, strategy.quota().is_low()), (1, false), "no attempt had succeeded");
    assert_eq!(calls(&strategy).await, 2);
    let quota = strategy.quota();
    assert!(quota.is_low(), "with little traffic, it pays for one");
    assert_eq!(calls(&strategy).await, 1);
    // A retry is still paid for, and the failure is the first one.
    assert!(quota.pay(5, RetryErrorType::ServerSide, &TokioTimer).is_some());
    for _ in 0..100 {
        quota.first_succeeded(0);
    }
    assert!(quota.is_full() && !quota.is_low());
    // A hedge that wins is a first success: 22 of them pay for a hedge.
    let (hedge, service) = (after(), Service::new([(200, Ok(1)), (1, Ok(2))]));
    assert_eq!(retry(&strategy, || service.call()).idempotent(true).hedge(hedge).run().await, Ok(2));
    for _ in 0..20 {
        quota.first_succeeded(0);
    }
    assert!(quota.is_low());
    quota.first_succeeded(0);
    assert!(!quota.is_low());
    // Timeouts show congestion, unless successes outweigh them.
    for _ in 0..2 {
        assert!(quota.pay(5, RetryErrorType::Timeout, &TokioTimer).is_some());
        for _ in 0..100 {
            tokio::time::advance(millis(10)).await;
            quota.first_succeeded(0);
        }
    }
    assert!(!quota.is_low());
    assert_eq!(calls(&strategy).await, 2);
    while quota.pay(5, RetryErrorType::Timeout, &TokioTimer).is_some() {}
    assert!(quota.is_low());
    assert_eq!(calls(&strategy).await, 1);
}

// Rule V9.
#[tokio::test(start_paused = true)]
async fn a_quota_by_evidence_gets_back_the_cost_of_a_hedge_that_was_not_sent() {
    let quota = EvidenceQuota::new();
    for _ in 0..3 {
        quota.first_succeeded(0);
    }
    let paid = quota.pay_hedge(5, &TokioTimer).unwrap();
    assert!(!quota.is_full());
    quota.give_back(paid);
    assert_eq!(quota.available(), 2, "nothing is missing");
    // Traffic is measured from a hedge on, too: 100 attempts in a second pay for about 100 retries, half of them for hedges.
    quota.pay_hedge(5, &TokioTimer).unwrap();
    for attempt in 0..100 {
        tokio::time::advance(millis(10)).await;
        match attempt % 20 {
            0 => assert!(quota.pay(5, RetryErrorType::ServerSide, &TokioTimer).is_some()),
            _ => quota.first_succeeded(0),
        }
    }
    let hedges = (0..1000).filter(|_| quota.pay_hedge(5, &TokioTimer).is_some()).count();
    assert!((20..80).contains(&hedges), "{hedges}");
    assert!(
        (0..20).all(|_| quota.pay(5, RetryErrorType::ServerSide, &TokioTimer).is_some()),
        "the rest is for retries"
    );
}

// Rule V5.
#[tokio::test(start_paused = true)]
async fn switched_off_retries_are_switched_off_hedges() {
    let strategy = standard();
    assert_eq!(without_retries(calls(&strategy)).await, 1);
    strategy.set_enabled(false);
    assert_eq!(calls(&strategy).await, 1);
    strategy.set_enabled(true);
    assert_eq!(calls(&strategy).await, 2);
    let erased = ErasedStrategy::new(standard());
    assert_eq!(calls(&erased).await, 2);
    erased.set_enabled(false);
    assert_eq!(calls(&erased).await, 1);
    assert_eq!(calls(&standard().max_attempts(1)).await, 1);
    assert_eq!(calls(&standard().max_attempts(2)).await, 2);
}

// Rule V3.
#[tokio::test(start_paused = true)]
async fn a_hedge_is_one_of_max_attempts() {
    let (strategy, hedge) = (standard().max_attempts(2), after());
    let service = Service::new([(200, Err(Failed::SAFE)), (200, Err(Failed::THROTTLED))]);
    let report = retry(&strategy, || service.call()).idempotent(true).hedge(hedge).report().await;
    assert_eq!(
        (report.outcome, report.attempts),
        (Err(Failed::THROTTLED), 2),
        "the outcome of the attempt that ended last"
    );
    assert_eq!(report.reason, Some(RetryError::MaxAttempts));
    assert_eq!(strategy.quota().available(), 495);
}

/// A strategy with the three methods that have no default.
struct Plain;

impl RetryStrategy for Plain {
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
}

// Rules V4, V5.
#[tokio::test(start_paused = true)]
async fn a_strategy_that_sells_no_hedges_has_none() {
    assert_eq!(calls(&Plain).await, 1);
    assert_eq!(calls(&Recorder::new().selling_hedges()).await, 2);
    // It refuses the initial token, so there is nothing to sell.
    let refusing = Recorder::new().selling_hedges().refusing_initial_token(RetryError::Refused);
    assert_eq!(calls(&refusing).await, 1);
}

/// A limiter that lets the first attempts pass.
#[derive(Debug)]
struct Passing {
    left: Cell<u32>,
    log: RefCell<Vec<String>>,
}

impl SendLimiter for Passing {
    type Place = u32;

    fn begin(&self, _: &dyn Clock) -> u32 {
        1
    }

    fn weigh(&self, place: &mut u32, weight: u32) {
        *place = weight;
    }

    fn ask(&self, place: &mut u32, _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        self.log.borrow_mut().push(format!("ask {place}"));
        if self.left.get() == 0 {
            return Ready::After(secs(1));
        }
        self.left.set(self.left.get() - 1);
        Ready::Now
    }

    fn release(&self, place: &mut u32) {
        self.log.borrow_mut().push(format!("release {place}"));
    }

    fn failed(&self, _: &mut u32, _: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
        None
    }
}

// Rule V5.
#[tokio::test(start_paused = true)]
async fn a_hedge_needs_the_permission_of_the_limiter_immediately() {
    for (left, sent) in [(1, 1), (2, 2)] {
        let limiter = Passing { left: Cell::new(left), log: RefCell::default() };
        let strategy: LimitedRetryStrategy<_, ExponentialBackoff, TokenBucket> =
            LimitedRetryStrategy::with_limiter(standard(), limiter);
        let (hedge, service) = (after(), Service::new([(200, Ok(1)), (1000, Ok(2))]));
        assert_eq!(retry(&strategy, || service.call()).weight(9).idempotent(true).hedge(hedge).run().await, Ok(1));
        assert_eq!(service.calls.get(), sent);
        let log: &[_] = if sent == 1 { &["ask 9", "ask 9", "release 9"] } else { &["ask 9", "ask 9"] };
        assert_eq!(*strategy.limiter().log.borrow(), log);
        assert_eq!(strategy.standard().quota().available(), if sent == 1 { 500 } else { 496 });
    }
}

// Rule V3.
#[tokio::test(start_paused = true)]
async fn each_attempt_has_its_own_time_limit() {
    let (strategy, hedge) = (standard(), after());
    let began = Instant::now();
    let service = Service::new([(1000, Ok(1)), (1000, Ok(2)), (0, Ok(3))]);
    let call = retry(&strategy, || service.call()).idempotent(true).attempt_timeout(millis(300));
    let report = call.idempotent(true).hedge(hedge).report().await;
    // The first attempt is cut at 300 ms, the hedge at 400 ms, and the retry follows after the delay of the second retry.
    assert_eq!((report.outcome, report.attempts, began.elapsed()), (Ok(3), 3, millis(2400)));

    let service = Service::new([(1000, Ok(1)), (100, Ok(2))]);
    let began = Instant::now();
    let call = retry(&strategy, || service.call()).attempt_timeout(millis(150));
    assert_eq!(call.idempotent(true).hedge(hedge).run().await, Ok(2));
    assert_eq!(began.elapsed(), millis(200));
}

// Rule V3.
#[tokio::test(start_paused = true)]
async fn max_time_ends_both_attempts() {
    let hedge = after();
    let cut = async |plan: [(u64, Outcome); 2]| {
        let (strategy, began, service) = (standard(), Instant::now(), Service::new(plan));
        let call = retry(&strategy, || service.call()).max_time(millis(300));
        let report = call.idempotent(true).hedge(hedge).report().await;
        assert_eq!((report.reason, report.attempts, began.elapsed()), (Some(RetryError::MaxTime), 2, millis(300)));
        assert_eq!(service.running.get(), 0);
        assert_eq!(strategy.quota().available(), 495, "the hedge was sent");
        report.outcome
    };
    assert_eq!(cut([(1000, Ok(1)), (1000, Ok(2))]).await, Err(Failed::TIMEOUT));
    assert_eq!(cut([(200, Err(Failed::SAFE)), (1000, Ok(2))]).await, Err(Failed::SAFE), "the last outcome");
    assert_eq!(cut([(1000, Ok(2)), (20, Err(Failed::THROTTLED))]).await, Err(Failed::THROTTLED));

    // A limit that ends before the delay, and one at the same time: the call ends, and nothing is paid.
    for limit in [50, 100] {
        let (strategy, service) = (standard(), Service::new([(1000, Ok(1)), (1000, Ok(2))]));
        let call = retry(&strategy, || service.call()).max_time(millis(limit));
        assert_eq!(call.idempotent(true).hedge(hedge).run().await, Err(Failed::TIMEOUT));
        assert_eq!((service.calls.get(), strategy.quota().available()), (1, 500));
    }
}

/// Makes a call whose first attempt takes 20 s. Returns the delay, and after which time there was a hedge.
async fn hedged(hedge: &'static Hedge, hedge_takes: u64) -> (Duration, Duration) {
    let strategy = standard().with_quota(NoQuota);
    let (delay, began, hedged) = (hedge.delay(), Instant::now(), Cell::new(None));
    let (calls, hedged) = (Cell::new(0), &hedged);
    let attempt = || {
        let is_hedge = calls.replace(1) == 1;
        async move {
            if is_hedge {
                hedged.set(Some(began.elapsed()));
            }
            sleep(millis(if is_hedge { hedge_takes } else { 20_000 })).await;
            Ok::<_, Failed>(())
        }
    };
    retry(&strategy, attempt).idempotent(true).hedge(hedge).run().await.unwrap();
    (delay, hedged.get().unwrap())
}

/// Tokio's timers have a resolution of a millisecond, and each wait may take one more. Shares are rounded.
#[track_caller]
fn is_after((delay, hedged): (Duration, Duration), delays: f64) {
    let expected = delay.mul_f64(delays);
    assert!((expected..expected + millis(4)).contains(&(hedged + millis(1))), "{hedged:?} in place of {expected:?}");
}

// Rule V15.
#[tokio::test(start_paused = true)]
async fn if_few_hedges_win_they_are_sent_after_twice_the_delay_until_answers_take_longer_than_that() {
    let hedge = kept(Hedge::p95());
    // So that the delay stays, and none of the calls before reached it.
    let call = async |hedge_takes| {
        warm(hedge, 19).await;
        hedged(hedge, hedge_takes).await
    };
    warm(hedge, 300).await;
    is_after(call(30_000).await, 1.0);
    // It lost, so half of two won, which is too few.
    is_after(call(30_000).await, 2.0);
    // A hedge at the delay would have won by then, although this one was late and lost.
    is_after(call(30_000).await, 1.0);

    // Calls that would not have needed their hedge.
    let strategy = standard().with_quota(NoQuota);
    for _ in 0..100 {
        warm(hedge, 19).await;
        let takes = hedge.delay().mul_f64(1.5);
        let attempt = || async move {
            sleep(takes).await;
            Ok::<_, Failed>(())
        };
        retry(&strategy, attempt).idempotent(true).hedge(hedge).run().await.unwrap();
    }
    let mut late = 0;
    loop {
        // Even if all hedges lose.
        let (delay, hedged) = call(30_000).await;
        if hedged < delay.mul_f64(1.5) {
            break;
        }
        is_after((delay, hedged), 2.0);
        late += 1;
    }
    assert!((10..30).contains(&late), "{late}");

    // A fixed delay is a choice of the user's own.
    let fixed = kept(Hedge::after(millis(10)));
    for _ in 0..100 {
        is_after(hedged(fixed, 30_000).await, 1.0);
    }
}

// Rule V16.
#[tokio::test(start_paused = true)]
async fn of_the_first_calls_one_in_20_may_have_a_hedge() {
    for processes in [1, 50] {
        let mut sent = 0;
        for _ in 0..processes {
            // All are slower than the first delay.
            let (strategy, hedge) = (standard().with_quota(NoQuota), kept(Hedge::p95()));
            for _ in 0..300 / processes {
                let service = Service::new([(400, Ok(1)), (400, Ok(2))]);
                retry(&strategy, || service.call()).idempotent(true).hedge(hedge).run().await.unwrap();
                sent += service.calls.get() - 1;
            }
        }
        assert!(sent <= 15, "{sent} of 300, {processes} processes");
        assert_eq!(sent > 0, processes == 1);
    }
}

// Rule V10.
#[tokio::test(start_paused = true)]
async fn under_a_test_guard_there_are_no_hedges_unless_the_test_asks() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    static HEDGE: Hedge = Hedge::p95();
    let sent = async || {
        let service = Service::new([(200, Ok(1)), (200, Ok(2))]);
        assert_eq!(retry(&STORE, || service.call()).idempotent(true).hedge(&HEDGE).run().await, Ok(1));
        service.calls.get()
    };
    warm(&HEDGE, 20).await;
    assert_eq!(sent().await, 2);
    let learned = HEDGE.delay();
    let guard = retry_core::test::begin();
    assert_eq!(sent().await, 1);
    let guard = guard.hedges();
    assert_ne!(HEDGE.delay(), learned, "the delay is fresh");
    // So that tests see hedges, the first calls may have one.
    assert_eq!(sent().await, 2);
    let operations = guard.operations();
    assert_eq!(operations.iter().map(|operation| operation.attempts).collect::<Vec<_>>(), [1, 2]);
    // The text says why there was none.
    assert!(
        operations[0].to_string().ends_with("    no hedge: a test guard allows hedges only after `begin().hedges()`\n")
    );
    assert!(!operations[1].to_string().contains("no hedge"));
    // Some strategies sell none.
    let service = Service::new([(200, Ok(1))]);
    let strategy = standard().with_quota(TokenBucket::new(0));
    assert_eq!(retry(&strategy, || service.call()).idempotent(true).hedge(&HEDGE).run().await, Ok(1));
    let last = guard.operations().pop().unwrap().to_string();
    assert!(last.contains("    no hedge: quota_low; `begin().hedges().warm()` "), "{last}");
    let limited = Service::new([(200, Ok(1))]);
    let once = retry(&STORE, || limited.call()).max_attempts(1).idempotent(true);
    assert_eq!(once.hedge(&HEDGE).run().await, Ok(1));
    let last = guard.operations().pop().unwrap().to_string();
    assert!(last.ends_with("    no hedge: max_attempts\n"), "{last}");
    drop(guard);
    assert_eq!(HEDGE.delay(), learned);
}

// Rules T7, V3.
#[tokio::test(start_paused = true)]
async fn an_outcome_of_the_hedge_that_is_ready_when_max_time_is_up_is_used() {
    let (strategy, hedge, service) = (standard(), after(), Service::new([(1000, Ok(1)), (200, Ok(2))]));
    let call = retry(&strategy, || service.call()).max_time(millis(300));
    assert_eq!(call.idempotent(true).hedge(hedge).run().await, Ok(2));
    let service = Service::new([(1000, Ok(1)), (200, Err(Failed::THROTTLED))]);
    let report = retry(&strategy, || service.call()).max_time(millis(300)).idempotent(true).hedge(hedge).report().await;
    assert_eq!((report.outcome, report.reason), (Err(Failed::THROTTLED), Some(RetryError::MaxTime)));
    // The limit of an attempt: both are cut, one after the other.
    let service = Service::new([(1000, Ok(1)), (1000, Ok(2)), (0, Ok(3))]);
    let call = retry(&strategy, || service.call()).idempotent(true).attempt_timeout(millis(300));
    assert_eq!(call.idempotent(true).hedge(kept(Hedge::after(Duration::ZERO))).run().await, Ok(3));
}

// Rules R15, V1.
#[tokio::test(start_paused = true)]
async fn a_hedge_without_a_delay_creates_no_sleep() {
    static NOW: Hedge = Hedge::after(Duration::ZERO);

    let (strategy, service, timer) = (standard(), Service::new([(1000, Ok(1)), (30, Ok(2))]), Noted::default());
    let began = Instant::now();
    assert_eq!(retry(&strategy, || service.call()).timer(&timer).idempotent(true).hedge(&NOW).run().await, Ok(2));
    assert_eq!((began.elapsed(), timer.asked()), (millis(30), vec![]));
}

/// A limiter whose queue is always empty.
#[derive(Debug)]
struct Unqueued;

impl SendLimiter for Unqueued {
    type Place = ();

    fn begin(&self, _: &dyn Clock) {}

    fn ask(&self, (): &mut (), _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        Ready::Queued { wait: Duration::ZERO, expected: Duration::ZERO }
    }

    fn failed(&self, (): &mut (), _: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
        None
    }
}

// Rules R3, R15.
#[tokio::test(start_paused = true)]
async fn a_wait_of_zero_in_a_queue_means_now() {
    let strategy: LimitedRetryStrategy<_, ExponentialBackoff, TokenBucket> =
        LimitedRetryStrategy::with_limiter(standard(), Unqueued);
    let (service, timer) = (Service::new([(0, Ok(1))]), Noted::default());
    let mut call = Box::pin(retry(&strategy, || service.call()).timer(&timer).run());
    let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(polled, Poll::Ready(Ok(1)));
    assert_eq!(timer.asked(), []);
}
