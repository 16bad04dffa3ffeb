//! The middleware that retries the requests of a client.

use super::{MANY, builder};
use bytes::Bytes;
use clients_tests::{BROKEN, PATIENCE, Reaction, Server, UNKNOWN};
use futures_util::StreamExt;
use http_body_util::StreamBody;
use hyper::body::Frame;
use reqwest::{Body, Method, Request, Response};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error, Middleware, Next};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use retry_clients::reqwest_middleware05::{self, RetryMiddleware, response_policy};
use retry_core::classify::http::idempotent_method;
use retry_core::{RetryError, StandardRetryStrategy, TimeLimit, TimedOut, test};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const WELL: Reaction = Reaction::Answer(200, "", "whole");

fn client(middleware: impl Middleware) -> ClientWithMiddleware {
    ClientBuilder::new(builder().build().unwrap()).with(middleware).build()
}

/// Sends a request to a server that reacts like this at first and then is well. Returns the outcome and the number of
/// requests that the server got.
async fn send(
    client: &ClientWithMiddleware,
    method: Method,
    first: Reaction,
) -> (reqwest_middleware::Result<Response>, usize) {
    let server = Server::start_script([first, WELL]);
    let outcome = client.request(method, &server.url).body("{}").send().await;
    (outcome, server.requests())
}

// Rule H14.
#[tokio::test]
async fn the_method_decides_which_requests_are_sent_twice() {
    let client = client(RetryMiddleware::new(&MANY));
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::POST, Method::PATCH] {
        let is_idempotent = idempotent_method(method.as_str());
        for (first, is_again) in [
            (Reaction::Answer(429, "", ""), true),
            (Reaction::Answer(500, "", ""), is_idempotent),
            (Reaction::SendAndReset(""), is_idempotent),
            (Reaction::Answer(404, "", ""), false),
        ] {
            let (outcome, requests) = send(&client, method.clone(), first).await;
            assert_eq!(requests, if is_again { 2 } else { 1 }, "{method} {first:?}");
            assert_eq!(outcome.is_ok_and(|response| response.status() == 200), is_again, "{method} {first:?}");
        }
    }
}

// Rule H14.
#[tokio::test]
async fn a_function_decides_in_place_of_the_method() {
    let by_key = |request: &Request| request.headers().contains_key("idempotency-key");
    let client =
        client(RetryMiddleware::new(&MANY).policy_with(move |request| response_policy().idempotent(by_key(request))));
    for (method, has_key) in [(Method::POST, true), (Method::POST, false), (Method::GET, true), (Method::GET, false)] {
        let server = Server::start_script([Reaction::Answer(500, "", ""), WELL]);
        let request = client.request(method, &server.url);
        let request = if has_key { request.header("idempotency-key", "7") } else { request };
        let response = request.send().await.unwrap();
        assert_eq!((response.status().as_u16(), server.requests()), if has_key { (200, 2) } else { (500, 1) });
    }
}

// Rule H13.
#[tokio::test]
async fn a_retry_after_is_waited_for_and_reqwest_retry_does_not_wait() {
    let millis = Duration::from_millis(1);
    let backoff = ExponentialBackoff::builder().retry_bounds(millis, millis).build_with_max_retries(4);
    let theirs = client(RetryTransientMiddleware::new_with_policy(backoff));
    let ours = client(RetryMiddleware::new(&MANY));
    for status in [429, 503] {
        let busy = Reaction::Answer(status, "retry-after: 1\r\n", "");
        for (client, waits) in [(&ours, true), (&theirs, false)] {
            let started = Instant::now();
            let (outcome, requests) = send(client, Method::GET, busy).await;
            assert_eq!((outcome.unwrap().status().as_u16(), requests), (200, 2));
            assert_eq!(started.elapsed() >= Duration::from_secs(1), waits, "{status}");
        }
    }
}

/// A request body that can't be cloned.
fn streamed() -> Body {
    let pieces = futures_util::stream::iter(["{", "}"]);
    Body::wrap(StreamBody::new(pieces.map(|piece| Ok::<_, io::Error>(Frame::data(Bytes::from(piece))))))
}

