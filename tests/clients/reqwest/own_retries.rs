//! Reqwest's own retries.

use super::errors::builder;
use crate::client as reqwest;
use crate::client::ClientBuilder;
use crate::module;
use clients_tests::REFUSED;
use h2::Reason;
use retry_core::classify::Classification;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;

/// Sends one request to a server that refuses it by HTTP/2's means. Returns how often it was sent, and the verdict.
async fn refused(builder: ClientBuilder) -> (usize, Classification) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&requests);
    let server = tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let mut connection = h2::server::handshake(connection).await.unwrap();
            let counter = Arc::clone(&counter);
            tokio::spawn(async move {
                while let Some(Ok((_, mut response))) = connection.accept().await {
                    counter.fetch_add(1, Ordering::SeqCst);
                    response.send_reset(Reason::REFUSED_STREAM);
                }
            });
        }
    });
    let client = builder.http2_prior_knowledge().build().unwrap();
    let error = client.post(&url).body("{}").send().await.unwrap_err();
    server.abort();
    (requests.load(Ordering::SeqCst), module::classify(&error))
}

// Rule H22.
/// A call with five attempts sends fifteen requests.
#[tokio::test]
async fn by_default_each_attempt_sends_a_refused_request_three_times() {
    let default = reqwest::Client::builder().no_proxy();
    assert_eq!(refused(default).await, (3, REFUSED));
}

// Rule H22.
#[tokio::test]
async fn without_its_own_retries_each_attempt_sends_one_request() {
    assert_eq!(refused(builder().retry(reqwest::retry::never())).await, (1, REFUSED));
}
