//! What a guard reaches: every strategy, every form of a call, and the threads and tasks that enter its test.

use crate::script::Error;
use crate::support::{Failed, Flaky, poll_once, secs};
use retry_config::{RetryConfig, RetryMode};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::parts::Shared;
use retry_core::strategy::ForeignToken;
use retry_core::test::{begin, is_active};
use retry_core::time::ManualTimer;
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErasedStrategy, ExponentialBackoff, Failure, RetryError, RetryQuota, RetryStrategy,
    RetryToken, ScopedRetryStrategy, StandardRetryStrategy, Success, TokenBucket, TokioTimer, retry, retry_blocking,
    retry_with_context, retryable,
};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, LazyLock, Mutex};
use std::task::Waker;
use std::thread;
use std::time::Duration;

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
    for mode in [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced] {
        check(
            &RetryConfig::new().mode(mode).try_max_attempts(5).unwrap().build_on(StandardRetryStrategy::new()).unwrap(),
        )
        .await;
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
    let service = || Flaky::new(2, Failed::SAFE.after(secs(100)));
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

    /// Runs a future on its own thread, as an executor with several threads does.
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

// Rules G1, R19.
#[tokio::test(start_paused = true)]
async fn a_switch_of_a_map_is_the_same_for_scopes_that_a_test_adds() {
    let map: ScopedRetryStrategy<u32> = ScopedRetryStrategy::new(StandardRetryStrategy::new);
    map.set_enabled(false);
    {
        let _test = begin();
        assert!(map.is_enabled(), "the test's own switch is on");
        assert_eq!(attempts(&map.scope(&1)).await, THREE);
        map.set_enabled(false);
        assert_eq!(attempts(&map.scope(&1)).await, (1, Some(RetryError::Disabled)));
    }
    assert_eq!(attempts(&map.scope(&1)).await, (1, Some(RetryError::Disabled)));
    map.set_enabled(true);
    let _test = begin();
    map.set_enabled(false);
    thread::scope(|scope| scope.spawn(|| drop(map.scope(&2))).join().unwrap());
    assert_eq!(attempts(&map.scope(&2)).await, (1, Some(RetryError::Disabled)));
}

// Rules D1, G5.
#[test]
fn a_wrapped_call_that_is_dropped_gives_its_retry_back_to_the_test() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    let test = begin().real_time();
    let handle = test.handle();
    thread::spawn(move || {
        let time = ManualTimer::new();
        let call = retry(&STORE, async || Err::<(), _>(Failed::SAFE)).timer(&time);
        let mut call = Box::pin(handle.wrap(call.run()));
        poll_once(call.as_mut());
        assert_eq!(handle.run(|| STORE.quota().available()), 495);
        drop(call);
        assert_eq!(handle.run(|| STORE.quota().available()), 500);
    })
    .join()
    .unwrap();
    assert_eq!(STORE.quota().available(), 500);
}

// Rule G2.
#[tokio::test]
async fn a_wait_that_the_strategy_ends_is_not_skipped() {
    /// One attempt at a time. The other operations wait until it is over.
    #[derive(Default)]
    struct OneAtATime(Mutex<(bool, Vec<Waker>)>);

    struct Place;

    impl RetryToken for Place {
        fn attempt(&self) -> u32 {
            1
        }

        fn delay(&self) -> Duration {
            Duration::ZERO
        }
    }

    impl RetryStrategy for OneAtATime {
        type Token = Place;

        fn acquire_initial_token(&self, _: &dyn Clock) -> Result<Place, RetryError> {
            Ok(Place)
        }

        fn refresh_retry_token(&self, _: Place, _: &Failure, _: &dyn Clock) -> Result<Place, RetryError> {
            Err(RetryError::Refused)
        }

        fn record_success(&self, _: Place, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
            let wakers = {
                let mut state = self.0.lock().unwrap();
                state.0 = false;
                std::mem::take(&mut state.1)
            };
            wakers.into_iter().for_each(Waker::wake);
            Ok(())
        }

        fn ready(&self, _: &mut Place, _: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
            let mut state = self.0.lock().unwrap();
            if std::mem::replace(&mut state.0, true) {
                state.1.extend(waker.map(LazyWaker::waker));
                return Ready::After(secs(60));
            }
            Ready::Now
        }
    }

    let (test, strategy) = (begin(), OneAtATime::default());
    let call = |polls: u32| {
        let body = move || async move {
            for _ in 0..polls {
                tokio::task::yield_now().await;
            }
            Ok::<_, Error>(1)
        };
        retry(&strategy, body).max_time(secs(300)).run()
    };
    assert_eq!(tokio::join!(call(10), call(0)), (Ok(1), Ok(1)));
    assert!(test.skipped().is_empty(), "{:?}", test.skipped());
}

// Rule G2.
#[tokio::test]
async fn a_skipped_wait_yields_once() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    let (_test, order) = (begin(), Mutex::new(Vec::new()));
    let call = || {
        let order = &order;
        let mut attempts = 0;
        let body = move || {
            attempts += 1;
            order.lock().unwrap().push(attempts);
            let outcome = if attempts < 3 { Err(Failed::SAFE) } else { Ok(()) };
            async move { outcome }
        };
        retry(&STORE, body).run()
    };
    let _ = tokio::join!(call(), call());
    assert_eq!(order.into_inner().unwrap(), [1, 1, 2, 2, 3, 3], "the calls take turns");
}

// Rule G1.
#[test]
fn a_fresh_state_may_be_made_from_another_one_of_the_test() {
    static CAPACITY: Shared<u32> = Shared::new(1);
    static LEFT: Shared<u32> = Shared::new(1);

    let _test = begin();
    assert_eq!(LEFT.with(|| CAPACITY.with(|| 7, |capacity| *capacity), |left| *left), 7);
}
