//! How the errors of the client in hyper-util 0.1 are classified.

use bytes::Bytes;
use clients_tests::{
    BROKEN, CUT_SHORT, FINAL, Fault, FaultyServer, FullBacklog, LIMIT, REFUSED, Reaction, Server, UNKNOWN,
    UNKNOWN_HOST, UNSENT, assert_of_client, assert_timed_out, refused_address,
};
use futures_util::stream;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::{Request, Response};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::TokioExecutor;
use retry_clients::hyper_util01;
use retry_core::classify::{Classification, chain};
use retry_core::{RetryDirective, RetryErrorType, RetryPolicy, RetryQuota, StandardRetryStrategy, retryable};
use retry_tower::RetryLayer;
use std::error::Error as StdError;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tower::{Service, ServiceBuilder, ServiceExt};

/// Sends one request, and reads the whole answer. Errors of the answer's body are hyper's.
async fn post<C>(connector: C, url: &str) -> Result<Bytes, Box<dyn StdError + Send + Sync>>
where
    C: Connect + Clone + Send + Sync + 'static,
{
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let request = Request::post(url).body(Full::<Bytes>::from("{}"))?;
    Ok(client.request(request).await?.into_body().collect().await?.to_bytes())
}

async fn verdict<C>(connector: C, url: &str) -> Classification
where
    C: Connect + Clone + Send + Sync + 'static,
{
    chain::first_known(&post(connector, url).await.unwrap_err(), hyper_util01::link).unwrap()
}

async fn reaction(reaction: Reaction) -> Classification {
    let server = Server::start(reaction);
    let verdict = verdict(HttpConnector::new(), &server.url).await;
    assert_eq!(server.requests(), 1, "the request was not sent exactly once");
    verdict
}

#[tokio::test]
async fn a_failed_name_resolution_is_safe_to_retry() {
    assert_eq!(verdict(HttpConnector::new(), &format!("http://{UNKNOWN_HOST}/")).await, UNSENT);
}

// Rule H1.
#[tokio::test]
async fn a_refused_connection_is_safe_to_retry() {
    assert_eq!(verdict(HttpConnector::new(), &format!("http://{}/", refused_address())).await, UNSENT);
}

// Rule H1.
#[tokio::test]
async fn a_timeout_while_connecting_is_safe_to_retry() {
    let server = FullBacklog::start();
    let mut connector = HttpConnector::new();
    connector.set_connect_timeout(Some(Duration::from_millis(200)));
    let verdict = verdict(connector, &format!("http://{}/", server.address())).await;
    assert_eq!(verdict, UNSENT.with_timeout());
}

// Rule H1.
#[tokio::test]
async fn a_refused_certificate_is_not_retried() {
    let server = Server::start_untrusted(Reaction::Answer(200, "", ""));
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_only().enable_http1().build();
    let error = post(connector, &server.url).await.unwrap_err();
    assert!(error.downcast_ref::<Error>().unwrap().is_connect());
    assert_eq!(chain::first_known(&error, hyper_util01::link), Some(FINAL), "{error:?}");
    assert_eq!(server.requests(), 0);
}

// Rule H3.
#[tokio::test]
async fn an_answer_that_is_cut_short_is_the_servers_fault() {
    for sent in CUT_SHORT {
        assert_eq!(reaction(Reaction::Send(sent)).await, BROKEN, "{sent:?}");
    }
}

#[tokio::test]
async fn a_reset_connection_is_the_servers_fault() {
    for sent in ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n\"half"] {
        assert_eq!(reaction(Reaction::SendAndReset(sent)).await, BROKEN, "{sent:?}");
    }
}

// Rule H22.
#[tokio::test]
async fn a_refused_stream_is_safe_to_retry_unless_it_is_that_of_a_body_which_is_passed_on() {
    let refusing = FaultyServer::start(Fault::RefusedStream, true);
    let http2 = Client::builder(TokioExecutor::new()).http2_only(true).build(HttpConnector::new());
    let request = Request::post(&refusing.url).body(Full::<Bytes>::from("{}")).unwrap();
    let refused = http2.request(request).await.unwrap_err();
    assert_eq!(hyper_util01::classify(&refused), REFUSED);

    let address = refusing.url.trim_start_matches("http://").trim_end_matches('/');
    let (client, connection) = h2::client::handshake(TcpStream::connect(address).await.unwrap()).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post(&refusing.url).body(()).unwrap();
    let (response, _) = client.ready().await.unwrap().send_request(request, true).unwrap();
    let refused_by_h2 = response.await.map(drop).unwrap_err();

    // A part of these bodies was sent to another server before they broke off.
    assert_eq!(passed_on(refused).await, UNKNOWN);
    assert_eq!(passed_on(refused_by_h2).await, UNKNOWN);
}

