//! The part of a driver that settles an outcome.

use super::Beginning;
use crate::observe::Event;

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

    /// Reports the event that follows a failure, after the observers got it: a retry that is scheduled, or the stop.
    #[inline]
    fn tell(self, _: impl FnOnce(Beginning) -> Event)
    where
        Self: Sized,
    {
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

    #[inline]
    fn tell(self, event: impl FnOnce(Beginning) -> Event) {
        if let Some(driver) = self {
            driver.tell(event);
        }
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

impl<F: FnOnce(&Event)> OnRetry<F> {
    /// Creates the driver of an operation with this beginning.
    #[inline]
    pub(crate) const fn new(beginning: Beginning, on_retry: F) -> Self {
        Self { beginning, on_retry }
    }
}

impl<F: FnOnce(&Event)> Driver for OnRetry<F> {
    #[inline]
    fn tell(self, event: impl FnOnce(Beginning) -> Event) {
        (self.on_retry)(&event(self.beginning));
    }
}
