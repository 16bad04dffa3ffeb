//! What a guard reaches: every strategy, every form of a call, and the threads and tasks that enter its test.

use crate::support::{Failed, Flaky};
use retry_core::config::RetryMode;
use retry_core::test::{begin, is_active};
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErasedStrategy, ExponentialBackoff, RetryConfig, RetryError, RetryQuota,
    RetryStrategy, ScopedRetryStrategy, StandardRetryStrategy, TokenBucket, TokioTimer, retry, retry_blocking,
    retry_with_context, retryable,
};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, LazyLock};
use std::thread;

const THREE: (u32, Option<RetryError>) = (3, None);

/// Calls a service that fails twice, and returns the number of attempts and the reason to stop.
async fn attempts<S: RetryStrategy>(strategy: &S) -> (u32, Option<RetryError>) {
    let service = Flaky::new(2, Failed::SAFE);
    let report = retry(strategy, async || service.call()).report().await;
    (report.attempts, report.reason)
}

// Rule G1.
#[tokio::test(start_paused = true)]
async fn every_strategy_has_fresh_state_inside_a_guard_and_its_own_outside() {
    async fn check<S: RetryStrategy>(strategy: &S) {
        assert_eq!(attempts(strategy).await, THREE);
        let outside = strategy.quota_level();
        assert_ne!(outside, Some(500), "it was paid for two retries");
        {
            let test = begin();
            assert_eq!(strategy.quota_level(), Some(500));
            assert_eq!(attempts(strategy).await, THREE);
            assert_eq!(strategy.quota_level(), Some(500 - 5 - 5 + 1));
            test.only().assert_ended(3, None);
        }
        {
            let _test = begin().quota(5);
            assert_eq!(attempts(strategy).await, (2, Some(RetryError::QuotaExhausted)));
            let _test = begin().max_attempts(2);
            assert_eq!(attempts(strategy).await, (2, Some(RetryError::MaxAttempts)));
        }
        assert_eq!(strategy.quota_level(), outside);
    }

    static QUOTA: TokenBucket = TokenBucket::new(500);
    static LAZY: LazyLock<AdaptiveRetryStrategy> = LazyLock::new(AdaptiveRetryStrategy::new);
    let shared: StandardRetryStrategy<ExponentialBackoff, &TokenBucket> =
        StandardRetryStrategy::new().with_quota(&QUOTA);
    check(&StandardRetryStrategy::new()).await;
    check(&Arc::new(StandardRetryStrategy::new())).await;
    check(&Box::new(StandardRetryStrategy::new())).await;
    check(&shared).await;
    check(&AdaptiveRetryStrategy::new()).await;
    check(&*LAZY).await;
    check(&ErasedStrategy::new(StandardRetryStrategy::new())).await;
    check(&ErasedStrategy::new(AdaptiveRetryStrategy::new())).await;
    for mode in [RetryMode::Standard, RetryMode::Adaptive] {
        check(&RetryConfig::new().retry_mode(mode).try_max_attempts(5).unwrap().build()).await;
    }
    let scopes: ScopedRetryStrategy<u32> = ScopedRetryStrategy::new(StandardRetryStrategy::new);
    check(&scopes.scope(&1)).await;
}

// Rules G1, G3.
#[tokio::test]
async fn every_form_of_a_call_is_reached() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

    #[retryable(strategy = STORE)]
    async fn function(service: &Flaky) -> Result<u32, Failed> {
        service.call()
    }

    #[retryable(strategy = "adaptive")]
    async fn own_static(service: &Flaky) -> Result<u32, Failed> {
        service.call()
    }

    #[retryable(strategy = STORE, blocking)]
    fn blocks(service: &Flaky) -> Result<u32, Failed> {
        service.call()
    }

    let test = begin();
    let service = || Flaky::new(2, Failed::SAFE.after(std::time::Duration::from_secs(100)));
    assert_eq!(function(&service()).await, Ok(3));
    assert_eq!(own_static(&service()).await, Ok(3));
    assert_eq!(blocks(&service()), Ok(3));
    let flaky = service();
    assert_eq!(retry(&STORE, async || flaky.call()).run().await, Ok(3));
    let flaky = service();
    assert_eq!(retry_with_context(&STORE, async |_| flaky.call()).run().await, Ok(3));
    let flaky = service();
    assert_eq!(retry_blocking(&STORE, || flaky.call()).run(), Ok(3));
    assert_eq!(test.operations().len(), 6);
    for call in test.operations() {
        call.assert_ended(3, None);
    }
}

// Rule G1.
#[test]
fn guards_of_two_threads_never_meet() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    static BOTH: Barrier = Barrier::new(2);

    let one = |failures: u32| {
        move || {
            let test = begin();
            for _ in 0..50 {
                BOTH.wait();
                let service = Flaky::new(failures, Failed::SAFE);
                assert_eq!(retry_blocking(&STORE, || service.call()).run(), Ok(failures + 1));
            }
            assert_eq!(test.operations().len(), 50);
            STORE.quota().available()
        }
    };
    let threads = [1, 2].map(|failures| thread::spawn(one(failures)));
    let left = threads.map(|thread| thread.join().unwrap());
    assert_eq!(left, [500 - 50 * 4, 500 - 50 * 9]);
    assert_eq!(STORE.quota().available(), 500);
}

// Rule G5.
#[test]
fn tasks_and_threads_enter_a_test_by_its_handle() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

    /// Runs a future on a thread of its own, as an executor with several threads does.
    fn on_another_thread<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        thread::spawn(move || runtime.block_on(future)).join().unwrap()
    }

    let test = begin().quota(5);
    let handle = test.handle();
    let call = async || {
        let report = retry(&STORE, async || Err::<(), _>(Failed::SAFE)).report().await;
        (report.reason, is_active())
    };
    assert_eq!(on_another_thread(handle.wrap(call())), (Some(RetryError::QuotaExhausted), true));
    assert!(!on_another_thread(async { is_active() }));
    let level = thread::spawn(move || handle.run(|| STORE.quota_level())).join().unwrap();
    assert_eq!(level, Some(0), "the task and the thread are in one test");
    test.only().assert_ended(2, Some(RetryError::QuotaExhausted));
    drop(test);
    assert_eq!(STORE.quota_level(), Some(500));
}

#[test]
fn a_panic_leaves_the_test() {
    let handle = begin().handle();
    let entered = std::panic::catch_unwind(|| handle.run(|| panic!("inside")));
    assert!(entered.is_err());
    assert!(!is_active());
}

#[test]
fn a_quota_of_the_users_own_can_ask_for_the_test() {
    /// Full under a test.
    struct Own(AtomicU32);

    impl RetryQuota for Own {
        fn try_acquire(&self, _: u32, _: &dyn Clock) -> bool {
            is_active() || self.0.fetch_sub(1, Ordering::Relaxed) > 0
        }

        fn refund(&self, _: u32) {}

        fn available(&self) -> u32 {
            self.0.load(Ordering::Relaxed)
        }
    }

    let strategy = StandardRetryStrategy::new().with_quota(Own(AtomicU32::new(1)));
    let _test = begin();
    assert!(strategy.quota().try_acquire(5, &TokioTimer));
    assert_eq!(strategy.quota().available(), 1);
}
