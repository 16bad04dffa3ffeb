//! Layers of `tower` around reqwest, with a policy for each request.

use super::errors::builder;
use crate::client as reqwest;
use crate::client::{Client, Method, Request, Response};
use crate::module;
use clients_tests::{BROKEN, CUT_SHORT, ERROR_STATUSES, Reaction, Server, refused_address};
use retry_clients::llm;
use retry_core::classify::{Classification, chain, http};
use retry_core::{
    RetryDirective, RetryErrorType, RetryPolicy, RetrySafety, StandardRetryPolicy, StandardRetryStrategy,
};
use retry_tower::RetryLayer;
use std::time::Duration;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

/// The mixed stack of a program: 429 and the like are retried for each method, and a 500 only for GET and PUT.
fn stack(client: Client) -> impl Service<Request, Response = Response, Error = BoxError, Future: Send> + Clone {
    static API: StandardRetryStrategy = StandardRetryStrategy::new()
        .backoff(Duration::from_millis(1), Duration::from_millis(1))
        .quota_capacity(1_000_000);

    let retries = RetryLayer::new(&API)
        .policy_with(|request: &Request| module::response_policy().for_method(request.method()))
        .clone_with(Request::try_clone)
        .max_time(Duration::from_mins(1));
    ServiceBuilder::new().buffer(8).layer(retries).concurrency_limit(8).timeout(Duration::from_secs(30)).service(client)
}

// Rules H13, W6, W7.
#[tokio::test]
async fn a_stack_sends_get_and_put_again_and_post_only_where_nothing_was_acted_upon() {
    let stack = stack(builder().build().unwrap());
    let broken = CUT_SHORT.into_iter().take(3).map(|sent| (Reaction::Send(sent), RetrySafety::Maybe));
    let statuses =
        ERROR_STATUSES.map(|status| (Reaction::Answer(status, "", ""), http::status(status).is_retry_safe()));
    for (first, safety) in
        broken.chain(statuses).chain([(Reaction::Answer(503, "retry-after: 0\r\n", ""), RetrySafety::Yes)])
    {
        for (method, is_again) in [
            (Method::GET, safety != RetrySafety::No),
            (Method::PUT, safety != RetrySafety::No),
            (Method::POST, safety == RetrySafety::Yes),
        ] {
            let server = Server::start_script([first, Reaction::Answer(200, "", "whole")]);
            let mut request = Request::new(method.clone(), server.url.parse().unwrap());
            *request.body_mut() = Some("{}".into());
            let stack = stack.clone();
            let outcome = tokio::spawn(async move { stack.oneshot(request).await }).await.unwrap();
            assert_eq!(server.requests(), if is_again { 2 } else { 1 }, "{method} {first:?}");
            assert_eq!(outcome.is_ok_and(|response| response.status() == 200), is_again, "{method} {first:?}");
        }
    }
}

// Rule H13.
#[tokio::test]
async fn the_policy_judges_responses_by_status_and_headers_and_errors_by_their_chain() {
    let policy = module::response_policy();
    for (method, idempotent) in [(Method::GET, true), (Method::POST, false)] {
        for (status, headers, wait) in
            [(429, "retry-after: 7\r\n", Some(7)), (500, "", None), (404, "", None), (304, "", None)]
        {
            let server = Server::start(Reaction::Answer(status, headers, ""));
            let response = builder().build().unwrap().get(&server.url).send().await;
            let expected = if status < 400 {
                RetryDirective::succeed()
            } else {
                let verdict = http::status_with(status, wait.map(Duration::from_secs));
                StandardRetryPolicy::new().idempotent(idempotent).evaluate_error(&verdict)
            };
            assert_eq!(policy.for_method(&method).evaluate(&response), expected, "{method} {status}");
        }
    }
    let refused = builder().build().unwrap().get(format!("http://{}/", refused_address())).send().await;
    assert_eq!(policy.idempotent(false).evaluate(&refused), RetryDirective::retry(RetryErrorType::Other));

    let server = Server::start(Reaction::Send(""));
    let closed = builder().build().unwrap().get(&server.url).send().await;
    assert_eq!(policy.evaluate(&closed), RetryDirective::retry(RetryErrorType::ServerSide));
    let closed = closed.map_err(BoxError::from);
    let policy = module::response_policy().idempotent(false);
    assert_eq!(policy.evaluate(&closed), RetryDirective::fail(Some(RetryErrorType::ServerSide)));

    // An error that nothing knows, and one that an added function knows.
    let unknown: Result<Response, BoxError> = Err("no token".into());
    assert_eq!(policy.evaluate(&unknown), RetryDirective::fail(Some(RetryErrorType::Unknown)));
    assert_eq!(policy.unknown_error(&unknown).unwrap().to_string(), "no token");
    let policy = policy.also(|_| Some(Classification::new(RetrySafety::Yes)));
    assert_eq!(policy.evaluate(&unknown), RetryDirective::retry(RetryErrorType::Other));
    assert_eq!(chain::first_known(&closed.unwrap_err(), module::link), Some(BROKEN));
}

// Rule H18.
#[tokio::test]
async fn a_function_of_the_policy_judges_each_response_with_an_error_status() {
    let policy = module::response_policy()
        .classify_with(|status, headers, now| llm::response(status, headers, None, now))
        .idempotent(false);
    for (status, headers, expected) in [
        (200, "x-should-retry: true\r\n", RetryDirective::succeed()),
        (500, "", RetryDirective::fail(Some(RetryErrorType::ServerSide))),
        (500, "x-should-retry: true\r\n", RetryDirective::retry(RetryErrorType::ServerSide)),
        (429, "x-should-retry: false\r\n", RetryDirective::fail(Some(RetryErrorType::Throttling))),
    ] {
        let server = Server::start(Reaction::Answer(status, headers, ""));
        let response = builder().build().unwrap().get(&server.url).send().await;
        assert_eq!(policy.evaluate(&response), expected, "{status} {headers}");
        // By default, the header is not read.
        let general = module::response_policy().idempotent(false).evaluate(&response);
        let plain = StandardRetryPolicy::new().idempotent(false).evaluate_error(&http::status(status));
        assert_eq!(general, if status < 400 { RetryDirective::succeed() } else { plain }, "{status}");
    }
}

/// The errors of reqwest itself are of another kind than a boxed error, and the same policy judges them.
fn _is_a_policy_for_both_kinds() {
    fn check<R>(_: impl RetryPolicy<R>) {}
    check::<reqwest::Result<Response>>(module::response_policy());
    check::<Result<Response, BoxError>>(module::response_policy());
}
