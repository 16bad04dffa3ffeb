//! The observers of an operation: the call's observer and the process's observer.

use super::Name;
use crate::observe::Event;
use crate::time::Clock;

/// The observers of an operation. `N` is the state of the call's own observer.
#[derive(Debug)]
pub(super) struct Observed<N> {
    pub(super) own: N,
    pub(super) global: Global,
}

#[cfg(feature = "global-observer")]
pub(super) use enabled::Global;

#[cfg(feature = "global-observer")]
mod enabled {
    use super::{Clock, Event, Name};
    #[cfg(feature = "metrics")]
    use crate::observe::metrics::MetricsObserver;
    use crate::observe::{GlobalObserver, global_observer};
    use crate::time::KeptReading;

    /// The start time of an operation that the global observer is interested in. A [`Reading`](crate::time::Reading) is larger, and each
    /// operation would pay for it, also without an observer.
    #[derive(Debug)]
    pub(in crate::operation) struct Global(Option<KeptReading>);

    impl Global {
        /// Begins an operation. The clock is read here and not in the cold function: unlike a [`KeptReading`], an instant is returned in
        /// registers, so that an operation without an observer needs no memory for it.
        #[inline]
        pub(in crate::operation) fn begin(name: &Name, clock: &impl Clock) -> Self {
            let is_interested = global_observer().is_some_and(|observer| Self::is_interested_in(observer, name));
            Self(is_interested.then(|| KeptReading::new(clock.reading())))
        }

        #[cold]
        fn is_interested_in(observer: GlobalObserver, name: &Name) -> bool {
            match observer {
                GlobalObserver::Given(observer) => observer.is_interested(name.get()),
                #[cfg(feature = "metrics")]
                GlobalObserver::Metrics(_) => true,
            }
        }

        /// Returns whether no code of an observer has run, or will run.
        #[inline]
        pub(in crate::operation) fn is_absent() -> bool {
            global_observer().is_none()
        }

        #[inline]
        pub(in crate::operation) const fn is_interested(&self) -> bool {
            self.0.is_some()
        }

        /// Returns the metrics and the start time of the operation, if the global observer only counts.
        #[cfg(feature = "metrics")]
        #[inline]
        pub(in crate::operation) fn metrics(&self) -> Option<(&'static MetricsObserver, KeptReading)> {
            match (global_observer()?, self.0?) {
                (GlobalObserver::Metrics(metrics), started) => Some((metrics, started)),
                (GlobalObserver::Given(_), _) => None,
            }
        }

        /// Passes an event at the start of the operation to the observer, if it is interested in the operation.
        #[inline]
        pub(in crate::operation) fn tell_begun(&self, event: &Event) {
            if let (Some(observer), Some(_)) = (global_observer(), self.0) {
                observer.observe(event);
            }
        }

        /// Passes an event to the observer, if it is interested in the operation. The clock is read if the observer needs the time.
        #[inline]
        pub(in crate::operation) fn tell(&self, event: &mut Event, clock: &impl Clock) {
            if let (Some(observer), Some(started)) = (global_observer(), self.0) {
                if observer.needs_time(&event.kind) {
                    event.elapsed = started.until(clock.reading());
                }
                observer.observe(event);
            }
        }
    }
}

/// Without the feature, no operation has a global observer.
#[cfg(not(feature = "global-observer"))]
#[derive(Debug)]
pub(super) struct Global;

#[cfg(not(feature = "global-observer"))]
#[expect(clippy::unused_self, reason = "with the feature it is used")]
impl Global {
    #[inline]
    pub(super) const fn begin(_: &Name, _: &impl Clock) -> Self {
        Self
    }

    #[inline]
    pub(super) const fn is_absent() -> bool {
        true
    }

    #[inline]
    pub(super) const fn is_interested(&self) -> bool {
        false
    }

    #[inline]
    pub(super) const fn tell_begun(&self, _: &Event) {}

    #[inline]
    pub(super) const fn tell(&self, _: &mut Event, _: &impl Clock) {}
}
