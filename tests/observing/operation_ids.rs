//! The id of an operation: one for all that observes the operation, and another one for each other operation.

use crate::support::subscribers::subscribe;
use crate::support::{Failed, Flaky, run_in_a_process};
use retry_core::observe::set_global_observer;
use retry_core::retry::retry_blocking_with_context;
use retry_core::{
    AttemptContext, Event, Jitter, Observer, OperationId, StandardRetryStrategy, retry, retry_blocking,
    retry_with_context, retryable,
};
use std::collections::HashSet;
use std::fmt::{Debug, Display};
use std::sync::{Arc, Mutex};
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).quota_capacity(u32::MAX);

/// The ids that one operation showed, with their sources.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(&'static str, String)>>>);

impl Seen {
    fn add(&self, source: &'static str, id: impl Display) {
        self.0.lock().unwrap().push((source, id.to_string()));
    }

    /// Returns the id of the operation that has just ended, which each of these sources has shown this many times.
    fn one_id(&self, expected: &[(&str, usize)]) -> String {
        let seen = std::mem::take(&mut *self.0.lock().unwrap());
        for (source, count) in expected {
            assert_eq!(seen.iter().filter(|(of, _)| of == source).count(), *count, "{source} in {seen:?}");
        }
        assert_eq!(seen.len(), expected.iter().map(|(_, count)| count).sum::<usize>(), "{seen:?}");
        let ids: HashSet<_> = seen.into_iter().map(|(_, id)| id).collect();
        assert_eq!(ids.len(), 1, "{ids:?}");
        ids.into_iter().next().unwrap()
    }
}

/// The observer of a call.
impl Observer for Seen {
    fn observe(&self, event: &Event) {
        self.add("observer", event.operation_id);
    }
}

impl Visit for &Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "operation_id" {
            self.add("tracing", format!("{value:?}"));
        }
    }
}

impl<S: Subscriber> Layer<S> for Seen {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        event.record(&mut &*self);
    }
}

/// Runs an action under a subscriber that records ids.
fn traced<R>(seen: &Seen, action: impl FnOnce() -> R) -> R {
    let _guard = subscribe(tracing_subscriber::registry().with(seen.clone()));
    action()
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(future)
}

type Outcome = Result<u32, Failed>;

#[retryable(strategy = STORE)]
async fn plain(flaky: &Flaky) -> Outcome {
    flaky.call()
}

#[retryable(strategy = STORE, context = context)]
async fn with_context(flaky: &Flaky, seen: &Seen) -> Outcome {
    seen.add("context", context.operation_id());
    flaky.call()
}

#[retryable(strategy = STORE, on_retry = |_, event| seen.add("on_retry", event.operation_id))]
async fn with_on_retry(flaky: &Flaky, seen: &Seen) -> Outcome {
    flaky.call()
}

#[retryable(
    strategy = STORE,
    observer = seen,
    context = context,
    on_retry = |_, event| seen.add("on_retry", event.operation_id),
    max_time = "1h"
)]
async fn with_all(flaky: &Flaky, seen: &Seen) -> Result<u32, crate::script::Error> {
    seen.add("context", context.operation_id());
    flaky.call().map_err(crate::script::Error::Failed)
}

#[retryable(
    blocking,
    strategy = STORE,
    timer = Immediate,
    observer = seen,
    context = context,
    on_retry = |_, event| seen.add("on_retry", event.operation_id)
)]
fn blocking(flaky: &Flaky, seen: &Seen) -> Outcome {
    seen.add("context", context.operation_id());
    flaky.call()
}

/// Returns what fails once.
fn once() -> Flaky {
    Flaky::new(1, Failed::SAFE)
}

/// The sources of an operation that fails once and then succeeds: its context, its `on_retry`, and its five events.
const ALL: [(&str, usize); 4] = [("context", 2), ("on_retry", 1), ("observer", 5), ("tracing", 5)];

