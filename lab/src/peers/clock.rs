//! tokio's clock, moved along with the clock of a world.

use crate::World;
use std::cell::Cell;
use std::time::Duration;
use tokio::runtime::{Builder, EnterGuard, Runtime};

/// A runtime whose clock stands still until it is moved.
pub(super) struct TokioClock {
    runtime: Runtime,
    /// How far the clock was moved.
    elapsed: Cell<Duration>,
}

impl TokioClock {
    /// Creates a clock that shows the start of a world.
    ///
    /// # Panics
    ///
    /// Panics if the system gives no runtime.
    pub(super) fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        Self { runtime: runtime.expect("a runtime without I/O"), elapsed: Cell::default() }
    }

    /// Moves the clock to the time of a world. While the guard lives, tokio's functions use this clock.
    pub(super) fn follow(&self, world: &World) -> EnterGuard<'_> {
        let ahead = world.elapsed().saturating_sub(self.elapsed.get());
        if !ahead.is_zero() {
            self.runtime.block_on(tokio::time::advance(ahead));
            self.elapsed.set(world.elapsed());
        }
        self.runtime.enter()
    }
}
