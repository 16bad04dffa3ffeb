//! The timer of the standard library.

use super::{BlockingTimer, Clock, Reading, Timestamp};
use std::thread;
use std::time::{Duration, Instant};

/// The clock of the standard library with [`std::thread::sleep`]: the default timer of functions and closures that
/// block.
///
/// # Panics
///
/// [`now`](Clock::now) panics where [`Instant::now`] does, which is on some platforms without a clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct StdTimer;

impl Clock for StdTimer {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from(Instant::now())
    }

    #[inline]
    fn reading(&self) -> Reading {
        Reading::Instant(Instant::now())
    }
}

impl BlockingTimer for StdTimer {
    #[inline]
    fn block(&self, delay: Duration) {
        thread::sleep(delay);
    }

    #[inline]
    fn park(&self, delay: Duration) {
        thread::park_timeout(delay);
    }
}
