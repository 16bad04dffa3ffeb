//! Timers for runtimes other than tokio, ready to be copied.
//!
//! Embassy is not among them. It is for devices without the standard library, which retry-core needs. Where embassy runs
//! on top of std, a timer for it has the form of the one for smol.

#[cfg(target_arch = "wasm32")]
pub mod browser;
#[cfg(not(target_arch = "wasm32"))]
pub mod smol;
