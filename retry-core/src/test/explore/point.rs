//! The points of fakes, and the invariants of a test.

use super::attempt;
use super::place::{Site, current};
use std::cell::RefCell;
use std::panic::Location;

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
/// use retry_core::{PatientRetryStrategy, RetryInfo, retry_blocking};
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// #[derive(Debug, RetryInfo)]
/// #[retry(throttling)]
/// struct SlowDown;
///
/// static BANK: PatientRetryStrategy = PatientRetryStrategy::new();
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

fn fails(location: &'static Location<'static>) -> bool {
    let Some((session, run)) = current() else { return false };
    run.fails(&session, Site::Point(location), &attempt::running())
}
