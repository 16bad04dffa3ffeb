//! The call that an operation belongs to, with its name, strategy, timer and observer.

use super::identity::{Beginning, Identified, UnobservedId};
use super::name::Name;
use super::observed::{Global, Observed};
use super::refusals::Refusals;
use crate::observe::trace::{self, Level};
use crate::observe::{Event, EventKind, Observer, OperationId};
use crate::strategy::clock::StrategyClock;
use crate::strategy::{RetryError, RetryStrategy};
use crate::time::{BlockingTimer, Clock, DEFAULT_TIMER, DefaultTimer, StdTimer, Timer, Timestamp};
use std::time::Duration;

/// The name, strategy, timer and observer of a call.
///
/// The driver creates a `Call` for each step, so that nothing stays borrowed while the body runs, and passes it by
/// value. The default timer and [`Unobserved`] are zero-sized, so the rest fits into two registers.
#[derive(Debug)]
pub struct Call<'c, S, T = DefaultTimer, O = Unobserved> {
    name: &'c Name,
    pub(crate) strategy: &'c S,
    timer: T,
    observer: O,
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

    /// Returns whether nobody is told that an attempt starts.
    #[inline]
    pub(super) fn is_unheard() -> bool {
        O::IS_ABSENT && Global::is_absent() && !trace::is_enabled(Level::Trace)
    }

    /// Reports that an attempt starts. If its operation has only just begun, no clock is read for the event. The number of the attempt
    /// is read only for an event.
    #[inline]
    pub(super) fn tell_started(
        self,
        observed: &Observed<O::State>,
        attempt: impl FnOnce() -> u32,
        has_just_begun: bool,
    ) {
        if observed.global.is_interested() || trace::is_enabled(Level::Trace) {
            let (named, around) = self.parts();
            Self::tell_all_started(named, around, observed, attempt, has_just_begun);
        } else if let Some(beginning) = O::beginning(&observed.own) {
            if has_just_begun {
                self.tell_observer_begun(beginning.operation_id);
            } else {
                self.tell_observer(beginning, attempt(), &EventKind::AttemptStarted);
            }
        }
    }

    #[cold]
    fn tell_all_started(
        named: Named<'_, S>,
        around: (T, O),
        observed: &Observed<O::State>,
        attempt: impl FnOnce() -> u32,
        has_just_begun: bool,
    ) {
        let call = Call::of(named, around);
        if !has_just_begun {
            return call.tell(observed, Level::Trace, attempt(), || EventKind::AttemptStarted);
        }
        let operation = (call.name.get(), observed.own.operation_id());
        trace::emit(Level::Trace, operation, || call.strategy.name(), 1, &EventKind::AttemptStarted);
        if let Some(beginning) = O::beginning(&observed.own) {
            call.tell_observer_begun(beginning.operation_id);
        }
        observed.global.tell(|_| call.event_begun(operation.1));
    }

    #[cold]
    fn tell_observer_begun(self, operation_id: OperationId) {
        self.observer.observe(&self.event_begun(operation_id));
    }

    /// Creates the event of the first attempt of an operation that has only just begun.
    fn event_begun(self, operation_id: OperationId) -> Event {
        self.event_after(Duration::ZERO, operation_id, 1, &EventKind::AttemptStarted)
    }

    /// Reports an event to the observers and to `tracing`. If none of them is interested, the event is not built.
    #[inline]
    pub(super) fn tell(
        self,
        observed: &Observed<O::State>,
        level: Level,
        attempt: u32,
        kind: impl FnOnce() -> EventKind,
    ) {
        let beginning = O::beginning(&observed.own);
        if observed.global.is_interested() || trace::is_enabled(level) {
            let (named, around) = self.parts();
            Self::tell_all(named, around, observed, (level, attempt), kind);
        } else if let Some(beginning) = beginning {
            self.tell_observer(beginning, attempt, &kind());
        }
    }

    /// Reports the end of an operation after a failure. An operation that gave up is a warning with the text of its error.
    #[inline]
    pub(super) fn tell_stopped(
        self,
        observed: &Observed<O::State>,
        reason: RetryError,
        attempt: u32,
        kind: impl FnOnce() -> EventKind,
        text: impl FnOnce() -> Option<String>,
    ) {
        let level = match reason {
            RetryError::NotRetryable | RetryError::Disabled | RetryError::Stopped | RetryError::GivenUp => Level::Debug,
            _ => Level::Warn,
        };
        if matches!(level, Level::Warn) && trace::is_warning_wanted() {
            self.tell_given_up(observed, reason, attempt, kind, text);
        } else {
            self.tell(observed, level, attempt, kind);
        }
    }

    /// Returns whether an observer or the subscriber of `tracing` gets warnings.
    pub(super) fn is_warning_wanted(observed: &Observed<O::State>) -> bool {
        observed.global.is_interested() || O::beginning(&observed.own).is_some() || trace::is_warning_wanted()
    }

    /// Returns the id and the start time of an operation that begins now.
    #[inline]
    pub(crate) fn beginning(self, operation: &impl Identified) -> Beginning {
        Beginning::new(operation.operation_id(), self.timer().now())
    }

    /// Creates an event of an operation.
    ///
    /// The kind is passed by reference, because it is large.
    pub(super) fn event(self, beginning: Beginning, attempt: u32, kind: &EventKind) -> Event {
        let elapsed = self.timer().now().saturating_since(beginning.started);
        self.event_after(elapsed, beginning.operation_id, attempt, kind)
    }

    /// Creates an event of an operation at this time after its start.
    #[inline]
    fn event_after(self, elapsed: Duration, operation_id: OperationId, attempt: u32, kind: &EventKind) -> Event {
        Event {
            operation: self.name.get(),
            operation_id,
            strategy: self.strategy.name(),
            attempt,
            elapsed,
            kind: *kind,
        }
    }

    #[cold]
    fn tell_observer(self, beginning: &Beginning, attempt: u32, kind: &EventKind) {
        let observer = self.observer;
        observer.observe(&self.event(*beginning, attempt, kind));
    }

    // The kind is built out of line, too, so that the path of an operation that nobody observes stays short.
    #[cold]
    fn tell_all(
        named: Named<'_, S>,
        around: (T, O),
        observed: &Observed<O::State>,
        (level, attempt): (Level, u32),
        kind: impl FnOnce() -> EventKind,
    ) {
        let (call, kind) = (Call::of(named, around), kind());
        let operation = (call.name.get(), observed.own.operation_id());
        trace::emit(level, operation, || call.strategy.name(), attempt, &kind);
        call.tell_observers(observed, operation.1, attempt, &kind);
    }

    /// Reports that an operation gave up. While a quota refuses many operations of a function, most of them are no warnings.
    #[cold]
    fn tell_given_up(
        self,
        observed: &Observed<O::State>,
        reason: RetryError,
        attempt: u32,
        kind: impl FnOnce() -> EventKind,
        text: impl FnOnce() -> Option<String>,
    ) {
        let operation = (self.name.get(), observed.own.operation_id());
        let is_refused = reason == RetryError::QuotaExhausted;
        let also_refused = if is_refused { REFUSALS.note(operation.0, self.now()) } else { None };
        if is_refused && also_refused.is_none() {
            return self.tell(observed, Level::Debug, attempt, kind);
        }
        let kind = kind();
        let chain = if trace::is_text_wanted() { text() } else { None };
        trace::emit_given_up(operation, self.strategy.name().as_ref(), attempt, &kind, also_refused, chain.as_deref());
        self.tell_observers(observed, operation.1, attempt, &kind);
    }

    fn tell_observers(self, observed: &Observed<O::State>, operation_id: OperationId, attempt: u32, kind: &EventKind) {
        if let Some(beginning) = O::beginning(&observed.own) {
            self.tell_observer(beginning, attempt, kind);
        }
        observed.global.tell(|started| self.event(Beginning::new(operation_id, started), attempt, kind));
    }
}

