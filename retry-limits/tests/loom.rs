//! Models that loom runs with every interleaving of a few threads, within bounds. Run them with `.ci/loom`.
#![cfg(loom)]

#[path = "loom/concurrency.rs"]
mod concurrency;
#[path = "loom/paced.rs"]
mod paced;
#[path = "loom/task.rs"]
mod task;

use loom::sync::Arc;
use loom::thread;
use retry_core::time::Timestamp;
use retry_core::{Clock, ErrorInfo, RetryInfo, RetrySafety};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A clock that the model advances. It is not checked itself, so it uses an atomic of the standard library.
#[derive(Default)]
struct ByHand(AtomicU64);

impl ByHand {
    fn at(seconds: u64) -> Self {
        Self(AtomicU64::new(seconds * 1000))
    }

    fn advance(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_millis()).unwrap() + 1, Ordering::SeqCst);
    }
}

impl Clock for ByHand {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(self.0.load(Ordering::SeqCst)))
    }
}

struct Throttled;

impl ErrorInfo for Throttled {}

impl RetryInfo for Throttled {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::No
    }

    fn is_throttle(&self) -> bool {
        true
    }
}

/// Creates a value that threads share. Formatting it first initializes its atomics before any thread starts.
fn shared<T: std::fmt::Debug>(value: T) -> Arc<T> {
    let _ = format!("{value:?}");
    Arc::new(value)
}

/// Runs an action in three threads at once, of which this is one.
fn in_three<S, T>(shared: &Arc<S>, action: impl Fn(&S) -> T + Copy + Send + 'static) -> [T; 3]
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let threads = [(); 2].map(|()| {
        let other = Arc::clone(shared);
        thread::spawn(move || action(&other))
    });
    let here = action(shared);
    let [second, third] = threads.map(|thread| thread.join().unwrap());
    [here, second, third]
}

/// Returns for how many threads something is true.
fn count(outcomes: [bool; 3]) -> u32 {
    outcomes.map(u32::from).iter().sum()
}
