//! Waking the task of a fleet.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

/// A place where the task of a fleet leaves its waker.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    is_woken: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Wake {
    pub(crate) const fn new() -> Self {
        Self { is_woken: AtomicBool::new(false), waker: Mutex::new(None) }
    }

    /// Wakes the task, once until it has looked.
    pub(crate) fn wake(&self) {
        if self.is_woken.swap(true, Ordering::AcqRel) {
            return;
        }
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The waker is foreign code, so it is called without the lock.
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns whether the task was woken. If it was not, the waker is kept.
    pub(crate) fn is_woken(&self, waker: &Waker) -> bool {
        let former = self.waker.lock().unwrap_or_else(PoisonError::into_inner).replace(waker.clone());
        drop(former);
        // Whoever sets the flag after this finds the waker.
        self.is_woken.load(Ordering::Acquire)
    }

    /// Lets the task be woken again.
    pub(crate) fn reset(&self) {
        self.is_woken.store(false, Ordering::Release);
    }
}
