//! Strategies whose type is erased.

use crate::support::{Failed, Flaky, assert_send, millis, poll_once, secs};
use ::tower::{Layer, ServiceExt, service_fn};
use retry_core::limit::Ready;
use retry_core::strategy::{ErasedToken, ForeignToken};
use retry_core::{
    AttemptContext, Clock, ErasedStrategy, Event, Failure, Jitter, RetryError, RetryQuota, RetryStrategy, RetryToken,
    ScopedRetryStrategy, StandardRetryStrategy, Success, TokioTimer, retry, retry_with_context, retryable,
};
use retry_tower::RetryLayer;
use std::cell::Cell;
use std::pin::pin;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const CLOCK: &dyn Clock = &TokioTimer;

const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

/// A strategy with a maximum number of retries and no delay.
struct Retries(u32);

struct Attempt(u32);

impl RetryToken for Attempt {
    fn attempt(&self) -> u32 {
        self.0
    }

    fn delay(&self) -> Duration {
        Duration::ZERO
    }
}

impl RetryStrategy for Retries {
    type Token = Attempt;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<Attempt, RetryError> {
        Ok(Attempt(1))
    }

    fn refresh_retry_token(&self, token: Attempt, _: &Failure, _: &dyn Clock) -> Result<Attempt, RetryError> {
        if token.attempt() > self.0 { Err(RetryError::Refused) } else { Ok(Attempt(token.attempt() + 1)) }
    }

    fn record_success(&self, _: Attempt, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        Ok(())
    }
}

fn second(strategy: &ErasedStrategy) -> ErasedToken {
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap()
}

#[tokio::test(start_paused = true)]
async fn strategies_of_different_types_can_be_chosen_at_run_time() {
    static STANDARD: StandardRetryStrategy = standard();
    static SCOPES: ScopedRetryStrategy<u32> = ScopedRetryStrategy::new(standard);

    let attempts = |strategy: ErasedStrategy| async move {
        let flaky = Flaky::new(u32::MAX, Failed::SAFE);
        retry(strategy, || async { flaky.call() }).run().await.unwrap_err();
        flaky.calls()
    };
    let choose = |name: &str| match name {
        "standard" => ErasedStrategy::new(&STANDARD),
        "scoped" => ErasedStrategy::new(SCOPES.scope(&1)),
        "twice" => ErasedStrategy::new(Retries(2)),
        "erased" => ErasedStrategy::new(ErasedStrategy::new(Retries(1))),
        _ => ErasedStrategy::new(StandardRetryStrategy::aws_2_0()),
    };
    let mut made = Vec::new();
    for name in ["standard", "scoped", "twice", "erased", "aws"] {
        made.push(attempts(choose(name)).await);
    }
    assert_eq!(made, [5, 5, 3, 2, 3]);
    assert_eq!(STANDARD.quota().available(), 480, "four retries were paid from the static");
    assert_eq!(SCOPES.scope(&1).quota().available(), 480);
}

// Rule Q6.
#[tokio::test(start_paused = true)]
async fn clones_share_one_quota_and_keep_the_settings_of_the_strategy() {
    static STANDARD: StandardRetryStrategy = standard().quota_capacity(12);
    let erased = ErasedStrategy::new(&STANDARD);

    let started = tokio::time::Instant::now();
    let flaky = Flaky::new(1, Failed::SAFE);
    let report = retry(erased.clone(), || async { flaky.call() }).report().await;
    assert_eq!((report.outcome, report.attempts, report.reason), (Ok(2), 2, None));
    assert_eq!(started.elapsed(), secs(1));
    assert_eq!(STANDARD.quota().available(), 8);

    let flaky = Flaky::new(u32::MAX, Failed::SAFE);
    let report = retry(erased.clone(), || async { flaky.call() }).report().await;
    assert_eq!((report.attempts, report.reason), (2, Some(RetryError::QuotaExhausted)));
    assert_eq!(STANDARD.quota().available(), 3);
}

// Rule D1.
#[tokio::test(start_paused = true)]
async fn an_operation_that_is_dropped_while_it_waits_is_refunded() {
    static STANDARD: StandardRetryStrategy = standard();
    {
        let flaky = Flaky::new(u32::MAX, Failed::SAFE);
        let mut call = pin!(retry(ErasedStrategy::new(&STANDARD), || async { flaky.call() }).run());
        poll_once(call.as_mut());
        assert_eq!(STANDARD.quota().available(), 495);
    }
    assert_eq!(STANDARD.quota().available(), 500);
}

