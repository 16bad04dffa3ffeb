//! The points that can fail, and what is noted while one run of a test passes them.

use super::super::record;
use crate::support::session::{self, Session, lock};
use crate::support::sync::Mutex;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::panic::{Location, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A point in a fake at which [`explore`](super::explore()) can let an attempt fail.
///
/// Write it where a real request can fail: before its effect for a request that did not arrive, after its effect for an
/// answer that was lost. The closure makes the error that a client would return there. An exploration knows a point by
/// its place in the source; a function with `#[track_caller]` passes on the place of its caller.
///
/// Each way of retrying is covered, because the point is in the fake: the attribute, closures, blocking functions, the
/// layer for `tower`, and any policy or strategy.
///
/// ```
/// use retry_core::RetryInfo;
/// use retry_core::test::may_fail;
/// use std::cell::RefCell;
///
/// #[derive(Debug, RetryInfo)]
/// enum StoreError {
///     #[retry(throttling)]
///     SlowDown,
///     #[retry(timeout)]
///     NoAnswer,
/// }
///
/// struct FakeStore(RefCell<Vec<u32>>);
///
/// impl FakeStore {
///     fn append(&self, item: u32) -> Result<(), StoreError> {
///         may_fail(|| StoreError::SlowDown)?; // not carried out
///         self.0.borrow_mut().push(item);
///         may_fail(|| StoreError::NoAnswer) // carried out, but the answer is lost
///     }
/// }
/// # assert!(FakeStore(RefCell::default()).append(1).is_ok());
/// ```
///
/// # Errors
///
/// The error of the closure, if an exploration lets this point fail now. Outside of an exploration, a point never fails.
///
/// # Panics
///
/// Unwinds a run that passes points without end, or that its exploration no longer waits for. No panic hook is called.
#[track_caller]
pub fn may_fail<E>(error: impl FnOnce() -> E) -> Result<(), E> {
    if fails(Location::caller()) { Err(error()) } else { Ok(()) }
}

/// Adds a check that must hold at the end of each run of an [exploration](super::explore()), also if the test panics or
/// its operation gives up.
///
/// Call it at the start of the test, on the test's thread. A check that panics is a finding. It can hold an `Rc` or an
/// `Arc` of the state that the test made. While the checks run, no point fails. Outside of an exploration, the check is
/// dropped.
///
/// ```
/// use retry_core::test::{explore, invariant, may_fail};
/// use retry_core::{RetryInfo, StandardRetryStrategy, retry_blocking};
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// #[derive(Debug, RetryInfo)]
/// #[retry(throttling)]
/// struct SlowDown;
///
/// static BANK: StandardRetryStrategy = StandardRetryStrategy::new();
///
/// let test = || {
///     let (from, to) = (Rc::new(Cell::new(10)), Rc::new(Cell::new(0)));
///     let accounts = (from.clone(), to.clone());
///     invariant(move || assert_eq!(accounts.0.get() + accounts.1.get(), 10));
///
///     from.set(5);
///     let deposit = || may_fail(|| SlowDown).inspect(|()| to.set(5));
///     retry_blocking(&BANK, deposit).run().unwrap();
/// };
/// let found = explore().run(test);
/// // If the deposit gives up, the money is lost.
/// assert!(found.to_string().contains("an invariant does not hold"), "{found}");
/// ```
pub fn invariant(check: impl FnOnce() + 'static) {
    if current().is_some() {
        INVARIANTS.with_borrow_mut(|checks| checks.push(Box::new(check)));
    }
}

thread_local! {
    static INVARIANTS: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
}

/// Takes the invariants of this thread.
pub(super) fn take_invariants() -> Vec<Box<dyn FnOnce()>> {
    INVARIANTS.with_borrow_mut(std::mem::take)
}

/// A point, and how often it was passed, with this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) location: &'static Location<'static>,
    pub(super) pass: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, pass {}", self.location, self.pass)
    }
}

/// How a place fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failing {
    /// Once.
    Once,
    /// Once, and no operation is retried from then on, as with an empty quota.
    Refused,
    /// From then on, so that the last attempt fails, too.
    Always,
}

/// A place that fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) place: Place,
    pub(super) failing: Failing,
}

impl Case {
    fn fails(&self, place: Place) -> bool {
        place.location == self.place.location
            && (place.pass == self.place.pass || self.failing == Failing::Always && place.pass > self.place.pass)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.failing {
            Failing::Once => "once",
            Failing::Refused => "not retried",
            Failing::Always => "from then on",
        };
        write!(f, "{}, {how}", self.place)
    }
}

/// One run of a test.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) case: Option<Case>,
    /// The largest number of passes, after which the run is unwound.
    pub(super) limit: usize,
    pub(super) passed: Mutex<Passed>,
}

/// What happened in a run.
#[derive(Debug, Default)]
pub(super) struct Passed {
    /// The places, in the order in which they were passed.
    pub(super) places: Vec<Place>,
    counts: HashMap<&'static Location<'static>, usize>,
    pub(super) failures: Vec<Failure>,
    pub(super) ran_away: bool,
    /// Whether the test has ended, so that no point fails any longer.
    pub(super) has_ended: bool,
    /// Whether the exploration no longer waits for the run.
    pub(super) is_abandoned: bool,
}

/// A failure of a point, with the operations that were running: their indices, and their attempts.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) session: Arc<Session>,
    pub(super) running: Vec<(usize, u32)>,
}

/// The payload that unwinds a run.
pub(super) struct Abandoned;

fn current() -> Option<(Arc<Session>, Arc<Run>)> {
    let session = session::current()?;
    let run = Arc::clone(&session.exploration()?.run).downcast().ok()?;
    Some((session, run))
}

#[derive(Clone, Copy)]
enum Now {
    Passes,
    Fails,
    Unwinds,
}

fn fails(location: &'static Location<'static>) -> bool {
    let Some((session, run)) = current() else { return false };
    let running = record::running(&session);
    // A second panic while the thread unwinds would abort the process.
    let unwinds = if std::thread::panicking() { Now::Passes } else { Now::Unwinds };
    let now = {
        let mut passed = lock(&run.passed);
        if passed.is_abandoned {
            unwinds
        } else if passed.has_ended {
            Now::Passes
        } else if passed.places.len() >= run.limit {
            passed.ran_away = true;
            unwinds
        } else {
            let count = passed.counts.entry(location).or_default();
            *count += 1;
            let place = Place { location, pass: *count };
            passed.places.push(place);
            if let Some(case) = run.case.filter(|case| case.fails(place)) {
                if let (Failing::Refused, Some(exploration)) = (case.failing, session.exploration()) {
                    exploration.refuses_retries.store(true, Ordering::Relaxed);
                }
                passed.failures.push(Failure { session, running });
                Now::Fails
            } else {
                Now::Passes
            }
        }
    };
    match now {
        Now::Passes => false,
        Now::Fails => true,
        Now::Unwinds => resume_unwind(Box::new(Abandoned)),
    }
}
