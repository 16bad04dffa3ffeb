//! Clocks on which a limiter never makes anybody wait, because so much time passes between two calls.

use retry_core::time::Timestamp;
use retry_core::{Clock, Timer, TokioTimer};
use std::cell::Cell;
use std::future::{Ready, ready};
use std::time::Duration;

/// Four seconds pass with each reading, so a count of instructions is the same in each run. It holds for one thread.
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

/// Time as it is, but it passes a hundred million times as fast: ten nanoseconds are a second.
#[derive(Clone, Copy, Debug)]
pub struct Rush;

impl Clock for Rush {
    fn now(&self) -> Timestamp {
        // Tokio's line begins far from its origin, to leave room before it; that much would not fit any more.
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
