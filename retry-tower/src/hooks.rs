//! Functions that are called with the outcomes of requests.

use super::choice::{Same, With, sealed};
use retry_core::retry::OnRetryOutput;
use retry_core::{Event, Report};
use std::ops::ControlFlow;

/// The functions that are called after each failure and at the end of a request; see [`RetryLayer::on_retry`](super::RetryLayer::on_retry) and
/// [`RetryLayer::on_end`](super::RetryLayer::on_end). [`Same`] means that there is none.
#[derive(Clone, Copy, Debug)]
pub struct Hooks<F = Same, E = Same> {
    pub(super) on_retry: F,
    pub(super) on_end: E,
}

/// A function that is called after each failure, for outcomes of type `Out`: [`With`], or [`Same`] for none. This trait is sealed.
pub trait OnRetry<Out>: sealed::Sealed {
    /// Whether there is a function.
    #[doc(hidden)]
    const IS_SET: bool;

    /// Calls the function, and returns whether the request goes on.
    #[doc(hidden)]
    fn on_retry(&self, outcome: &Out, event: &Event) -> ControlFlow<()>;
}

impl<Out> OnRetry<Out> for Same {
    const IS_SET: bool = false;

    fn on_retry(&self, _: &Out, _: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<Out, F: Fn(&Out, &Event) -> V, V: OnRetryOutput> OnRetry<Out> for With<F> {
    const IS_SET: bool = true;

    fn on_retry(&self, outcome: &Out, event: &Event) -> ControlFlow<()> {
        (self.0)(outcome, event).flow()
    }
}

/// A function that is called at the end of a request, for outcomes of type `Out`: [`With`], or [`Same`] for none. This trait is sealed.
pub trait OnEnd<Out>: sealed::Sealed {
    /// Whether there is a function.
    #[doc(hidden)]
    const IS_SET: bool;

    /// Calls the function with the report, which is made only if there is one.
    #[doc(hidden)]
    fn on_end<'o>(&self, report: impl FnOnce() -> Report<&'o Out>)
    where
        Out: 'o;
}

impl<Out> OnEnd<Out> for Same {
    const IS_SET: bool = false;

    fn on_end<'o>(&self, _: impl FnOnce() -> Report<&'o Out>)
    where
        Out: 'o,
    {
    }
}

impl<Out, F: Fn(&Report<&Out>)> OnEnd<Out> for With<F> {
    const IS_SET: bool = true;

    fn on_end<'o>(&self, report: impl FnOnce() -> Report<&'o Out>)
    where
        Out: 'o,
    {
        (self.0)(&report());
    }
}
