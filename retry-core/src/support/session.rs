//! Sessions: the state of a test guard, and the list of the sessions that a thread has entered.

use super::sync::{AtomicU64, Mutex, MutexGuard, PoisonError};
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// The number of sessions that exist in the process. While it is zero, nothing else is read.
///
/// Relaxed ordering suffices. A session is counted before any thread enters it, and it stays counted while a thread is
/// in it. So a thread that is in a session never reads zero.
static SESSIONS: AtomicUsize = AtomicUsize::new(0);

/// The latest number that was assigned to a state or to a copy. Only its uniqueness matters, so relaxed ordering
/// suffices.
static NUMBERS: AtomicUsize = AtomicUsize::new(0);

fn next_number() -> usize {
    NUMBERS.fetch_add(1, Ordering::Relaxed) + 1
}

thread_local! {
    /// The sessions that this thread is in, the innermost one last.
    static ENTERED: RefCell<Vec<Arc<Session>>> = const { RefCell::new(Vec::new()) };
}

/// The state of a test guard: its options, its copies of shared state, and the time that it skipped.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) options: Mutex<Options>,
    copies: Mutex<HashMap<usize, Arc<dyn Any + Send + Sync>>>,
    /// The counter of the session's random numbers. They are the same in each run.
    pub(super) random: AtomicU64,
    time: Mutex<SkippedTime>,
    /// Whether anything was done under the session or with its guard. It publishes no other data.
    was_used: AtomicBool,
    exploration: Option<Arc<Exploration>>,
}

/// The exploration that a session belongs to. Sessions that begin within it inherit it.
#[derive(Debug)]
pub(crate) struct Exploration {
    /// What `test::explore` notes of the run. The assertion is true: its value is behind a lock that recovers from poison.
    pub(crate) run: AssertUnwindSafe<Arc<dyn Any + Send + Sync>>,
    /// Whether operations are not retried from now on. It publishes no other data.
    pub(crate) refuses_retries: AtomicBool,
}

/// The options of a test guard. `None` keeps the setting of each strategy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) max_attempts: Option<u32>,
    pub(crate) quota: Option<u32>,
    pub(crate) begins_warm: bool,
    pub(crate) skips_waits: bool,
    #[cfg(feature = "hedges")]
    pub(crate) hedges: bool,
    pub(crate) seed: u64,
}

/// The waits that a session skipped.
#[derive(Debug, Default)]
struct SkippedTime {
    /// The time by which the clock that strategies see is ahead of the timer's clock.
    ahead: Duration,
    /// The skipped waits, in the order in which they began.
    waits: Vec<Duration>,
}

impl Session {
    pub(crate) fn new() -> Arc<Self> {
        Self::in_exploration(innermost().and_then(|outer| outer.exploration.clone()))
    }

