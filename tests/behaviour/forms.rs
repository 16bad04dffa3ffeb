//! Functions that are async without the word, and those that other attributes have changed before.

use crate::script::Error;
use crate::support::{Failed, Flaky, assert_send, secs};
use async_trait::async_trait;
use retry_core::{Jitter, RetryQuota, StandardRetryStrategy, retryable};
use std::cell::Cell;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::time::{Instant, sleep};
use tracing::instrument;

static STRATEGY: StandardRetryStrategy =
    StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).quota_capacity(u32::MAX);

fn strategy() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0))
}

#[async_trait]
trait Store {
    async fn get(&self, key: &str) -> Result<String, Failed>;

    async fn put(&mut self, key: String, tries: u32, pair: (u32, u32)) -> Result<u32, Failed>;

    #[retryable(strategy = STRATEGY)]
    async fn ping(&self, flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }
}

struct Client {
    retry: StandardRetryStrategy,
    sent: AtomicU32,
    seen: Vec<(usize, u32)>,
}

#[async_trait]
impl Store for Client {
    #[retryable(strategy = self.retry)]
    async fn get(&self, key: &str) -> Result<String, Failed> {
        if self.sent.fetch_add(1, Ordering::Relaxed) < 2 {
            return Err(Failed::THROTTLED);
        }
        Ok(key.to_owned())
    }

    #[retryable(strategy = self.retry, clone(key))]
    async fn put(&mut self, key: String, mut tries: u32, (a, mut b): (u32, u32)) -> Result<u32, Failed> {
        tries += 1;
        b += 1;
        let owned: String = key;
        self.seen.push((owned.len(), tries + a + b));
        self.get("nested").await?;
        if self.seen.len() < 3 {
            Err(Failed::SAFE)?;
        }
        Ok(tries)
    }
}

#[tokio::test(start_paused = true)]
async fn methods_of_async_traits_are_retried() {
    let mut client = Client { retry: strategy(), sent: AtomicU32::new(0), seen: Vec::new() };
    assert_eq!(assert_send(client.get("key")).await.as_deref(), Ok("key"));
    assert_eq!(client.sent.load(Ordering::Relaxed), 3);
    assert_eq!(client.put("key".to_owned(), 7, (1, 2)).await, Ok(8));
    assert_eq!(client.seen, [(3, 8 + 1 + 3); 3], "each attempt starts from the arguments as they were passed");
    assert_eq!(client.ping(&Flaky::new(2, Failed::SAFE)).await, Ok(3));
    let boxed: Box<dyn Store + Sync> = Box::new(client);
    assert_eq!(boxed.ping(&Flaky::new(0, Failed::SAFE)).await, Ok(1));
}

#[retryable(strategy = STRATEGY)]
fn returns_a_future<'a>(flaky: &'a Flaky, mut n: u32) -> impl Future<Output = Result<u32, Failed>> + 'a {
    let once = n;
    async move {
        n += 1;
        assert_eq!(n, once + 1);
        flaky.call()
    }
}

#[retryable(strategy = STRATEGY, max_time = "30s", context = context)]
fn returns_a_box<'a>(flaky: &'a Flaky) -> Pin<Box<dyn Future<Output = Result<u32, Failed>> + 'a>> {
    Box::pin(async move {
        assert_eq!(context.attempt(), flaky.calls() + 1);
        flaky.call()
    })
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[retryable(strategy = STRATEGY, attempt_timeout = "2s")]
fn returns_an_alias(calls: &Cell<u32>) -> Pin<Box<dyn Future<Output = Result<(), Error>> + '_>> {
    Box::pin(async {
        calls.set(calls.get() + 1);
        if calls.get() < 3 {
            sleep(secs(3)).await;
        }
        Ok(())
    })
}

#[retryable(strategy = STRATEGY)]
fn returns_a_box_future<'a>(flaky: &'a Flaky) -> BoxFuture<'a, Result<u32, Failed>> {
    Box::pin(async move { flaky.call() })
}