/// The operations that a quota refused.
static REFUSALS: Refusals = Refusals::new();

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// An optional observer: an [`Observer`], or [`Unobserved`]. This trait is sealed.
///
/// ```
/// use retry_core::retry::{AsyncAttempts, OptionalObserver};
/// use retry_core::time::DefaultTimer;
/// use retry_core::{PatientRetryStrategy, Retry, RetryInfo, StandardRetryPolicy};
///
/// type Call<F, O> =
///     Retry<&'static PatientRetryStrategy, F, StandardRetryPolicy, DefaultTimer, O>;
///
/// /// Runs a call with an observer, or without one.
/// async fn run<F, O, T, E>(call: Call<F, O>) -> Result<T, E>
/// where
///     F: AsyncAttempts<Outcome = Result<T, E>>,
///     O: OptionalObserver,
///     E: RetryInfo,
/// {
///     call.run().await
/// }
/// ```
pub trait OptionalObserver: sealed::Sealed {
    /// Whether there is no observer.
    #[doc(hidden)]
    const IS_ABSENT: bool;

    /// State kept between events.
    #[doc(hidden)]
    type State: Identified;

    /// A reference to the observer. It is zero-sized if there is none.
    #[doc(hidden)]
    type Ref<'a>: OptionalObserver<State = Self::State> + Copy
    where
        Self: 'a;