// Rule H14.
#[tokio::test]
async fn a_request_whose_body_cannot_be_cloned_is_sent_once() {
    let guard = test::begin();
    let ours = client(RetryMiddleware::new(&MANY));
    for (first, status) in [(WELL, 200), (Reaction::Answer(429, "", ""), 429)] {
        let server = Server::start_script([first, WELL]);
        // The length keeps it out of chunks, which the server can't read.
        let response = ours.put(&server.url).header("content-length", "2").body(streamed()).send().await.unwrap();
        assert_eq!((response.status().as_u16(), server.requests()), (status, 1));
    }
    let reasons: Vec<_> = guard.operations().iter().map(|operation| operation.reason).collect();
    assert_eq!(reasons, [None, Some(RetryError::NotRepeatable)]);

    // That of reqwest-retry does not send it.
    let server = Server::start(WELL);
    let theirs = RetryTransientMiddleware::new_with_policy(ExponentialBackoff::builder().build_with_max_retries(4));
    client(theirs).put(&server.url).header("content-length", "2").body(streamed()).send().await.unwrap_err();
    assert_eq!(server.requests(), 0);
}

const CHUNKED_HALF: Reaction = Reaction::Send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n");
const HALF: Reaction = Reaction::Send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf");

// Rule H14.
#[tokio::test]
async fn a_body_is_part_of_its_attempt_if_it_is_short_enough() {
    for (middleware, half, chunked_half) in [
        (RetryMiddleware::new(&MANY), true, false),
        (RetryMiddleware::new(&MANY).read_bodies(100), true, true),
        (RetryMiddleware::new(&MANY).read_bodies(99), false, true),
        (RetryMiddleware::new(&MANY).read_bodies(3), false, false),
        (RetryMiddleware::new(&MANY).read_bodies(0), false, false),
    ] {
        let settings = format!("{middleware:?}");
        let client = client(middleware);
        for (first, is_again) in [(HALF, half), (CHUNKED_HALF, chunked_half)] {
            let (outcome, requests) = send(&client, Method::GET, first).await;
            assert_eq!(requests, if is_again { 2 } else { 1 }, "{settings} {first:?}");
            let body = outcome.unwrap().text().await;
            if is_again {
                assert_eq!(body.unwrap(), "whole", "{settings}");
            } else {
                // The caller meets the fault, and it is still known for what it is.
                let error = Error::from(body.unwrap_err());
                assert_eq!(reqwest_middleware05::classify(&error), Some(BROKEN), "{settings}");
            }
        }
    }
}

// Rule H14.
#[tokio::test]
async fn a_response_whose_body_was_read_is_the_same() {
    let answer = "HTTP/1.1 200 OK\r\nx-id: 7\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n4\r\nmore\r\n0\r\n\r\n";
    for limit in [0, 3, 4, 7, 8, 100] {
        let server = Server::start(Reaction::Send(answer));
        let url = format!("{}orders?id=7", server.url);
        let response = client(RetryMiddleware::new(&MANY).read_bodies(limit)).get(&url).send().await.unwrap();
        assert_eq!((response.status().as_u16(), response.url().as_str()), (200, url.as_str()));
        assert_eq!(response.headers()["x-id"], "7");
        assert_eq!(response.remote_addr(), Some(server.address()));
        assert_eq!(response.content_length(), (limit >= 8).then_some(8), "{limit}");
        assert_eq!(response.text().await.unwrap(), "halfmore", "{limit}");
    }
    let server = Server::start(WELL);
    let response = client(RetryMiddleware::new(&MANY)).get(&server.url).send().await.unwrap();
    assert_eq!(response.content_length(), Some(5));
    let head = client(RetryMiddleware::new(&MANY)).head(&server.url).send().await.unwrap();
    assert_eq!(head.headers()["content-length"], "5");
    assert_eq!(head.text().await.unwrap(), "");
}

// Rule H14.
#[tokio::test]
async fn a_stall_in_the_rest_of_a_long_body_is_the_callers_timeout() {
    let server =
        Server::start(Reaction::SendAndStall("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n"));
    let slow = builder().timeout(PATIENCE).read_timeout(Duration::from_millis(500)).build().unwrap();
    let client = ClientBuilder::new(slow).with(RetryMiddleware::new(&MANY).read_bodies(3)).build();
    let response = client.get(&server.url).send().await.unwrap();
    let error = Error::from(response.text().await.unwrap_err());
    assert_eq!(reqwest_middleware05::classify(&error), Some(UNKNOWN.with_timeout()));
    assert_eq!(server.requests(), 1);
}