// Rule O12.
#[test]
fn all_that_shows_an_operation_shows_one_id() {
    let seen = Seen::default();
    let body = |context: AttemptContext| seen.add("context", context.operation_id());
    let told = |_: &Failed, event: &Event| seen.add("on_retry", event.operation_id);
    let flaky = once;

    let mut ids = Vec::new();
    traced(&seen, || {
        let mut ended = |expected: &[(&str, usize)]| ids.push(seen.one_id(expected));

        assert_eq!(block_on(plain(&flaky())), Ok(2));
        ended(&ALL[3..]);
        assert_eq!(block_on(with_context(&flaky(), &seen)), Ok(2));
        ended(&[ALL[0], ALL[3]]);
        assert_eq!(block_on(with_on_retry(&flaky(), &seen)), Ok(2));
        ended(&[ALL[1], ALL[3]]);
        assert_eq!(block_on(with_all(&flaky(), &seen)), Ok(2));
        ended(&ALL);
        assert_eq!(blocking(&flaky(), &seen), Ok(2));
        ended(&ALL);

        let service = flaky();
        assert_eq!(block_on(retry(&STORE, async || service.call()).on_retry(told).run()), Ok(2));
        ended(&[ALL[1], ALL[3]]);
        let service = flaky();
        let call = retry_with_context(&STORE, |context| {
            body(context);
            std::future::ready(service.call())
        });
        assert_eq!(block_on(call.on_retry(told).observer(&seen).run()), Ok(2));
        ended(&ALL);
        let service = flaky();
        assert_eq!(retry_blocking(&STORE, || service.call()).timer(Immediate).on_retry(told).run(), Ok(2));
        ended(&[ALL[1], ALL[3]]);
        let service = flaky();
        let call = retry_blocking_with_context(&STORE, |context| {
            body(context);
            service.call()
        });
        assert_eq!(call.timer(Immediate).on_retry(told).observer(&seen).run(), Ok(2));
        ended(&ALL);
    });
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 9, "each operation has its own id: {ids:?}");
    for id in ids {
        assert!(id.len() == 36 && id.as_bytes()[14] == b'4', "{id} is a UUID of version 4");
    }
}

/// A timer whose waits are over immediately.
struct Immediate;

impl retry_core::Clock for Immediate {
    fn now(&self) -> retry_core::time::Timestamp {
        retry_core::time::Timestamp::from_origin(std::time::Duration::ZERO)
    }
}

impl retry_core::time::BlockingTimer for Immediate {
    fn block(&self, _: std::time::Duration) {}
}

// Rule O12.
#[test]
fn an_observer_without_interest_does_not_divide_the_id() {
    struct Uninterested;
    impl Observer for Uninterested {
        fn is_interested(&self, _: &'static str) -> bool {
            false
        }

        fn observe(&self, event: &Event) {
            panic!("it is not interested: {event:?}");
        }
    }

    let seen = Seen::default();
    let service = once();
    let call = retry_with_context(&STORE, |context| {
        seen.add("context", context.operation_id());
        std::future::ready(service.call())
    });
    let call = call.observer(Uninterested).on_retry(|_, event| seen.add("on_retry", event.operation_id));
    assert_eq!(traced(&seen, || block_on(call.run())), Ok(2));
    seen.one_id(&[ALL[0], ALL[1], ALL[3]]);
}

static GLOBAL: Mutex<Vec<OperationId>> = Mutex::new(Vec::new());

#[test]
#[ignore = "run in its own process by the test below"]
fn child() {
    struct Global;
    impl Observer for Global {
        fn observe(&self, event: &Event) {
            GLOBAL.lock().unwrap().push(event.operation_id);
        }
    }

    set_global_observer(&Global).unwrap();
    let seen = Seen::default();
    let ended = |expected: &[(&str, usize)]| {
        for id in std::mem::take(&mut *GLOBAL.lock().unwrap()) {
            seen.add("global", id);
        }
        seen.one_id(&[expected, &[("global", 5)]].concat())
    };
    let mut ids = HashSet::new();
    assert_eq!(block_on(plain(&once())), Ok(2));
    ids.insert(ended(&[]));
    assert_eq!(block_on(with_context(&once(), &seen)), Ok(2));
    ids.insert(ended(&[ALL[0]]));
    assert_eq!(block_on(with_on_retry(&once(), &seen)), Ok(2));
    ids.insert(ended(&[ALL[1]]));
    assert_eq!(traced(&seen, || block_on(with_all(&once(), &seen))), Ok(2));
    ids.insert(ended(&ALL));
    assert_eq!(traced(&seen, || blocking(&once(), &seen)), Ok(2));
    ids.insert(ended(&ALL));
    assert_eq!(ids.len(), 5);
}

// Rules O11, O12.
#[test]
fn the_global_observer_gets_the_same_id() {
    run_in_a_process("operation_ids::child", |_| ());
}

#[test]
fn a_future_with_an_id_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&retry(&STORE, async || Ok::<_, Failed>(())).run());
}
