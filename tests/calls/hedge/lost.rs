//! Calls that are dropped, and code that panics: the quota is exact.

use super::*;
use crate::support::poll_once;
use retry_core::limit::{LazyWaker, Ready};
use retry_core::strategy::{ForeignToken, StandardRetryToken};
use retry_core::{Clock, Failure, RetryStrategy, Success, retryable};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

static AFTER: Hedge = Hedge::after(millis(100));

#[retryable(strategy = strategy, idempotent, hedge = AFTER)]
async fn call(strategy: &StandardRetryStrategy, service: &Service) -> Outcome {
    service.call().await
}

#[retryable(strategy = strategy, idempotent, hedge = AFTER, max_time = limit, attempt_timeout = "120ms")]
async fn limited(strategy: &StandardRetryStrategy, service: &Service, limit: Duration) -> Outcome {
    service.call().await
}

/// The forms of a call.
const FORMS: [&str; 2] = ["closure", "attribute"];

const PLAN: [(u64, Outcome); 3] = [(150, Err(Failed::SAFE)), (100, Err(Failed::SAFE)), (100, Ok(3))];

// Rule V8.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_at_any_time_has_paid_for_what_was_sent() {
    for form in FORMS {
        let mut seen = Vec::new();
        for time in (0..2500).step_by(10) {
            let (strategy, service) = (standard(), Service::new(PLAN));
            let result = match form {
                "closure" => {
                    let call = retry(&strategy, || service.call()).idempotent(true).hedge(&AFTER).run();
                    tokio::time::timeout(millis(time), call).await
                }
                _ => tokio::time::timeout(millis(time), call(&strategy, &service)).await,
            };
            assert_eq!(service.running.get(), 0);
            let (sent, is_over) = (service.calls.get(), result.is_ok());
            let expected = match sent {
                0 | 1 => 500,
                2 => 495,
                _ => 490 + u32::from(is_over),
            };
            assert_eq!(strategy.quota().available(), expected, "{form} dropped after {time} ms");
            seen.push((sent, is_over));
        }
        seen.dedup();
        assert_eq!(seen, [(1, false), (2, false), (3, false), (3, true)]);
    }
}

/// Polls a call this many times at most, every 25 ms.
async fn polled<R>(call: impl Future<Output = R>, polls: u32) -> Option<R> {
    let mut call = pin!(call);
    for _ in 0..polls {
        if let Poll::Ready(outcome) = call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Some(outcome);
        }
        tokio::time::advance(millis(25)).await;
    }
    None
}

// Rule V8.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_after_any_poll_has_paid_for_what_was_sent() {
    for form in FORMS {
        let mut ended = false;
        for polls in 0..110 {
            let (strategy, service) = (standard(), Service::new(PLAN));
            let outcome = match form {
                "closure" => {
                    polled(retry(&strategy, || service.call()).idempotent(true).hedge(&AFTER).run(), polls).await
                }
                _ => polled(call(&strategy, &service), polls).await,
            };
            let expected = match (service.calls.get(), outcome.is_some()) {
                (0 | 1, _) => 500,
                (2, _) => 495,
                (_, is_over) => 490 + u32::from(is_over),
            };
            assert_eq!((strategy.quota().available(), service.running.get()), (expected, 0), "{form}, {polls} polls");
            ended |= outcome.is_some();
        }
        assert!(ended);
    }
}

