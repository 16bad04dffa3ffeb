//! How the errors of reqwest-middleware 0.5 are classified, and the middleware that retries, with a small HTTP server.

mod faults;
mod middleware;

use clients_tests::{BROKEN, PATIENCE, Reaction, Server, UNKNOWN, UNSENT, refused_address};
use reqwest::{Client, ClientBuilder, Request, Response, StatusCode};
use reqwest_middleware::{ClientWithMiddleware, Error, Middleware, Next};
use retry_clients::{reqwest_middleware05, reqwest013};
use retry_core::classify::{Classification, chain};
use retry_core::{
    RetryDirective, RetryError, RetryErrorType, RetryPolicy, StandardRetryPolicy, StandardRetryStrategy, retry,
    retryable,
};
use std::io;
use std::time::Duration;

fn builder() -> ClientBuilder {
    // The first call installs it, and the others change nothing.
    _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().timeout(PATIENCE).retry(reqwest::retry::never()).no_proxy()
}

/// A middleware that fails for some URLs, and passes other requests on.
struct Picky;

#[async_trait::async_trait]
impl Middleware for Picky {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        match request.url().path() {
            "/refuse" => Err(Error::Middleware(io::Error::from(io::ErrorKind::ConnectionRefused).into())),
            "/within" => {
                let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
                Err(Error::Middleware(anyhow::Error::from(refused).context("while asking for a token")))
            }
            "/nested" => Err(Error::middleware(next.run(request, extensions).await.expect_err("a failure"))),
            "/unknown" => Err(Error::Middleware(anyhow::anyhow!("no token"))),
            _ => next.run(request, extensions).await,
        }
    }
}

fn client(builder: ClientBuilder) -> ClientWithMiddleware {
    reqwest_middleware::ClientBuilder::new(builder.build().unwrap()).with(Picky).build()
}

/// Sends one request and reads the answer.
async fn get(client: &ClientWithMiddleware, url: &str) -> reqwest_middleware::Result<String> {
    Ok(client.get(url).send().await?.error_for_status()?.text().await?)
}

/// Returns the error of a request, and checks that all parts of the module agree about it.
async fn verdict(builder: ClientBuilder, url: &str) -> Option<Classification> {
    let error = get(&client(builder), url).await.unwrap_err();
    let verdict = reqwest_middleware05::classify(&error);
    let directive = match verdict {
        Some(verdict) => StandardRetryPolicy::new().evaluate_error(&verdict),
        None => RetryDirective::fail(Some(RetryErrorType::Unknown)),
    };
    assert_eq!(reqwest_middleware05::policy().evaluate_error(&error), directive, "{error:?}");
    let in_chain = anyhow::Error::from(error).context("while reading");
    assert_eq!(reqwest_middleware05::policy().evaluate_error(&in_chain), directive, "{in_chain:?}");
    verdict
}

// Rules H1, H12.
#[tokio::test]
async fn an_error_of_reqwest_is_found_inside() {
    let refused = format!("http://{}/", refused_address());
    assert_eq!(verdict(builder(), &refused).await, Some(UNSENT));

    let stalled = Server::start(Reaction::SendAndStall(""));
    let client = client(builder().timeout(Duration::from_millis(300)));
    let error = get(&client, &stalled.url).await.unwrap_err();
    assert_eq!(chain::first_known(&error, reqwest013::link), None, "the chain does not show it");
    let outcome = Err::<(), _>(error);
    let unknown = RetryDirective::fail(Some(RetryErrorType::Unknown));
    assert_eq!(reqwest013::policy().evaluate(&outcome), unknown);
    assert_eq!(reqwest_middleware05::policy().evaluate(&outcome), RetryDirective::retry(RetryErrorType::Timeout));
}

// Rules H2, H3, H12.
#[tokio::test]
async fn each_kind_of_error_of_reqwest_is_classified_as_without_middleware() {
    let reset = Server::start(Reaction::SendAndReset(""));
    assert_eq!(verdict(builder(), &reset.url).await, Some(BROKEN));

    let cut = Server::start(Reaction::Send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"));
    assert_eq!(verdict(builder(), &cut.url).await, Some(BROKEN));

    let stalled = Server::start(Reaction::SendAndStall(""));
    let timeout = builder().timeout(Duration::from_millis(300));
    assert_eq!(verdict(timeout, &stalled.url).await, Some(UNKNOWN.with_timeout()));

    for status in [404, 429, 503] {
        let server = Server::start(Reaction::Answer(status, "", ""));
        let expected = Classification::from(StatusCode::from_u16(status).unwrap());
        assert_eq!(verdict(builder(), &server.url).await, Some(expected), "{status}");
    }
}

// Rule H12.
#[tokio::test]
async fn an_error_of_a_middleware_is_looked_into() {
    let refused = |path: &str| format!("http://{}/{path}", refused_address());
    assert_eq!(verdict(builder(), &refused("refuse")).await, Some(UNSENT), "an I/O error");
    assert_eq!(verdict(builder(), &refused("within")).await, Some(UNSENT), "the source of a context");
    assert_eq!(verdict(builder(), &refused("nested")).await, Some(UNSENT), "an error around an error");
    assert_eq!(verdict(builder(), &refused("unknown")).await, None);
}

static API: StandardRetryStrategy =
    StandardRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(1));

/// A strategy for all the tests of the middleware, whose quota lasts.
static MANY: StandardRetryStrategy =
    StandardRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(1)).quota_capacity(1_000_000);

/// A program as a user writes it.
#[retryable(strategy = API, policy = reqwest_middleware05::policy().idempotent(true))]
async fn read(client: &ClientWithMiddleware, url: &str) -> reqwest_middleware::Result<String> {
    get(client, url).await
}

// Rules H9, H12.
#[tokio::test]
async fn a_request_is_retried_until_the_server_is_well() {
    let answers = [Reaction::Answer(503, "", ""), Reaction::SendAndReset(""), Reaction::Answer(200, "", "found")];
    let server = Server::start_script(answers);
    assert_eq!(read(&client(builder()), &server.url).await.unwrap(), "found");
    assert_eq!(server.requests(), 3);

    // With the policy of reqwest itself, there is no retry.
    let server = Server::start_script(answers);
    let client = client(builder());
    let report = retry(&API, || get(&client, &server.url)).policy(reqwest013::policy().idempotent(true)).report().await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NotRetryable)));
    assert_eq!(server.requests(), 1);
}
