//! Scopes as strategies of retried functions.

use super::standard;
use crate::support::{Failed, Flaky, assert_send, poll_once};
use retry_core::strategy::Scope;
use retry_core::{RetryQuota, ScopedRetryStrategy, StandardRetryStrategy, retry, retryable};
use std::pin::pin;

// Rule S1.
#[tokio::test(start_paused = true)]
async fn an_exhausted_quota_does_not_affect_other_scopes() {
    static BUCKETS: ScopedRetryStrategy<String> = ScopedRetryStrategy::new(|| standard().quota_capacity(10));

    #[retryable(strategy = BUCKETS.scope(bucket))]
    async fn put(bucket: &str, flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    let mut attempts = Vec::new();
    for bucket in ["busy", "busy", "idle"] {
        let flaky = Flaky::new(u32::MAX, Failed::SAFE);
        put(bucket, &flaky).await.unwrap_err();
        attempts.push(flaky.calls());
    }
    assert_eq!(attempts, [3, 1, 3]);
}

#[tokio::test(start_paused = true)]
async fn the_future_owns_its_scope() {
    static TENANTS: ScopedRetryStrategy<u64> = ScopedRetryStrategy::new(standard);

    #[retryable(strategy = TENANTS.scope(&tenant), clone(counter))]
    async fn call(tenant: u64, counter: std::sync::Arc<Flaky>) -> Result<u32, Failed> {
        counter.call()
    }

    let operation: Box<dyn Future<Output = _> + Send + 'static> = Box::new(call(7, Flaky::new(2, Failed::SAFE).into()));
    assert_eq!(Box::into_pin(operation).await, Ok(3));
    assert_eq!(TENANTS.scope(&7).quota().available(), 491);
}

// Rules D1, S4.
#[tokio::test(start_paused = true)]
async fn an_operation_that_waits_keeps_its_scope_in_use_and_is_refunded_when_dropped() {
    static SCOPES: ScopedRetryStrategy<u32> = ScopedRetryStrategy::new(standard).max_scopes(1);

    #[retryable(strategy = SCOPES.scope(&1))]
    async fn call(counter: &Flaky) -> Result<u32, Failed> {
        counter.call()
    }

    let counter = Flaky::new(u32::MAX, Failed::SAFE);
    {
        let mut operation = pin!(assert_send(call(&counter)));
        poll_once(operation.as_mut());
        SCOPES.scope(&2);
        SCOPES.scope(&3);
        assert_eq!(SCOPES.scope(&1).quota().available(), 495);
    }
    assert_eq!(SCOPES.scope(&1).quota().available(), 500);
    assert_eq!(counter.calls(), 1);
}

struct Client {
    scopes: ScopedRetryStrategy<String>,
    bucket: String,
    counter: Flaky,
    log: Vec<u32>,
}

impl Client {
    #[retryable(strategy = self.scopes.scope(&self.bucket))]
    async fn append(&mut self) -> Result<usize, Failed> {
        let call = self.counter.call();
        self.log.push(1);
        tokio::task::yield_now().await;
        call.map(|_| self.log.len())
    }
}

#[tokio::test(start_paused = true)]
async fn a_method_may_borrow_self_mutably_while_its_scope_comes_from_a_field() {
    let scopes = ScopedRetryStrategy::new(standard);
    let mut client =
        Client { scopes, bucket: "photos".to_owned(), counter: Flaky::new(2, Failed::SAFE), log: Vec::new() };
    assert_eq!(assert_send(client.append()).await, Ok(3));
    assert_eq!(client.scopes.scope("photos").quota().available(), 491);
}

struct Bucket {
    scope: Scope<StandardRetryStrategy>,
    calls: u32,
}

impl Bucket {
    #[retryable(strategy = self.scope)]
    async fn fail(&mut self) -> Result<(), Failed> {
        self.calls += 1;
        Err(Failed::SAFE)
    }
}

#[tokio::test(start_paused = true)]
async fn a_stored_handle_is_a_strategy_too() {
    let scopes = ScopedRetryStrategy::<String>::new(standard);
    let mut bucket = Bucket { scope: scopes.scope("photos"), calls: 0 };
    bucket.fail().await.unwrap_err();
    assert_eq!((bucket.calls, scopes.scope("photos").quota().available()), (5, 480));

    let flaky = Flaky::new(1, Failed::SAFE);
    retry(bucket.scope.clone(), || async { flaky.call() }).run().await.unwrap();
    retry(scopes.scope("photos"), || async { flaky.call() }).run().await.unwrap();
    assert_eq!(scopes.scope("photos").quota().available(), 477);
}
