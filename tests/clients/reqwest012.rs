//! The errors of reqwest 0.12.

#[path = "reqwest/mod.rs"]
mod shared;

use reqwest012 as client;
use retry_clients::reqwest012 as module;