    /// Returns a reference to the observer.
    #[doc(hidden)]
    fn by_ref(&self) -> Self::Ref<'_>;

    /// Starts observing an operation.
    #[doc(hidden)]
    fn begin(&self, operation: Name, clock: &impl Clock) -> Self::State;

    /// Returns the id and the start time of the operation, if the observer is interested in it.
    #[doc(hidden)]
    fn beginning(state: &Self::State) -> Option<&Beginning>;

    /// Passes an event to the observer.
    #[doc(hidden)]
    fn observe(&self, event: &Event);
}

/// The absence of an observer, which costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl sealed::Sealed for Unobserved {}

impl OptionalObserver for Unobserved {
    const IS_ABSENT: bool = true;

    type State = UnobservedId;

    type Ref<'a> = Self;

    #[inline]
    fn by_ref(&self) -> Self {
        *self
    }

    #[inline]
    fn begin(&self, _: Name, _: &impl Clock) -> UnobservedId {
        UnobservedId::default()
    }

    #[inline]
    fn beginning(_: &UnobservedId) -> Option<&Beginning> {
        None
    }

    fn observe(&self, _: &Event) {}
}

/// The state of an operation whose call has an observer.
#[derive(Debug)]
pub enum ObservedState {
    /// The observer is interested in the operation.
    Interested(Beginning),
    /// The observer is not interested in the operation.
    Uninterested(UnobservedId),
}

impl Identified for ObservedState {
    fn operation_id(&self) -> OperationId {
        match self {
            Self::Interested(beginning) => beginning.operation_id,
            Self::Uninterested(id) => id.operation_id(),
        }
    }
}

impl<O: Observer + ?Sized> sealed::Sealed for O {}
impl<O: Observer + ?Sized> OptionalObserver for O {
    const IS_ABSENT: bool = false;

    type State = ObservedState;

    type Ref<'a>
        = &'a O
    where
        O: 'a;

    #[inline]
    fn by_ref(&self) -> &O {
        self
    }

    #[inline]
    fn begin(&self, operation: Name, clock: &impl Clock) -> ObservedState {
        if self.is_interested(operation.get()) {
            ObservedState::Interested(Beginning::new(OperationId::draw(), clock.now()))
        } else {
            ObservedState::Uninterested(UnobservedId::default())
        }
    }

    #[inline]
    fn beginning(state: &ObservedState) -> Option<&Beginning> {
        match state {
            ObservedState::Interested(beginning) => Some(beginning),
            ObservedState::Uninterested(_) => None,
        }
    }

    fn observe(&self, event: &Event) {
        Observer::observe(self, event);
    }
}
