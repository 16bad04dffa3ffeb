//! What error responses lead to: a real server sends each status with each header.

use super::errors::builder;
use crate::client::{Client, Method, StatusCode};
use crate::module::{ClientError, ResponseExt};
use clients_tests::{Reaction, Server};
use retry_core::{RetryError, StandardRetryStrategy, retryable, test};
use std::time::{Duration, Instant};

const BACKOFF: Duration = Duration::from_millis(1);

static API: StandardRetryStrategy = StandardRetryStrategy::new().backoff(BACKOFF, BACKOFF);

#[retryable(strategy = API, idempotent = false)]
async fn send(client: &Client, method: &Method, url: &str) -> Result<StatusCode, ClientError> {
    let response = client.request(method.clone(), url).send().await?.error_for_response().await;
    Ok(response.map_err(|error| ClientError::from(error).for_method(method))?.status())
}

/// A server that answers once with this status and these headers, and then with a success.
fn fails_once(status: u16, headers: &'static str) -> Server {
    Server::start_script([Reaction::Answer(status, headers, ""), Reaction::Answer(200, "", "")])
}

#[expect(clippy::unnecessary_wraps, reason = "a column of the table")]
const fn millis(millis: u64) -> Option<Duration> {
    Some(Duration::from_millis(millis))
}

#[expect(clippy::unnecessary_wraps, reason = "a column of the table")]
const fn secs(secs: u64) -> Option<Duration> {
    Some(Duration::from_secs(secs))
}

/// The request is sent again without a wait of the server, after the backoff alone.
const AT_ONCE: Option<Duration> = Some(Duration::ZERO);
/// The request is not sent again.
const NEVER: Option<Duration> = None;

/// The method, the status, the headers, and the wait that they ask for.
const ROWS: [(&str, u16, &str, Option<Duration>); 35] = [
    ("POST", 429, "", AT_ONCE),
    ("POST", 429, "retry-after: 7\r\n", secs(7)),
    ("POST", 429, "retry-after: 7\r\nretry-after-ms: 5\r\n", millis(5)),
    ("POST", 429, "retry-after: 7\r\nx-ms-retry-after-ms: 9000\r\n", secs(9)),
    ("POST", 429, "retry-after: 7\r\nx-amz-retry-after: 5\r\n", millis(5)),
    ("POST", 429, "retry-after: 7\r\nretry-after-ms: 1.5\r\n", secs(7)),
    ("POST", 429, "retry-after: soon\r\nretry-after-ms: -5\r\n", AT_ONCE),
    ("POST", 429, "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 30\r\n", secs(30)),
    ("POST", 509, "", AT_ONCE),
    ("POST", 529, "", AT_ONCE),
    ("POST", 529, "retry-after-ms: 5\r\n", millis(5)),
    ("POST", 403, "", NEVER),
    ("POST", 403, "retry-after: 7\r\n", secs(7)),
    ("POST", 403, "retry-after: soon\r\n", NEVER),
    ("POST", 403, "retry-after-ms: 5\r\n", millis(5)),
    ("POST", 403, "x-amz-retry-after: 5\r\n", NEVER),
    ("POST", 403, "x-ratelimit-remaining: 0\r\n", AT_ONCE),
    ("POST", 403, "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 30\r\n", secs(30)),
    ("POST", 403, "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: soon\r\n", AT_ONCE),
    ("POST", 403, "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 30\r\nretry-after: 7\r\n", secs(7)),
    (
        "POST",
        403,
        "date: Fri, 15 Jan 2027 08:00:00 GMT\r\nx-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1800000040\r\n",
        secs(40),
    ),
    ("POST", 403, "x-ratelimit-remaining: 1\r\nx-ratelimit-reset: 30\r\n", NEVER),
    ("POST", 403, "x-ratelimit-remaining: none\r\nx-ratelimit-reset: 30\r\n", NEVER),
    ("POST", 503, "", NEVER),
    ("POST", 503, "retry-after: 7\r\n", secs(7)),
    ("POST", 503, "retry-after-ms: 5\r\n", millis(5)),
    ("POST", 503, "x-ms-retry-after-ms: 5\r\n", millis(5)),
    ("POST", 503, "x-amz-retry-after: 5\r\n", NEVER),
    ("POST", 503, "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 30\r\n", NEVER),
    ("QUERY", 503, "x-amz-retry-after: 5\r\n", millis(5)),
    ("POST", 500, "", NEVER),
    ("GET", 500, "", AT_ONCE),
    ("QUERY", 500, "", AT_ONCE),
    ("QUERY", 403, "", NEVER),
    ("GET", 404, "retry-after: 7\r\n", NEVER),
];

// Rules E1, E2, E5, E19.
#[tokio::test]
async fn each_answer_of_a_server_is_retried_or_not_and_after_the_wait_that_it_asks_for() {
    let client = builder().build().unwrap();
    for (method, status, headers, wait) in ROWS {
        let row = format!("{method} {status} {headers:?}");
        let server = fails_once(status, headers);
        // The guard skips the waits and records them.
        let guard = test::begin();
        let outcome = send(&client, &method.parse().unwrap(), &server.url).await;
        let operation = guard.only();
        let Some(wait) = wait else {
            assert_eq!(outcome.unwrap_err().status().unwrap(), status, "{row}");
            assert_eq!((operation.reason, server.requests()), (Some(RetryError::NotRetryable), 1), "{row}");
            continue;
        };
        assert_eq!(outcome.unwrap(), 200, "{row}");
        assert_eq!((operation.reason, server.requests()), (None, 2), "{row}");
        // A wait that the server asked for is never shortened.
        let longest = wait + wait / 10 + BACKOFF;
        assert!((wait..=longest).contains(&operation.delays[0]), "{row}: {:?}", operation.delays);
    }
}

// Rule E5.
#[tokio::test]
async fn a_wait_in_milliseconds_is_slept() {
    let client = builder().build().unwrap();
    for headers in ["retry-after-ms: 15\r\n", "x-ms-retry-after-ms: 15\r\n", "x-amz-retry-after: 15\r\n"] {
        let server = fails_once(429, headers);
        let started = Instant::now();
        assert_eq!(send(&client, &Method::POST, &server.url).await.unwrap(), 200, "{headers:?}");
        assert!(started.elapsed() >= Duration::from_millis(15), "{headers:?}");
        assert_eq!(server.requests(), 2, "{headers:?}");
    }
}