#[test]
fn a_token_forwards_to_the_token_inside() {
    let erased = ErasedStrategy::new(standard());
    let mut token = second(&erased);
    assert_eq!((token.attempt(), token.retry_count(), token.delay()), (2, 1, secs(1)));
    assert_eq!(erased.ready(&mut token, CLOCK, None), Ready::Now);
    assert_eq!(format!("{token:?}"), "ErasedToken { attempt: 2, delay: 1s, .. }");
    assert_eq!(format!("{erased:?}"), "ErasedStrategy { .. }");
}

#[test]
fn tokens_pass_between_the_handles_of_one_strategy() {
    static STANDARD: StandardRetryStrategy = standard();
    let (here, there) = (ErasedStrategy::new(&STANDARD), ErasedStrategy::new(&STANDARD));
    assert_eq!(there.record_success(second(&here), &Success::default(), CLOCK), Ok(()));
    assert_eq!(here.clone().record_success(second(&here), &Success::default(), CLOCK), Ok(()));
    assert_eq!(STANDARD.quota().available(), 492);
}

// Rule R13.
#[test]
fn a_foreign_token_is_refused_and_the_quota_is_unchanged() {
    static OURS: StandardRetryStrategy = standard();
    assert!(OURS.quota().try_acquire(100, CLOCK));
    let ours = ErasedStrategy::new(&OURS);
    // A token of the same type from another strategy, and tokens of other types.
    let twice = ErasedStrategy::new(ErasedStrategy::new(standard()));
    for theirs in [ErasedStrategy::new(standard()), ErasedStrategy::new(Retries(9)), twice] {
        let refused = ours.refresh_retry_token(second(&theirs), &Failure::of(&Failed::SAFE), CLOCK);
        assert_eq!(refused.unwrap_err(), RetryError::ForeignToken);
        assert_eq!(ours.record_success(second(&theirs), &Success::default(), CLOCK), Err(ForeignToken));
        assert_eq!(ours.ready(&mut second(&theirs), CLOCK, None), Ready::Now);
        ours.release(second(&theirs));
        assert_eq!(OURS.quota().available(), 400);
    }
}

struct Client {
    retry: ErasedStrategy,
    calls: AtomicU32,
}

impl Client {
    fn new(retry: ErasedStrategy) -> Self {
        Self { retry, calls: AtomicU32::new(0) }
    }

    #[retryable(strategy = self.retry)]
    async fn call(&mut self) -> Result<u32, Failed> {
        tokio::task::yield_now().await;
        *self.calls.get_mut() += 1;
        Err(Failed::SAFE)
    }

    #[retryable(strategy = self.retry.clone())]
    async fn call_by_handle(&mut self) -> Result<u32, Failed> {
        *self.calls.get_mut() += 1;
        Err(Failed::SAFE)
    }
}

#[tokio::test(start_paused = true)]
async fn the_attribute_accepts_an_erased_strategy_in_a_field() {
    let mut client = Client::new(ErasedStrategy::new(Retries(2)));
    assert_send(client.call()).await.unwrap_err();
    assert_eq!(*client.calls.get_mut(), 3);
    client.retry = ErasedStrategy::new(standard().backoff(millis(1), millis(1)));
    assert_send(client.call_by_handle()).await.unwrap_err();
    assert_eq!(*client.calls.get_mut(), 8);
}

#[tokio::test(start_paused = true)]
async fn the_attribute_accepts_a_static_whose_type_is_chosen_at_run_time() {
    static CHOSEN: LazyLock<ErasedStrategy> = LazyLock::new(|| ErasedStrategy::new(Retries(3)));
    static CALLS: AtomicU32 = AtomicU32::new(0);

    #[retryable(strategy = CHOSEN)]
    async fn call() -> Result<(), Failed> {
        CALLS.fetch_add(1, Ordering::Relaxed);
        Err(Failed::SAFE)
    }

    let operation: Box<dyn Future<Output = Result<(), Failed>> + Send + 'static> = Box::new(call());
    Box::into_pin(operation).await.unwrap_err();
    assert_eq!(CALLS.load(Ordering::Relaxed), 4);
}

