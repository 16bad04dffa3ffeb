//! What surrounds an operation: its name, its timer, and who observes it.

use crate::name::{FunctionName, Name};
use crate::observe::trace::{self, Level};
use crate::observe::{Event, EventKind, Observer};
use crate::time::{BlockingTimer, Clock, DEFAULT_TIMER, DefaultTimer, StdTimer, Timer, Timestamp};

/// Name, timer and observer of an operation: references, made anew wherever they are needed, so that nothing stays
/// borrowed while the body runs.
#[derive(Debug)]
pub struct Around<'a, T = DefaultTimer, W: ?Sized = Unobserved> {
    name: Name,
    pub(crate) timer: &'a T,
    watch: &'a W,
}

impl<T, W: ?Sized> Copy for Around<'_, T, W> {}

impl<T, W: ?Sized> Clone for Around<'_, T, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl Around<'static> {
    /// The default timer, and no observer.
    pub const fn new(name: &'static FunctionName) -> Self {
        Self::named(Name::Function(name))
    }

    /// The same under a name that was given.
    pub(crate) const fn given(name: &'static str) -> Self {
        Self::named(Name::Given(name))
    }

    const fn named(name: Name) -> Self {
        Self { name, timer: &DEFAULT_TIMER, watch: &Unobserved }
    }
}

impl Around<'static, StdTimer> {
    /// The timer for functions that block, and no observer.
    pub const fn blocking(name: &'static FunctionName) -> Self {
        Self { name: Name::Function(name), timer: &StdTimer, watch: &Unobserved }
    }
}

impl<'a, T, W: ?Sized> Around<'a, T, W> {
    /// Another timer.
    #[inline]
    pub const fn timer<U: Timer>(self, timer: &'a U) -> Around<'a, U, W> {
        Around { name: self.name, timer, watch: self.watch }
    }

    /// Another timer for functions that block.
    #[inline]
    pub const fn blocking_timer<U: BlockingTimer>(self, timer: &'a U) -> Around<'a, U, W> {
        Around { name: self.name, timer, watch: self.watch }
    }

    /// Somebody who observes.
    #[inline]
    pub const fn observer<O: Watch + ?Sized>(self, watch: &'a O) -> Around<'a, T, O> {
        Around { name: self.name, timer: self.timer, watch }
    }
}

impl<T: Clock, W: Watch + ?Sized> Around<'_, T, W> {
    #[inline]
    pub(crate) fn begin(&self) -> W::Notes {
        self.watch.begin(self.name, self.timer)
    }

    /// Tells an event to whoever wants to know; if nobody does, it isn't even made.
    #[inline]
    pub(crate) fn tell(&self, notes: &W::Notes, level: Level, attempt: u32, kind: impl FnOnce() -> EventKind) {
        if W::wants(notes) || trace::is_enabled(level) {
            self.tell_now(notes, level, attempt, kind());
        }
    }

    #[cold]
    fn tell_now(&self, notes: &W::Notes, level: Level, attempt: u32, kind: EventKind) {
        if trace::is_enabled(level) {
            trace::emit(level, self.name.get(), attempt, &kind);
        }
        self.watch.tell(notes, self.timer, attempt, kind);
    }
}

/// An optional observer.
pub trait Watch {
    /// State that is kept between events.
    type Notes;

    /// An operation begins.
    fn begin(&self, operation: Name, clock: &dyn Clock) -> Self::Notes;

    /// Whether there is anybody to tell.
    fn wants(notes: &Self::Notes) -> bool;

    /// Something happened.
    fn tell(&self, notes: &Self::Notes, clock: &dyn Clock, attempt: u32, kind: EventKind);
}

/// No observer.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl Watch for Unobserved {
    type Notes = ();

    #[inline]
    fn begin(&self, _: Name, _: &dyn Clock) {}

    #[inline]
    fn wants((): &()) -> bool {
        false
    }

    fn tell(&self, (): &(), _: &dyn Clock, _: u32, _: EventKind) {}
}

/// What an observer is told in each event of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Began {
    operation: &'static str,
    at: Timestamp,
}

impl<O: Observer + ?Sized> Watch for O {
    /// `None` if the observer is not interested in the operation.
    type Notes = Option<Began>;

    #[inline]
    fn begin(&self, operation: Name, clock: &dyn Clock) -> Option<Began> {
        let operation = operation.get();
        if self.is_interested(operation) { Some(Began { operation, at: clock.now() }) } else { None }
    }

    #[inline]
    fn wants(began: &Option<Began>) -> bool {
        began.is_some()
    }

    fn tell(&self, began: &Option<Began>, clock: &dyn Clock, attempt: u32, kind: EventKind) {
        if let Some(Began { operation, at }) = *began {
            self.observe(&Event { operation, attempt, elapsed: clock.now().saturating_since(at), kind });
        }
    }
}
