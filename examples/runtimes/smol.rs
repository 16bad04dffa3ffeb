//! A timer for smol. It is a timer for `async-io`, too, because smol's timer is that of `async-io`.

use retry_core::time::Timestamp;
use retry_core::{Clock, Timer};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// The timer.
#[derive(Clone, Copy, Debug)]
pub struct SmolTimer;

impl Clock for SmolTimer {
    fn now(&self) -> Timestamp {
        Timestamp::from(Instant::now())
    }
}

impl Timer for SmolTimer {
    type Sleep = SmolSleep;

    fn sleep(&self, delay: Duration) -> SmolSleep {
        SmolSleep(smol::Timer::after(delay))
    }
}

/// A sleep of [`SmolTimer`]. Smol's own timer returns the time at which it fired, and a sleep returns nothing.
#[derive(Debug)]
pub struct SmolSleep(smol::Timer);

impl Future for SmolSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(context).map(drop)
    }
}
