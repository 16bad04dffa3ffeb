//! Error responses, as errors.

use super::errors::builder;
use crate::client as reqwest;
use crate::client::{Client, Method, Response, StatusCode};
use crate::module::{ClientError, ErrorResponse, ResponseExt, link};
use clients_tests::{BROKEN, ERROR_STATUSES, FINAL, Reaction, Server, UNKNOWN, UNKNOWN_HOST, UNSENT, refused_address};
use retry_clients::llm;
use retry_core::classify::{Classification, chain, http};
use retry_core::{ErrorFault, RetryInfo, RetrySafety, StandardRetryStrategy, TimeLimit, TimedOut, retryable};
use serde::Deserialize;
use std::error::Error;
use std::io;
use std::time::{Duration, Instant, SystemTime};

async fn get(url: &str) -> reqwest::Result<Response> {
    builder().build()?.get(url).send().await
}

/// Returns the error of a response with this status and these headers.
async fn error(status: u16, headers: &'static str) -> ClientError {
    let server = Server::start(Reaction::Answer(status, headers, "the body"));
    get(&server.url).await.unwrap().error_for_response().await.unwrap_err().into()
}

#[tokio::test]
async fn a_response_without_an_error_status_is_returned_as_it_is() {
    for status in [200, 204, 304] {
        let server = Server::start(Reaction::Answer(status, "x-id: 7\r\n", if status == 200 { "whole" } else { "" }));
        let response = get(&server.url).await.unwrap().error_for_response().await.unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(response.headers()["x-id"], "7");
        assert_eq!(response.text().await.unwrap(), if status == 200 { "whole" } else { "" });
    }
}

// Rule H4.
#[tokio::test]
async fn the_error_keeps_status_url_headers_and_body() {
    let server = Server::start(Reaction::Answer(404, "x-id: 7\r\n", "no such order"));
    let url = format!("{}orders/7?key=secret", server.url);
    let error = ClientError::from(get(&url).await.unwrap().error_for_response().await.unwrap_err());
    assert_eq!(error.status(), Some(StatusCode::NOT_FOUND));
    assert_eq!(error.classification(), FINAL.with_fault(ErrorFault::Client));
    let response = error.response().unwrap();
    assert_eq!(response.url(), url);
    assert_eq!(response.headers()["x-id"], "7");
    assert_eq!(response.text(), "no such order");
    assert!(response.is_body_complete());
    // The query is secret.
    assert_eq!(error.to_string(), format!("{}orders/7 answered 404 Not Found", server.url));
}

// Rule H4.
#[tokio::test]
async fn each_status_is_classified_together_with_its_headers() {
    for status in ERROR_STATUSES {
        let plain = error(status, "").await;
        assert_eq!(plain.classification(), http::status(status), "{status}");
        assert_eq!(Classification::of(&plain), http::status(status), "{status}");
        let waits = error(status, "retry-after: 7\r\n").await;
        let expected = http::status_with(status, Some(Duration::from_secs(7)));
        assert_eq!(waits.classification(), expected, "{status}");
    }
}

/// The server's clock is years behind, which makes no difference.
#[tokio::test]
async fn a_date_in_retry_after_counts_from_the_servers_own_date() {
    let headers = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:47 GMT\r\n";
    let error = error(503, headers).await;
    assert_eq!(error.retry_after(), Some(Duration::from_secs(10)));
    assert!(error.is_throttle());
    let server_time = error.response().unwrap().server_time().unwrap();
    assert_eq!(server_time.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs(), 784_111_777);
}

#[tokio::test]
async fn a_missing_or_malformed_date_is_no_time() {
    for headers in ["", "date: yesterday\r\n"] {
        assert_eq!(error(503, headers).await.response().unwrap().server_time(), None, "{headers:?}");
    }
}

#[tokio::test]
async fn only_the_beginning_of_a_long_body_is_kept() {
    let server = Server::start(Reaction::Answer(500, "", "0123456789"));
    for (limit, kept, complete) in
        [(0, "", false), (4, "0123", false), (10, "0123456789", true), (11, "0123456789", true)]
    {
        let response = get(&server.url).await.unwrap().error_for_response().body_limit(limit).await.unwrap_err();
        assert_eq!((response.body(), response.is_body_complete()), (kept.as_bytes(), complete), "{limit}");
        assert_eq!(response.classification(), http::status(500));
    }
}

