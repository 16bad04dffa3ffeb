//! How the errors of reqwest are classified. Each test uses real sockets on the loopback interface.

mod server;

use bytes::Bytes;
use examples::reqwest_errors;
use hyper::body::{Body, Frame};
use reqwest::dns::{Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder, StatusCode};
use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetryInfo, RetrySafety, StandardRetryStrategy, retryable};
use server::{Reaction, Server};
use std::future::ready;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;

use ErrorFault::{Other, Server as ServerSide};
use RetrySafety::{Maybe, No, Yes};

/// A timeout for requests that are expected to finish. It only bounds a failing test.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, thiserror::Error, RetryInfo)]
#[error("no usable answer")]
struct Failed(
    #[from]
    #[retry(with = reqwest_errors::judge)]
    reqwest::Error,
);

fn builder() -> ClientBuilder {
    Client::builder().timeout(PATIENCE).retry(reqwest::retry::never()).no_proxy()
}

/// Sends one request and parses the answer as JSON.
async fn post(client: &Client, url: &str) -> Result<String, Failed> {
    Ok(client.post(url).body("{}").send().await?.error_for_status()?.json().await?)
}

/// Returns the classification of the error of a request to this URL.
async fn verdict(builder: ClientBuilder, url: &str) -> Classification {
    let error = post(&builder.build().unwrap(), url).await.unwrap_err();
    Classification::of(&error)
}

/// Returns the classification of the error of a request to a server that reacts in this way.
async fn reaction(reaction: Reaction) -> Classification {
    let server = Server::start(reaction).await;
    let verdict = verdict(builder(), &server.url).await;
    assert_eq!(server.requests(), 1, "the request was not sent exactly once");
    verdict
}

#[tokio::test]
async fn a_failed_name_resolution_is_safe_to_retry() {
    // The top-level domain is reserved for names that don't exist (RFC 6761, 6.4).
    let verdict = verdict(builder(), "http://retry.invalid/").await;
    assert_eq!(verdict, Classification::new(Yes));
}

#[tokio::test]
async fn a_refused_connection_is_safe_to_retry() {
    // A port that nothing listens on any more.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let verdict = verdict(builder(), &format!("http://{address}/")).await;
    assert_eq!(verdict, Classification::new(Yes));
}

/// TLS is not among the features, so a resolver returns the error that rustls reports when it refuses a certificate.
#[tokio::test]
async fn a_refused_certificate_is_not_retried() {
    struct Refusing;

    impl Resolve for Refusing {
        fn resolve(&self, _: Name) -> Resolving {
            let refused = io::Error::new(io::ErrorKind::InvalidData, "invalid peer certificate");
            Box::pin(ready(Err(io::Error::other(refused).into())))
        }
    }

    let verdict = verdict(builder().dns_resolver(Refusing), "http://retry.invalid/").await;
    assert_eq!(verdict, Classification::new(No));
}

#[tokio::test]
async fn a_timeout_while_connecting_is_safe_to_retry() {
    let (address, _full) = full_backlog().await;
    let builder = builder().connect_timeout(Duration::from_millis(200));
    let verdict = verdict(builder, &format!("http://{address}/")).await;
    assert_eq!(verdict, Classification::new(Yes).with_timeout());
}

/// Returns the address of a server that accepts no connection and whose backlog is full, and the sockets that keep it
/// so.
async fn full_backlog() -> (SocketAddr, (TcpListener, Vec<TcpStream>)) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    while let Ok(connected) = timeout(Duration::from_millis(200), TcpStream::connect(address)).await {
        queued.push(connected.unwrap());
        assert!(queued.len() < 64, "the backlog is not bounded");
    }
    (address, (listener, queued))
}

