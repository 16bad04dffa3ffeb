//! The timer of tokio.

use super::{Clock, Timer, Timestamp};
use std::time::Duration;
use tokio::task::coop::{Unconstrained, unconstrained};
use tokio::time::{Instant, Sleep};

/// Tokio's clock and timer: the default timer of async functions and closures. In tests it follows tokio's paused time.
///
/// [`sleep`](Timer::sleep) needs a tokio runtime with time enabled; [`now`](Clock::now) does not.
///
/// # Panics
///
/// [`sleep`](Timer::sleep) panics where [`tokio::time::sleep`] does, which is outside a tokio runtime or with time
/// disabled.
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
    /// The sleep is exempt from tokio's cooperative budget. Otherwise, an attempt that uses up the budget of its task
    /// would prevent its own deadline from firing.
    type Sleep = Unconstrained<Sleep>;

    #[inline]
    fn sleep(&self, delay: Duration) -> Self::Sleep {
        unconstrained(tokio::time::sleep(delay))
    }
}
