//! Timers for runtimes other than tokio, ready to be copied.

#[cfg(target_arch = "wasm32")]
pub mod browser;
#[cfg(not(target_arch = "wasm32"))]
pub mod smol;
