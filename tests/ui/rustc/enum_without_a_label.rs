#![deny(deprecated)]
//! rustc warns at the name of an enum without any label, once.

use retry_core::{RetryInfo, retryable};

#[derive(RetryInfo)]
enum StoreError {
    SlowDown,
    NoSuchKey(String),
}

// The path of the crate is not a label.
#[derive(RetryInfo)]
#[retry(crate = retry_core)]
enum WithPath {
    SlowDown,
}

// The inner error is a warning of its own.
#[derive(RetryInfo)]
enum WithInner {
    Named { source: std::io::Error },
    NoSuchKey,
}

// No warning: the enum says that no error is retried, there is a label, or there are no errors.
#[derive(RetryInfo)]
#[retry(never)]
enum Fatal {
    NoSuchKey,
}

#[derive(RetryInfo)]
enum OneLabel {
    #[retry(throttling)]
    SlowDown,
    NoSuchKey,
}

#[derive(RetryInfo)]
enum OneField {
    Inner(#[retry(transparent)] OneLabel),
    NoSuchKey,
}

#[derive(RetryInfo)]
enum Never {}

#[derive(RetryInfo)]
struct Failed;

#[allow(deprecated)]
#[derive(RetryInfo)]
enum Allowed {
    NoSuchKey,
}

#[retryable(strategy = "standard")]
async fn get() -> Result<(), StoreError> {
    Ok(())
}

fn main() {}

// Rule M22.
