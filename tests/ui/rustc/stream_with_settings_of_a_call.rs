use futures_util::stream::{self, Stream};
use retry_core::{PatientRetryStrategy, RetryInfo};
use retry_stream::reconnect;
use std::time::Duration;

#[derive(RetryInfo)]
struct Lost;

static FEED: PatientRetryStrategy = PatientRetryStrategy::new();

async fn open() -> Result<impl Stream<Item = Result<u64, Lost>>, Lost> {
    Ok(stream::iter([Ok(1)]))
}

fn main() {
    let _ = reconnect(&FEED, open).max_time(Duration::from_secs(30)).stream();
    let _ = reconnect(&FEED, open).when(|_: &Lost| true).stream();
}
