//! The state of a test guard, and how a thread finds the guard that it is under.

use super::sync::{Mutex, MutexGuard, PoisonError};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The number of sessions that are alive in the process. While there are none, nothing else is looked at. A thread that
/// has entered a session sees its own count of it, so relaxed order suffices.
static SESSIONS: AtomicUsize = AtomicUsize::new(0);

/// The latest number of a state or of a copy.
static NUMBERS: AtomicUsize = AtomicUsize::new(0);

fn next_number() -> usize {
    NUMBERS.fetch_add(1, Ordering::Relaxed) + 1
}

thread_local! {
    /// The sessions that this thread has entered, the innermost one last.
    static ENTERED: RefCell<Vec<Arc<Session>>> = const { RefCell::new(Vec::new()) };
}

/// What a test guard holds: its options, copies of state, and skipped time.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) options: Mutex<Options>,
    copies: Mutex<HashMap<usize, Arc<dyn Any + Send + Sync>>>,
    draws: AtomicU64,
    time: Mutex<SkippedTime>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) max_attempts: Option<u32>,
    pub(crate) quota: Option<u32>,
    pub(crate) skips_waits: bool,
    pub(crate) seed: u64,
}

#[derive(Debug, Default)]
struct SkippedTime {
    /// How far the clock that strategies see is ahead of the timer's.
    ahead: Duration,
    waits: Vec<Duration>,
}

impl Session {
    pub(crate) fn new() -> Arc<Self> {
        SESSIONS.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self {
            options: Mutex::new(Options { max_attempts: None, quota: None, skips_waits: true, seed: 0 }),
            copies: Mutex::new(HashMap::new()),
            draws: AtomicU64::new(0),
            time: Mutex::new(SkippedTime::default()),
        })
    }

    /// Has this thread use the session until it leaves it.
    pub(crate) fn enter(self: &Arc<Self>) {
        ENTERED.with_borrow_mut(|entered| entered.push(Arc::clone(self)));
    }

    /// Leaves the session, wherever it lies among those that the thread has entered.
    pub(crate) fn leave(self: &Arc<Self>) {
        // While a thread ends there may be nothing to leave any more.
        let left = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            entered.iter().rposition(|session| Arc::ptr_eq(session, self)).map(|at| entered.remove(at))
        });
        // Copies of state are dropped after the list was given back.
        drop(left);
    }

    /// Returns the session's copy of a state.
    pub(crate) fn copy_of<T: Send + Sync + 'static>(
        &self,
        key: &Key,
        fresh: impl FnOnce() -> T,
    ) -> Option<Arc<StateCopy<T>>> {
        let fresh = || -> Arc<dyn Any + Send + Sync> { Arc::new(StateCopy { number: next_number(), state: fresh() }) };
        let copy = Arc::clone(lock(&self.copies).entry(key.get()).or_insert_with(fresh));
        copy.downcast().ok()
    }

    pub(crate) fn skipped(&self) -> Vec<Duration> {
        lock(&self.time).waits.clone()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        SESSIONS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Nothing of the user's runs while one of the locks is held, so none is poisoned.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the session that this thread is in.
#[inline]
pub(crate) fn current() -> Option<Arc<Session>> {
    if SESSIONS.load(Ordering::Relaxed) == 0 { None } else { innermost() }
}

#[cold]
fn innermost() -> Option<Arc<Session>> {
    ENTERED.try_with(|entered| entered.borrow().last().cloned()).ok().flatten()
}

/// The number by which sessions know a state. It is assigned when the state is first used under a guard. (An address
/// would not do, since another state may get it later.)
#[derive(Debug)]
pub(crate) struct Key(AtomicUsize);

impl Key {
    pub(crate) const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    fn get(&self) -> usize {
        match self.0.load(Ordering::Relaxed) {
            0 => {
                let number = next_number();
                // If another thread is faster, its number is taken and this one is lost.
                let set = self.0.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
                set.map_or_else(|known| known, |_| number)
            }
            number => number,
        }
    }
}

/// A session's copy of a state.
#[derive(Debug)]
pub(crate) struct StateCopy<T> {
    pub(crate) number: usize,
    pub(crate) state: T,
}

/// Returns the copy of a state that the thread's session has, if the thread is in one.
#[inline]
pub(crate) fn copy_of<T: Send + Sync + 'static>(key: &Key, fresh: impl FnOnce() -> T) -> Option<Arc<StateCopy<T>>> {
    current()?.copy_of(key, fresh)
}

/// Returns the maximum of attempts that the thread's session sets.
#[inline]
pub(crate) fn max_attempts() -> Option<u32> {
    current().and_then(|session| lock(&session.options).max_attempts)
}

/// Returns the capacity of quotas that the thread's session sets.
#[inline]
pub(crate) fn quota() -> Option<u32> {
    current().and_then(|session| lock(&session.options).quota)
}

/// Returns the next random factor of the thread's session: the same in each run.
#[inline]
pub(crate) fn next_factor() -> Option<f64> {
    let session = current()?;
    let (seed, draw) = (lock(&session.options).seed, session.draws.fetch_add(1, Ordering::Relaxed));
    let seed = seed.wrapping_add(draw.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    Some(SmallRng::seed_from_u64(seed).random())
}

/// Returns how far the clock that strategies see is ahead of the timer's.
#[inline]
pub(crate) fn time_ahead() -> Duration {
    current().map_or(Duration::ZERO, |session| lock(&session.time).ahead)
}

/// A wait that is skipped.
#[derive(Debug)]
pub(crate) struct SkippedWait {
    session: Arc<Session>,
    ends_ahead: Duration,
}

impl SkippedWait {
    /// Begins a wait, if the thread's session skips waits.
    pub(crate) fn begin(wait: Duration) -> Option<Self> {
        let session = current().filter(|session| lock(&session.options).skips_waits)?;
        let ends_ahead = {
            let mut time = lock(&session.time);
            time.waits.push(wait);
            time.ahead.saturating_add(wait)
        };
        Some(Self { session, ends_ahead })
    }

    /// Moves the clock to the end of the wait, unless another wait that was skipped meanwhile ended later.
    pub(crate) fn end(&self) {
        let mut time = lock(&self.session.time);
        time.ahead = time.ahead.max(self.ends_ahead);
    }
}
