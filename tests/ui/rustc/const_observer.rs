use retry_core::time::{Clock, Timer, Timestamp};
use retry_core::{Event, Observer, RetryInfo, TokioTimer, retryable};
use std::future::{Ready, ready};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

#[derive(RetryInfo)]
struct Failed;

struct Counter(AtomicU32);

impl Observer for Counter {
    fn observe(&self, _: &Event) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Clock for Counter {
    fn now(&self) -> Timestamp {
        self.0.fetch_add(1, Ordering::Relaxed);
        TokioTimer.now()
    }
}

impl Timer for Counter {
    type Sleep = Ready<()>;

    fn sleep(&self, _: Duration) -> Ready<()> {
        ready(())
    }
}

const COUNTER: Counter = Counter(AtomicU32::new(0));

#[retryable(strategy = "standard", observer = COUNTER)]
async fn observed() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", timer = COUNTER)]
async fn timed() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
