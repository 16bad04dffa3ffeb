//! The observers of an operation: the call's observer and the process's observer.

use super::Name;
#[cfg(not(feature = "global-observer"))]
use crate::observe::Observer;
use crate::time::{Clock, Timestamp};

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
    use super::{Clock, Name, Timestamp};
    use crate::observe::{Observer, global_observer};

    /// The start time of an operation that the global observer is interested in. A [`Reading`](crate::time::Reading) is larger, and each
    /// operation would pay for it, also without an observer.
    #[derive(Debug)]
    pub(in crate::operation) struct Global(Option<Timestamp>);

    impl Global {
        #[inline]
        pub(in crate::operation) fn begin(name: &Name, clock: &impl Clock) -> Self {
            global_observer().map_or(Self(None), |observer| Self::begin_under(observer, name, clock))
        }

        #[cold]
        fn begin_under(observer: &dyn Observer, name: &Name, clock: &impl Clock) -> Self {
            Self(observer.is_interested(name.get()).then(|| clock.now()))
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

        /// Returns the observer and the start time, if the observer is interested in the operation.
        #[inline]
        pub(in crate::operation) fn interested(&self) -> Option<(&'static (dyn Observer + Send + Sync), Timestamp)> {
            global_observer().zip(self.0)
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
    pub(super) const fn interested(&self) -> Option<(&'static dyn Observer, Timestamp)> {
        None
    }
}
