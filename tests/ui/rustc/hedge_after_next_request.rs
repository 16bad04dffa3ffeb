//! A layer that makes the next request from an outcome can't have a hedge.

use retry_core::{Hedge, StandardRetryStrategy};
use retry_tower::RetryLayer;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
static READS: Hedge = Hedge::p95();

fn main() {
    RetryLayer::new(&STORE)
        .next_request(|batch: &mut Vec<u32>, _: &Result<(), ()>| batch.clear())
        .hedge(&READS);
}
