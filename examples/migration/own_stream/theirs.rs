//! A feed that reconnects, in a loop of its own.

use futures_util::TryStreamExt;
use migration::Feed;
use std::time::Duration;
use tokio::time::sleep;

async fn follow(feed: &Feed) -> Vec<u32> {
    let (mut seen, mut failures) = (Vec::new(), 0);
    while seen.len() < 9 {
        if let Ok(mut events) = feed.connect(seen.last().copied().unwrap_or(0)).await {
            while let Ok(Some(event)) = events.try_next().await {
                failures = 0;
                seen.push(event);
            }
        }
        failures += 1;
        sleep(Duration::from_millis(10 << failures.min(6))).await;
    }
    seen
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let feed = Feed::default();
    let seen = follow(&feed).await;
    println!("{seen:?} over {} connections", feed.connections());
}
