//! Which attempt of an operation an exploration lets fail, without a point. `operation/explored/exploring.rs` makes the failure.

use super::place::{Fault, Missing, Run, Site, Unmade, current, unwind};
use crate::policy::RetryDirective;
use crate::support::session::{Session, lock};
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The attempts that run on this thread, the innermost one last.
    static RUNNING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Returns the attempts that run on this thread.
pub(super) fn running() -> Vec<usize> {
    RUNNING.try_with(|running| running.borrow().clone()).unwrap_or_default()
}

/// Returns the error that the exploration of this thread was given for a request without an answer.
pub(crate) fn no_answer<E: 'static>() -> Option<E> {
    current()?.1.makers.make()
}

/// An attempt in a run of an exploration.
#[derive(Debug)]
pub(crate) struct Attempt {
    session: Arc<Session>,
    run: Arc<Run>,
    name: &'static str,
    /// The number of the attempt in its run.
    number: usize,
    /// Whether its body has awaited something.
    has_awaited: bool,
}

impl Attempt {
    /// Begins an attempt of the operation with this name, or returns `None` if this thread is in no exploration.
    pub(crate) fn begin(name: impl FnOnce() -> &'static str) -> Option<Self> {
        let (session, run) = current()?;
        let name = name();
        let number = {
            let attempts = &mut lock(&run.passed).attempts;
            attempts.push(false);
            attempts.len() - 1
        };
        Some(Self { session, run, name, number, has_awaited: false })
    }

    /// Records that the attempt is one of a call with a hedge, which fails at points only.
    #[cfg(feature = "hedges")]
    pub(crate) fn has_a_hedge(&self) {
        lock(&self.run.passed).hedged.push((self.number, self.name));
    }

    /// Enters the attempt: until the guard is dropped, the points that this thread passes are within it.
    pub(crate) fn enter(&self) -> Entered {
        // While a thread ends, its list may be gone already.
        let _ = RUNNING.try_with(|running| running.borrow_mut().push(self.number));
        Entered
    }

    /// Returns whether the attempt fails before it begins.
    pub(crate) fn is_not_sent(&self) -> bool {
        self.fails(Fault::NotSent)
    }

    /// Returns whether the attempt is cut at the await that its body has reached.
    pub(crate) fn is_cut(&mut self) -> bool {
        if !std::mem::replace(&mut self.has_awaited, true) {
            lock(&self.run.passed).awaited.insert(self.number);
        }
        self.fails(Fault::Cut)
    }

    /// Returns whether the answer is lost, although the body returned.
    pub(crate) fn loses_its_answer(&self) -> bool {
        self.fails(Fault::Lost)
    }

    /// Returns whether the attempt fails now in this way. It does not while the thread unwinds.
    fn fails(&self, fault: Fault) -> bool {
        !std::thread::panicking() && self.run.fails(&self.session, Site::Attempts(self.name, fault), &[self.number])
    }

    /// Records that the operation repeats a request although it is not idempotent.
    pub(crate) fn repeats(&self) {
        lock(&self.run.passed).repeated = Some(self.name);
    }

    /// Ends the run, because its failure can't be made.
    pub(crate) fn cannot_be_made(&self, why: Unmade) {
        lock(&self.run.passed).unmade = Some(why);
        unwind();
    }

    /// Returns whether to note what can't be made. A run without failures shows it.
    pub(crate) fn is_without_failures(&self) -> bool {
        self.run.case.is_none()
    }

    /// Records what the policy says about a failure of this kind, if it can say it, and whether there is an outcome for it.
    pub(crate) fn note(&self, was_sent: bool, directive: Option<RetryDirective>, has_outcome: bool) {
        let at_the_end =
            if directive.is_none() { Some(Unmade::Directive) } else { (!has_outcome).then_some(Unmade::Outcome) };
        let is_retried = matches!(directive, Some(RetryDirective::Retry { .. }));
        let missing = Missing { once: if is_retried { None } else { at_the_end }, at_the_end };
        let faults: &[_] = if was_sent { &[Fault::Lost, Fault::Cut] } else { &[Fault::NotSent] };
        let mut passed = lock(&self.run.passed);
        for fault in faults {
            passed.missing.insert(Site::Attempts(self.name, *fault), missing);
        }
    }
}

/// A guard that leaves the attempt when it is dropped, also during a panic.
#[derive(Debug)]
pub(crate) struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        let _ = RUNNING.try_with(|running| running.borrow_mut().pop());
    }
}
