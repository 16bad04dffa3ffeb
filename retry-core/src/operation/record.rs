//! The record of an operation for a test guard, and the waits that the guard skips. Without the feature `test`, both
//! are empty types in release builds, which compile to nothing.

#[cfg(feature = "test")]
pub(super) use recording::{Record, SkippedWait};
#[cfg(not(feature = "test"))]
pub(super) use silent::{Record, SkippedWait};

#[cfg(feature = "test")]
mod recording {
    use crate::operation::Name;
    use crate::operation::nesting::Mark;
    use crate::policy::RetryErrorType;
    use crate::strategy::{RetryError, RetryStrategy};
    pub(in crate::operation) use crate::support::session::SkippedWait;
    use crate::test;
    use std::num::NonZeroU32;
    use std::time::Duration;

    #[derive(Debug)]
    pub(in crate::operation) struct Record {
        record: Option<test::Record>,
        mark: Mark,
    }

    impl Record {
        pub(in crate::operation) fn begin<S: RetryStrategy>(name: Name, strategy: &S) -> Self {
            Self { record: test::Record::begin(|| name.get()), mark: Mark::of(name, strategy) }
        }

        pub(in crate::operation) fn mark(&self) -> Mark {
            self.mark
        }

        pub(in crate::operation) fn bound(&mut self, max_attempts: Option<NonZeroU32>) {
            self.mark.bound(max_attempts);
        }

        pub(in crate::operation) fn set_unlimited(&mut self) {
            self.mark.set_unlimited();
        }

        pub(in crate::operation) fn failed(&self, error_type: Option<RetryErrorType>) {
            if let Some(record) = &self.record {
                record.update(|operation| operation.classes.push(error_type));
            }
        }

        pub(in crate::operation) fn delayed(&self, delay: impl FnOnce() -> Duration) {
            if let Some(record) = &self.record {
                let delay = delay();
                record.update(|operation| operation.delays.push(delay));
            }
        }

        /// Adds the time for which the operation has waited for the service to the delay of its retry.
        pub(in crate::operation) fn waited(&self, waited: Duration) {
            if let Some(record) = &self.record {
                record.update(|operation| {
                    if let Some(delay) = operation.delays.last_mut() {
                        *delay = delay.saturating_add(waited.saturating_sub(operation.waited));
                    }
                    operation.waited = waited;
                });
            }
        }

        #[cfg(feature = "hedges")]
        pub(in crate::operation) fn no_hedge(&self, reason: &'static str) {
            if let Some(record) = &self.record {
                record.update(|operation| operation.no_hedge = Some(reason));
            }
        }

        pub(in crate::operation) fn attempted(&self, attempts: impl FnOnce() -> u32) {
            if let Some(record) = &self.record {
                let attempts = attempts();
                record.update(|operation| operation.attempts = attempts);
            }
        }

        pub(in crate::operation) fn ended(&self, attempts: u32, reason: Option<RetryError>) {
            if let Some(record) = &self.record {
                record.update(|operation| {
                    // After a hedge, the first attempt can win.
                    let attempts = operation.attempts.max(attempts);
                    (operation.attempts, operation.reason, operation.has_ended) = (attempts, reason, true);
                });
            }
        }
    }
}

#[cfg(not(feature = "test"))]
mod silent {
    use crate::operation::Name;
    use crate::operation::nesting::Mark;
    use crate::policy::RetryErrorType;
    use crate::strategy::{RetryError, RetryStrategy};
    use std::convert::Infallible;
    use std::num::NonZeroU32;
    use std::time::Duration;

    #[derive(Debug)]
    pub(in crate::operation) struct Record(Mark);

    #[expect(clippy::unused_self, reason = "the version for tests uses it")]
    impl Record {
        #[inline]
        pub(in crate::operation) fn begin<S: RetryStrategy>(name: Name, strategy: &S) -> Self {
            Self(Mark::of(name, strategy))
        }

        #[inline]
        pub(in crate::operation) fn mark(&self) -> Mark {
            self.0
        }

        #[inline]
        pub(in crate::operation) fn bound(&mut self, max_attempts: Option<NonZeroU32>) {
            self.0.bound(max_attempts);
        }

        #[inline]
        pub(in crate::operation) fn set_unlimited(&mut self) {
            self.0.set_unlimited();
        }

        #[inline]
        pub(in crate::operation) fn failed(&self, _: Option<RetryErrorType>) {}

        #[inline]
        pub(in crate::operation) fn delayed(&self, _: impl FnOnce() -> Duration) {}

        #[inline]
        pub(in crate::operation) fn waited(&self, _: Duration) {}

        #[cfg(feature = "hedges")]
        #[inline]
        pub(in crate::operation) fn no_hedge(&self, _: &'static str) {}

        #[inline]
        pub(in crate::operation) fn attempted(&self, _: impl FnOnce() -> u32) {}

        #[inline]
        pub(in crate::operation) fn ended(&self, _: u32, _: Option<RetryError>) {}
    }

    /// A wait that is skipped. It has no values, because no wait is skipped without the feature.
    #[derive(Debug)]
    pub(in crate::operation) struct SkippedWait(Infallible);

    impl SkippedWait {
        #[inline]
        pub(in crate::operation) fn begin(_: Duration) -> Option<Self> {
            None
        }

        pub(in crate::operation) fn end(&self) {
            match self.0 {}
        }
    }
}
