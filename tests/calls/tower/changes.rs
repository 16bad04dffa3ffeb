//! A function that changes the request of each attempt.

use super::standard;
use crate::support::{Failed, millis, secs};
use ::tower::{Layer, Service, ServiceExt, service_fn};
use retry_core::{AttemptContext, Observer, OperationId, RetryErrorType};
use retry_tower::RetryLayer;
use std::cell::RefCell;
use std::future::ready;
use std::time::Duration;
use tokio::time::sleep;

/// A request with headers.
#[derive(Clone, Debug, Default, PartialEq)]
struct Request {
    attempts: Vec<u32>,
    keys: Vec<OperationId>,
    time_left: Option<Duration>,
    previous: Option<RetryErrorType>,
}

fn set_headers(request: &mut Request, context: AttemptContext) {
    request.attempts.push(context.attempt());
    request.keys.push(context.operation_id());
    request.time_left = context.time_left();
    request.previous = context.previous_failure().and_then(|failure| failure.error_type());
}

// Rule W8.
#[tokio::test(start_paused = true)]
async fn each_attempt_sends_the_request_with_its_own_changes() {
    let (strategy, sent) = (standard(), RefCell::new(Vec::new()));
    let service = service_fn(|request: Request| {
        sent.borrow_mut().push(request);
        let number = sent.borrow().len();
        async move {
            sleep(millis(100)).await;
            match number {
                1 | 4 => Err(Failed::THROTTLED),
                2 => Err(Failed::SAFE),
                _ => Ok(()),
            }
        }
    });
    // The order of the settings makes no difference.
    let layer = RetryLayer::with_handle(&strategy).before_attempt(set_headers).max_time(secs(60));
    let mut stack = layer.clone_with(|request: &Request| Some(request.clone())).layer(service);
    for _ in 0..2 {
        stack.ready().await.unwrap().call(Request::default()).await.unwrap();
    }
    let sent = sent.take();
    let numbers: Vec<_> = sent.iter().map(|request| request.attempts.clone()).collect();
    assert_eq!(numbers, [[1], [2], [3], [1], [2]], "changes do not add up");
    let keys: Vec<_> = sent.iter().map(|request| request.keys[0]).collect();
    assert!(keys[0] == keys[1] && keys[1] == keys[2] && keys[3] == keys[4] && keys[0] != keys[3], "{keys:?}");
    let previous: Vec<_> = sent.iter().map(|request| request.previous).collect();
    let (throttling, other) = (Some(RetryErrorType::Throttling), Some(RetryErrorType::Other));
    assert_eq!(previous, [None, throttling, other, None, throttling]);
    let left = |spent: u64| Some(millis(60_000 - spent));
    let times: Vec<_> = sent.iter().map(|request| request.time_left).collect();
    assert_eq!(times, [left(0), left(100 + 1000), left(100 + 1000 + 100 + 2000), left(0), left(100 + 1000)]);
}

// Rule W8.
#[tokio::test(start_paused = true)]
async fn an_observer_sees_the_operation_id_that_the_requests_carry() {
    #[derive(Default)]
    struct Ids(RefCell<Vec<OperationId>>);
    impl Observer for Ids {
        fn observe(&self, event: &retry_core::Event) {
            self.0.borrow_mut().push(event.operation_id);
        }
    }
    let (strategy, ids, keys) = (standard(), Ids::default(), RefCell::new(Vec::new()));
    let service = service_fn(|request: Request| {
        keys.borrow_mut().extend(request.keys);
        ready(if keys.borrow().len() < 2 { Err(Failed::SAFE) } else { Ok(()) })
    });
    let layer = RetryLayer::with_handle(&strategy).before_attempt(set_headers).observer(&ids);
    layer.layer(service).oneshot(Request::default()).await.unwrap();
    let keys = keys.take();
    assert_eq!(keys.len(), 2);
    assert!(ids.0.take().iter().chain(&keys).all(|id| *id == keys[0]));
}

// Rules W8, W2.
#[tokio::test(start_paused = true)]
async fn a_request_that_cannot_be_cloned_is_changed_once() {
    let (strategy, sent) = (standard(), RefCell::new(Vec::new()));
    let service = service_fn(|request: Request| {
        sent.borrow_mut().push(request.attempts);
        ready(Err::<(), _>(Failed::SAFE))
    });
    let layer = RetryLayer::with_handle(&strategy).clone_with(|_: &Request| None).before_attempt(set_headers);
    assert_eq!(layer.layer(service).oneshot(Request::default()).await, Err(Failed::SAFE));
    assert_eq!(*sent.borrow(), [[1]]);
}

// Rules W8, T4.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_cannot_be_made_in_time_is_not_changed() {
    let (strategy, changes) = (standard(), RefCell::new(Vec::new()));
    let service = service_fn(|(): ()| ready(Err::<(), crate::script::Error>(crate::script::SAFE.unwrap_err())));
    let layer = RetryLayer::with_handle(&strategy).max_time(secs(2)).before_attempt(|(): &mut (), context| {
        changes.borrow_mut().push(context.attempt());
    });
    layer.layer(service).oneshot(()).await.unwrap_err();
    assert_eq!(*changes.borrow(), [1, 2], "the third attempt would begin after three seconds");
}
