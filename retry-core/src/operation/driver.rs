//! The part of a driver that settles an outcome.

use super::Beginning;
use crate::observe::Event;
use std::ops::ControlFlow;

/// A driver's knowledge about an attempt, and its hook for the events of a failure.
///
/// It is a type parameter of the steps that settle an outcome, so that a driver that adds nothing costs nothing.
pub trait Driver {
    /// Returns whether the attempt was sent.
    #[inline]
    fn was_sent(&self) -> bool {
        true
    }

    /// Returns whether another attempt can be made.
    #[inline]
    fn is_repeatable(&self) -> bool {
        true
    }

    /// Returns the text of the error of the attempt, if it is at hand.
    fn error_text(&self) -> Option<String> {
        None
    }

    /// Reports the event that follows a failure, after the observers got it: a retry that is scheduled, or the stop. Returns whether the
    /// operation goes on with that retry.
    #[inline]
    fn tell(self, _: impl FnOnce(Beginning) -> Event) -> ControlFlow<()>
    where
        Self: Sized,
    {
        ControlFlow::Continue(())
    }
}

/// A driver that adds its hook to some operations only.
impl<D: Driver> Driver for Option<D> {
    #[inline]
    fn was_sent(&self) -> bool {
        self.as_ref().is_none_or(D::was_sent)
    }

    #[inline]
    fn is_repeatable(&self) -> bool {
        self.as_ref().is_none_or(D::is_repeatable)
    }

    fn error_text(&self) -> Option<String> {
        self.as_ref().and_then(D::error_text)
    }

    #[inline]
    fn tell(self, event: impl FnOnce(Beginning) -> Event) -> ControlFlow<()> {
        self.map_or(ControlFlow::Continue(()), |driver| driver.tell(event))
    }
}

/// A driver that adds nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Driver for Plain {}

/// A driver with an `on_retry` closure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnRetry<F> {
    beginning: Beginning,
    on_retry: F,
}

impl<F: FnOnce(&Event) -> ControlFlow<()>> OnRetry<F> {
    /// Creates the driver of an operation with this beginning.
    #[inline]
    pub(crate) const fn new(beginning: Beginning, on_retry: F) -> Self {
        Self { beginning, on_retry }
    }
}

impl<F: FnOnce(&Event) -> ControlFlow<()>> Driver for OnRetry<F> {
    #[inline]
    fn tell(self, event: impl FnOnce(Beginning) -> Event) -> ControlFlow<()> {
        (self.on_retry)(&event(self.beginning))
    }
}

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}

    /// A function pointer.
    #[expect(unnameable_types, reason = "for one alias")]
    pub trait Returns {
        /// What the function returns.
        type Output;
    }

    impl<T> Returns for fn() -> T {
        type Output = T;
    }
}

/// What an `on_retry` closure returns: `()`, or a [`ControlFlow<()>`](ControlFlow) whose `Break` ends the operation in place of the retry;
/// see [`Retry::on_retry`](crate::Retry::on_retry). This trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether the operation goes on",
    label = "`on_retry` returns nothing, or a `ControlFlow<()>`",
    note = "end the closure with `;` or a block without a value, or return `ControlFlow::Break(())` to end the operation in place of the retry"
)]
pub trait OnRetryOutput: sealed::Sealed {
    /// Returns whether the operation goes on.
    fn flow(self) -> ControlFlow<()>;
}

impl sealed::Sealed for () {}

impl OnRetryOutput for () {
    #[inline]
    fn flow(self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl sealed::Sealed for ControlFlow<()> {}

impl OnRetryOutput for ControlFlow<()> {
    #[inline]
    fn flow(self) -> Self {
        self
    }
}

/// The type `!`, which has no stable name. A closure that always panics returns it.
type Diverges = <fn() -> ! as sealed::Returns>::Output;

impl sealed::Sealed for Diverges {}

#[diagnostic::do_not_recommend]
impl OnRetryOutput for Diverges {
    fn flow(self) -> ControlFlow<()> {
        self
    }
}
