//! What a server reports about its rate limit.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

/// What a server reports about its rate limit: how many requests remain, and when the limit is reset.
///
/// A policy passes it on with [`RetryDirective::with_rate_limit`](crate::RetryDirective::with_rate_limit). The
/// `PacedRetryStrategy` of the crate `retry-limits` then slows down before the server rejects a request.
///
/// ```
/// use retry_core::classify::http::RateLimit;
/// use std::time::Duration;
///
/// let limit = RateLimit::new(50).with_reset(Some(Duration::from_secs(30)));
/// assert_eq!((limit.remaining(), limit.reset()), (50, Some(Duration::from_secs(30))));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RateLimit(NonZeroU64);

/// The report is one number, which is never zero, so that an optional report is as small. Its upper half is the seconds until
/// the reset, plus one, or [`UNKNOWN`].
const HALF: u32 = u32::BITS;
const UNKNOWN: u32 = u32::MAX;

impl RateLimit {
    /// Creates a report of the requests that remain. The number saturates at `u32::MAX`.
    pub const fn new(remaining: u64) -> Self {
        Self::of(saturated(remaining), UNKNOWN)
    }

    /// Sets the time until the limit is reset, if it is known. It is rounded down to seconds and saturates at 136 years.
    #[must_use]
    pub const fn with_reset(self, reset: Option<Duration>) -> Self {
        let reset = match reset {
            None => UNKNOWN,
            Some(reset) => match saturated(reset.as_secs().saturating_add(1)) {
                UNKNOWN => UNKNOWN - 1,
                reset => reset,
            },
        };
        Self::of(self.remaining(), reset)
    }

    const fn of(remaining: u32, reset: u32) -> Self {
        match NonZeroU64::new((reset as u64) << HALF | remaining as u64) {
            Some(packed) => Self(packed),
            None => Self(NonZeroU64::MIN),
        }
    }

    /// Returns the number of requests that remain.
    pub const fn remaining(&self) -> u32 {
        saturated(self.0.get() & u32::MAX as u64)
    }

    /// Returns the time until the limit is reset, if it is known.
    pub const fn reset(&self) -> Option<Duration> {
        match saturated(self.0.get() >> HALF) {
            UNKNOWN => None,
            reset => Some(Duration::from_secs(reset as u64 - 1)),
        }
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (remaining, reset) = (self.remaining(), self.reset());
        f.debug_struct("RateLimit").field("remaining", &remaining).field("reset", &reset).finish()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked")]
const fn saturated(number: u64) -> u32 {
    if number > u32::MAX as u64 { u32::MAX } else { number as u32 }
}
