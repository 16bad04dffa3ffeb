//! The place for the last outcome of an operation, which returns it if no further attempt follows a wait.

/// A place for the last outcome of an operation. The type of the operation's token decides whether it keeps one, and so whether the
/// future is `Send` only if the outcome is: a strategy whose operations never end in a wait keeps none.
#[doc(hidden)]
pub trait KeptOutcome<R> {
    /// Keeps or drops the outcome of an attempt. `waits` says whether the operation now waits for the service, and may return it.
    fn keep(&mut self, outcome: R, waits: bool);

    /// Returns whether there is an outcome.
    fn is_kept(&self) -> bool;

    /// Takes the outcome out, if it was kept.
    fn take(&mut self) -> Option<R>;

    /// Drops the outcome if it was kept for the wait only, which is over.
    fn end_wait(&mut self);

    /// Returns the text of the error in an outcome, if it is at hand.
    fn error_text(&self, outcome: &R) -> Option<String> {
        let _ = outcome;
        None
    }
}

/// The outcome is dropped before the wait.
impl<R> KeptOutcome<R> for () {
    #[inline]
    fn keep(&mut self, _: R, _: bool) {}

    #[inline]
    fn is_kept(&self) -> bool {
        false
    }

    fn take(&mut self) -> Option<R> {
        None
    }

    #[inline]
    fn end_wait(&mut self) {}
}

/// Time limits may need the outcome in a later attempt as well.
impl<R> KeptOutcome<R> for Option<R> {
    #[inline]
    fn keep(&mut self, outcome: R, _: bool) {
        *self = Some(outcome);
    }

    #[inline]
    fn is_kept(&self) -> bool {
        self.is_some()
    }

    #[inline]
    fn take(&mut self) -> Option<R> {
        self.take()
    }

    #[inline]
    fn end_wait(&mut self) {}
}

/// The last outcome of an operation while it waits for the service. It is boxed, because the place is a part of the future during the
/// attempts, too, and only few operations wait.
#[derive(Debug)]
pub(crate) struct KeptInWait<R>(Option<Box<R>>);

impl<R> KeptInWait<R> {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    #[cold]
    fn put(&mut self, outcome: R) {
        self.0 = Some(Box::new(outcome));
    }

    #[cold]
    fn clear(&mut self) {
        self.0 = None;
    }
}

impl<R> KeptOutcome<R> for KeptInWait<R> {
    #[inline]
    fn keep(&mut self, outcome: R, waits: bool) {
        if waits {
            self.put(outcome);
        } else {
            drop(outcome);
            KeptOutcome::<R>::end_wait(self);
        }
    }

    #[inline]
    fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    fn take(&mut self) -> Option<R> {
        self.0.take().map(|outcome| *outcome)
    }

    #[inline]
    fn end_wait(&mut self) {
        if self.0.is_some() {
            self.clear();
        }
    }
}
