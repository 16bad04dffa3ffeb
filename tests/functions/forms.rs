//! Forms of functions: methods of async traits, functions that return a future, and functions with other attributes.

mod runtimes;
mod tails;

use crate::script::{Error, FromStart};
use crate::support::{Failed, Flaky, assert_send, secs};
use async_trait::async_trait;
use retry_core::{Event, Jitter, Observer, RetryQuota, StandardRetryStrategy, retry, retryable};
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

// Rules M1, M9.
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

// Rule M9.
#[tokio::test(start_paused = true)]
async fn the_async_block_of_a_function_that_returns_a_future_is_retried() {
    assert_eq!(returns_a_future(&Flaky::new(2, Failed::SAFE), 7).await, Ok(3));
    assert_eq!(returns_a_box(&Flaky::new(2, Failed::SAFE)).await, Ok(3));
    assert_eq!(returns_a_box_future(&Flaky::new(2, Failed::SAFE)).await, Ok(3));
    let started = Instant::now();
    assert_eq!(returns_an_alias(&Cell::new(0)).await, Ok(()));
    assert_eq!(started.elapsed(), secs(4));

    let flaky = Flaky::new(0, Failed::SAFE);
    drop(returns_a_future(&flaky, 1));
    assert_eq!(flaky.calls(), 0, "nothing happens before the future is polled");
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
async fn bodies_may_contain_inner_attributes_and_items() {
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
async fn conditions_and_must_use_are_kept() {
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

/// Bodies that borrow all of `self`, with each limit and in each form.
mod borrow {
    use super::{FromStart, Log, strategy};
    use crate::script::Error;
    use crate::support::Failed;
    use async_trait::async_trait;
    use retry_core::{StandardRetryStrategy, retryable};
    use tokio::time::Instant;

    pub(super) struct Client {
        retry: StandardRetryStrategy,
        observer: Log,
        timer: FromStart,
        calls: u32,
    }

    impl Client {
        pub(super) fn new() -> Self {
            Self { retry: strategy(), observer: Log, timer: FromStart(Instant::now()), calls: 0 }
        }

        fn helper(&mut self) -> Result<u32, Error> {
            self.calls += 1;
            if self.calls.is_multiple_of(3) { Ok(self.calls) } else { Err(Error::Failed(Failed::SAFE)) }
        }

        #[retryable(strategy = self.retry, observer = self.observer, timer = self.timer)]
        pub(super) async fn plain(&mut self) -> Result<u32, Error> {
            self.helper()
        }

        #[retryable(strategy = self.retry, observer = self.observer, timer = self.timer, attempt_timeout = "1s")]
        pub(super) async fn attempt_timeout(&mut self) -> Result<u32, Error> {
            self.helper()
        }

        #[retryable(strategy = self.retry, observer = self.observer, timer = self.timer, max_time = "1s", context = it)]
        pub(super) async fn max_time(&mut self) -> Result<u32, Error> {
            assert!(it.time_left().is_some());
            self.helper()
        }

        #[retryable(strategy = self.retry, observer = self.observer, max_time = "1s")]
        pub(super) fn tail(&mut self) -> impl Future<Output = Result<u32, Error>> {
            async move { self.helper() }
        }

        #[retryable(strategy = self.retry, observer = self.observer, max_time = "1s", blocking)]
        pub(super) fn blocking(&mut self) -> Result<u32, Error> {
            self.helper()
        }
    }

    #[retryable(strategy = client.retry, max_time = "1s")]
    pub(super) async fn argument(client: &mut Client) -> Result<u32, Error> {
        client.helper()
    }

    #[async_trait]
    pub(super) trait Help {
        async fn help(&mut self) -> Result<u32, Error>;
    }

    #[async_trait]
    impl Help for Client {
        #[retryable(strategy = self.retry, observer = self.observer, attempt_timeout = "1s", max_time = "1s")]
        async fn help(&mut self) -> Result<u32, Error> {
            self.helper()
        }
    }
}

/// An observer that ignores all events.
struct Log;

impl Observer for Log {
    fn observe(&self, _: &Event) {}
}

// Rule M6.
#[tokio::test(start_paused = true)]
async fn a_body_may_use_all_of_self_with_each_limit_and_in_each_form() {
    use borrow::{Client, Help, argument};

    let mut client = Client::new();
    assert_eq!(client.plain().await, Ok(3));
    assert_eq!(client.attempt_timeout().await, Ok(6));
    assert_eq!(client.max_time().await, Ok(9));
    assert_eq!(client.tail().await, Ok(12));
    assert_eq!(client.blocking(), Ok(15));
    assert_eq!(argument(&mut client).await, Ok(18));
    assert_eq!(client.help().await, Ok(21));
}

// Rule M5.
#[tokio::test(start_paused = true)]
async fn an_observer_that_is_not_sync_leaves_the_future_send() {
    /// An observer that is `Send` but not `Sync`.
    struct Single(Cell<u32>);
    impl Observer for Single {
        fn observe(&self, _: &Event) {
            self.0.set(self.0.get() + 1);
        }
    }

    struct Client {
        retry: StandardRetryStrategy,
        observer: Single,
    }
    impl Client {
        #[retryable(strategy = self.retry, observer = self.observer)]
        async fn send(&mut self, flaky: &Flaky) -> Result<u32, Failed> {
            flaky.call()
        }
    }

    let (mut client, flaky) =
        (Client { retry: strategy(), observer: Single(Cell::new(0)) }, Flaky::new(1, Failed::SAFE));
    assert_eq!(assert_send(client.send(&flaky)).await, Ok(2));
    assert_eq!(client.observer.0.get(), 5);
    let call = retry(&STRATEGY, || async { flaky.call() }).observer(Single(Cell::new(0)));
    assert_eq!(assert_send(call.run()).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn statements_around_the_async_block_keep_their_order() {
    #[retryable(strategy = STRATEGY)]
    fn shadows(key: u32) -> impl Future<Output = Result<u32, Failed>> {
        async move {
            let key = key + 1;
            let id = key;
            Ok(id)
        }
    }

    #[retryable(strategy = STRATEGY)]
    fn renames(flaky: &Flaky, key: u32) -> impl Future<Output = Result<u32, Failed>> {
        async move {
            let id = key;
            let ticked = {
                let _call = flaky.call()?;
                key
            };
            Ok(id + key + ticked)
        }
    }

    #[retryable(strategy = STRATEGY)]
    fn counts_before(flaky: &Flaky, mut n: u32) -> impl Future<Output = Result<u32, Failed>> {
        n += 1;
        async move {
            n += 1;
            flaky.call().map(|_| n)
        }
    }

    #[retryable(strategy = store)]
    fn strategy_of_its_own(flaky: &Flaky) -> impl Future<Output = Result<impl Copy, Failed>> {
        let store = &STRATEGY;
        async move { flaky.call() }
    }

    assert_eq!(shadows(1).await, Ok(2));
    let flaky = Flaky::new(2, Failed::SAFE);
    assert_eq!(renames(&flaky, 5).await, Ok(15));
    assert_eq!(flaky.calls(), 3, "each attempt runs the whole block");
    assert_eq!(counts_before(&Flaky::new(2, Failed::SAFE), 5).await, Ok(7));
    assert!(strategy_of_its_own(&Flaky::new(2, Failed::SAFE)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn the_index_of_a_strategy_is_evaluated_once_although_the_body_changes_it() {
    struct Client {
        retries: [StandardRetryStrategy; 2],
        current: Cell<usize>,
    }
    impl Client {
        #[retryable(strategy = self.retries[self.current.get()])]
        async fn send(&self, flaky: &Flaky) -> Result<u32, Failed> {
            self.current.set(1);
            flaky.call()
        }

        #[retryable(strategy = self.retries[index])]
        async fn sent_by(&mut self, index: usize, flaky: &Flaky) -> Result<u32, Failed> {
            self.current.set(index);
            flaky.call()
        }
    }

    let mut client = Client { retries: [strategy(), strategy()], current: Cell::new(0) };
    assert_eq!(client.send(&Flaky::new(2, Failed::SAFE)).await, Ok(3));
    assert_eq!(client.sent_by(1, &Flaky::new(2, Failed::SAFE)).await, Ok(3));
    let quotas = client.retries.each_ref().map(|retry| retry.quota().available());
    assert_eq!(quotas, [491, 491]);
}
