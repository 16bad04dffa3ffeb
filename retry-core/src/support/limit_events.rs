//! The warning of a limiter that holds operations back for long, as an event of the crate `tracing`.

use std::time::Duration;

/// Warns that operations wait because the server asked for a longer wait than the strategy allows.
#[cfg(feature = "tracing")]
pub(crate) fn held(strategy: Option<&str>, wait: Option<Duration>) {
    tracing::warn!(
        name: "held",
        target: "retry_core",
        strategy,
        wait_ms = wait.map(super::millis),
        "the server asked for a longer wait than `max_retry_after` allows: retries end, and first attempts wait"
    );
}

/// Without the feature, there is no warning.
#[cfg(not(feature = "tracing"))]
pub(crate) const fn held(_: Option<&str>, _: Option<Duration>) {}
