//! Strategies that are a name for a limited strategy with one limiter.

/// Writes what such a strategy has besides the settings of its limiter: a tuple struct around the limited strategy.
///
/// A type alias would be shorter, but only the crate of [`LimitedRetryStrategy`](retry_core::strategy::LimitedRetryStrategy) can
/// give an alias methods.
macro_rules! limited_strategy {
    ($strategy:ident, $limiter:ty) => {
        impl<B, Q> $strategy<B, Q> {
            /// Creates the strategy from a standard strategy with your settings and a limiter with your settings.
            pub const fn with_limiter(standard: StandardRetryStrategy<B, Q>, limiter: $limiter) -> Self {
                Self(LimitedRetryStrategy::with_limiter(standard, limiter))
            }

            /// Returns the standard strategy below the limiter.
            pub const fn standard(&self) -> &StandardRetryStrategy<B, Q> {
                self.0.standard()
            }

            /// Returns the limiter, which other strategies can [share](LimitedRetryStrategy::with_limiter).
            pub const fn limiter(&self) -> &$limiter {
                self.0.limiter()
            }

            /// Returns the strategy as the limited strategy that it is, for code that takes any limiter.
            pub const fn as_limited(&self) -> &LimitedRetryStrategy<$limiter, B, Q> {
                &self.0
            }

            /// Converts the strategy to the limited strategy that it is.
            pub fn into_limited(self) -> LimitedRetryStrategy<$limiter, B, Q> {
                self.0
            }

            /// Turns the retries of this strategy on or off; see [`StandardRetryStrategy::set_enabled`]. While they are off,
            /// the limiter still learns and limits.
            pub fn set_enabled(&self, enabled: bool) {
                self.0.set_enabled(enabled);
            }

            /// Returns whether the retries of this strategy are on; see [`set_enabled`](Self::set_enabled).
            pub fn is_enabled(&self) -> bool {
                self.0.is_enabled()
            }

            /// Returns the current limit on sends per second, or `None` while sends are not limited.
            pub fn send_rate(&self) -> Option<f64> {
                self.0.send_rate()
            }
        }

        // A `const fn` can't take types apart that may have a destructor. So the limited strategy is replaced, which needs another one.
        impl $strategy {
            /// Sets the name of the strategy, which events show; see [`StandardRetryStrategy::name`]. With another backoff or quota,
            /// set it in the standard strategy.
            #[must_use]
            pub const fn name(mut self, name: &'static str) -> Self {
                let limited = mem::replace(&mut self.0, Self::unset()).name(name);
                let _unset = ManuallyDrop::new(mem::replace(&mut self.0, limited));
                self
            }

            /// Sets the maximum number of attempts of an operation, including the first one: 1 means no retries. With another backoff
            /// or quota, set it in the standard strategy.
            ///
            /// # Panics
            ///
            /// Panics if the number is 0; in a `static` this is a compile error.
            #[must_use]
            #[track_caller]
            pub const fn max_attempts(mut self, max_attempts: u32) -> Self {
                let limited = mem::replace(&mut self.0, Self::unset()).max_attempts(max_attempts);
                let _unset = ManuallyDrop::new(mem::replace(&mut self.0, limited));
                self
            }

            const fn unset() -> LimitedRetryStrategy<$limiter> {
                LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new(), <$limiter>::new())
            }
        }

        impl<B: BackoffStrategy, Q: RetryQuota> RetryStrategy for $strategy<B, Q> {
            type Token = LimitedRetryToken<$limiter>;

            forward_strategy! { self => self.0 }
        }
    };
}
pub(crate) use limited_strategy;
