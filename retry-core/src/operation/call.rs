//! The call that an operation belongs to, with its name, strategy, timer and observer.

use super::identity::{Beginning, Identified};
use super::name::Name;
use super::observed::{Global, Observed};
use super::optional_observer::{OptionalObserver, Unobserved};
use crate::strategy::RetryStrategy;
use crate::strategy::clock::StrategyClock;
use crate::time::{BlockingTimer, Clock, DEFAULT_TIMER, DefaultTimer, StdTimer, Timer, Timestamp};

/// The name, strategy, timer and observer of a call.
///
/// The driver creates a `Call` for each step, so that nothing stays borrowed while the body runs, and passes it by
/// value. The default timer and [`Unobserved`] are zero-sized, so the rest fits into two registers.
#[derive(Debug)]
pub struct Call<'c, S, T = DefaultTimer, O = Unobserved> {
    pub(super) name: &'c Name,
    pub(crate) strategy: &'c S,
    timer: T,
    pub(super) observer: O,
}

impl<S, T: Copy, O: Copy> Copy for Call<'_, S, T, O> {}

impl<S, T: Copy, O: Copy> Clone for Call<'_, S, T, O> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

/// The name and the strategy of a call.
pub(super) type Named<'c, S> = (&'c Name, &'c S);

impl<'c, S, T, O> Call<'c, S, T, O> {
    /// Creates a call from its two parts.
    #[inline]
    pub(super) fn of((name, strategy): Named<'c, S>, (timer, observer): (T, O)) -> Self {
        Self { name, strategy, timer, observer }
    }

    /// Returns the call in two parts, for a function that is not inlined. Each part fits into registers. As one value, the call of a
    /// closure would be written to memory on the path of each success.
    #[inline]
    pub(super) fn parts(self) -> (Named<'c, S>, (T, O)) {
        ((self.name, self.strategy), (self.timer, self.observer))
    }
}

impl<'c, S> Call<'c, S> {
    /// Creates a call with the default timer and without an observer.
    #[inline]
    pub const fn new(name: &'c Name, strategy: &'c S) -> Self {
        Self { name, strategy, timer: DEFAULT_TIMER, observer: Unobserved }
    }
}

impl<'c, S, T: Copy, O: Copy> Call<'c, S, T, O> {
    /// Sets the timer.
    #[inline]
    pub const fn with_timer<U: Timer>(self, timer: &'c U) -> Call<'c, S, &'c U, O> {
        Call { name: self.name, strategy: self.strategy, timer, observer: self.observer }
    }

    /// Sets the timer of a function that blocks.
    #[inline]
    pub const fn with_blocking_timer<U: BlockingTimer>(self, timer: &'c U) -> Call<'c, S, &'c U, O> {
        Call { name: self.name, strategy: self.strategy, timer, observer: self.observer }
    }

    /// Sets the timer for a step that only needs its clock.
    #[inline]
    pub(crate) const fn with_clock<U: Clock>(self, timer: &'c U) -> Call<'c, S, &'c U, O> {
        Call { name: self.name, strategy: self.strategy, timer, observer: self.observer }
    }

    /// Returns the call with references to its timer and its observer.
    #[cfg(feature = "hedges")]
    #[inline]
    pub(crate) fn by_ref(&self) -> Call<'_, S, &T, O::Ref<'_>>
    where
        T: Clock,
        O: OptionalObserver,
    {
        Call { name: self.name, strategy: self.strategy, timer: &self.timer, observer: self.observer.by_ref() }
    }

    /// Sets the default timer of functions that block.
    #[inline]
    pub const fn blocking(self) -> Call<'c, S, StdTimer, O> {
        Call { name: self.name, strategy: self.strategy, timer: StdTimer, observer: self.observer }
    }

    /// Sets the observer.
    #[inline]
    pub fn with_observer<P: OptionalObserver + ?Sized>(self, observer: &'c P) -> Call<'c, S, T, P::Ref<'c>> {
        Call { name: self.name, strategy: self.strategy, timer: self.timer, observer: observer.by_ref() }
    }
}

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Returns the timer by value. If a reference to the field were passed on, the call could not stay in registers.
    #[inline]
    pub(super) fn timer(self) -> T {
        self.timer
    }

    /// Returns the time by the clock of the timer.
    #[inline]
    pub(crate) fn now(self) -> Timestamp {
        self.timer.now()
    }

    /// Returns the clock that strategies see.
    #[inline]
    pub(super) fn clock(self) -> StrategyClock<T> {
        StrategyClock::new(self.timer)
    }

    /// Returns the name of the operation.
    #[inline]
    pub(super) fn name(self) -> Name {
        *self.name
    }

    /// Starts observing an operation.
    #[inline]
    pub(super) fn observe(self) -> Observed<O::State> {
        let observer = self.observer;
        Observed { own: observer.begin(*self.name, &self.timer()), global: Global::begin(self.name, &self.timer()) }
    }

    /// Returns the id and the start time of an operation that begins now.
    #[inline]
    pub(crate) fn beginning(self, operation: &impl Identified) -> Beginning {
        Beginning::new(operation.operation_id(), self.timer().reading())
    }
}