#[tokio::test(start_paused = true)]
async fn functions_that_return_a_future_are_retried_in_their_async_block() {
    assert_eq!(returns_a_future(&Flaky::new(2, Failed::SAFE), 7).await, Ok(3));
    assert_eq!(returns_a_box(&Flaky::new(2, Failed::SAFE)).await, Ok(3));
    assert_eq!(returns_a_box_future(&Flaky::new(2, Failed::SAFE)).await, Ok(3));
    let started = Instant::now();
    assert_eq!(returns_an_alias(&Cell::new(0)).await, Ok(()));
    assert_eq!(started.elapsed(), secs(4));

    let flaky = Flaky::new(0, Failed::SAFE);
    drop(returns_a_future(&flaky, 1));
    assert_eq!(flaky.calls(), 0, "nothing happens before it is polled");
}

trait Defaults {
    fn flaky(&self) -> &Flaky;

    #[retryable(strategy = STRATEGY)]
    async fn call(&self) -> Result<u32, Failed> {
        self.flaky().call()
    }
}

struct Generic<T> {
    retry: StandardRetryStrategy,
    flaky: T,
}

impl Defaults for Generic<Flaky> {
    fn flaky(&self) -> &Flaky {
        &self.flaky
    }
}

impl<T: AsRef<Flaky>> Generic<T>
where
    T: Clone,
{
    #[retryable(strategy = self.retry)]
    async fn generic<U>(&self, value: U) -> Result<U, Failed>
    where
        U: Clone,
    {
        self.flaky.as_ref().call()?;
        Ok(value.clone())
    }

    #[retryable(strategy = retry)]
    async fn without_a_receiver(retry: &StandardRetryStrategy, flaky: T) -> Result<u32, Failed> {
        flaky.as_ref().call()
    }
}

#[tokio::test(start_paused = true)]
async fn default_methods_and_generic_impls_are_retried() {
    use std::sync::Arc;

    #[derive(Clone)]
    struct Shared(Arc<Flaky>);
    impl AsRef<Flaky> for Shared {
        fn as_ref(&self) -> &Flaky {
            &self.0
        }
    }

    let defaults = Generic { retry: strategy(), flaky: Flaky::new(1, Failed::SAFE) };
    assert_eq!(defaults.call().await, Ok(2));
    let shared = Shared(Arc::new(Flaky::new(1, Failed::SAFE)));
    let generic = Generic { retry: strategy(), flaky: shared.clone() };
    assert_eq!(generic.generic("value").await, Ok("value"));
    assert_eq!(generic.retry.quota().available(), 496);
    assert_eq!(Generic::without_a_receiver(&strategy(), shared).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn bodies_may_hold_inner_attributes_and_items() {
    #[retryable(strategy = STRATEGY)]
    async fn call(flaky: &Flaky) -> Result<u32, Failed> {
        #![allow(clippy::items_after_statements, reason = "an inner attribute")]

        const ONE: u32 = 1;
        static CALLS: AtomicU32 = AtomicU32::new(0);
        fn double(n: u32) -> u32 {
            n * 2
        }

        CALLS.fetch_add(ONE, Ordering::Relaxed);
        let call = flaky.call()?;
        struct Local(u32);
        Ok(Local(double(call)).0 + CALLS.load(Ordering::Relaxed))
    }

    assert_eq!(call(&Flaky::new(1, Failed::SAFE)).await, Ok(4 + 2));
}

#[tokio::test(start_paused = true)]
async fn instrumented_functions_are_retried() {
    /// A span around the operation.
    #[retryable(strategy = STRATEGY)]
    #[instrument(skip_all)]
    async fn around_all(flaky: &Flaky, key: String) -> Result<u32, Failed> {
        assert_eq!(key.len(), 3);
        flaky.call()
    }

    /// A span around each attempt.
    #[instrument(skip_all)]
    #[retryable(strategy = STRATEGY)]
    async fn around_each(flaky: &Flaky, number: u32) -> Result<u32, Failed> {
        assert_eq!(number, 3);
        flaky.call()
    }

    assert_eq!(around_all(&Flaky::new(1, Failed::SAFE), "key".to_owned()).await, Ok(2));
    assert_eq!(around_each(&Flaky::new(1, Failed::SAFE), 3).await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn conditions_and_must_use_stay_in_place() {
    #[retryable(strategy = STRATEGY)]
    #[must_use]
    #[cfg(test)]
    async fn there(flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    #[cfg(not(test))]
    #[retryable(strategy = NOWHERE)]
    async fn nowhere() -> Nothing {}

    assert_eq!(there(&Flaky::new(1, Failed::SAFE)).await, Ok(2));
}