// Rules V3, V8.
#[tokio::test(start_paused = true)]
async fn a_call_that_a_limit_cuts_at_any_time_has_paid_for_what_was_sent() {
    for form in FORMS {
        let mut seen = Vec::new();
        for time in (0..2600).step_by(10) {
            let (strategy, service, limit) = (standard(), Service::new(PLAN), millis(time));
            let began = Instant::now();
            let outcome = match form {
                "closure" => {
                    let call = retry(&strategy, || service.call());
                    call.max_time(limit).attempt_timeout(millis(120)).idempotent(true).hedge(&AFTER).run().await
                }
                _ => limited(&strategy, &service, limit).await,
            };
            assert!(began.elapsed() <= limit, "{form}, {limit:?}");
            let expected = match service.calls.get() {
                0 | 1 => 500,
                2 => 495,
                // The worse class is a timeout, whose retry costs 10.
                _ => 485 + u32::from(outcome.is_ok()),
            };
            assert_eq!((strategy.quota().available(), service.running.get()), (expected, 0), "{form}, {limit:?}");
            seen.push((service.calls.get(), outcome));
        }
        seen.dedup();
        let (timeout, safe) = (Err(Failed::TIMEOUT), Err(Failed::SAFE));
        // The first attempt is cut at 120 ms, and the hedge fails at 200 ms. The retry begins after the delay of the second retry.
        assert_eq!(seen, [(1, timeout), (2, timeout), (2, safe), (3, safe), (3, Ok(3))], "{form}");
    }
}

/// A strategy that panics in one of its methods once the first attempt runs.
struct Fragile {
    strategy: StandardRetryStrategy,
    panics_in: &'static str,
    asked: Cell<u32>,
}

impl RetryStrategy for Fragile {
    type Token = StandardRetryToken;

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<StandardRetryToken, RetryError> {
        self.strategy.acquire_initial_token(clock)
    }

