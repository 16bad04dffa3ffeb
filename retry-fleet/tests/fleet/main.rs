//! Tests of the parts of a fleet that need no server.

#[cfg(all(feature = "metrics", feature = "tokio"))]
mod exporter;
mod limit;
mod limit_changes;
mod limit_world;
mod liveness;
#[cfg(all(feature = "metrics", feature = "tokio"))]
mod numbers;
#[cfg(all(feature = "metrics", feature = "tokio"))]
mod operate;
mod quota;
#[cfg(all(feature = "tokio", feature = "tracing"))]
mod reports;
mod store_clock;
mod support;
#[cfg(feature = "tokio")]
mod task;
