//! The weight of each request.

use crate::support::Failed;
use crate::support::scales::Scales;
use ::tower::{Layer, Service, ServiceExt, service_fn};
use retry_core::strategy::LimitedRetryStrategy;
use retry_tower::RetryLayer;
use std::cell::Cell;
use std::future::ready;

// Rule R22.
#[tokio::test]
async fn a_request_is_weighed_once() {
    static STRATEGY: LimitedRetryStrategy<Scales> = Scales::strategy();

    let (calls, weighed) = (Cell::new(0), Cell::new(0));
    let service = service_fn(|_: &'static str| {
        calls.set(calls.get() + 1);
        ready(if calls.get() < 3 { Err(Failed::SAFE) } else { Ok(()) })
    });
    let weight = |request: &&'static str| {
        weighed.set(weighed.get() + 1);
        u32::try_from(request.len()).unwrap()
    };
    let mut stack = RetryLayer::new(&STRATEGY).weight(weight).layer(service);
    stack.ready().await.unwrap().call("four").await.unwrap();
    assert_eq!((calls.get(), weighed.get()), (3, 1));
    stack.ready().await.unwrap().call("sixsix").await.unwrap();
    assert_eq!(STRATEGY.limiter().take(), ["weighs 4", "failed", "failed", "succeeded", "weighs 6", "succeeded"]);
}
