use futures_util::stream::{Empty, empty};
use retry_core::{PatientRetryStrategy, RetryInfo};
use retry_stream::reconnect_from;

#[derive(RetryInfo)]
struct Failed;

static FEED: PatientRetryStrategy = PatientRetryStrategy::new();

async fn open(_after: u64) -> Result<Empty<Result<u64, Failed>>, Failed> {
    Ok(empty())
}

fn main() {
    let _ = reconnect_from(&FEED, 0, open).stream();
}

// Rule X4.
