//! The requests of opendal with the retries of retry-core in place of its own layer, and why the calls of a writer can't be
//! repeated from outside. The store speaks S3, and turns requests away or closes connections.
//!
//! `cargo run -p opendal-store`

#[path = "../../retry-clients/examples/copy_objects/request.rs"]
mod request;
#[path = "../../retry-clients/examples/copy_objects/store.rs"]
mod store;
mod transport;

use opendal::services::S3;
use opendal::{Buffer, HttpTransporter, OperationContext, Operator, Writer};
use opendal_http_transport_reqwest::ReqwestTransport;
use retry_core::{PatientRetryStrategy, RetryInfo, retryable};
use std::error::Error;
use std::time::Duration;
use store::{Fault, Store};
use transport::Retrying;

/// One strategy for the store.
static STORE: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(20), Duration::from_secs(1));

/// Creates a client whose requests are retried, or that has no retries at all.
fn client(store: &Store, is_retrying: bool) -> opendal::Result<Operator> {
    let service = S3::default().bucket("bucket").region("here").endpoint(&format!("http://{}", store.address));
    let client = Operator::new(service.skip_signature().disable_config_load().disable_ec2_metadata())?;
    let transport = ReqwestTransport::default();
    let transport =
        if is_retrying { HttpTransporter::new(Retrying(transport)) } else { HttpTransporter::new(transport) };
    Ok(client.with_context(OperationContext::new().with_http_transport(transport)))
}

/// Writes an object in parts. Its requests are retried below the writer, which does not see it.
async fn upload(client: &Operator, parts: [Buffer; 3]) -> opendal::Result<()> {
    let mut writer = client.writer("key").await?;
    for part in parts {
        writer.write(part).await?;
    }
    writer.close().await.map(drop)
}

/// The error of a call that is retried.
#[derive(Debug, RetryInfo)]
struct StoreError(#[retry(with = transport::classify)] opendal::Error);

/// The writer is state that the attribute lends to one attempt after the other.
#[retryable(strategy = STORE, idempotent, clone(part))]
async fn write_again(writer: &mut Writer, part: Buffer) -> Result<(), StoreError> {
    writer.write(part).await.map_err(StoreError)
}

#[retryable(strategy = STORE, idempotent)]
async fn close_again(writer: &mut Writer) -> Result<(), StoreError> {
    writer.close().await.map(drop).map_err(StoreError)
}

/// Writes an object in parts, by calls that are repeated. This is wrong: a writer drops what it holds back when a call fails,
/// so the next attempt succeeds without the end of the object.
async fn upload_by_repeated_calls(client: &Operator, parts: [Buffer; 3]) -> Result<(), StoreError> {
    let mut writer = client.writer("key").await.map_err(StoreError)?;
    for part in parts {
        write_again(&mut writer, part).await?;
    }
    close_again(&mut writer).await
}

/// The length of a part: the least that S3 takes, and so that a writer sends.
const PART: usize = 5 * 1024 * 1024;

/// What became of a call.
struct Called {
    name: &'static str,
    is_done: bool,
    /// The number of requests that arrived.
    requests: usize,
    /// The length of the object afterwards.
    written: usize,
}

/// Makes each call, on a store whose requests have this fault the first time.
async fn run(fault: Fault) -> Result<Vec<Called>, Box<dyn Error>> {
    let mut calls = Vec::new();
    for name in ["put", "create", "upload", "upload_by_repeated_calls"] {
        let store = Store::start(None, move |_, before| if before == 0 { fault } else { Fault::None }).await?;
        let client = client(&store, name != "upload_by_repeated_calls")?;
        let parts = [vec![1; PART], vec![2; PART], vec![3; 7]].map(Buffer::from);
        let is_done = match name {
            "put" => client.write("key", "content").await.is_ok(),
            "create" => client.write_with("key", "content").if_not_exists(true).await.is_ok(),
            "upload" => upload(&client, parts).await.is_ok(),
            _ => upload_by_repeated_calls(&client, parts).await.is_ok(),
        };
        let written = store.object("key").map_or(0, |object| object.len());
        calls.push(Called { name, is_done, requests: store.arrived().len(), written });
    }
    Ok(calls)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    for fault in [Fault::Refused(429, "", ""), Fault::Dropped, Fault::Unanswered] {
        println!("{fault:?}, the first time that the store gets a request:");
        for Called { name, is_done, requests, written } in run(fault).await? {
            let outcome = if is_done { "done" } else { "failed" };
            println!("    {name:>24}: {outcome:<6} requests: {requests}, bytes: {written}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use retry_core::test;

    /// The length of an uploaded object.
    const WHOLE: usize = 2 * PART + 7;

    /// Checks what becomes of the calls: whether they succeed, the number of requests, and the length of the object.
    async fn assert_calls(fault: Fault, expected: [(bool, usize, usize); 4]) {
        let _guard = test::begin();
        let calls = run(fault).await.unwrap();
        let actual: Vec<_> = calls.iter().map(|call| (call.is_done, call.requests, call.written)).collect();
        assert_eq!(actual, expected, "{fault:?}");
    }

    #[tokio::test]
    async fn requests_are_repeated_below_a_writer_and_its_calls_cannot_be() {
        let cut = (true, 8, WHOLE - 7);
        assert_calls(Fault::Refused(429, "", ""), [(true, 2, 7), (true, 2, 7), (true, 10, WHOLE), cut]).await;
    }

    #[tokio::test]
    async fn a_creation_without_an_answer_is_not_repeated() {
        let cut = (true, 8, WHOLE - 7);
        assert_calls(Fault::Dropped, [(true, 2, 7), (false, 1, 0), (true, 10, WHOLE), cut]).await;
        // The store is done with the upload, so the second completion is refused.
        let cut = (false, 8, WHOLE - 7);
        assert_calls(Fault::Unanswered, [(true, 2, 7), (false, 1, 7), (false, 10, WHOLE), cut]).await;
    }
}
