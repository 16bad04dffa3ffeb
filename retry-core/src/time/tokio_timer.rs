//! The timer of tokio.

use super::{Clock, Timer, Timestamp};
use std::time::Duration;
use tokio::task::coop::{Unconstrained, unconstrained};
use tokio::time::{Instant, Sleep};

/// Tokio's clock and timer, the default timer of async functions. Tokio's paused time works with it, for tests.
///
/// Sleeping needs a tokio runtime with time enabled; telling the time does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

impl From<Instant> for Timestamp {
    #[inline]
    fn from(instant: Instant) -> Self {
        Self::from(instant.into_std())
    }
}

impl Clock for TokioTimer {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from(Instant::now())
    }
}

impl Timer for TokioTimer {
    /// An attempt that uses up the budget of its task must not keep its own deadline from being seen.
    type Sleep = Unconstrained<Sleep>;

    #[inline]
    fn sleep(&self, delay: Duration) -> Self::Sleep {
        unconstrained(tokio::time::sleep(delay))
    }
}