/// Sends a body that breaks off with an error of HTTP/2, and returns the verdict on the request.
async fn passed_on<E: StdError + Send + Sync + 'static>(error: E) -> Classification {
    let server = Server::start(Reaction::SendAndStall(""));
    let body = stream::iter([Ok(Frame::data(Bytes::from("half"))), Err(error)]);
    let request = Request::post(&server.url).body(StreamBody::new(body)).unwrap();
    let error = Client::builder(TokioExecutor::new()).build(HttpConnector::new()).request(request).await.unwrap_err();
    assert!(chain::first_known(&error, |it| it.is::<h2::Error>().then_some(REFUSED)).is_some(), "{error:?}");
    hyper_util01::classify(&error)
}

#[tokio::test]
async fn a_uri_without_a_host_is_final() {
    assert_eq!(verdict(HttpConnector::new(), "/orders").await, FINAL);
}

/// The module's docs warn of this.
#[tokio::test]
async fn a_scheme_that_the_connector_refuses_looks_like_any_failure_to_connect() {
    assert_eq!(verdict(HttpConnector::new(), "ftp://localhost/").await, UNSENT);
}

#[tokio::test]
async fn the_policy_judges_the_clients_own_error() {
    let outcome = post(HttpConnector::new(), &format!("http://{UNKNOWN_HOST}/")).await;
    let outcome = outcome.map_err(|error| *error.downcast::<Error>().unwrap());
    let directive = hyper_util01::policy().idempotent(false).evaluate(&outcome);
    assert_eq!(directive, RetryDirective::retry(RetryErrorType::Other));
    assert_eq!(chain::first_known(&io::Error::other("another error"), hyper_util01::link), None);
}

// Rules W1, W7, H13.
#[tokio::test]
async fn the_layer_retries_the_requests_of_the_client_in_a_stack() {
    let reset = Reaction::SendAndReset("");
    let server = Server::start_script([reset, Reaction::Answer(503, "", ""), Reaction::Answer(200, "", "done")]);
    let strategy = StandardRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(2));
    let mut stack = ServiceBuilder::new()
        .layer(
            RetryLayer::with_handle(&strategy)
                .policy_with(|request: &Request<_>| hyper_util01::response_policy().for_method(request.method())),
        )
        .service(Client::builder(TokioExecutor::new()).build(HttpConnector::new()));
    let request = Request::post(&server.url).body(Full::<Bytes>::default()).unwrap();
    stack.ready().await.unwrap().call(request).await.unwrap_err();
    assert_eq!(server.requests(), 1, "the connection was reset, so nobody knows what became of the POST");

    let server = Server::start_script([reset, Reaction::Answer(503, "", ""), Reaction::Answer(200, "", "done")]);
    let request = Request::get(&server.url).body(Full::<Bytes>::default()).unwrap();
    let response = stack.ready().await.unwrap().call(request).await.unwrap();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "done");
    assert_eq!(server.requests(), 3);
    assert!(strategy.quota().available() < 500, "the retries were paid for");
}

// Rule H11.
#[tokio::test]
async fn a_call_with_a_limit_has_the_clients_error_or_the_limit() {
    #[retryable(strategy = "standard", max_time = LIMIT)]
    async fn limited(url: &str) -> Result<Response<Incoming>, hyper_util01::ClientError> {
        let client = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        Ok(client.request(Request::post(url).body(Full::<Bytes>::from("{}")).unwrap()).await?)
    }

    let error = limited(&format!("http://{}/", refused_address())).await.unwrap_err();
    assert_of_client(error, UNSENT, hyper_util01::link);
    let server = Server::start(Reaction::SendAndStall(""));
    assert_timed_out(limited(&server.url).await.unwrap_err(), hyper_util01::link);
}
