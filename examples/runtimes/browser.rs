//! A timer for browsers and Node.js: `setTimeout` for the sleeps, and `performance.now()` for the clock.
//!
//! # Random numbers
//!
//! On `wasm32-unknown-unknown`, the standard library has no source of random numbers. So the jitter and the ids of
//! operations are the same each time that the program is loaded, on every machine, until it calls [`reseed_from_crypto`]
//! at its start.

use gloo_timers::future::TimeoutFuture;
use js_sys::{Function, Reflect, Uint8Array};
use retry_core::time::Timestamp;
use retry_core::{Clock, Timer, reseed};
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

/// Seeds jitter and the ids of operations with `crypto.getRandomValues`. Returns whether the host has it: browsers have, and
/// Node.js from version 19 on.
pub fn reseed_from_crypto() -> bool {
    let bytes = Uint8Array::new_with_length(16);
    let filled = Reflect::get(&js_sys::global(), &"crypto".into()).and_then(|crypto| {
        let get_random_values = Function::from(Reflect::get(&crypto, &"getRandomValues".into())?);
        get_random_values.call1(&crypto, &bytes)
    });
    let mut entropy = [0; 16];
    bytes.copy_to(&mut entropy);
    reseed(u128::from_le_bytes(entropy));
    filled.is_ok()
}
