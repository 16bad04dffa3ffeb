//! Calls under an observer of the process: one that does nothing, or metrics with a recorder for Prometheus. `global NAME CALLS` runs one
//! scenario a number of times.

use benches::operation::{self, Outcome, bare_flaky};
use benches::repeat;
use metrics_exporter_prometheus::PrometheusBuilder;
use retry_core::observe::{metrics, set_global_observer};
use retry_core::{Event, Jitter, Observer, StandardRetryStrategy, retryable};
use std::cell::Cell;
use std::process::ExitCode;

/// A strategy with a name, so that it has gauges.
static STORE: StandardRetryStrategy = StandardRetryStrategy::new().name("store");
/// Retries at once, with a quota that pays for every retry of a run.
static PROMPT: StandardRetryStrategy =
    StandardRetryStrategy::new().name("prompt").quota_capacity(u32::MAX).jitter(Jitter::Fixed(0.0));

/// The attribute with a static strategy and a full quota.
///
/// # Errors
///
/// Returns those of [`operation::attempt`].
#[retryable(strategy = STORE)]
pub async fn attribute(number: u64) -> Outcome {
    operation::attempt(number).await
}

/// The attribute: one failure, then a success, without a delay.
///
/// # Errors
///
/// Returns those of [`operation::flaky`].
#[retryable(strategy = PROMPT)]
pub async fn flaky(number: u64, failed: &Cell<bool>) -> Outcome {
    operation::flaky(number, failed).await
}

/// Ignores all events.
struct Nothing;

impl Observer for Nothing {
    fn observe(&self, _: &Event) {}
}

/// Sets the observer of the process for a scenario. Returns whether there is such a scenario.
fn observe(scenario: &str) -> bool {
    let is_set = match scenario {
        "bare" | "bare_fail_once" => Ok(()),
        "nothing" => set_global_observer(&Nothing),
        "metrics" | "metrics_fail_once" => {
            PrometheusBuilder::new().install_recorder().expect("no other recorder is installed");
            metrics::install()
        }
        _ => return false,
    };
    is_set.expect("no other observer is set");
    true
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(calls) = arguments.next().and_then(|calls| calls.parse().ok()) else {
        eprintln!("usage: global NAME CALLS");
        return ExitCode::FAILURE;
    };
    if !observe(&name) {
        eprintln!("unknown scenario {name:?}");
        return ExitCode::FAILURE;
    }
    match name.as_str() {
        "bare" => repeat(calls, operation::bare),
        "bare_fail_once" => repeat(calls, async |number| bare_flaky(number, &Cell::new(false)).await),
        "metrics_fail_once" => repeat(calls, async |number| flaky(number, &Cell::new(false)).await),
        _ => repeat(calls, attribute),
    }
    ExitCode::SUCCESS
}
