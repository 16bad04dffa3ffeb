//! Tests of the parts of a fleet that need no server.

mod events;
#[cfg(all(feature = "metrics", feature = "tokio"))]
mod exporter;
mod fake;
mod limit;
mod limit_brown_out;
mod limit_calls;
mod limit_changes;
#[cfg(feature = "tokio")]
mod limit_overload;
mod limit_world;
mod line;
mod liveness;
mod member;
mod millis;
mod next_rate;
#[cfg(all(feature = "metrics", feature = "tokio"))]
mod numbers;
#[cfg(all(feature = "metrics", feature = "tokio"))]
mod operate;
mod quota;
mod random;
#[cfg(all(feature = "tokio", feature = "tracing"))]
mod reports;
mod store;
mod store_clock;
mod store_switch;
mod support;
#[cfg(feature = "tokio")]
mod task;
