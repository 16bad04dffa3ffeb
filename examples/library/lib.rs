//! A client library that retries inside. Its users choose the strategy, the timer and the observer, or have no retries at all.
//! It needs neither macros nor an async runtime, and builds for browsers too.
//!
//! [`retry_core::guide`] says what to think of when retries are part of a library's interface.

mod client;
mod error;

pub use client::{Client, Connection};
pub use error::StoreError;