#[tokio::test]
async fn a_stalled_response_is_a_timeout_that_may_have_been_acted_upon() {
    let server = Server::start(Reaction::Stall).await;
    let verdict = verdict(builder().timeout(Duration::from_secs(1)), &server.url).await;
    assert_eq!(verdict, Classification::new(Maybe).with_timeout());
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn a_stalled_body_is_a_timeout_that_may_have_been_acted_upon() {
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n\"half";
    let server = Server::start(Reaction::SendAndStall(half)).await;
    let verdict = verdict(builder().timeout(Duration::from_secs(1)), &server.url).await;
    assert_eq!(verdict, Classification::new(Maybe).with_timeout());
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn a_response_that_was_cut_short_is_the_servers_fault() {
    let cases = [
        "",
        "HTTP/1.1 200",
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n\"half",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n\"half",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n\"half\r\n",
    ];
    for sent in cases {
        let verdict = reaction(Reaction::SendAndClose(sent)).await;
        assert_eq!(verdict, Classification::new(Maybe).with_fault(ServerSide), "{sent:?}");
    }
}

#[tokio::test]
async fn a_reset_connection_is_the_servers_fault() {
    let cases = ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n\"half"];
    for sent in cases {
        let verdict = reaction(Reaction::SendAndReset(sent)).await;
        assert_eq!(verdict, Classification::new(Maybe).with_fault(ServerSide), "{sent:?}");
    }
}

#[tokio::test]
async fn a_request_body_that_fails_is_not_the_servers_fault() {
    struct Broken;

    impl Body for Broken {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
            Poll::Ready(Some(Err(io::Error::other("the file is gone"))))
        }
    }

    let server = Server::start(Reaction::Stall).await;
    let body = reqwest::Body::wrap(Broken);
    let error = builder().build().unwrap().post(&server.url).body(body).send().await.unwrap_err();
    assert_eq!(Classification::of(&Failed(error)), Classification::new(Maybe));
}

#[tokio::test]
async fn a_complete_answer_that_cannot_be_parsed_is_not_retried() {
    for sent in [
        "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n\"half\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\n<html>\r\n0\r\n\r\n",
    ] {
        assert_eq!(reaction(Reaction::SendAndClose(sent)).await, Classification::new(No).with_fault(Other), "{sent:?}");
    }
}

#[tokio::test]
async fn a_status_is_classified_as_by_the_library() {
    for status in [400, 404, 408, 409, 425, 429, 500, 501, 502, 503, 504, 509] {
        let verdict = reaction(Reaction::Answer(status)).await;
        let status = StatusCode::from_u16(status).unwrap();
        assert_eq!(verdict, Classification::from(status), "{status}");
    }
}

#[tokio::test]
async fn an_invalid_url_is_final() {
    assert_eq!(verdict(builder(), "no url").await, Classification::new(No));
    assert_eq!(verdict(builder(), "ftp://localhost/").await, Classification::new(No));
}

#[tokio::test]
async fn endless_redirects_are_final() {
    let server =
        Server::start(Reaction::SendAndClose("HTTP/1.1 307 Again\r\nlocation: /\r\ncontent-length: 0\r\n\r\n")).await;
    assert_eq!(verdict(builder(), &server.url).await, Classification::new(No));
}

/// The order was placed although its answer can't be parsed. Sent again, it would be placed twice.
#[tokio::test]
async fn an_order_whose_confirmation_cannot_be_parsed_is_not_sent_again() {
    static ORDERS: StandardRetryStrategy =
        StandardRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(1));

    #[retryable(strategy = ORDERS)]
    async fn order(client: &Client, url: &str) -> Result<String, Failed> {
        post(client, url).await
    }

    let client = builder().build().unwrap();
    let unparsable = Server::start(Reaction::SendAndClose("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>")).await;
    order(&client, &unparsable.url).await.unwrap_err();
    assert_eq!(unparsable.requests(), 1);

    // The function does retry: it makes five attempts if the server throttles it.
    let busy = Server::start(Reaction::Answer(429)).await;
    order(&client, &busy.url).await.unwrap_err();
    assert_eq!(busy.requests(), 5);
}
