//! How the errors of hyper 1 are classified.

use bytes::Bytes;
use clients_tests::{BROKEN, CUT_SHORT, LIMIT, Reaction, Server, UNKNOWN, assert_of_client, assert_timed_out};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Body, Frame};
use hyper::client::conn::http1;
use hyper::{Error, Request};
use hyper_util::rt::TokioIo;
use retry_clients::hyper1;
use retry_core::classify::{Classification, chain};
use retry_core::{RetryDirective, RetryErrorType, RetryPolicy, retryable};
use std::io;
use tokio::net::TcpStream;

/// Sends one request over its own connection, and reads the whole answer.
async fn post<B>(server: &Server, body: B) -> Result<Bytes, Error>
where
    B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Each error of the connection is also the error of a request.
    tokio::spawn(connection);
    let request = Request::post("/").header("host", "localhost").body(body).unwrap();
    Ok(sender.send_request(request).await?.into_body().collect().await?.to_bytes())
}

async fn reaction(reaction: Reaction) -> Error {
    post(&Server::start(reaction), Full::from("{}")).await.unwrap_err()
}

// Rule H3.
#[tokio::test]
async fn an_answer_that_is_cut_short_is_the_servers_fault() {
    for sent in CUT_SHORT {
        assert_eq!(hyper1::classify(&reaction(Reaction::Send(sent)).await), BROKEN, "{sent:?}");
    }
}

#[tokio::test]
async fn a_reset_connection_is_the_servers_fault() {
    for sent in ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n\"half"] {
        assert_eq!(hyper1::classify(&reaction(Reaction::SendAndReset(sent)).await), BROKEN, "{sent:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_the_servers_fault() {
    assert_eq!(hyper1::classify(&reaction(Reaction::Send("SSH-2.0-OpenSSH_9.2\r\n")).await), BROKEN);
}

#[tokio::test]
async fn a_request_body_that_fails_is_not_the_servers_fault() {
    let broken = futures_util::stream::iter([Err::<Frame<Bytes>, _>(io::Error::other("the file is gone"))]);
    let error = post(&Server::start(Reaction::SendAndStall("")), StreamBody::new(broken)).await.unwrap_err();
    assert!(error.is_user(), "{error:?}");
    assert_eq!(hyper1::classify(&error), UNKNOWN);
}

#[tokio::test]
async fn an_error_is_found_in_a_chain_and_judged_by_the_policy() {
    let outcome = post(&Server::start(Reaction::Send("")), Full::from("{}")).await;
    let retry = RetryDirective::retry(RetryErrorType::ServerSide);
    assert_eq!(hyper1::policy().evaluate(&outcome), retry);
    let fail = RetryDirective::fail(Some(RetryErrorType::ServerSide));
    assert_eq!(hyper1::policy().idempotent(false).evaluate(&outcome), fail);

    let chained = io::Error::other(outcome.unwrap_err());
    assert_eq!(chain::first_known(&chained, hyper1::link), Some(BROKEN));
    let other: Option<Classification> = chain::first_known(&io::Error::other("another error"), hyper1::link);
    assert_eq!(other, None);
}

// Rule H11.
#[tokio::test]
async fn a_call_with_a_limit_has_the_clients_error_or_the_limit() {
    #[retryable(strategy = "standard", max_time = LIMIT)]
    async fn limited(server: &Server) -> Result<Bytes, hyper1::ClientError> {
        Ok(post(server, Full::from("{}")).await?)
    }

    let error = limited(&Server::start(Reaction::Send(""))).await.unwrap_err();
    assert_of_client(error, BROKEN, hyper1::link);
    let error = limited(&Server::start(Reaction::SendAndStall(""))).await.unwrap_err();
    assert_timed_out(error, hyper1::link);
}
