//! How the errors of reqwest are classified.

use crate::client::dns::{Name, Resolve, Resolving};
use crate::client::{self as reqwest, Client, ClientBuilder, StatusCode};
use crate::module;
use bytes::Bytes;
use clients_tests::{
    BROKEN, CUT_SHORT, ERROR_STATUSES, FINAL, FullBacklog, NOT_JSON, PATIENCE, Reaction, Server, UNKNOWN, UNKNOWN_HOST,
    UNSENT, refused_address,
};
use hyper::body::{Body, Frame};
use retry_core::classify::{Classification, chain};
use retry_core::{RetryDirective, RetryErrorType, RetryPolicy, StandardRetryStrategy, retryable};
use std::error::Error;
use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

pub(super) fn builder() -> ClientBuilder {
    // The first call installs it, and the others change nothing.
    _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().timeout(PATIENCE).retry(reqwest::retry::never()).no_proxy()
}

/// Sends one request and parses the answer as JSON.
async fn post(client: &Client, url: &str) -> reqwest::Result<String> {
    client.post(url).body("{}").send().await?.error_for_status()?.json().await
}

/// Returns the classification of the error of a request to this URL.
async fn verdict(builder: ClientBuilder, url: &str) -> Classification {
    module::classify(&post(&builder.build().unwrap(), url).await.unwrap_err())
}

/// Returns the classification of the error of a request to a server that reacts in this way.
async fn reaction(reaction: Reaction) -> Classification {
    let server = Server::start(reaction);
    let verdict = verdict(builder(), &server.url).await;
    assert_eq!(server.requests(), 1, "the request was not sent exactly once");
    verdict
}

// Rule H1.
#[tokio::test]
async fn a_failed_name_resolution_is_safe_to_retry() {
    assert_eq!(verdict(builder(), &format!("http://{UNKNOWN_HOST}/")).await, UNSENT);
}

// Rule H1.
#[tokio::test]
async fn a_refused_connection_is_safe_to_retry() {
    assert_eq!(verdict(builder(), &format!("http://{}/", refused_address())).await, UNSENT);
}

// Rule H1.
#[tokio::test]
async fn a_refused_certificate_is_not_retried() {
    let server = Server::start_untrusted(Reaction::Answer(200, "", "\"\""));
    let client = builder().build().unwrap();
    let error = post(&client, &server.url).await.unwrap_err();
    assert!(error.is_connect(), "{error:?}");
    assert_eq!(module::classify(&error), FINAL, "{error:?}");
    assert_eq!(server.requests(), 0);

    // The certificate was the reason.
    let trusting = builder().danger_accept_invalid_certs(true).build().unwrap();
    post(&trusting, &server.url).await.unwrap();
}

// Rules H1, H2.
#[tokio::test]
async fn a_timeout_while_connecting_is_safe_to_retry() {
    let server = FullBacklog::start();
    let url = format!("http://{}/", server.address());
    let connect_timeout = builder().connect_timeout(Duration::from_millis(200));
    assert_eq!(verdict(connect_timeout, &url).await, UNSENT.with_timeout());
    // The total timeout doesn't say what the client was doing.
    assert_eq!(verdict(builder().timeout(Duration::from_millis(200)), &url).await, UNKNOWN.with_timeout());
}

// Rule H2.
#[tokio::test]
async fn a_stalled_answer_is_a_timeout_that_may_have_been_acted_upon() {
    for sent in ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n\"half"] {
        let server = Server::start(Reaction::SendAndStall(sent));
        let read_timeout = builder().read_timeout(Duration::from_millis(500));
        for timeout in [read_timeout, builder().timeout(Duration::from_millis(500))] {
            assert_eq!(verdict(timeout, &server.url).await, UNKNOWN.with_timeout(), "{sent:?}");
        }
        assert_eq!(server.requests(), 2);
    }
}

// Rule H3.
/// The errors are hyper's, which reqwest contains. So this test fails if reqwest moves to another major version of hyper.
#[tokio::test]
async fn an_answer_that_is_cut_short_is_the_servers_fault() {
    for sent in CUT_SHORT {
        assert_eq!(reaction(Reaction::Send(sent)).await, BROKEN, "{sent:?}");
    }
}