    /// Creates a session in an exploration.
    pub(crate) fn in_exploration(exploration: Option<Arc<Exploration>>) -> Arc<Self> {
        SESSIONS.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self {
            options: Mutex::new(Options {
                max_attempts: None,
                quota: None,
                begins_warm: false,
                skips_waits: true,
                #[cfg(feature = "hedges")]
                hedges: false,
                seed: 0,
            }),
            copies: Mutex::new(HashMap::new()),
            random: AtomicU64::new(0),
            time: Mutex::new(SkippedTime::default()),
            was_used: AtomicBool::new(false),
            exploration,
        })
    }

    /// Returns the exploration that the session belongs to, if any.
    pub(crate) fn exploration(&self) -> Option<&Exploration> {
        self.exploration.as_deref()
    }

    /// Records that something was done under the session or with its guard.
    pub(crate) fn note_use(&self) {
        self.was_used.store(true, Ordering::Relaxed);
    }

    /// Returns whether anything was done under the session or with its guard.
    pub(crate) fn was_used(&self) -> bool {
        self.was_used.load(Ordering::Relaxed)
    }

    /// Enters the session: until the thread leaves it, the thread uses the session's copies of shared state.
    pub(crate) fn enter(self: &Arc<Self>) {
        ENTERED.with_borrow_mut(|entered| {
            if let Some(outer) = entered.last() {
                outer.note_use();
            }
            entered.push(Arc::clone(self));
        });
    }

    /// Leaves the session, which need not be the innermost one of the thread.
    pub(crate) fn leave(self: &Arc<Self>) {
        // While a thread ends, its list may be gone already.
        let left = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            entered.iter().rposition(|session| Arc::ptr_eq(session, self)).map(|at| entered.remove(at))
        });
        // The session and its copies of state are dropped only here, when the list is no longer borrowed.
        drop(left);
    }

    /// Returns the session's copy of a state. If there is none yet, `fresh` creates the state of a new copy.
    pub(crate) fn copy_of<T: Send + Sync + 'static>(
        &self,
        key: &Key,
        fresh: impl FnOnce() -> T,
    ) -> Option<Arc<StateCopy<T>>> {
        let key = key.get();
        let known = lock(&self.copies).get(&key).cloned();
        if let Some(copy) = known {
            return copy.downcast().ok();
        }
        // The user's code runs while nothing is locked. It may use other states of the session, and even this one.
        let made: Arc<dyn Any + Send + Sync> = Arc::new(StateCopy { number: next_number(), state: fresh() });
        // If another thread was faster, its copy is used, and this one is dropped after the lock.
        let copy = Arc::clone(lock(&self.copies).entry(key).or_insert_with(|| Arc::clone(&made)));
        copy.downcast().ok()
    }

    /// Returns the seed of the session's random numbers.
    pub(super) fn seed(&self) -> u64 {
        lock(&self.options).seed
    }

    /// Returns the skipped waits, in the order in which they began.
    pub(crate) fn skipped(&self) -> Vec<Duration> {
        lock(&self.time).waits.clone()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        SESSIONS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Locks a mutex of a session or of a copy. No user code runs while one of them is locked, so none is poisoned.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the innermost session that this thread is in, if any.
#[inline]
pub(crate) fn current() -> Option<Arc<Session>> {
    if SESSIONS.load(Ordering::Relaxed) == 0 { None } else { innermost() }
}

#[cold]
fn innermost() -> Option<Arc<Session>> {
    let session = ENTERED.try_with(|entered| entered.borrow().last().cloned()).ok().flatten();
    if let Some(session) = &session {
        session.note_use();
    }
    session
}

/// The number by which sessions identify a shared state. It is assigned when the state is first used under a guard;
/// until then it is 0. An address can't identify the state, because another state can later get the same address.
///
/// The number publishes no other data, so relaxed ordering suffices.
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
                // If another thread was faster, its number is used, and this one stays unused.
                let set = self.0.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
                set.map_or_else(|known| known, |_| number)
            }
            number => number,
        }
    }
}

/// A session's copy of a shared state.
#[derive(Debug)]
pub(crate) struct StateCopy<T> {
    /// The unique number of the copy.
    pub(crate) number: usize,
    pub(crate) state: T,
}

/// Returns the copy of a state in this thread's session, or `None` if the thread is in no session.
#[inline]
pub(crate) fn copy_of<T: Send + Sync + 'static>(key: &Key, fresh: impl FnOnce() -> T) -> Option<Arc<StateCopy<T>>> {
    current()?.copy_of(key, fresh)
}

/// Returns the maximum number of attempts that this thread's session sets, if it does.
#[inline]
pub(crate) fn max_attempts() -> Option<u32> {
    let session = current()?;
    let refuses = session.exploration().is_some_and(|exploration| exploration.refuses_retries.load(Ordering::Relaxed));
    if refuses { Some(1) } else { lock(&session.options).max_attempts }
}

/// Returns the quota capacity that this thread's session sets, if it does.
#[inline]
pub(crate) fn quota() -> Option<u32> {
    current().and_then(|session| lock(&session.options).quota)
}

/// Returns whether quotas begin in this thread as after attempts that succeeded.
pub(crate) fn begins_warm() -> bool {
    current().is_some_and(|session| lock(&session.options).begins_warm)
}

/// Returns whether calls can have hedges in this thread.
#[cfg(feature = "hedges")]
#[inline]
pub(crate) fn allows_hedges() -> bool {
    current().is_none_or(|session| lock(&session.options).hedges)
}

/// Returns the time by which the clock that strategies see is ahead of the timer's clock.
#[inline]
pub(crate) fn time_ahead() -> Duration {
    current().map_or(Duration::ZERO, |session| lock(&session.time).ahead)
}

/// A wait that is skipped.
#[derive(Debug)]
pub(crate) struct SkippedWait {
    session: Arc<Session>,
    /// The value of [`SkippedTime::ahead`] at the end of the wait.
    ends_ahead: Duration,
}

impl SkippedWait {
    /// Begins a wait, or returns `None` if this thread is in no session that skips waits.
    pub(crate) fn begin(wait: Duration) -> Option<Self> {
        let session = current().filter(|session| lock(&session.options).skips_waits)?;
        let ends_ahead = {
            let mut time = lock(&session.time);
            time.waits.push(wait);
            time.ahead.saturating_add(wait)
        };
        Some(Self { session, ends_ahead })
    }

    /// Advances the clock to the end of the wait, unless another skipped wait has advanced it further already.
    pub(crate) fn end(&self) {
        let mut time = lock(&self.session.time);
        time.ahead = time.ahead.max(self.ends_ahead);
    }
}
