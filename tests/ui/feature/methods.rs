use retry_config::RetryConfig;
use retry_core::{PatientRetryStrategy, RetryInfo, retry};

#[derive(RetryInfo)]
struct Failed;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

fn main() {
    let after = 50;
    let _ = retry(&STORE, async || Ok::<(), Failed>(())).idempotent(true).hedge(&after);
    let document = "";
    let _ = RetryConfig::from_file_section("settings.toml", "store", document);
}
