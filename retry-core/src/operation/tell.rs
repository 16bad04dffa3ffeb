//! How a call tells its events: to its own observer, to that of the process, and to `tracing`.

use super::call::{Call, Named};
use super::identity::{Beginning, Identified};
use super::observed::{Global, Observed};
use super::optional_observer::OptionalObserver;
use super::refusals::Refusals;
#[cfg(feature = "metrics")]
use crate::observe::metrics::MetricsObserver;
use crate::observe::trace::{self, Level};
use crate::observe::{Event, EventKind, OperationId};
use crate::strategy::{RetryError, RetryStrategy};
use crate::time::Clock;
#[cfg(feature = "metrics")]
use crate::time::KeptReading;
use std::time::Duration;

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Returns whether the start of an attempt needs no event: there are no observers, and no subscriber wants it.
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
        #[cfg(feature = "metrics")]
        if let Some((metrics, started)) = Self::only_metrics(observed, Level::Trace) {
            let now = if has_just_begun { started.instant() } else { None };
            return metrics.attempt_started(call.name.get(), call.strategy.name().as_ref(), now);
        }
        if !has_just_begun {
            return call.tell(observed, Level::Trace, attempt(), &move || EventKind::AttemptStarted);
        }
        let event = call.event_begun(observed.own.operation_id());
        trace::emit(Level::Trace, (event.operation, event.operation_id), || event.strategy.clone(), 1, &event.kind);
        if O::beginning(&observed.own).is_some() {
            call.observer.observe(&event);
        }
        observed.global.tell_begun(&event);
    }

    #[cold]
    fn tell_observer_begun(self, operation_id: OperationId) {
        self.observer.observe(&self.event_begun(operation_id));
    }

    /// Creates the event of the first attempt of an operation that has only just begun.
    fn event_begun(self, operation_id: OperationId) -> Event {
        self.event_after(Duration::ZERO, operation_id, 1, EventKind::AttemptStarted)
    }

    /// Reports an event to the observers and to `tracing`. If none of them is interested, the event is not built.
    ///
    /// The kind comes from any closure, so that what builds and emits an event is compiled once for each type of call, not once for
    /// each of its events.
    #[inline]
    pub(super) fn tell(self, observed: &Observed<O::State>, level: Level, attempt: u32, kind: &dyn Fn() -> EventKind) {
        let beginning = O::beginning(&observed.own);
        if Self::is_heard(observed, level) {
            let (named, around) = self.parts();
            Self::tell_all(named, around, observed, (level, attempt), kind);
        } else if let Some(beginning) = beginning {
            self.tell_observer(beginning, attempt, &kind());
        }
    }

    /// Returns whether the observer of the process or a subscriber gets an event of this level.
    #[inline]
    pub(super) fn is_heard(observed: &Observed<O::State>, level: Level) -> bool {
        observed.global.is_interested() || trace::is_enabled(level)
    }

    /// Returns the metrics of the process and the start time of the operation, if nothing else gets an event of this level.
    #[cfg(feature = "metrics")]
    #[inline]
    pub(super) fn only_metrics(
        observed: &Observed<O::State>,
        level: Level,
    ) -> Option<(&'static MetricsObserver, KeptReading)> {
        let is_heard_elsewhere = O::beginning(&observed.own).is_some() || trace::is_enabled(level);
        observed.global.metrics().filter(|_| !is_heard_elsewhere)
    }

    /// Reports the end of an operation after a failure. An operation that gave up is a warning with the text of its error.
    #[inline]
    pub(super) fn tell_stopped(
        self,
        observed: &Observed<O::State>,
        reason: RetryError,
        attempt: u32,
        kind: &dyn Fn() -> EventKind,
        text: &dyn Fn() -> Option<String>,
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

    /// Creates an event of an operation.
    ///
    /// The kind is passed by reference, because it is large.
    pub(super) fn event(self, beginning: Beginning, attempt: u32, kind: &EventKind) -> Event {
        let elapsed = self.timer().reading().saturating_since(beginning.started);
        self.event_after(elapsed, beginning.operation_id, attempt, *kind)
    }

    /// Creates an event of an operation at this time after its start.
    #[inline]
    fn event_after(self, elapsed: Duration, operation_id: OperationId, attempt: u32, kind: EventKind) -> Event {
        Event { operation: self.name.get(), operation_id, strategy: self.strategy.name(), attempt, elapsed, kind }
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
        kind: &dyn Fn() -> EventKind,
    ) {
        let call = Call::of(named, around);
        let mut event = call.event_after(Duration::ZERO, observed.own.operation_id(), attempt, kind());
        trace::emit(level, (event.operation, event.operation_id), || event.strategy.clone(), attempt, &event.kind);
        call.tell_observers(observed, &mut event);
    }

    /// Reports that an operation gave up. While a quota refuses many operations of a function, most of them are no warnings.
    #[cold]
    fn tell_given_up(
        self,
        observed: &Observed<O::State>,
        reason: RetryError,
        attempt: u32,
        kind: &dyn Fn() -> EventKind,
        text: &dyn Fn() -> Option<String>,
    ) {
        let operation = (self.name.get(), observed.own.operation_id());
        let is_refused = reason == RetryError::QuotaExhausted;
        let also_refused = if is_refused { REFUSALS.note(operation.0, self.now()) } else { None };
        if is_refused && also_refused.is_none() {
            return self.tell(observed, Level::Debug, attempt, kind);
        }
        let mut event = self.event_after(Duration::ZERO, operation.1, attempt, kind());
        let chain = if trace::is_text_wanted() { text() } else { None };
        trace::emit_given_up(operation, event.strategy.as_ref(), attempt, &event.kind, also_refused, chain.as_deref());
        self.tell_observers(observed, &mut event);
    }

    /// Passes an event to the observers. Its time is read for each of them.
    #[inline]
    fn tell_observers(self, observed: &Observed<O::State>, event: &mut Event) {
        if let Some(beginning) = O::beginning(&observed.own) {
            event.elapsed = self.timer().reading().saturating_since(beginning.started);
            self.observer.observe(event);
        }
        observed.global.tell(event, &self.timer());
    }
}

/// The operations that a quota refused.
static REFUSALS: Refusals = Refusals::new();
