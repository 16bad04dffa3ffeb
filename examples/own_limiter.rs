//! A custom limiter: a number of requests in flight that an operator changes while the program runs.
//!
//! `cargo run --example own_limiter`

use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::{Clock, RetryInfo, StandardRetryStrategy, Success, retry};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

/// The longest wait before an operation asks again. Waits end early, when a slot comes back.
const BOUND: Duration = Duration::from_secs(1);

/// The limiter. A clone of it is the same limiter.
#[derive(Clone, Debug, Default)]
struct Valve(Arc<Mutex<Slots>>);

#[derive(Debug, Default)]
struct Slots {
    allowed: u32,
    in_flight: u32,
    waiting: VecDeque<Waker>,
}

/// A slot. It owns its part of the limiter, and comes back when it is dropped, whatever became of the request.
#[derive(Debug)]
struct Slot(Valve);

impl Valve {
    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the number of requests that may be in flight.
    fn allow(&self, requests: u32) {
        self.change(|slots| slots.allowed = requests);
    }

    /// Changes the slots, and wakes the waiting operations, which ask again. The wakers are woken without the lock.
    fn change(&self, change: impl FnOnce(&mut Slots)) {
        let woken = {
            let mut slots = self.slots();
            change(&mut slots);
            std::mem::take(&mut slots.waiting)
        };
        woken.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.change(|slots| slots.in_flight -= 1);
    }
}

impl SendLimiter for Valve {
    /// The slot of the operation, if it has one.
    type Place = Option<Slot>;

    fn begin(&self, _: &dyn Clock) -> Option<Slot> {
        None
    }

    fn ask(&self, place: &mut Option<Slot>, _: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        if place.is_some() {
            return Ready::Now;
        }
        // Made without the lock, because it may run code of the executor.
        let waker = waker.map(LazyWaker::waker);
        let mut slots = self.slots();
        if slots.in_flight < slots.allowed {
            slots.in_flight += 1;
            *place = Some(Slot(self.clone()));
            return Ready::Now;
        }
        slots.waiting.extend(waker);
        Ready::After(BOUND)
    }

    fn succeeded(&self, place: &mut Option<Slot>, _: &Success, _: &dyn Clock) {
        *place = None;
    }

    fn failed(&self, place: &mut Option<Slot>, _: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
        *place = None;
        // The retry has the backoff and the cost of the strategy.
        None
    }

    fn release(&self, place: &mut Option<Slot>) {
        *place = None;
    }
}

#[derive(Debug, RetryInfo)]
enum StoreError {
    #[retry(safe, fault = "server")]
    Unavailable,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StoreError> {
    let valve = Valve::default();
    let strategy = Arc::new(LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new(), valve.clone()));
    let (in_flight, most, attempts) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    let (in_flight, most, attempts) = (Arc::new(in_flight), Arc::new(most), Arc::new(attempts));
    let tasks: Vec<_> = (0..12)
        .map(|_| {
            let (strategy, in_flight) = (Arc::clone(&strategy), Arc::clone(&in_flight));
            let (most, attempts) = (Arc::clone(&most), Arc::clone(&attempts));
            tokio::spawn(async move {
                let attempt = async || {
                    most.fetch_max(in_flight.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    in_flight.fetch_sub(1, Ordering::Relaxed);
                    // The third attempt fails, and is retried.
                    if attempts.fetch_add(1, Ordering::Relaxed) == 2 { Err(StoreError::Unavailable) } else { Ok(()) }
                };
                retry(&*strategy, attempt).run().await
            })
        })
        .collect();

    tokio::time::sleep(Duration::from_millis(50)).await;
    println!("closed: {} attempts", attempts.load(Ordering::Relaxed));
    assert_eq!(attempts.load(Ordering::Relaxed), 0);
    valve.allow(2);
    for task in tasks {
        task.await.expect("no task panics")?;
    }
    println!("open for 2: {} attempts, {} at a time", attempts.load(Ordering::Relaxed), most.load(Ordering::Relaxed));
    assert_eq!((attempts.load(Ordering::Relaxed), most.load(Ordering::Relaxed)), (13, 2));
    Ok(())
}
