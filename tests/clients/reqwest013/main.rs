//! How the errors of reqwest 0.13 are classified. Each test uses real sockets on the loopback interface.

use reqwest::Client;
use retry_clients::reqwest013;
use retry_core::RetrySafety::Yes;
use retry_core::classify::Classification;
use std::net::Ipv4Addr;
use tokio::net::TcpListener;

#[tokio::test]
async fn a_refused_connection_is_safe_to_retry() {
    // A port that nothing listens on any more.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = Client::new().get(format!("http://{address}/")).send().await.unwrap_err();
    assert_eq!(reqwest013::classify(&error), Classification::new(Yes));
}
