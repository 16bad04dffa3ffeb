//! The connector for `object_store` 0.14, with a store in memory that speaks S3.

#[path = "../../../retry-clients/examples/copy_objects/request.rs"]
mod request;
#[path = "../../../retry-clients/examples/copy_objects/store.rs"]
mod store;

mod answers;
mod content;
mod lost;
mod writes;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::ReqwestConnector;
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use request::Request;
use retry_clients::object_store014::RetryConnector;
use retry_core::StandardRetryStrategy;
use std::time::Duration;
use store::{Fault, Store};

/// A strategy for all tests. A guard skips its waits.
static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

type Connector = RetryConnector<&'static StandardRetryStrategy, ReqwestConnector>;

fn connector() -> Connector {
    RetryConnector::new(ReqwestConnector::default(), &STORE)
}

/// Returns the builder of a client without any retries.
fn builder(store: &Store) -> AmazonS3Builder {
    // The first call installs it, and the others change nothing.
    _ = rustls::crypto::ring::default_provider().install_default();
    AmazonS3Builder::new()
        .with_endpoint(format!("http://{}", store.address))
        .with_bucket_name("bucket")
        .with_region("here")
        .with_client_options(ClientOptions::new().with_allow_http(true).with_no_system_certificates(true))
        .with_skip_signature(true)
        .with_retry(retries(0))
}

/// Returns a setting of `object_store`'s own retries that waits little.
fn retries(max_retries: usize) -> RetryConfig {
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(1), max_backoff: Duration::from_millis(2), base: 2.0 };
    RetryConfig { backoff, max_retries, retry_timeout: Duration::from_mins(3) }
}

/// Returns a client with our retries in place of `object_store`'s own.
fn client(store: &Store) -> AmazonS3 {
    builder(store).with_http_connector(connector()).build().unwrap()
}

/// Starts a store in which the first request of each kind has this fault, if it is one of these.
async fn faulty(fault: Fault, is_faulty: impl Fn(&Request) -> bool + Send + Sync + 'static) -> Store {
    let faults = move |request: &Request, before| if before == 0 && is_faulty(request) { fault } else { Fault::None };
    Store::start(None, faults).await.unwrap()
}
