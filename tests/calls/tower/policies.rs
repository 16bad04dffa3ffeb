//! A policy for each request, made when the request is made.

use super::{Events, standard};
use crate::support::{Failed, secs};
use ::tower::{Layer, Service, ServiceExt, service_fn};
use retry_core::{RetryPolicy, RetryQuota, StandardRetryPolicy};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::future::ready;
use std::rc::Rc;
use tokio::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Get,
    Put,
    Post,
}

/// Returns the policy of a request, which may be executed twice unless it is a POST.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form of the function that a layer takes")]
fn by_method(method: &Method) -> StandardRetryPolicy {
    StandardRetryPolicy::new().idempotent(*method != Method::Post)
}

// Rule W7.
#[tokio::test(start_paused = true)]
async fn reads_and_writes_are_judged_apart_in_one_stack() {
    for (failure, attempts_of_post) in [(Failed::TIMEOUT, 1), (Failed::THROTTLED, 2), (Failed::FATAL, 1)] {
        let strategy = standard();
        let calls = Cell::new(0);
        let service = service_fn(|_: Method| {
            calls.set(calls.get() + 1);
            ready(if calls.get() == 1 { Err(failure) } else { Ok(()) })
        });
        let mut stack = RetryLayer::with_handle(&strategy).policy_with(by_method).layer(service);
        let attempts_of_others = if failure == Failed::FATAL { 1 } else { 2 };
        for (method, attempts) in
            [(Method::Get, attempts_of_others), (Method::Post, attempts_of_post), (Method::Put, attempts_of_others)]
        {
            calls.set(0);
            let outcome = stack.ready().await.unwrap().call(method).await;
            assert_eq!((outcome.is_ok(), calls.get()), (attempts == 2, attempts), "{method:?} {failure:?}");
        }
    }
}

/// A policy that knows its request.
struct Of(Rc<RefCell<Vec<&'static str>>>, &'static str);

impl RetryPolicy<Result<(), Failed>> for Of {
    fn evaluate(&self, outcome: &Result<(), Failed>) -> retry_core::RetryDirective {
        self.0.borrow_mut().push(self.1);
        StandardRetryPolicy::new().evaluate(outcome)
    }
}

// Rule W7.
#[tokio::test(start_paused = true)]
async fn the_policy_of_a_request_is_made_once_when_the_request_is_made() {
    let (strategy, made, evaluated) = (standard(), Cell::new(0), Rc::default());
    let layer = RetryLayer::with_handle(&strategy).policy_with(|request: &&'static str| {
        made.set(made.get() + 1);
        Of(Rc::clone(&evaluated), request)
    });
    let calls = Cell::new(0);
    let mut stack = layer.layer(service_fn(|_: &str| {
        calls.set(calls.get() + 1);
        ready(if calls.get() < 3 { Err(Failed::SAFE) } else { Ok(()) })
    }));
    let (first, second) = (stack.call("first"), stack.call("second"));
    assert_eq!((made.get(), calls.get()), (2, 0), "before the futures are polled");
    let started = Instant::now();
    assert_eq!(second.await, Ok(()));
    assert_eq!(started.elapsed(), secs(1 + 2));
    assert_eq!(first.await, Ok(()));
    assert_eq!(made.get(), 2);
    assert_eq!(*evaluated.borrow(), ["second", "second", "second", "first"]);
}

// Rules W7, W2.
#[tokio::test(start_paused = true)]
async fn the_policy_sees_a_request_that_cannot_be_cloned() {
    let (strategy, events) = (standard(), Events::default());
    let layer =
        RetryLayer::with_handle(&strategy).policy_with(by_method).clone_with(|_: &Method| None).observer(&events);
    let stack = layer.layer(service_fn(|_: Method| ready(Err::<(), _>(Failed::TIMEOUT))));
    for (method, reason) in [(Method::Get, "not_repeatable"), (Method::Post, "not_retryable")] {
        assert_eq!(stack.clone().oneshot(method).await, Err(Failed::TIMEOUT));
        assert_eq!(events.0.take().last().unwrap(), &format!("tower: stopped {reason}"));
    }
    assert_eq!(strategy.quota().available(), 500);
}
