//! What users of the library choose.

#![cfg(not(target_arch = "wasm32"))]

use library::{Client, Connection, StoreError};
use retry_core::strategy::PatientRetryToken;
use retry_core::{ErasedStrategy, Event, Observer, PatientRetryStrategy, RetryStrategy, without_retries};
use runtimes::smol::SmolTimer;
use smol::block_on;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A store that fails at first, and counts requests.
struct Store {
    failures: Cell<u32>,
    failure: StoreError,
    requests: Cell<u32>,
    text: RefCell<String>,
}

impl Store {
    fn failing(failures: u32, failure: StoreError) -> Self {
        Self { failures: Cell::new(failures), failure, requests: Cell::new(0), text: RefCell::default() }
    }

    fn request(&self) -> Result<(), StoreError> {
        self.requests.set(self.requests.get() + 1);
        match self.failures.get() {
            0 => Ok(()),
            left => {
                self.failures.set(left - 1);
                Err(self.failure.clone())
            }
        }
    }
}

impl Connection for &Store {
    async fn get(&self, _key: &str) -> Result<String, StoreError> {
        self.request().map(|()| self.text.borrow().clone())
    }

    async fn append(&self, _key: &str, text: &str) -> Result<(), StoreError> {
        // The answer is lost after the store has done its work.
        if self.failure == StoreError::Disconnected || self.failures.get() == 0 {
            self.text.borrow_mut().push_str(text);
        }
        self.request()
    }
}

/// Reads once from a store that fails twice, with the client that this makes. Returns the number of requests.
fn requests<S: RetryStrategy>(with: impl FnOnce(Client<&Store, SmolTimer>) -> Client<&Store, SmolTimer, S>) -> u32 {
    let store = Store::failing(2, StoreError::SlowDown);
    _ = block_on(with(Client::new(&store, SmolTimer)).get("key"));
    store.requests.get()
}

/// Creates a strategy whose waits are short.
const fn quick() -> PatientRetryStrategy {
    PatientRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(2))
}

#[test]
fn strategies_fit_by_value_by_reference_and_erased() {
    static SHARED: PatientRetryStrategy = quick();
    let object: Arc<dyn RetryStrategy<Token = PatientRetryToken> + Send + Sync> = Arc::new(quick());

    assert_eq!(requests(|client| client.strategy(quick())), 3);
    assert_eq!(requests(|client| client.strategy(&SHARED)), 3);
    assert_eq!(requests(|client| client.strategy(Arc::new(quick()))), 3);
    assert_eq!(requests(|client| client.strategy(ErasedStrategy::new(&SHARED))), 3);
    assert_eq!(requests(|client| client.strategy(object)), 3);
}

#[test]
fn users_can_switch_retries_off() {
    assert_eq!(requests(|client| client.strategy(quick()).without_retries()), 1);
    let store = Store::failing(2, StoreError::SlowDown);
    let client = Client::new(&store, SmolTimer);
    _ = block_on(without_retries(client.get("key")));
    assert_eq!(store.requests.get(), 1);
}

#[test]
fn the_observer_sees_each_retry() {
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<&'static str>>>);

    impl Observer for Log {
        fn observe(&self, event: &Event) {
            if event.kind.delay().is_some() {
                self.0.lock().unwrap().push(event.operation);
            }
        }
    }

    let log = Log::default();
    assert_eq!(requests(|client| client.strategy(quick()).observer(log.clone())), 3);
    assert_eq!(*log.0.lock().unwrap(), ["get", "get"]);
}

#[test]
fn what_may_have_been_appended_is_not_appended_again() {
    let store = Store::failing(1, StoreError::Disconnected);
    let client = Client::new(&store, Arc::new(SmolTimer)).strategy(quick());
    assert_eq!(block_on(client.append("key", "line")), Err(StoreError::Disconnected));
    assert_eq!(*store.text.borrow(), "line");

    let refused = Store::failing(1, StoreError::SlowDown);
    let client = Client::new(&refused, SmolTimer).strategy(quick());
    assert_eq!(block_on(client.append("key", "line")), Ok(()));
    assert_eq!((refused.text.borrow().as_str(), refused.requests.get()), ("line", 2));
}
