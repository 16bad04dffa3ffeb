//! The problems that were found, and how operations are counted.

use rand::rngs::StdRng;
use retry_core::Report;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// The time limit of each operation.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(2);
/// How much later than its limit an operation may end. It is long, because the machine may be busy.
const GRACE: Duration = Duration::from_secs(10);

static FOUND: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Records a problem, which ends the program.
pub(crate) fn problem(text: String) {
    lock(&FOUND).push(text);
}

/// Takes the problems that were found.
pub(crate) fn take_problems() -> Vec<String> {
    std::mem::take(&mut lock(&FOUND))
}

/// Records a problem unless both values are equal.
pub(crate) fn equal<T: Copy + PartialEq + Debug>(what: &str, found: T, expected: T) {
    if found != expected {
        problem(format!("{what}: {found:?} instead of {expected:?}"));
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What happened to the operations of one round.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) begun: AtomicU64,
    pub(crate) succeeded: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) cancelled: AtomicU64,
    pub(crate) attempts: AtomicU64,
}

impl Tally {
    /// Runs an operation, counts it by what becomes of it, and records a problem if it does not end in time or contradicts itself.
    pub(crate) async fn count<R, E>(
        &self,
        what: &str,
        call: impl Future<Output = Report<Result<R, E>>>,
    ) -> Option<Result<R, E>> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let mut end = End { tally: self, counter: &self.cancelled };
        let Ok(report) = timeout(MAX_TIME + GRACE, call).await else {
            problem(format!("an operation `{what}` is stuck"));
            return None;
        };
        self.attempts.fetch_add(report.attempts.into(), Ordering::Relaxed);
        if report.outcome.is_ok() != report.reason.is_none() {
            problem(format!("`{what}` is a success and has a reason, or neither: {:?}", report.reason));
        }
        end.counter = if report.outcome.is_ok() { &end.tally.succeeded } else { &end.tally.failed };
        Some(report.outcome)
    }

    /// Records a problem unless each operation was counted once.
    pub(crate) fn check(&self) {
        let [begun, succeeded, failed, cancelled] = [&self.begun, &self.succeeded, &self.failed, &self.cancelled]
            .map(|counter| counter.load(Ordering::Relaxed));
        equal("operations that ended", succeeded + failed + cancelled, begun);
    }
}

/// Counts an operation when it ends, or is cancelled.
struct End<'t> {
    tally: &'t Tally,
    counter: &'t AtomicU64,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the generator of a part of the program.
pub(crate) fn generator(seed: u64, part: u64) -> StdRng {
    rand::SeedableRng::seed_from_u64(seed ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