#[test]
fn a_handle_may_move_to_another_thread() {
    let erased = assert_send(ErasedStrategy::new(Retries(1)));
    let clone = erased.clone();
    let token = std::thread::spawn(move || assert_send(second(&clone))).join().unwrap();
    assert_eq!(erased.record_success(token, &Success::default(), CLOCK), Ok(()));
}

/// Checks at compile time that the future of each form is `Send`, for this strategy.
macro_rules! every_form_is_send {
    ($strategy:expr) => {{
        #[retryable(strategy = $strategy)]
        async fn plain() -> Result<(), Failed> {
            Err(Failed::FATAL)
        }
        #[retryable(strategy = $strategy, max_time = "9s")]
        async fn max_time() -> Result<(), Failed> {
            Err(Failed::FATAL)
        }
        #[retryable(strategy = $strategy, attempt_timeout = "9s")]
        async fn attempt_timeout() -> Result<(), Failed> {
            Err(Failed::FATAL)
        }
        #[retryable(strategy = $strategy, max_time = "9s", attempt_timeout = "1s", context = context, on_retry = |_, _| ())]
        async fn all() -> Result<(), Failed> {
            assert_eq!(context.attempt(), 1);
            Err(Failed::FATAL)
        }
        let body = || async { Err::<(), _>(Failed::FATAL) };
        let in_context = |_: AttemptContext| async { Err::<(), _>(Failed::FATAL) };
        let nine = secs(9);
        assert_send(plain()).await.unwrap_err();
        assert_send(max_time()).await.unwrap_err();
        assert_send(attempt_timeout()).await.unwrap_err();
        assert_send(all()).await.unwrap_err();
        assert_send(retry($strategy, body).run()).await.unwrap_err();
        assert_send(retry($strategy, body).max_time(nine).run()).await.unwrap_err();
        assert_send(retry($strategy, body).attempt_timeout(nine).run()).await.unwrap_err();
        assert_send(retry($strategy, body).max_time(nine).attempt_timeout(nine).run()).await.unwrap_err();
        let with_all = retry_with_context($strategy, in_context).max_time(nine).attempt_timeout(nine);
        assert_send(with_all.on_retry(|_, _: &Event| ()).report()).await.outcome.unwrap_err();
        assert_send(retry_with_context($strategy, in_context).attempt_timeout(nine).run()).await.unwrap_err();
        let service = service_fn(|()| std::future::ready(Err::<(), _>(Failed::FATAL)));
        assert_send(RetryLayer::new($strategy).layer(service).oneshot(())).await.unwrap_err();
        assert_send(RetryLayer::new($strategy).attempt_timeout(nine).layer(service).oneshot(())).await.unwrap_err();
        let limited = RetryLayer::new($strategy).max_time(nine).attempt_timeout(nine);
        assert_send(limited.layer(service).oneshot(())).await.unwrap_err();
    }};
}

// Rule M5.
#[tokio::test(start_paused = true)]
async fn the_future_of_every_form_is_send_although_the_token_is_not_sync() {
    static ERASED: LazyLock<ErasedStrategy> = LazyLock::new(|| ErasedStrategy::new(standard()));
    static UNSYNC: Unsync = Unsync;
    every_form_is_send!(&*ERASED);
    every_form_is_send!(&UNSYNC);
}

/// A strategy that refuses all retries, and whose token is `Send` and not `Sync`.
struct Unsync;

struct UnsyncToken(Cell<u32>);

impl RetryToken for UnsyncToken {
    fn attempt(&self) -> u32 {
        self.0.get()
    }

    fn delay(&self) -> Duration {
        Duration::ZERO
    }
}

impl RetryStrategy for Unsync {
    type Token = UnsyncToken;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<UnsyncToken, RetryError> {
        Ok(UnsyncToken(Cell::new(1)))
    }

    fn refresh_retry_token(&self, _: UnsyncToken, _: &Failure, _: &dyn Clock) -> Result<UnsyncToken, RetryError> {
        Err(RetryError::Refused)
    }

    fn record_success(&self, _: UnsyncToken, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        Ok(())
    }
}
