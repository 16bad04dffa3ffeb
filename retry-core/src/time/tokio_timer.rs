//! The timer of tokio.

use super::{Clock, Reading, Timer, Timestamp};
use pin_project_lite::pin_project;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::task::coop::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

/// Tokio's clock and timer: the default timer of async functions and closures. In tests it follows tokio's paused time.
///
/// A [sleep](TokioSleep) needs a tokio runtime with time enabled; [`now`](Clock::now) does not.
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

    #[inline]
    fn reading(&self) -> Reading {
        Reading::Instant(Instant::now().into_std())
    }
}

impl Timer for TokioTimer {
    type Sleep = TokioSleep;

    #[inline]
    fn sleep(&self, delay: Duration) -> TokioSleep {
        TokioSleep::new(Instant::now(), delay)
    }

    #[inline]
    fn sleep_from(&self, now: Reading, delay: Duration) -> TokioSleep {
        match now {
            Reading::Instant(now) => TokioSleep::new(now.into(), delay),
            Reading::At(_) => self.sleep(delay),
        }
    }
}

/// Returns a time that is never reached, for delays that do not fit. Tokio's own is as far away.
#[cold]
fn far_from(now: Instant) -> Instant {
    now + Duration::from_secs(30 * 365 * 24 * 3600)
}

pin_project! {
    /// A sleep of the [`TokioTimer`].
    ///
    /// The delay begins when the sleep is created. Tokio's own sleep is created at the first poll: most attempts with a time limit
    /// have their outcome at once, and need none.
    ///
    /// # Panics
    ///
    /// Its first poll panics where [`tokio::time::sleep`] does, which is outside a tokio runtime or with time disabled.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct TokioSleep {
        until: Instant,
        #[pin]
        sleep: Option<Sleep>,
    }
}

impl TokioSleep {
    #[inline]
    fn new(now: Instant, delay: Duration) -> Self {
        Self { until: now.checked_add(delay).unwrap_or_else(|| far_from(now)), sleep: None }
    }
}

impl Future for TokioSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        if this.sleep.is_none() {
            this.sleep.set(Some(sleep_until(*this.until)));
        }
        // It is exempt from tokio's cooperative budget. Otherwise, an attempt that uses up the budget of its task would prevent its
        // own deadline from firing.
        this.sleep.as_pin_mut().map_or(Poll::Pending, |sleep| pin!(unconstrained(sleep)).poll(context))
    }
}
