//! Retries within retries, which are seen in debug builds and with the feature `test`. Other builds contain nothing of it.

#[cfg(any(debug_assertions, feature = "test"))]
pub(super) use seen::Mark;
#[cfg(not(any(debug_assertions, feature = "test")))]
pub(super) use unseen::Mark;

#[cfg(any(debug_assertions, feature = "test"))]
mod seen {
    use crate::observe::EventKind;
    use crate::observe::trace::Level;
    use crate::operation::observed::Observed;
    use crate::operation::warned::Warned;
    use crate::operation::{Call, Name, OptionalObserver};
    use crate::strategy::RetryStrategy;
    use crate::time::Clock;
    use std::cell::RefCell;
    use std::num::NonZeroU32;

    thread_local! {
        /// The operations whose attempts run on this thread, the innermost one last.
        static RUNNING: RefCell<Vec<Mark>> = const { RefCell::new(Vec::new()) };
    }

    /// The pairs of operations about which there was a warning.
    static WARNED: Warned<(&'static str, &'static str)> = Warned::new();

    /// An operation, as the operations within its attempts see it.
    #[derive(Clone, Copy, Debug)]
    pub(in crate::operation) struct Mark {
        name: Name,
        max_attempts: Option<u32>,
    }

    impl Mark {
        pub(in crate::operation) fn of<S: RetryStrategy>(name: Name, strategy: &S) -> Self {
            let max_attempts = strategy.max_attempts();
            #[cfg(feature = "test")]
            let max_attempts = max_attempts.map(|max| crate::support::session::max_attempts().unwrap_or(max).max(1));
            Self { name, max_attempts }
        }

        /// Applies the number of attempts of the operation, if there is one, beside that of its strategy.
        pub(in crate::operation) fn bound(&mut self, max_attempts: Option<NonZeroU32>) {
            if let Some(own) = max_attempts.map(NonZeroU32::get) {
                self.max_attempts = Some(self.max_attempts.map_or(own, |of_strategy| own.min(of_strategy)));
            }
        }

        /// The number of attempts is not limited.
        pub(in crate::operation) fn set_unlimited(&mut self) {
            self.max_attempts = None;
        }

        #[cfg(feature = "test")]
        pub(in crate::operation) fn name(self) -> &'static str {
            self.name.get()
        }

        /// Enters an attempt of the operation: until the guard is dropped, operations of this thread are within it.
        pub(in crate::operation) fn enter(self) -> Entered {
            // While a thread ends, its list may be gone already.
            let _ = RUNNING.try_with(|running| running.borrow_mut().push(self));
            Entered
        }
    }

    /// A guard that leaves an attempt when it is dropped, also during a panic.
    #[derive(Debug)]
    pub(in crate::operation) struct Entered;

    impl Drop for Entered {
        fn drop(&mut self) {
            let _ = RUNNING.try_with(|running| running.borrow_mut().pop());
        }
    }

    impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
        /// Reports an operation that is retried within an attempt of another operation, once for each pair of names.
        pub(in crate::operation) fn tell_nesting(self, observed: &Observed<O::State>, inner: Mark) {
            let outer = RUNNING.try_with(|running| running.borrow().last().copied());
            let Ok(Some(outer)) = outer else { return };
            let max_attempts =
                outer.max_attempts.zip(inner.max_attempts).map(|(outer, inner)| outer.saturating_mul(inner));
            let (outer, inner) = (outer.name.get(), inner.name.get());
            #[cfg(feature = "test")]
            crate::test::note_nested(outer, inner, max_attempts);
            if Self::is_warning_wanted(observed) && WARNED.is_first((outer, inner)) {
                self.tell(observed, Level::Warn, 1, &move || EventKind::Nested { outer, max_attempts });
            }
        }
    }
}

#[cfg(not(any(debug_assertions, feature = "test")))]
mod unseen {
    use crate::operation::observed::Observed;
    use crate::operation::{Call, Name, OptionalObserver};
    use crate::strategy::RetryStrategy;
    use crate::time::Clock;
    use std::num::NonZeroU32;

    /// An operation.
    #[derive(Clone, Copy, Debug)]
    pub(in crate::operation) struct Mark;

    /// A guard that does nothing.
    #[derive(Debug)]
    pub(in crate::operation) struct Entered;

    #[expect(clippy::unused_self, reason = "the version for debug builds uses it")]
    impl Mark {
        #[inline]
        pub(in crate::operation) fn of<S: RetryStrategy>(_: Name, _: &S) -> Self {
            Self
        }

        #[inline]
        pub(in crate::operation) fn bound(&mut self, _: Option<NonZeroU32>) {}

        #[inline]
        pub(in crate::operation) fn set_unlimited(&mut self) {}

        #[inline]
        pub(in crate::operation) fn enter(self) -> Entered {
            Entered
        }
    }

    impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
        #[inline]
        #[expect(clippy::unused_self, reason = "the version for debug builds uses it")]
        pub(in crate::operation) fn tell_nesting(self, _: &Observed<O::State>, _: Mark) {}
    }
}
