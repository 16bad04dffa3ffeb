//! How long calls take. Each sample is a million calls, so that a millisecond in the table is a nanosecond a call.

use benches::clocks::Rush;
use benches::ours::{by_token, limiting};
use benches::{SCENARIOS, Scenario, repeat};
use retry_core::{AdaptiveRetryStrategy, TokioTimer};

fn main() {
    divan::main();
}

/// What a sample is made of.
const CALLS: u64 = 1_000_000;

/// All the calls whose instructions are counted, too.
#[divan::bench(args = SCENARIOS, sample_count = 10, sample_size = 1)]
fn scenarios(scenario: &Scenario) {
    scenario.run(CALLS);
}

/// From token to success with the adaptive strategy, by tokio's clock: nothing was throttled yet.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn adaptive_idle_with_clock() {
    static IDLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();
    repeat(CALLS, async |number| by_token(&IDLE, number, &TokioTimer).await);
}

/// The same once it limits sends, at a rate that holds nobody back.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn adaptive_limiting_with_clock(bencher: divan::Bencher<'_, '_>) {
    let strategy = limiting(&Rush);
    bencher.bench(|| repeat(CALLS, async |number| by_token(&strategy, number, &Rush).await));
}
