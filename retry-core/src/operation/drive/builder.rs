//! The settings of an operation.

use super::{Limits, Operation};
use crate::operation::{Call, Limited, Name, OptionalObserver, SharedStop, TimeLimits, Unobserved};
use crate::strategy::RetryStrategy;
use crate::support::{InvalidSetting, assert_attempts};
use crate::time::deadline::AcceptedDeadline;
use crate::time::limit::AcceptedLimit;
use crate::time::{Clock, StdTimer};
use std::borrow::Cow;
use std::num::NonZeroU32;

/// The settings of an operation that is driven by hand. Created by [`Operation::builder`].
#[derive(Debug)]
#[must_use = "an operation begins when `begin` is called"]
pub struct OperationBuilder<S, C = StdTimer, O = Unobserved> {
    surroundings: Surroundings<S, C, O>,
    limits: Limits,
    is_unlimited: bool,
    is_timed: bool,
    keeps_failures: bool,
}

/// What an operation needs besides its state.
#[derive(Debug)]
pub(super) struct Surroundings<S, C, O> {
    pub(super) name: Name,
    pub(super) strategy: S,
    pub(super) clock: C,
    pub(super) observer: O,
    pub(super) weight: Option<u32>,
}

impl<S: RetryStrategy, C: Clock, O: OptionalObserver> Surroundings<S, C, O> {
    pub(super) fn call(&self) -> Call<'_, S, &C, O::Ref<'_>> {
        Call::new(&self.name, &self.strategy).with_clock(&self.clock).with_observer(&self.observer)
    }
}

impl<S, C, O> OperationBuilder<S, C, O> {
    /// Sets the time limit of the whole operation, a `Duration` or an `Option` of one; see [`Retry::max_time`](crate::Retry::max_time).
    pub fn max_time(self, time: impl AcceptedLimit) -> Self {
        Self { limits: self.limits.with_max_time(time.accept()), ..self }
    }

    /// Sets the deadline of the whole operation, a point in time or an `Option` of one; see [`Retry::deadline`](crate::Retry::deadline).
    pub fn deadline(self, deadline: impl AcceptedDeadline) -> Self {
        Self { limits: self.limits.with_deadline(deadline.accept()), ..self }
    }

    /// Sets the time limit of each attempt, a `Duration` or an `Option` of one. The driver cuts the attempt; see [`Operation::cut`].
    pub fn attempt_timeout(self, time: impl AcceptedLimit) -> Self {
        Self { limits: self.limits.with_attempt_timeout(time.accept()), ..self }
    }

    /// Sets a handle that ends the operation in a shutdown: a reference to a static [`Stop`](crate::Stop), or an `Arc` of one.
    pub fn stop(self, stop: impl Into<SharedStop>) -> Self {
        Self { limits: self.limits.with_handle(Some(stop.into())), ..self }
    }

    /// Lets the operation make any number of attempts; see [`Retry::unlimited_attempts`](crate::Retry::unlimited_attempts).
    pub fn unlimited_attempts(self) -> Self {
        Self { limits: self.limits.without_max_attempts(), is_unlimited: true, ..self }
    }

    /// Lets the operation make fewer attempts than the strategy allows; see [`Retry::max_attempts`](crate::Retry::max_attempts).
    ///
    /// # Panics
    ///
    /// Panics if the number is 0. For a number that is known only at run time, use
    /// [`try_max_attempts`](OperationBuilder::try_max_attempts).
    #[track_caller]
    pub fn max_attempts(self, attempts: impl Into<Option<u32>>) -> Self {
        let attempts = attempts.into();
        assert_attempts(attempts.unwrap_or(1));
        self.at_most(attempts.and_then(NonZeroU32::new))
    }

    /// Lets the operation make fewer attempts than the strategy allows; see [`Retry::max_attempts`](crate::Retry::max_attempts).
    ///
    /// # Errors
    ///
    /// Returns an error if the number is 0.
    pub fn try_max_attempts(self, attempts: impl Into<Option<u32>>) -> Result<Self, InvalidSetting> {
        match attempts.into() {
            Some(0) => Err(InvalidSetting::of_no_attempts()),
            attempts => Ok(self.at_most(attempts.and_then(NonZeroU32::new))),
        }
    }

    fn at_most(self, attempts: Option<NonZeroU32>) -> Self {
        let is_unlimited = self.is_unlimited && attempts.is_none();
        Self { limits: self.limits.with_max_attempts(attempts), is_unlimited, ..self }
    }

    /// Sets the weight of the operation, for a limit on the sum of weights; see [`Retry::weight`](crate::Retry::weight).
    pub fn weight(self, weight: u32) -> Self {
        let surroundings = Surroundings { weight: Some(weight), ..self.surroundings };
        Self { surroundings, ..self }
    }

    /// Lets the operation not read the clock for [`Ended::elapsed`](super::Ended::elapsed), which is then zero unless
    /// failures are [kept](Self::with_failures). For a driver of short operations that measures by itself, or not at all.
    pub fn without_elapsed(self) -> Self {
        Self { is_timed: false, ..self }
    }

    /// Lets the operation keep the event of its last failure, for [`Operation::take_failure`].
    pub fn with_failures(self) -> Self {
        Self { keeps_failures: true, ..self }
    }

    /// Sets the clock. The default is that of [`StdTimer`]. With a [`Timer`](crate::Timer), the operation can [sleep](Operation::due).
    pub fn clock<D: Clock>(self, clock: D) -> OperationBuilder<S, D, O> {
        let Self { surroundings, limits, is_unlimited, is_timed, keeps_failures } = self;
        let Surroundings { name, strategy, clock: _, observer, weight } = surroundings;
        let surroundings = Surroundings { name, strategy, clock, observer, weight };
        OperationBuilder { surroundings, limits, is_unlimited, is_timed, keeps_failures }
    }

    /// Sets the observer of the operation: an [`Observer`](crate::Observer), or [`Unobserved`].
    pub fn observer<P: OptionalObserver>(self, observer: P) -> OperationBuilder<S, C, P> {
        let Self { surroundings, limits, is_unlimited, is_timed, keeps_failures } = self;
        let Surroundings { name, strategy, clock, observer: _, weight } = surroundings;
        let surroundings = Surroundings { name, strategy, clock, observer, weight };
        OperationBuilder { surroundings, limits, is_unlimited, is_timed, keeps_failures }
    }

    /// Begins the operation: its time starts now.
    pub fn begin(self) -> Operation<S, C, O>
    where
        S: RetryStrategy,
        C: Clock,
        O: OptionalObserver,
    {
        let Self { surroundings, limits, is_unlimited, is_timed, keeps_failures } = self;
        let started = (is_timed || keeps_failures).then(|| surroundings.clock.reading());
        let mut state = surroundings.call().begin(limits);
        state.set_unlimited(is_unlimited);
        if let Some(weight) = surroundings.weight {
            state.weigh(&surroundings.strategy, weight);
        }
        Operation::new(state, surroundings, started, keeps_failures)
    }
}

impl<S> OperationBuilder<S> {
    pub(super) fn new(strategy: S, name: impl Into<Cow<'static, str>>) -> Self {
        let surroundings =
            Surroundings { name: Name::given(name), strategy, clock: StdTimer, observer: Unobserved, weight: None };
        let limits = Limited::new().with_handle(None);
        Self { surroundings, limits, is_unlimited: false, is_timed: true, keeps_failures: false }
    }
}