// Rule H4.
#[tokio::test]
async fn a_body_that_stalls_or_breaks_does_not_hide_the_status() {
    let half = "HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 100\r\n\r\nhalf";
    for reaction in [Reaction::SendAndStall(half), Reaction::Send(half)] {
        let server = Server::start(reaction);
        let check = get(&server.url).await.unwrap().error_for_response().body_timeout(Duration::from_millis(300));
        let error = check.await.unwrap_err();
        assert_eq!(error.status(), StatusCode::TOO_MANY_REQUESTS, "{reaction:?}");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(7)), "{reaction:?}");
        assert_eq!(error.text(), "half", "{reaction:?}");
        assert!(!error.is_body_complete(), "{reaction:?}");
    }
}

/// Judges by the code in the body.
fn openai(error: &ErrorResponse) -> Classification {
    let code = error.text().trim().strip_prefix("code: ").and_then(llm::known_openai);
    llm::response(error.status(), error.headers(), code, SystemTime::now())
}

// Rule H17.
#[tokio::test]
async fn a_function_can_classify_the_error_by_its_body() {
    let unpaid = Classification::new(RetrySafety::No).with_fault(ErrorFault::Client);
    for (headers, body, expected) in [
        ("", "code: insufficient_quota", unpaid),
        ("", "code: rate_limit_exceeded", http::status(429)),
        ("", "something else", http::status(429)),
        ("retry-after: 1.5\r\n", "", http::status_with(429, Some(Duration::from_millis(1500)))),
        ("x-should-retry: false\r\n", "", http::status(429).with_safety(RetrySafety::No)),
    ] {
        let server = Server::start(Reaction::Answer(429, headers, body));
        let check = get(&server.url).await.unwrap().error_for_response().classify_with(openai);
        let error = ClientError::from(check.await.unwrap_err());
        assert_eq!(error.classification(), expected, "{headers}{body}");
        assert_eq!(Classification::of(&error), expected, "{headers}{body}");
        assert_eq!(error.response().unwrap().classification(), expected, "{headers}{body}");
        assert_eq!(chain::first_known(&error, link), Some(expected), "{headers}{body}");
    }
    // It is not called for a success.
    let server = Server::start(Reaction::Answer(200, "", "whole"));
    let check = get(&server.url).await.unwrap().error_for_response().classify_with(|_| panic!("a success"));
    assert_eq!(check.await.unwrap().status(), 200);
}

// Rule H17.
#[tokio::test]
async fn a_final_429_ends_the_operation_after_one_request() {
    static MODEL: StandardRetryStrategy =
        StandardRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(1));

    #[retryable(strategy = MODEL, idempotent)]
    async fn ask(url: &str) -> Result<Response, ClientError> {
        Ok(get(url).await?.error_for_response().classify_with(openai).await?)
    }

    for (body, requests) in [("code: insufficient_quota", 1), ("code: rate_limit_exceeded", 5)] {
        let server = Server::start(Reaction::Answer(429, "retry-after-ms: 1\r\n", body));
        assert!(ask(&server.url).await.is_err());
        assert_eq!(server.requests(), requests, "{body}");
    }
}

// Rule H11.
#[tokio::test]
async fn reqwests_own_error_is_classified_as_by_classify() {
    let error = ClientError::from(get(&format!("http://{UNKNOWN_HOST}/")).await.unwrap_err());
    assert_eq!(error.classification(), UNSENT);
    assert!(error.client_error().unwrap().is_connect());
    assert!(error.source().is_some_and(<dyn Error>::is::<reqwest::Error>), "{error:?}");
    assert!(error.response().is_none() && error.status().is_none() && error.timed_out().is_none());
}

// Rule H5.
#[tokio::test]
async fn the_method_makes_a_maybe_a_yes_if_it_is_idempotent() {
    let verdict = |error: ClientError, method: &Method| error.for_method(method).is_retry_safe();
    for (method, idempotent) in
        [(Method::GET, true), (Method::PUT, true), (Method::POST, false), (Method::PATCH, false)]
    {
        let expected = if idempotent { RetrySafety::Yes } else { RetrySafety::Maybe };
        assert_eq!(verdict(error(500, "").await, &method), expected, "{method}");
        // A *no* and a *yes* don't depend on the method.
        assert_eq!(verdict(error(404, "").await, &method), RetrySafety::No, "{method}");
        assert_eq!(verdict(error(429, "").await, &method), RetrySafety::Yes, "{method}");
    }
}

// Rule H11.
#[tokio::test]
async fn all_errors_are_found_in_a_chain() {
    let answered = error(429, "retry-after: 7\r\n").await;
    let verdict = answered.classification();
    let response = answered.response().unwrap().clone();
    assert_eq!(chain::first_known(&io::Error::other(answered), link), Some(verdict));
    assert_eq!(chain::first_known(&io::Error::other(response), link), Some(verdict));
}

