//! What points to an error, a strategy or a timer is one.

use crate::support::{Failed, secs};
use retry_core::strategy::StandardRetryToken;
use retry_core::{
    Clock, ErrorFault, Failure, RetryInfo, RetryQuota, RetrySafety, RetryStrategy, RetryToken, StandardRetryStrategy,
    Success, Timer, TokioTimer,
};
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

#[test]
#[expect(clippy::needless_borrows_for_generic_args, reason = "the borrow is what is tested")]
fn a_pointer_to_an_error_says_what_the_error_says() {
    fn says(error: impl RetryInfo) -> (ErrorFault, RetrySafety, [bool; 3], Option<std::time::Duration>) {
        let classes = [error.is_throttle(), error.is_timeout(), error.is_conflict()];
        (error.fault(), error.is_retry_safe(), classes, error.retry_after())
    }

    let fault = Failed {
        fault: ErrorFault::Server,
        safety: RetrySafety::No,
        throttle: true,
        timeout: true,
        conflict: true,
        retry_after: Some(secs(3)),
    };
    let expected = (ErrorFault::Server, RetrySafety::No, [true; 3], Some(secs(3)));
    let erased: Box<dyn RetryInfo + Send + Sync> = Box::new(fault);
    assert_eq!(says(fault), expected);
    assert_eq!(says(&fault), expected);
    assert_eq!(says(Box::new(fault)), expected);
    assert_eq!(says(Arc::new(fault)), expected);
    assert_eq!(says(Rc::new(fault)), expected);
    assert_eq!(says(Cow::Borrowed(&fault)), expected);
    assert_eq!(says(Cow::<'_, Failed>::Owned(fault)), expected);
    assert_eq!(says(&*erased), expected);
    assert_eq!(says(Arc::<dyn RetryInfo + Send + Sync>::from(erased)), expected);
}

#[test]
fn a_pointer_to_a_strategy_is_that_strategy() {
    fn token<S: RetryStrategy>(strategy: S) -> S::Token {
        let token = strategy.acquire_initial_token(&TokioTimer).unwrap();
        strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &TokioTimer).unwrap()
    }

    static LAZY: LazyLock<StandardRetryStrategy> = LazyLock::new(StandardRetryStrategy::aws_2_0);
    LAZY.record_success(token(&LAZY), &Success::default(), &TokioTimer).unwrap();

    let shared = Arc::new(StandardRetryStrategy::new());
    shared.record_success(token(Arc::clone(&shared)), &Success::default(), &TokioTimer).unwrap();
    RetryStrategy::record_success(&&shared, token(&*shared), &Success::default(), &TokioTimer).unwrap();
    let boxed: Box<dyn RetryStrategy<Token = StandardRetryToken>> = Box::new(StandardRetryStrategy::new());
    boxed.record_success(token(&boxed), &Success::default(), &TokioTimer).unwrap();
    boxed.release(token(&boxed));
    assert_eq!(token(&boxed).attempt(), 2);
    assert_eq!(shared.quota().available(), 492, "two retries, two successes that give 1 back");
}

#[tokio::test(start_paused = true)]
async fn a_pointer_to_a_timer_is_that_timer() {
    type Erased = dyn Timer<Sleep = <TokioTimer as Timer>::Sleep>;

    let timers: [Box<Erased>; 3] = [Box::new(TokioTimer), Box::new(&TokioTimer), Box::new(Arc::new(TokioTimer))];
    for timer in timers {
        let before = timer.now();
        timer.sleep(secs(2)).await;
        assert_eq!(timer.now().saturating_since(before), secs(2));
        assert_eq!(before.saturating_since(timer.now()), std::time::Duration::ZERO);
    }
}

#[test]
fn a_clock_that_outlives_a_test_may_go_backwards() {
    let paused = |advance| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            tokio::time::advance(advance).await;
            TokioTimer.now()
        })
    };
    let later = paused(secs(3600));
    let earlier = paused(secs(0));
    assert!(earlier < later);
    assert_eq!(earlier.saturating_since(later), std::time::Duration::ZERO);
    assert!(later.saturating_since(earlier) > secs(3000), "it did not freeze at the first reading");
}