// Rules H14, T1.
#[tokio::test]
async fn a_time_limit_bounds_a_request_and_its_attempts() {
    static SLOW: StandardRetryStrategy = StandardRetryStrategy::new();
    let server = Server::start(Reaction::SendAndStall(""));
    let limited = client(RetryMiddleware::new(&SLOW).max_time(Duration::from_millis(300)));
    let error = limited.get(&server.url).send().await.unwrap_err();
    let Error::Middleware(inside) = &error else { panic!("{error:?}") };
    assert_eq!(inside.downcast_ref().map(TimedOut::limit), Some(TimeLimit::Operation));
    assert_eq!(reqwest_middleware05::classify(&error), Some(UNKNOWN.with_timeout()));

    // The last outcome is returned where the wait for a retry would be too long.
    let server = Server::start(Reaction::Answer(429, "retry-after: 7\r\n", "busy"));
    let response = limited.get(&server.url).send().await.unwrap();
    assert_eq!((response.status().as_u16(), response.text().await.unwrap()), (429, "busy".to_owned()));
}

/// A middleware that counts attempts, leaves a mark in the extensions, and fails at first.
struct Marks(Arc<AtomicUsize>);

#[derive(Clone, Debug, PartialEq)]
struct Mark(usize);

#[async_trait::async_trait]
impl Middleware for Marks {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        let attempt = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        extensions.insert(Mark(attempt));
        if attempt == 1 {
            return Err(Error::Middleware(io::Error::from(io::ErrorKind::ConnectionRefused).into()));
        }
        next.run(request, extensions).await
    }
}

// Rules H12, H14.
#[tokio::test]
async fn middleware_that_follows_takes_part_in_each_attempt() {
    let server = Server::start(WELL);
    let retried = builder().build().unwrap();
    let client = ClientBuilder::new(retried).with(RetryMiddleware::new(&MANY)).with(Marks(Arc::default())).build();
    let request = client.post(&server.url).build().unwrap();
    let mut extensions = http::Extensions::new();
    assert_eq!(client.execute_with_extensions(request, &mut extensions).await.unwrap().status(), 200);
    assert_eq!(extensions.get(), Some(&Mark(2)), "the second attempt left it");
    assert_eq!(server.requests(), 1, "the first attempt failed in the middleware");
}

/// A middleware that keeps the header of each attempt.
struct Keys(Arc<Mutex<Vec<String>>>);

#[async_trait::async_trait]
impl Middleware for Keys {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        let key = request.headers()["idempotency-key"].to_str().unwrap();
        self.0.lock().unwrap().push(key.to_owned());
        next.run(request, extensions).await
    }
}

// Rules H14, W8.
#[tokio::test]
async fn each_attempt_can_carry_the_key_of_its_operation() {
    let server = Server::start_script([Reaction::Answer(503, "", ""), Reaction::SendAndReset(""), WELL]);
    let keyed = RetryMiddleware::new(&MANY).policy_with(|_| response_policy().idempotent(true)).before_attempt(
        |request, context| {
            let key = format!("{} {}", context.operation_id(), context.attempt());
            request.headers_mut().insert("idempotency-key", key.parse().unwrap());
        },
    );
    let keys = Arc::default();
    let client = ClientBuilder::new(builder().build().unwrap()).with(keyed).with(Keys(Arc::clone(&keys))).build();
    assert_eq!(client.post(&server.url).body("{}").send().await.unwrap().status(), 200);
    let keys = keys.lock().unwrap();
    let keys: Vec<_> = keys.iter().map(|key| key.split_once(' ').unwrap()).collect();
    assert_eq!(keys, [(keys[0].0, "1"), (keys[0].0, "2"), (keys[0].0, "3")]);
}

// Rules H14, W6.
#[tokio::test]
async fn a_client_is_built_and_used_in_a_spawned_block() {
    let server = Server::start_script([Reaction::Answer(503, "", ""), WELL]);
    let url = server.url.clone();
    let text = tokio::spawn(async move {
        client(RetryMiddleware::new(&MANY).max_time(PATIENCE))
            .get(url)
            .send()
            .await?
            .error_for_status()?
            .text()
            .await
            .map_err(Error::from)
    });
    assert_eq!(text.await.unwrap().unwrap(), "whole");
}

// Rules H14, G3.
#[tokio::test]
async fn operations_have_the_name_of_the_middleware() {
    let guard = test::begin();
    for middleware in [RetryMiddleware::new(&MANY), RetryMiddleware::new(&MANY).name("orders")] {
        send(&client(middleware), Method::GET, Reaction::Answer(500, "", "")).await.0.unwrap();
    }
    let names: Vec<_> = guard.operations().iter().map(|operation| operation.name).collect();
    assert_eq!(names, ["reqwest", "orders"]);
}
