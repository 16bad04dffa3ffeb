//! A timer for browsers and Node.js: `setTimeout` for the sleeps, and `performance.now()` for the clock.
//!
//! # Random numbers
//!
//! On `wasm32-unknown-unknown`, the standard library has no source of random numbers, so two things are the same each time
//! that the program is loaded, on every machine:
//!
//! - The ids of operations. Don't send them as idempotency keys: use `crypto.randomUUID()`.
//! - The jitter. Seed each strategy with a random number: [`seeded`].

use gloo_timers::future::TimeoutFuture;
use retry_core::time::Timestamp;
use retry_core::{Clock, StandardRetryStrategy, Timer};
use std::sync::LazyLock;
use std::time::Duration;
use web_time::Instant;

/// The timer. The standard library has no clock on `wasm32-unknown-unknown`: its `Instant::now` panics.
#[derive(Clone, Copy, Debug)]
pub struct BrowserTimer;

impl Clock for BrowserTimer {
    fn now(&self) -> Timestamp {
        static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
        Timestamp::START.saturating_add(FIRST.elapsed())
    }
}

impl Timer for BrowserTimer {
    type Sleep = TimeoutFuture;

    /// `setTimeout` takes whole milliseconds, and treats those that do not fit an `i32` as zero.
    fn sleep(&self, delay: Duration) -> TimeoutFuture {
        let millis = delay.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128);
        TimeoutFuture::new(u32::try_from(millis).unwrap_or(u32::MAX))
    }
}

/// Returns a strategy whose jitter differs from page to page. Keep it in a `LazyLock`.
pub fn seeded(strategy: StandardRetryStrategy) -> StandardRetryStrategy {
    strategy.seed(js_sys::Math::random().to_bits())
}
