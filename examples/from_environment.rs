//! A strategy configured by environment variables or by the shared config file.
//!
//! `AWS_RETRY_MODE=adaptive AWS_MAX_ATTEMPTS=7 cargo run --example from_environment`

use retry_config::{ConfigError, ConfigSource, ConfiguredStrategy, RetryConfig};
use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
use std::fmt::Display;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

#[derive(Debug, RetryInfo)]
enum StoreError {
    #[retry(throttling, fault = "client")]
    SlowDown,
}

fn config() -> Result<RetryConfig, ConfigError> {
    RetryConfig::new().backoff(Duration::from_millis(10), Duration::from_millis(40)).or_environment()
}

static STORE: LazyLock<ConfiguredStrategy> = LazyLock::new(|| {
    let strategy = config().and_then(|config| config.build_on(StandardRetryStrategy::aws_2_1()));
    strategy.expect("main has checked it")
});

#[retryable(strategy = STORE)]
async fn put(attempts: &AtomicU32) -> Result<(), StoreError> {
    // Stands in for the service, which throttles five times.
    if attempts.fetch_add(1, Ordering::Relaxed) < 5 { Err(StoreError::SlowDown) } else { Ok(()) }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let config = match config() {
        Ok(config) => config,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    print("retry_mode", STORE.mode(), config.source_of("mode"));
    print("max_attempts", STORE.settings().max_attempts, config.source_of("max_attempts"));

    let attempts = AtomicU32::new(0);
    let outcome = put(&attempts).await;
    println!("{outcome:?} at attempt {}; the service throttled the first five", attempts.into_inner());
    ExitCode::SUCCESS
}

fn print(setting: &str, value: impl Display, source: Option<&ConfigSource>) {
    let source = source.map_or_else(|| "default".to_owned(), ToString::to_string);
    println!("{setting:<12} = {value:<8} ({source})");
}
