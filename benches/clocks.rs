//! Clocks that advance so fast between two calls that a limiter never delays a call.

use retry_core::time::Timestamp;
use retry_core::{Clock, Timer, TokioTimer};
use std::cell::Cell;
use std::future::{Ready, ready};
use std::time::Duration;

/// A clock that advances by four seconds with each reading, so that instruction counts are the same in each run. Each
/// thread has its own time.
#[derive(Clone, Copy, Debug)]
pub struct Steps;

impl Clock for Steps {
    #[inline]
    fn now(&self) -> Timestamp {
        thread_local! { static SECONDS: Cell<u64> = const { Cell::new(0) } }

        SECONDS.set(SECONDS.get() + 4);
        Timestamp::from_origin(Duration::from_secs(SECONDS.get()))
    }
}

impl Timer for Steps {
    type Sleep = Ready<()>;

    fn sleep(&self, _delay: Duration) -> Self::Sleep {
        ready(())
    }
}

/// A clock that advances by a microsecond with each reading. Each thread has its own time.
#[derive(Clone, Copy, Debug)]
pub struct Micros;

impl Clock for Micros {
    #[inline]
    fn now(&self) -> Timestamp {
        thread_local! { static NOW: Cell<Duration> = const { Cell::new(Duration::from_secs(4)) } }

        NOW.set(NOW.get() + Duration::from_micros(1));
        Timestamp::from_origin(NOW.get())
    }
}

impl Timer for Micros {
    type Sleep = Ready<()>;

    fn sleep(&self, _delay: Duration) -> Self::Sleep {
        ready(())
    }
}

/// Tokio's clock, a hundred million times as fast: ten nanoseconds count as a second.
#[derive(Clone, Copy, Debug)]
pub struct Rush;

impl Clock for Rush {
    fn now(&self) -> Timestamp {
        // The origin lies `u32::MAX` seconds before the first reading. That offset would overflow once multiplied.
        let line = TokioTimer.now().saturating_since(Timestamp::from_origin(Duration::from_secs(u32::MAX.into())));
        Timestamp::from_origin(line.saturating_mul(100_000_000))
    }
}

impl Timer for Rush {
    type Sleep = Ready<()>;

    fn sleep(&self, _delay: Duration) -> Self::Sleep {
        ready(())
    }
}