#[derive(Debug, PartialEq, Deserialize)]
struct Order {
    id: u32,
}

static API: StandardRetryStrategy =
    StandardRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(1));

#[retryable(strategy = API, idempotent, max_time = "10s", attempt_timeout = "2s")]
async fn order(http: &Client, url: &str) -> Result<Order, ClientError> {
    Ok(http.get(url).send().await?.error_for_response().await?.json().await?)
}

#[tokio::test]
async fn a_function_of_three_lines_survives_common_failures() {
    let server = Server::start_script([
        Reaction::Answer(503, "retry-after: 0\r\n", ""),
        Reaction::Answer(500, "", ""),
        Reaction::Send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"),
        Reaction::SendAndReset(""),
        Reaction::Answer(200, "", "{\"id\":7}"),
    ]);
    let client = builder().build().unwrap();
    assert_eq!(order(&client, &server.url).await.unwrap(), Order { id: 7 });
    assert_eq!(server.requests(), 5);

    let server = Server::start(Reaction::Answer(404, "", "no such order"));
    let error = order(&client, &server.url).await.unwrap_err();
    assert_eq!(error.response().unwrap().text(), "no such order");
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn an_attempt_that_is_cut_has_the_error_of_its_limit() {
    #[retryable(strategy = API, idempotent = false, attempt_timeout = "300ms")]
    async fn pay(http: &Client, url: &str) -> Result<(), ClientError> {
        http.post(url).send().await?.error_for_response().await?;
        Ok(())
    }

    let server = Server::start(Reaction::SendAndStall(""));
    let error = pay(&builder().build().unwrap(), &server.url).await.unwrap_err();
    assert_eq!(error.timed_out().unwrap().limit(), TimeLimit::Attempt);
    assert_eq!(error.classification(), UNKNOWN.with_timeout());
    assert_eq!(server.requests(), 1, "a payment that may have been made was sent again");
}

#[tokio::test]
async fn a_broken_connection_stays_a_maybe_for_the_operation_to_decide() {
    let server = Server::start(Reaction::Send(""));
    let error = ClientError::from(get(&server.url).await.unwrap_err());
    assert_eq!(error.classification(), BROKEN);
}

/// An enum of a library, with reqwest's errors and the server's answers.
#[derive(Debug, RetryInfo)]
enum ShopError {
    #[retry(transparent)]
    Answered(ErrorResponse),
    #[retry(with = crate::module::classify)]
    Http(reqwest::Error),
    #[retry(transparent)]
    NoAnswer(TimedOut),
}

impl From<ErrorResponse> for ShopError {
    fn from(error: ErrorResponse) -> Self {
        Self::Answered(error)
    }
}

impl From<reqwest::Error> for ShopError {
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error)
    }
}

impl From<TimedOut> for ShopError {
    fn from(error: TimedOut) -> Self {
        Self::NoAnswer(error)
    }
}

// Rule H4.
#[tokio::test]
async fn an_error_response_is_a_variant_of_a_users_own_enum() {
    #[retryable(strategy = API, idempotent, max_time = "10s", attempt_timeout = "2s")]
    async fn order(http: &Client, url: &str) -> Result<Order, ShopError> {
        Ok(http.get(url).send().await?.error_for_response().await?.json().await?)
    }

    let client = builder().build().unwrap();
    // The answers are retried, the second one after its wait, and the last one is returned.
    let server = Server::start_script([
        Reaction::Answer(500, "", ""),
        Reaction::Answer(429, "retry-after-ms: 20\r\n", ""),
        Reaction::Answer(404, "x-id: 7\r\n", "no such order"),
    ]);
    let started = Instant::now();
    let error = order(&client, &server.url).await.unwrap_err();
    assert!(started.elapsed() >= Duration::from_millis(20));
    let ShopError::Answered(response) = &error else { panic!("{error:?}") };
    assert_eq!((response.status(), response.headers()["x-id"].as_bytes()), (StatusCode::NOT_FOUND, &b"7"[..]));
    assert_eq!((response.text().as_ref(), server.requests()), ("no such order", 3));
    assert_eq!(Classification::of(&error), http::status(404));

    let closed = Server::start(Reaction::Send(""));
    let error = order(&client, &closed.url).await.unwrap_err();
    assert!(matches!(error, ShopError::Http(_)), "{error:?}");
    assert_eq!((Classification::of(&error), closed.requests()), (BROKEN, 5));
}

