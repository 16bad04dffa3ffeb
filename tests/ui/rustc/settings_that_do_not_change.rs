use retry_core::{AdaptiveRetryStrategy, PatientRetryStrategy, StandardRetryStrategy, TokioTimer};
use std::sync::OnceLock;

struct RetryConfig;

#[derive(Debug)]
struct ConfigError;

static PATIENT: PatientRetryStrategy = PatientRetryStrategy::new();
static BUILT: OnceLock<PatientRetryStrategy> = OnceLock::new();
static STANDARD: StandardRetryStrategy = StandardRetryStrategy::new();
static ADAPTIVE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();

fn reload(config: &RetryConfig) -> Result<(), ConfigError> {
    PATIENT.apply(config, &TokioTimer)?;
    Ok(())
}

fn reload_built(config: &RetryConfig) -> Result<(), ConfigError> {
    BUILT.get().unwrap().apply(config, &TokioTimer)
}

fn reload_standard(config: &RetryConfig) {
    STANDARD.apply(config, &TokioTimer).unwrap();
}

fn reload_adaptive(config: &RetryConfig) {
    if let Err(error) = ADAPTIVE.apply(config, &TokioTimer) {
        eprintln!("{error}");
    }
}

fn main() {}

// Rules C19, C27.
