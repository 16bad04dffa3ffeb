//! Waits that a strategy ends early: while the operation asks, begins to wait, moves to another task, or is dropped.

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Mutex, Notify};
use loom::thread;
use retry_core::limit::{LazyWaker, Ready};
use retry_core::strategy::ForeignToken;
use retry_core::time::Timestamp;
use retry_core::{Clock, ErrorInfo, Failure, RetryError, RetryInfo, RetryStrategy, RetryToken, Success, Timer, retry};
use std::future::{Pending, pending, ready};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Failed;

impl ErrorInfo for Failed {}

impl RetryInfo for Failed {}

/// A timer whose sleeps never end. A lost wake is a deadlock, which loom reports.
pub(super) struct Endless;

impl Clock for Endless {
    fn now(&self) -> Timestamp {
        Timestamp::START
    }
}

impl Timer for Endless {
    type Sleep = Pending<()>;

    fn sleep(&self, _: Duration) -> Pending<()> {
        pending()
    }
}

/// A strategy that limits the number of attempts in flight, and wakes the waiting one.
pub(super) struct Gate(Mutex<Inside>);

struct Inside {
    free: u32,
    waiting: Option<Waker>,
}

pub(super) struct First;

impl RetryToken for First {
    fn attempt(&self) -> u32 {
        1
    }

    fn delay(&self) -> Duration {
        Duration::ZERO
    }
}

impl Gate {
    pub(super) fn new(free: u32) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Inside { free, waiting: None })))
    }

    /// Frees a number of slots and wakes the waiting attempt.
    pub(super) fn wake(&self, freed: u32) {
        let waiting = {
            let mut inside = self.0.lock().unwrap();
            inside.free += freed;
            inside.waiting.take()
        };
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    /// Returns the number of free slots.
    pub(super) fn free(&self) -> u32 {
        self.0.lock().unwrap().free
    }
}

impl RetryStrategy for Gate {
    type Token = First;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<First, RetryError> {
        Ok(First)
    }

    fn refresh_retry_token(&self, _: First, _: &Failure, _: &dyn Clock) -> Result<First, RetryError> {
        Err(RetryError::Refused)
    }

    fn record_success(&self, _: First, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        self.wake(1);
        Ok(())
    }

    fn ready(&self, _: &mut First, _: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let waker = waker.map(LazyWaker::waker);
        let mut inside = self.0.lock().unwrap();
        if let Some(free) = inside.free.checked_sub(1) {
            inside.free = free;
            return Ready::Now;
        }
        inside.waiting = waker;
        Ready::After(Duration::MAX)
    }
}

/// A task that counts its wakes.
pub(super) struct Task {
    notify: Notify,
    wakes: AtomicU32,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        self.notify.notify();
    }
}

impl Task {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { notify: Notify::new(), wakes: AtomicU32::new(0) })
    }

    pub(super) fn poll<T>(self: &Arc<Self>, operation: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        operation.poll(&mut Context::from_waker(&Waker::from(Arc::clone(self))))
    }

    pub(super) fn wakes(&self) -> u32 {
        self.wakes.load(Ordering::SeqCst)
    }

    /// Polls an operation whenever the task is woken.
    pub(super) fn run<T>(self: &Arc<Self>, mut operation: Pin<&mut impl Future<Output = T>>) -> T {
        loop {
            if let Poll::Ready(outcome) = self.poll(operation.as_mut()) {
                return outcome;
            }
            self.notify.wait();
        }
    }
}

fn operation(gate: &Arc<Gate>) -> impl Future<Output = Result<u32, Failed>> + use<> {
    retry(Arc::clone(gate), || ready(Ok(1))).timer(Endless).run()
}

#[test]
fn a_wake_is_not_lost_at_any_point_of_the_wait() {
    loom::model(|| {
        let gate = Gate::new(0);
        let other = Arc::clone(&gate);
        let thread = thread::spawn(move || other.wake(1));
        assert!(Task::new().run(pin!(operation(&gate))).is_ok());
        thread.join().unwrap();
    });
}

#[test]
fn a_spurious_wake_does_not_hide_the_next_one() {
    loom::model(|| {
        let gate = Gate::new(0);
        let other = Arc::clone(&gate);
        let thread = thread::spawn(move || {
            other.wake(0);
            other.wake(1);
        });
        assert!(Task::new().run(pin!(operation(&gate))).is_ok());
        thread.join().unwrap();
    });
}

#[test]
fn a_wake_reaches_the_task_that_the_operation_has_moved_to() {
    loom::model(|| {
        let gate = Gate::new(0);
        let other = Arc::clone(&gate);
        let thread = thread::spawn(move || other.wake(1));
        let mut operation = pin!(operation(&gate));
        if Task::new().poll(operation.as_mut()).is_pending() {
            assert!(Task::new().run(operation).is_ok());
        }
        thread.join().unwrap();
    });
}

#[test]
fn an_answer_wakes_the_operation_that_waits_for_the_slot() {
    loom::model(|| {
        let gate = Gate::new(1);
        let other = Arc::clone(&gate);
        let thread = thread::spawn(move || Task::new().run(pin!(operation(&other))).is_ok());
        assert!(Task::new().run(pin!(operation(&gate))).is_ok());
        assert!(thread.join().unwrap());
        assert_eq!(gate.free(), 1);
    });
}

#[test]
fn an_operation_that_was_dropped_does_not_wake_its_task() {
    loom::model(|| {
        let (gate, task, is_gone) = (Gate::new(0), Task::new(), Arc::new(AtomicBool::new(false)));
        let mut waiting = Box::pin(operation(&gate));
        assert!(task.poll(waiting.as_mut()).is_pending());
        let (other, gone) = (Arc::clone(&gate), Arc::clone(&is_gone));
        let thread = thread::spawn(move || {
            let was_gone = gone.load(Ordering::Acquire);
            other.wake(1);
            was_gone
        });
        drop(waiting);
        is_gone.store(true, Ordering::Release);
        let was_gone = thread.join().unwrap();
        assert!(!was_gone || task.wakes() == 0, "the task was woken after the operation was dropped");
        assert_eq!(Arc::strong_count(&task), 1);
    });
}
