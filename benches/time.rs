//! The time of calls. Each sample is a million calls, so a millisecond in the table is a nanosecond per call.

use benches::clocks::Rush;
use benches::ours::{by_token, limiting};
use benches::{SCENARIOS, Scenario, repeat};
use retry_core::{AdaptiveRetryStrategy, TokioTimer};

fn main() {
    divan::main();
}

/// The number of calls in a sample.
const CALLS: u64 = 1_000_000;

/// All scenarios whose instructions are counted, too.
#[divan::bench(args = SCENARIOS, sample_count = 10, sample_size = 1)]
fn scenarios(scenario: &Scenario) {
    scenario.run(CALLS);
}

/// The adaptive strategy before any throttling, from token to success, with tokio's clock.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn adaptive_idle_with_clock() {
    static IDLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();
    repeat(CALLS, async |number| by_token(&IDLE, number, &TokioTimer).await);
}

/// The same while sends are limited, at a rate that delays no call.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn adaptive_limiting_with_clock(bencher: divan::Bencher<'_, '_>) {
    let strategy = limiting(&Rush);
    bencher.bench(|| repeat(CALLS, async |number| by_token(&strategy, number, &Rush).await));
}
