//! Operations whose waits only a wake ends, and the tasks that run them.

use loom::sync::Notify;
use retry_core::time::Timestamp;
use retry_core::{Clock, ErrorInfo, RetryInfo, Timer};
use std::future::{Pending, pending};
use std::pin::Pin;
use std::sync::Arc;
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

/// A task.
pub(super) struct Task {
    notify: Notify,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.notify.notify();
    }
}

impl Task {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { notify: Notify::new() })
    }

    pub(super) fn poll<T>(self: &Arc<Self>, operation: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        operation.poll(&mut Context::from_waker(&Waker::from(Arc::clone(self))))
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