    fn refresh_retry_token(
        &self,
        token: StandardRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<StandardRetryToken, RetryError> {
        self.strategy.refresh_retry_token(token, failure, clock)
    }

    fn record_success(
        &self,
        token: StandardRetryToken,
        success: &Success,
        clock: &dyn Clock,
    ) -> Result<(), ForeignToken> {
        self.strategy.record_success(token, success, clock)
    }

    fn acquire_hedge(&self, token: &StandardRetryToken, clock: &dyn Clock) -> Result<StandardRetryToken, RetryError> {
        assert!(self.panics_in != "acquire_hedge");
        self.strategy.acquire_hedge(token, clock)
    }

    fn ready(&self, _: &mut StandardRetryToken, _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        self.asked.set(self.asked.get() + 1);
        assert!(self.asked.get() < 2 || self.panics_in != "ready");
        Ready::Now
    }

    fn release(&self, token: StandardRetryToken) {
        self.strategy.release(token);
    }
}

struct PanicsAt(&'static str, u32);

impl retry_core::Observer for PanicsAt {
    fn observe(&self, event: &retry_core::Event) {
        assert!((event.kind.as_str(), event.attempt) != (self.0, self.1), "an observer");
    }
}

/// Polls a call until it panics, or its time is over. Returns whether it panicked.
async fn panics<R>(call: impl Future<Output = R>) -> bool {
    let mut call = pin!(call);
    for _ in 0..1000 {
        let poll = || call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        match catch_unwind(AssertUnwindSafe(poll)) {
            Err(_) => return true,
            Ok(true) => return false,
            Ok(false) => tokio::time::advance(millis(10)).await,
        }
    }
    panic!("it does not end");
}

#[retryable(strategy = strategy, idempotent, hedge = AFTER, observer = observer, attempt_timeout = "1s")]
async fn fragile(strategy: &Fragile, observer: &PanicsAt, calls: &Cell<u32>, panics: bool) -> Result<(), Failed> {
    calls.set(calls.get() + 1);
    assert!(!(panics && calls.get() == 2));
    sleep(millis(150)).await;
    Err(Failed::SAFE)
}

// Rules V8, D6.
#[tokio::test(start_paused = true)]
async fn a_panic_before_the_hedge_is_sent_refunds_it_and_one_afterwards_does_not() {
    let cases = [
        ("acquire_hedge", "", 500, 1),
        ("ready", "", 500, 1),
        ("", "attempt_started", 500, 1),
        ("", "hedge_sent", 500, 1),
        ("", "hedge_ended", 495, 2),
        ("", "closure", 495, 2),
        ("", "body", 495, 2),
        ("", "attempt_failed", 495, 2),
    ];
    for (panics_in, event, quota, sent) in cases {
        let strategy = Fragile { strategy: standard(), panics_in, asked: Cell::new(0) };
        let calls = Cell::new(0);
        let call = retry(&strategy, || {
            calls.set(calls.get() + 1);
            let is_hedge = calls.get() == 2;
            assert!(!(is_hedge && event == "closure"));
            async move {
                assert!(!(is_hedge && event == "body"));
                sleep(millis(150)).await;
                Err::<(), _>(Failed::SAFE)
            }
        });
        let call = call.observer(PanicsAt(event, 2)).attempt_timeout(millis(1000)).idempotent(true).hedge(&AFTER).run();
        assert!(panics(call).await, "{panics_in}{event}");
        assert_eq!((strategy.strategy.quota().available(), calls.get()), (quota, sent), "{panics_in}{event}");

        // In the attribute, there is no closure, so the body panics in its place.
        let strategy = Fragile { strategy: standard(), panics_in, asked: Cell::new(0) };
        let (calls, observer) = (Cell::new(0), PanicsAt(event, 2));
        let body = event == "closure" || event == "body";
        assert!(panics(fragile(&strategy, &observer, &calls, body)).await, "{panics_in}{event}");
        assert_eq!((strategy.strategy.quota().available(), calls.get()), (quota, sent), "{panics_in}{event}");
    }
}

/// A future that panics when it is dropped, unless it is over.
struct Bomb(Option<()>);

impl Future for Bomb {
    type Output = Result<u32, Failed>;

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Pending
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(self.0.is_none() || std::thread::panicking(), "dropped");
    }
}

// Rule V8.
#[tokio::test(start_paused = true)]
async fn the_loser_is_dropped_before_the_strategy_learns_of_the_end() {
    let (strategy, hedge, log) = (Recorder::new().selling_hedges(), after(), RefCell::<Vec<_>>::default());
    let calls = Cell::new(0);
    let call = retry(&strategy, || {
        calls.set(calls.get() + 1);
        let number = calls.get();
        let (log, strategy) = (&log, &strategy);
        async move {
            let _dropped = scopeguard(move || log.borrow_mut().push((number, strategy.calls().len())));
            sleep(millis(if number == 1 { 1000 } else { 10 })).await;
            Ok::<_, Failed>(number)
        }
    });
    assert_eq!(call.idempotent(true).hedge(hedge).run().await, Ok(2));
    // initial, ready, hedge, ready; and then the success.
    assert_eq!(*log.borrow(), [(2, 4), (1, 4)]);
    assert_eq!(strategy.calls(), ["initial", "ready", "hedge", "ready", "success"], "nothing is released");

    // A loser that panics while it is dropped.
    let strategy = standard();
    let calls = Cell::new(0);
    let call = retry(&strategy, || {
        calls.set(calls.get() + 1);
        let number = calls.get();
        async move { if number == 1 { Bomb(Some(())).await } else { Ok(number) } }
    });
    assert!(panics(call.idempotent(true).hedge(hedge).run()).await);
    assert_eq!(strategy.quota().available(), 495);
}

/// Calls a closure when it is dropped.
fn scopeguard(run: impl FnMut()) -> impl Drop {
    struct Guard<F: FnMut()>(F);
    impl<F: FnMut()> Drop for Guard<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    Guard(run)
}

// Rule D4.
#[tokio::test(start_paused = true)]
async fn a_hedged_call_that_is_never_polled_touches_nothing_and_its_body_is_polled_once_in_its_first_poll() {
    let (strategy, hedge) = (standard(), after());
    let polls = Cell::new(0);
    let call = || {
        retry(&strategy, || {
            std::future::poll_fn(|_| {
                polls.set(polls.get() + 1);
                Poll::<Outcome>::Pending
            })
        })
    };
    drop(call().idempotent(true).hedge(hedge).run());
    assert_eq!(polls.get(), 0);
    let mut call = pin!(call().idempotent(true).hedge(hedge).run());
    poll_once(call.as_mut());
    assert_eq!(polls.get(), 1);
    poll_once(call.as_mut());
    assert_eq!(polls.get(), 2);
}
