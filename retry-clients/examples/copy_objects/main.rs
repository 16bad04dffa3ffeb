//! Copies objects to a store that takes 100 requests per second, with the connector of retry-clients and with the retries of
//! `object_store` itself, both at the same time, each to another store.
//!
//! ```text
//! cargo run -p retry-clients --example copy_objects --features object_store014
//! cargo run -p retry-clients --example copy_objects --features object_store014 -- 2000 512
//! ```
//!
//! The arguments are the number of objects and the number of tasks that copy them. The exit code is 1 if the connector lost an
//! object.

mod request;
mod store;

use futures_util::StreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::ReqwestConnector;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, RetryConfig};
use retry_clients::object_store014::RetryConnector;
use retry_limits::PacedRetryStrategy;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Fault, Store};

/// One strategy for the store, which finds its rate.
static STORE: PacedRetryStrategy = PacedRetryStrategy::new();

/// The requests per second that the store takes.
const LIMIT: f64 = 100.0;

/// Creates a client with one strategy for all its requests, in place of `object_store`'s own retries.
fn ours(builder: AmazonS3Builder) -> object_store::Result<AmazonS3> {
    let retries = RetryConnector::new(ReqwestConnector::default(), &STORE);
    let none = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    builder.with_http_connector(retries).with_retry(none).build()
}

/// Creates a client as `object_store` makes it, with up to 10 retries of each request.
fn theirs(builder: AmazonS3Builder) -> object_store::Result<AmazonS3> {
    builder.build()
}

/// What a copy took.
struct Copied {
    lost: usize,
    rejected: usize,
    time: Duration,
}

/// Copies all objects to a new store.
async fn copy(
    source: Arc<InMemory>,
    tasks: usize,
    client: fn(AmazonS3Builder) -> object_store::Result<AmazonS3>,
) -> Result<Copied, Box<dyn Error + Send + Sync>> {
    let store = Store::start(Some(LIMIT), |_, _| Fault::None).await?;
    let target = client(
        AmazonS3Builder::new()
            .with_endpoint(format!("http://{}", store.address))
            .with_bucket_name("target")
            .with_client_options(ClientOptions::new().with_allow_http(true).with_no_system_certificates(true))
            .with_skip_signature(true),
    )?;
    let started = Instant::now();
    let copies = source.list(None).map(|object| {
        let (source, target) = (&source, &target);
        async move {
            let key = object?.location;
            target.put(&key, source.get(&key).await?.bytes().await?.into()).await
        }
    });
    copies.buffer_unordered(tasks).for_each(|outcome| async move { drop(outcome) }).await;
    let time = started.elapsed();
    let mut lost = 0;
    let mut objects = source.list(None);
    while let Some(object) = objects.next().await {
        let key = object?.location;
        let content = source.get(&key).await?.bytes().await?;
        lost += usize::from(store.object(key.as_ref()).as_deref() != Some(&*content));
    }
    Ok(Copied { lost, rejected: store.rejected(), time })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse());
    let objects: usize = arguments.next().unwrap_or(Ok(300))?;
    let tasks: usize = arguments.next().unwrap_or(Ok(64))?;
    // There is no TLS here, but reqwest asks for a provider.
    _ = rustls::crypto::ring::default_provider().install_default();
    let source = Arc::new(InMemory::new());
    for number in 0..objects {
        source.put(&Path::from(format!("{number:05}")), format!("object {number}").repeat(100).into()).await?;
    }
    println!("{objects} objects, {tasks} tasks, {LIMIT} requests per second");
    let (ours, theirs) = tokio::join!(copy(source.clone(), tasks, ours), copy(source, tasks, theirs));
    let (ours, theirs) = (ours?, theirs?);
    for (name, Copied { lost, rejected, time }) in [("retry-clients", &ours), ("object_store", &theirs)] {
        println!("{name:>13}: {lost:>4} lost, {rejected:>5} rejections, {:>5.1} s", time.as_secs_f64());
    }
    Ok(if ours.lost == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
