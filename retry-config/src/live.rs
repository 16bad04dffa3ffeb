//! The settings in effect, which can change while a strategy runs.

use super::resolved::Resolved;
use super::sync::{AtomicU32, Mutex, MutexGuard, Ordering};
use retry_core::parts::Shared;
use std::sync::{Arc, PoisonError};

/// The settings of a strategy at the start, and those in effect.
#[derive(Debug)]
pub(super) struct LiveSettings {
    /// The initial settings, also used for a test's copy.
    start: Arc<Resolved>,
    live: Shared<Live>,
}

/// The settings in effect.
///
/// Settings that are needed without a retry are in atomics. They publish no other data, so relaxed ordering suffices: a
/// thread that reads an old value does what was correct a moment before.
#[derive(Debug)]
struct Live {
    first_refund: AtomicU32,
    /// Locked to read the settings on the way to a retry, and while they change. No user code runs while it is locked, so
    /// it is never poisoned.
    settings: Mutex<Arc<Resolved>>,
}

impl Live {
    fn new(settings: &Arc<Resolved>) -> Self {
        Self {
            first_refund: AtomicU32::new(settings.settings.first_refund),
            settings: Mutex::new(Arc::clone(settings)),
        }
    }

    fn settings(&self) -> MutexGuard<'_, Arc<Resolved>> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveSettings {
    pub(super) fn new(start: Resolved) -> Self {
        let start = Arc::new(start);
        let live = Shared::new(Live::new(&start));
        Self { start, live }
    }

    #[inline]
    fn with_live<R>(&self, using: impl FnOnce(&Live) -> R) -> R {
        self.live.with(|| Live::new(&self.start), using)
    }

    /// Returns the settings in effect.
    pub(super) fn get(&self) -> Arc<Resolved> {
        self.with_live(|live| Arc::clone(&live.settings()))
    }

    /// Returns the refund of a success at the first attempt.
    pub(super) fn first_refund(&self) -> u32 {
        self.with_live(|live| live.first_refund.load(Ordering::Relaxed))
    }

    /// Changes the settings. `changing` gets the settings before and after the change. Two changes follow each other, so that the parts
    /// of one are not mixed with the other's.
    pub(super) fn change<R>(&self, next: Resolved, changing: impl FnOnce(&Resolved, &Resolved) -> R) -> R {
        let next = Arc::new(next);
        self.with_live(|live| {
            let mut settings = live.settings();
            let result = changing(&settings, &next);
            live.first_refund.store(next.settings.first_refund, Ordering::Relaxed);
            *settings = next;
            result
        })
    }
}