// Rule H24.
#[tokio::test]
async fn a_call_knows_whether_it_may_have_been_carried_out() {
    #[retryable(strategy = API, idempotent = false, max_time = "400ms")]
    async fn pay(http: &Client, url: &str) -> Result<(), ClientError> {
        http.post(url).send().await?.error_for_response().await?;
        Ok(())
    }

    let client = builder().build().unwrap();
    for (reaction, unknown) in [
        (Reaction::Answer(500, "", ""), true),
        (Reaction::Answer(502, "", ""), true),
        (Reaction::Answer(503, "", ""), true),
        (Reaction::Answer(504, "", ""), true),
        (Reaction::Answer(503, "retry-after-ms: 1\r\n", ""), false),
        (Reaction::Answer(429, "", ""), false),
        (Reaction::Answer(400, "", ""), false),
        (Reaction::Answer(501, "", ""), false),
        // A time limit cuts the attempt.
        (Reaction::SendAndStall(""), true),
        (Reaction::Send(""), true),
        (Reaction::SendAndReset(""), true),
        (Reaction::SendAndReset("HTTP/1.1 200 OK\r\ncontent-le"), true),
    ] {
        let server = Server::start(reaction);
        let error = pay(&client, &server.url).await.unwrap_err();
        assert_eq!(error.is_outcome_unknown(), unknown, "{reaction:?} {error:?}");
        // With this method, it may be repeated.
        let method = Method::PUT;
        assert_eq!(error.for_method(&method).is_outcome_unknown(), unknown, "{reaction:?}");
    }
    for url in [format!("http://{UNKNOWN_HOST}/"), format!("http://{}/", refused_address())] {
        let error = pay(&client, &url).await.unwrap_err();
        assert!(!error.is_outcome_unknown(), "{error:?}");
        assert_eq!(error.to_string(), "the call failed");
    }
    for limit in [TimeLimit::Stop, TimeLimit::Operation, TimeLimit::Deadline] {
        let cut = TimedOut::new(limit, Duration::from_secs(1));
        assert!(ClientError::from(cut).is_outcome_unknown());
        assert!(!ClientError::from(cut.before_attempt()).is_outcome_unknown());
    }
}

// Rule H24.
#[tokio::test]
async fn a_classification_that_calls_a_repetition_harmless_does_not_make_an_outcome_known() {
    const HARMLESS: Classification = Classification::new(RetrySafety::Yes);
    const THROTTLED: Classification = Classification::new(RetrySafety::Yes).with_throttling();
    const CONFLICT: Classification = Classification::new(RetrySafety::Yes).with_conflict();
    for (status, classify, unknown) in [
        (500, (|_| HARMLESS) as fn(&ErrorResponse) -> Classification, true),
        (503, |_| FINAL, true),
        (503, |_| THROTTLED, false),
        (500, |_| CONFLICT, false),
        (404, |_| HARMLESS, false),
        (404, |_| UNKNOWN, true),
    ] {
        let server = Server::start(Reaction::Answer(status, "", ""));
        let check = get(&server.url).await.unwrap().error_for_response().classify_with(classify);
        let error = check.await.unwrap_err();
        assert_eq!(error.is_outcome_unknown(), unknown, "{status}");
        assert_eq!(ClientError::from(error).is_outcome_unknown(), unknown, "{status}");
    }
}

// Rule H11.
#[tokio::test]
async fn a_chain_of_sources_has_the_clients_error_and_no_text_twice() {
    let refused = get(&format!("http://{}/", refused_address())).await.unwrap_err();
    let (own, inner) = (refused.to_string(), refused.source().unwrap().to_string());
    let error = anyhow::Error::from(ClientError::from(refused));
    let found = error.chain().find_map(|link| link.downcast_ref::<reqwest::Error>());
    assert!(found.is_some_and(reqwest::Error::is_connect), "{error:?}");
    let text = format!("{error:#}");
    assert!(text.starts_with(&format!("the call failed: {own}: {inner}")), "{text}");
    // Without anyhow, the text is the same.
    assert_eq!(format!("{:#}", error.downcast_ref::<ClientError>().unwrap()), text);
    let links: Vec<_> = error.chain().map(ToString::to_string).collect();
    for (index, link) in links.iter().enumerate() {
        let others = links.iter().enumerate().filter(|(other, _)| *other != index);
        assert!(others.into_iter().all(|(_, other)| !other.contains(link)), "{links:#?}");
    }
}
