//! The jitter above the wait that a server asks for.

use std::time::Duration;

/// The random part that is added to the wait that a server asks for, so that clients that got the same wait do not all
/// retry at the same time.
///
/// The part is random, uniform from zero up to a percentage of the wait, and at most a fixed time. It is added if the
/// wait of the server determines the delay. If the backoff is longer than that wait, nothing is added, because the
/// backoff has its own jitter.
///
/// The part comes from the backoff; see [`BackoffStrategy::random_part`](crate::BackoffStrategy::random_part). A seed makes
/// it the same in every run. If the [jitter](crate::Jitter) of the backoff is `None` or `Fixed`, nothing is added, and the
/// delay is the wait that the server asked for. The same holds under a test guard.
///
/// ```
/// # use std::time::Duration;
/// use retry_core::StandardRetryStrategy;
/// use retry_core::strategy::HintJitter;
///
/// // Waits of a minute become up to 72 s, and longer ones get at most 15 s more.
/// static STORE: StandardRetryStrategy =
///     StandardRetryStrategy::new().hint_jitter(HintJitter::new(20, Duration::from_secs(15)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HintJitter {
    percent: u32,
    at_most: Duration,
}

impl HintJitter {
    /// Nothing is added.
    pub const NONE: Self = Self::new(0, Duration::ZERO);

    /// Creates a jitter of up to this percentage of the wait, and at most this time. If one of them is zero, nothing is
    /// added. A percentage above 100 is allowed.
    pub const fn new(percent: u32, at_most: Duration) -> Self {
        Self { percent, at_most }
    }

    /// Returns the percentage of the wait.
    pub const fn percent(self) -> u32 {
        self.percent
    }

    /// Returns the longest time that is added.
    pub const fn at_most(self) -> Duration {
        self.at_most
    }

    /// Returns the most that is added to a wait.
    pub fn most(self, wait: Duration) -> Duration {
        // The division comes first, because the product may not fit. It loses less than a nanosecond for each percent.
        (wait / 100).saturating_mul(self.percent).min(self.at_most)
    }
}
