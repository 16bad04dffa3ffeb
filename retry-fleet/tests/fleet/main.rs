//! Tests of the parts of a fleet that need no server.

mod limit;
mod limit_world;
mod model;
mod newcomers;
mod quota;
mod store_clock;
mod support;
#[cfg(feature = "tokio")]
mod task;
