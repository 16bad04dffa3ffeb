//! The errors of reqwest 0.13.

#[path = "reqwest/mod.rs"]
mod shared;

use reqwest as client;
use retry_clients::reqwest013 as module;
