//! Drivers that have the text of the error of an attempt at hand.

use super::driver::Driver;
use super::explored::{self, Outcome};
use crate::policy::RetryPolicy;
#[cfg(feature = "tracing")]
use {super::Beginning, crate::observe::Event, std::ops::ControlFlow};

/// A driver that has the text of the error at hand.
#[cfg(feature = "tracing")]
#[derive(Clone, Copy, Debug)]
struct Textual<D, X> {
    driver: D,
    text: X,
}

#[cfg(feature = "tracing")]
impl<D: Driver, X: Fn() -> Option<String>> Driver for Textual<D, X> {
    #[inline]
    fn was_sent(&self) -> bool {
        self.driver.was_sent()
    }

    #[inline]
    fn is_repeatable(&self) -> bool {
        self.driver.is_repeatable()
    }

    fn error_text(&self) -> Option<String> {
        (self.text)()
    }

    #[inline]
    fn tell(self, event: impl FnOnce(Beginning) -> Event) -> ControlFlow<()> {
        self.driver.tell(event)
    }
}

/// Adds the text of the error to a driver. Without the feature `tracing`, nothing asks for it.
#[cfg(feature = "tracing")]
#[inline]
pub(crate) fn with_text<D: Driver, X: Fn() -> Option<String>>(driver: D, text: X) -> impl Driver {
    Textual { driver, text }
}

/// Adds the text of the error to a driver. Without the feature `tracing`, nothing asks for it.
#[cfg(not(feature = "tracing"))]
#[inline]
pub(crate) fn with_text<D: Driver, X: Fn() -> Option<String>>(driver: D, _: X) -> D {
    driver
}

/// Adds the text of the error in an outcome to a driver, as the policy knows it.
#[inline]
pub(crate) fn textual<R>(
    driver: impl Driver,
    policy: &(impl RetryPolicy<R> + ?Sized),
    outcome: &Outcome<R>,
) -> impl Driver {
    with_text(driver, || text_of(policy, outcome))
}

/// Returns the text of the error in an outcome, as the policy knows it.
pub(crate) fn text_of<R>(policy: &(impl RetryPolicy<R> + ?Sized), outcome: &Outcome<R>) -> Option<String> {
    explored::value(outcome).and_then(|outcome| policy.__text(outcome))
}
