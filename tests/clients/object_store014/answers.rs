//! How the answers to requests, and the errors of clients, are classified.

use super::{builder, client, connector, faulty};
use crate::store::{Fault, Store};
use clients_tests::{BROKEN, FINAL, LIMIT, UNKNOWN, UNSENT, refused_address};
use object_store::aws::S3CopyIfNotExists;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpService,
};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, PutPayload};
use retry_clients::object_store014::{self, RetryConnector};
use retry_core::classify::chain;
use retry_core::{RetryError, RetryErrorType, TimeLimit, TimedOut, test};
use std::error::Error as _;
use std::io;
use std::time::Duration;

const CONFLICT: Option<RetryErrorType> = Some(RetryErrorType::Conflict);
const THROTTLING: Option<RetryErrorType> = Some(RetryErrorType::Throttling);
const TIMEOUT: Option<RetryErrorType> = Some(RetryErrorType::Timeout);
const SERVER: Option<RetryErrorType> = Some(RetryErrorType::ServerSide);
const CLIENT: Option<RetryErrorType> = Some(RetryErrorType::ClientSide);

fn key() -> Path {
    Path::from("key")
}

// Rule H20.
#[tokio::test]
async fn the_code_in_the_body_comes_before_the_status() {
    for (status, code, class, is_repeated) in [
        (503, "SlowDown", THROTTLING, true),
        (503, "ServerBusy", THROTTLING, true),
        (503, "ServiceUnavailable", SERVER, true),
        (503, "", SERVER, true),
        (400, "RequestTimeout", TIMEOUT, true),
        (400, "RequestTimeTooSkewed", CLIENT, false),
        (409, "OperationAborted", CONFLICT, true),
        (409, "BucketNotEmpty", CLIENT, false),
        (503, "SlowDownWrite", THROTTLING, true),
        (500, "OperationTimedOut", TIMEOUT, true),
        (500, "InternalError", SERVER, true),
        (
            403,
            r#"{"error": {"errors": [{"domain": "usageLimits", "reason": "rateLimitExceeded"}], "code": 403}}"#,
            THROTTLING,
            true,
        ),
        (403, r#"{"error":{"errors":[{"reason":"userRateLimitExceeded"}]}}"#, THROTTLING, true),
        (403, r#"{"error":{"errors":[{"reason":"quotaExceeded"}]}}"#, CLIENT, false),
        (
            403,
            r#"{"error":{"errors":[{"reason":"forbidden","message":"\"reason\": \"rateLimitExceeded\""}]}}"#,
            CLIENT,
            false,
        ),
        (503, r#"{"error":{"errors":[{"reason" : "backendError"}],"code":503}}"#, SERVER, true),
        (410, r#"{"error":{"errors":[{"reason":"backendError"}],"code":410}}"#, CLIENT, false),
        (503, r#"{"error":{"code":"ServerBusy","message":"Egress is over the account limit."}}"#, THROTTLING, true),
        (400, "InvalidRequest", CLIENT, false),
    ] {
        let guard = test::begin();
        let store = faulty(Fault::Refused(status, "", code), |_| true).await;
        let outcome = client(&store).put(&key(), PutPayload::new()).await;
        assert_eq!(
            (outcome.is_ok(), store.arrived().len()),
            (is_repeated, 1 + usize::from(is_repeated)),
            "{status} {code}"
        );
        assert_eq!(guard.only().classes, [class], "{status} {code}");
    }
}

// Rule H20.
#[tokio::test]
async fn a_code_in_a_header_is_read_also_for_a_head() {
    for (status, headers, class) in [
        (503, "x-ms-error-code: ServerBusy\r\n", THROTTLING),
        (500, "x-ms-error-code: OperationTimedOut\r\n", TIMEOUT),
        (503, "x-ms-error-code: InternalError\r\n", SERVER),
        (409, "x-ms-error-code: CannotVerifyCopySource\r\nx-ms-copy-source-error-code: ServerBusy\r\n", THROTTLING),
        (503, "x-ms-error-code: Unknown\r\n", SERVER),
        (503, "x-ms-error-code: InternalError\r\nretry-after: 1\r\n", THROTTLING),
        (409, "x-ms-copy-source-error-code: InternalError\r\n", SERVER),
    ] {
        let guard = test::begin();
        let store = faulty(Fault::Refused(status, headers, ""), |_| true).await;
        store.insert("key", "content");
        client(&store).head(&key()).await.unwrap();
        assert_eq!(guard.only().classes, [class], "{headers}");
    }
}

// Rules E29, H20.
#[tokio::test]
async fn a_limit_in_the_headers_is_the_wait_of_a_code_that_is_throttling() {
    let guard = test::begin();
    let store = faulty(Fault::Refused(503, "ratelimit: \"a\";r=0;t=58\r\n", "SlowDown"), |_| true).await;
    client(&store).put(&key(), PutPayload::new()).await.unwrap();
    assert_eq!(guard.only().delays, [Duration::from_secs(58)]);
}

// Rule H20.
#[tokio::test]
async fn the_answer_to_a_head_has_no_code() {
    let guard = test::begin();
    let store = faulty(Fault::Refused(503, "", "SlowDown"), |_| true).await;
    store.insert("key", "content");
    client(&store).head(&key()).await.unwrap();
    assert_eq!(guard.only().classes, [SERVER]);
}

// Rule H20.
#[tokio::test]
async fn a_retry_waits_as_long_as_the_store_asks_for() {
    for (status, code) in [(429, ""), (503, ""), (503, "SlowDown"), (500, "InternalError")] {
        let guard = test::begin();
        let store = faulty(Fault::Refused(status, "retry-after: 7\r\n", code), |_| true).await;
        client(&store).put(&key(), PutPayload::new()).await.unwrap();
        assert_eq!(guard.only().delays, [Duration::from_secs(7)], "{status} {code}");
    }
}

const INTERNAL: &str = "<Error><Code>InternalError</Code></Error>";
const SLOW: &str = "<Error><Code>SlowDown</Code></Error>";

// Rule H20.
#[tokio::test]
async fn an_error_in_a_success_is_an_error() {
    for (body, class) in [(INTERNAL, SERVER), (SLOW, THROTTLING)] {
        let guard = test::begin();
        let store = faulty(Fault::Says(body), |request| request.header("x-amz-copy-source").is_some()).await;
        store.insert("old", "content");
        client(&store).copy(&Path::from("old"), &key()).await.unwrap();
        assert_eq!((guard.only().classes.as_slice(), store.arrived().len()), (&[class][..], 2));
    }

    // On a condition, the first one may have been carried out.
    for (body, requests) in [(INTERNAL, 1), (SLOW, 2)] {
        let _guard = test::begin();
        let store = faulty(Fault::Says(body), |_| true).await;
        store.insert("old", "content");
        let by_header = S3CopyIfNotExists::Header("if-none-match".into(), "*".into());
        let builder = builder(&store).with_copy_if_not_exists(by_header).with_http_connector(connector());
        let outcome = builder.build().unwrap().copy_if_not_exists(&Path::from("old"), &key()).await;
        assert_eq!((outcome.is_ok(), store.arrived().len()), (requests == 2, requests), "{body}");
    }

    // An object may look like an error.
    let _guard = test::begin();
    let store = Store::start(None, |_, _| Fault::None).await.unwrap();
    store.insert("key", INTERNAL);
    assert_eq!(client(&store).get(&key()).await.unwrap().bytes().await.unwrap(), INTERNAL);
    assert_eq!(store.arrived(), ["GET key"]);
}

/// A connector that takes no connections: its client fails like this, or hangs.
#[derive(Clone, Copy, Debug)]
struct Fails(Option<HttpErrorKind>);

impl HttpConnector for Fails {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(*self))
    }
}

#[async_trait::async_trait]
impl HttpService for Fails {
    async fn call(&self, _: HttpRequest) -> Result<HttpResponse, HttpError> {
        match self.0 {
            Some(kind) => Err(HttpError::new(kind, io::Error::other("failed"))),
            None => std::future::pending().await,
        }
    }
}

// Rules H1, H2, H3, H20.
#[tokio::test]
async fn an_error_of_another_client_is_classified_by_its_source_or_else_by_its_kind() {
    for (kind, expected) in [
        (HttpErrorKind::Connect, Some(UNSENT)),
        (HttpErrorKind::Timeout, Some(UNKNOWN.with_timeout())),
        (HttpErrorKind::Request, Some(BROKEN)),
        (HttpErrorKind::Interrupted, Some(BROKEN)),
        (HttpErrorKind::Decode, Some(FINAL)),
        (HttpErrorKind::Unknown, None),
    ] {
        let error = HttpError::new(kind, io::Error::other("failed"));
        assert_eq!(object_store014::classify(&error), expected, "{kind:?}");
        let refused = HttpError::new(kind, io::Error::from(io::ErrorKind::ConnectionRefused));
        assert_eq!(object_store014::classify(&refused), Some(UNSENT), "{kind:?}");

        let guard = test::begin();
        let store = Store::start(None, |_, _| Fault::None).await.unwrap();
        let retries = RetryConnector::new(Fails(Some(kind)), &super::STORE);
        let client = builder(&store).with_http_connector(retries).build().unwrap();
        client.head(&key()).await.unwrap_err();
        let is_repeated = expected.is_some_and(|expected| expected != FINAL);
        let class = if expected.is_none() { Some(RetryErrorType::Unknown) } else { guard.only().classes[0] };
        assert_eq!(
            (guard.only().attempts, guard.only().classes[0]),
            (if is_repeated { 5 } else { 1 }, class),
            "{kind:?}"
        );
    }
}

// Rule H19.
#[tokio::test]
async fn a_header_tells_whether_a_request_writes_on_a_condition() {
    let retries = RetryConnector::new(Fails(Some(HttpErrorKind::Interrupted)), &super::STORE);
    let client = retries.connect(&ClientOptions::new()).unwrap();
    for (method, header, value, is_conditional) in [
        ("PUT", "if-match", "tag", true),
        ("PUT", "if-none-match", "*", true),
        ("PUT", "x-goog-if-generation-match", "0", true),
        ("PUT", "cf-copy-destination-if-none-match", "*", true),
        ("POST", "if-none-match", "*", true),
        ("COPY", "overwrite", "F", true),
        ("COPY", "overwrite", "T", false),
        ("PUT", "x-amz-copy-source-if-match", "tag", false),
        ("PUT", "x-ms-source-if-none-match", "tag", false),
        ("GET", "if-match", "tag", false),
        ("HEAD", "if-none-match", "*", false),
        ("PROPFIND", "if-match", "tag", false),
        ("POST", "content-type", "text/xml", false),
    ] {
        let guard = test::begin();
        let request = http::Request::builder().method(method).uri("http://localhost/bucket/key").header(header, value);
        client.execute(request.body(HttpRequestBody::empty()).unwrap()).await.unwrap_err();
        assert_eq!(guard.only().attempts, if is_conditional { 1 } else { 5 }, "{method} {header}: {value}");
    }
}

// Rules H1, H20.
#[tokio::test]
async fn a_write_on_a_condition_is_sent_again_if_the_client_was_connecting() {
    let guard = test::begin();
    let store = Store::start(None, |_, _| Fault::None).await.unwrap();
    let builder = builder(&store).with_endpoint(format!("http://{}", refused_address()));
    let client = builder.with_http_connector(connector()).build().unwrap();
    let create = object_store::PutMode::Create.into();
    let error = client.put_opts(&key(), PutPayload::new(), create).await.unwrap_err();
    guard.only().assert_ended(5, Some(RetryError::MaxAttempts));
    // The error does not show it any more.
    let found = chain::first_known(&error, |link| link.downcast_ref().and_then(object_store014::classify));
    assert_eq!(found, Some(UNSENT), "{error:?}");
}

// Rule H20.
#[tokio::test]
async fn a_time_limit_ends_a_request() {
    let store = Store::start(None, |_, _| Fault::None).await.unwrap();
    let retries = RetryConnector::new(Fails(None), &super::STORE).max_time(LIMIT);
    let client = builder(&store).with_http_connector(retries).build().unwrap();
    let error = client.head(&key()).await.unwrap_err();
    let mut link = error.source();
    while let Some(outer) = link.filter(|link| !link.is::<TimedOut>()) {
        link = outer.source();
    }
    let timed_out: &TimedOut = link.unwrap().downcast_ref().unwrap();
    assert_eq!((timed_out.limit(), timed_out.time()), (TimeLimit::Operation, LIMIT));
}
