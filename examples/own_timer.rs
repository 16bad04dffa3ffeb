//! A custom timer on threads of the standard library, without tokio. With another runtime, wrap its own timer instead:
//! that takes less code.

use retry_core::time::Timestamp;
use retry_core::{Clock, PatientRetryStrategy, RetryInfo, TimedOut, Timer, retryable};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// A timer that starts a thread for each sleep.
struct ThreadTimer;

impl Clock for ThreadTimer {
    fn now(&self) -> Timestamp {
        // All clocks of the library share one origin, so that blocking functions may use the same strategy.
        Timestamp::from(Instant::now())
    }
}

impl Timer for ThreadTimer {
    type Sleep = ThreadSleep;

    fn sleep(&self, delay: Duration) -> ThreadSleep {
        ThreadSleep { until: Instant::now() + delay }
    }
}

struct ThreadSleep {
    until: Instant,
}

impl Future for ThreadSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        thread::spawn(move || {
            thread::sleep(left);
            waker.wake();
        });
        Poll::Pending
    }
}

#[derive(Debug, RetryInfo)]
enum StoreError {
    #[retry(throttling)]
    SlowDown,
    #[retry(transparent)]
    NoAnswer(TimedOut),
}

impl From<TimedOut> for StoreError {
    fn from(error: TimedOut) -> Self {
        Self::NoAnswer(error)
    }
}

/// The backoff is short, to keep the example fast.
static STORE: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(50), Duration::from_secs(1));

#[retryable(strategy = STORE, timer = ThreadTimer, attempt_timeout = "100ms", max_time = "5s")]
async fn get(key: &str) -> Result<String, StoreError> {
    static ATTEMPTS: AtomicU32 = AtomicU32::new(1);

    let attempt = ATTEMPTS.fetch_add(1, Ordering::Relaxed);
    println!("attempt {attempt} to get {key}");
    match attempt {
        1 => Err(StoreError::SlowDown),
        2 => std::future::pending().await, // no answer: the attempt timeout ends it
        _ => Ok(format!("the content of {key}")),
    }
}

fn main() -> Result<(), StoreError> {
    println!("{}", block_on(get("report.pdf"))?);
    Ok(())
}

/// Runs a future on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
