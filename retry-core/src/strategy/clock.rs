//! The clock that strategies see.

use crate::time::{Clock, Timestamp};

/// The clock that strategies see: a clock, plus the waits that a test guard skipped.
///
/// Operations pass it to their strategies. Use it in a method that changes a strategy while it runs, because the clock of the
/// method's caller is another one under a test guard:
///
/// ```
/// use retry_core::parts::StrategyClock;
/// use retry_core::{Clock, TokenBucket};
///
/// /// Changes the capacity of a quota that is in use.
/// fn resize(quota: &TokenBucket, capacity: u32, clock: &dyn Clock) {
///     let (_, refill) = quota.initial_settings();
///     quota.reconfigure(capacity, refill, Some(StrategyClock::new(clock).now()), false);
///     quota.note_change();
/// }
/// # let quota = TokenBucket::new(10);
/// # resize(&quota, 20, &retry_core::time::StdTimer);
/// # assert_eq!(quota.capacity(), 20);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StrategyClock<T>(T);

impl<T> StrategyClock<T> {
    /// Creates the clock.
    #[inline]
    pub const fn new(clock: T) -> Self {
        Self(clock)
    }
}

impl<T: Clock> Clock for StrategyClock<T> {
    #[inline]
    fn now(&self) -> Timestamp {
        #[cfg(feature = "test")]
        return self.0.now().saturating_add(crate::support::session::time_ahead());
        #[cfg(not(feature = "test"))]
        self.0.now()
    }
}
