//! A feed that reconnects, with retry-stream.

use futures_util::{StreamExt, TryStreamExt};
use migration::Feed;
use retry_core::{ChainPolicy, PatientRetryStrategy};
use retry_stream::reconnect_from;
use std::io::Error;
use std::time::Duration;

static FEED: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_secs(1));

async fn follow(feed: &Feed) -> Result<Vec<u32>, Error> {
    reconnect_from(&FEED, 0, |last| feed.connect(last))
        .position(|event| Some(*event))
        .policy(ChainPolicy::new().idempotent(true))
        .stream()
        .take(9)
        .try_collect()
        .await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let feed = Feed::default();
    let seen = follow(&feed).await?;
    println!("{seen:?} over {} connections", feed.connections());
    Ok(())
}