// Rule H3.
#[tokio::test]
async fn a_reset_connection_is_the_servers_fault() {
    for sent in ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n\"half"] {
        assert_eq!(reaction(Reaction::SendAndReset(sent)).await, BROKEN, "{sent:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_the_servers_fault() {
    assert_eq!(reaction(Reaction::Send("SSH-2.0-OpenSSH_9.2\r\n")).await, BROKEN);
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

    let server = Server::start(Reaction::SendAndStall(""));
    let body = reqwest::Body::wrap(Broken);
    let error = builder().build().unwrap().post(&server.url).body(body).send().await.unwrap_err();
    assert_eq!(module::classify(&error), UNKNOWN);
}

// Rule H3.
#[tokio::test]
async fn a_complete_answer_that_cannot_be_parsed_is_not_retried() {
    for sent in NOT_JSON {
        assert_eq!(reaction(Reaction::Send(sent)).await, FINAL, "{sent:?}");
    }
}

#[tokio::test]
async fn a_status_is_classified_as_by_the_library() {
    for status in ERROR_STATUSES {
        let verdict = reaction(Reaction::Answer(status, "retry-after: 7\r\n", "")).await;
        // The error of `error_for_status` has no headers.
        assert_eq!(verdict, Classification::from(StatusCode::from_u16(status).unwrap()), "{status}");
    }
}

#[tokio::test]
async fn an_invalid_url_is_final() {
    for url in ["no url", "ftp://localhost/"] {
        assert_eq!(verdict(builder(), url).await, FINAL, "{url}");
    }
}

#[tokio::test]
async fn endless_redirects_are_final() {
    let server = Server::start(Reaction::Answer(307, "location: /\r\n", ""));
    assert_eq!(verdict(builder(), &server.url).await, FINAL);
}

/// The module's docs warn of this.
#[tokio::test]
async fn a_refused_connection_after_a_redirect_looks_unsent_although_the_first_server_has_answered() {
    let location = format!("location: http://{}/\r\n", refused_address());
    let server = Server::start(Reaction::Answer(303, location.leak(), ""));
    assert_eq!(verdict(builder(), &server.url).await, UNSENT);
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn an_error_is_found_in_a_chain() {
    #[derive(Debug)]
    struct Failed(reqwest::Error);

    impl std::fmt::Display for Failed {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the order failed")
        }
    }
    impl Error for Failed {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    let client = builder().build().unwrap();
    let error = post(&client, &format!("http://{UNKNOWN_HOST}/")).await.unwrap_err();
    let boxed: Box<dyn Error + Send + Sync> = Box::new(Failed(error));
    assert_eq!(chain::known(&boxed), None);
    assert_eq!(chain::first_known(&boxed, module::link), Some(UNSENT));
    assert_eq!(chain::first_known(&io::Error::other("another error"), module::link), None);
}

// Rule H9.
#[tokio::test]
async fn the_policy_judges_reqwests_error_alone_and_in_a_chain() {
    let server = Server::start(Reaction::Send(""));
    let outcome = post(&builder().build().unwrap(), &server.url).await;
    let retry = RetryDirective::retry(RetryErrorType::ServerSide);
    assert_eq!(module::policy().evaluate(&outcome), retry);
    assert_eq!(module::policy().idempotent(true).evaluate(&outcome), retry);
    let payment = module::policy().idempotent(false).evaluate(&outcome);
    assert_eq!(payment, RetryDirective::fail(Some(RetryErrorType::ServerSide)));
    assert_eq!(module::policy().evaluate(&Ok::<_, reqwest::Error>("")), RetryDirective::succeed());
    let in_chain: Result<_, Box<dyn Error + Send + Sync>> = outcome.map_err(Into::into);
    assert_eq!(module::policy().evaluate(&in_chain), retry);
}

/// The order was placed although its answer can't be parsed. Sent again, it would be placed twice.
#[tokio::test]
async fn an_order_whose_confirmation_cannot_be_parsed_is_not_sent_again() {
    static ORDERS: StandardRetryStrategy =
        StandardRetryStrategy::new().backoff(Duration::from_millis(1), Duration::from_millis(1));

    #[retryable(strategy = ORDERS, policy = module::policy())]
    async fn order(client: &Client, url: &str) -> reqwest::Result<String> {
        post(client, url).await
    }

    let client = builder().build().unwrap();
    let unparsable = Server::start(Reaction::Answer(200, "", "<html>"));
    order(&client, &unparsable.url).await.unwrap_err();
    assert_eq!(unparsable.requests(), 1);

    // The function does retry: it makes five attempts if the server throttles it.
    let busy = Server::start(Reaction::Answer(429, "", ""));
    order(&client, &busy.url).await.unwrap_err();
    assert_eq!(busy.requests(), 5);
}

/// A resolver can return TLS's kind of error, too: the kind alone decides.
#[tokio::test]
async fn invalid_data_while_connecting_is_taken_for_a_refused_certificate() {
    struct Refusing;

    impl Resolve for Refusing {
        fn resolve(&self, _: Name) -> Resolving {
            Box::pin(ready(Err(io::Error::from(io::ErrorKind::InvalidData).into())))
        }
    }

    let builder = builder().dns_resolver(Arc::new(Refusing));
    assert_eq!(verdict(builder, &format!("http://{UNKNOWN_HOST}/")).await, FINAL);
}
