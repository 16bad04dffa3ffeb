//! Answers that break off.

use super::{builder, client, connector, faulty, retries};
use crate::store::{Fault, Store};
use clients_tests::refused_address;
use futures_util::StreamExt;
use hyper::body::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use retry_clients::object_store014;
use retry_core::{RetryError, StandardRetryStrategy, retry, retryable, test};

const CONTENT: &str = "content of an object";

async fn cut_short() -> Store {
    let store = faulty(Fault::CutShort(10), |_| true).await;
    store.insert("key", CONTENT);
    store
}

static READS: StandardRetryStrategy = StandardRetryStrategy::new();

/// A function as a user writes it.
#[retryable(strategy = READS, policy = object_store014::policy().idempotent(true))]
async fn read(store: &dyn ObjectStore) -> object_store::Result<Bytes> {
    store.get(&Path::from("key")).await?.bytes().await
}

// Rule H21.
#[tokio::test]
async fn an_answer_that_breaks_off_belongs_to_its_attempt() {
    let _guard = test::begin();
    let store = cut_short().await;
    let client = client(&store);
    assert_eq!(client.get(&Path::from("key")).await.unwrap().bytes().await.unwrap(), CONTENT);
    assert_eq!(client.get_range(&Path::from("key"), 3..18).await.unwrap(), &CONTENT[3..18]);
    client.list(None).next().await.unwrap().unwrap();
    let mut upload = client.put_multipart(&Path::from("new")).await.unwrap();
    upload.put_part(PutPayload::from_static(b"part")).await.unwrap();
    assert_eq!(
        store.arrived(),
        [
            "GET key",
            "GET key",
            "GET key",
            "GET list-type=2",
            "GET list-type=2",
            "POST uploads=",
            "POST uploads=",
            "PUT partNumber=1&uploadId=upload-2",
        ]
    );
}

// Rule H21.
#[tokio::test]
async fn long_content_that_breaks_off_is_an_error_and_a_retried_function_begins_again() {
    let guard = test::begin();
    let store = cut_short().await;
    let ours = builder(&store).with_http_connector(connector().read_bodies(CONTENT.len() - 1)).build().unwrap();
    let content = ours.get(&Path::from("key")).await.unwrap();
    content.bytes().await.unwrap_err();
    assert_eq!(store.arrived().len(), 1);
    guard.only().assert_ended(1, None);

    let store = cut_short().await;
    let ours = builder(&store).with_http_connector(connector().read_bodies(0)).build().unwrap();
    assert_eq!(read(&ours).await.unwrap(), CONTENT);
    assert_eq!(store.arrived().len(), 2);

    // The retries of `object_store` itself resume it.
    let store = cut_short().await;
    let theirs = builder(&store).with_retry(retries(3)).build().unwrap();
    assert_eq!(theirs.get(&Path::from("key")).await.unwrap().bytes().await.unwrap(), CONTENT);
    assert_eq!(store.arrived().len(), 2);
}

// Rule H21.
#[tokio::test]
async fn a_retried_function_does_not_repeat_what_the_connector_has_repeated() {
    let guard = test::begin();
    let store = Store::start(None, |_, _| Fault::Dropped).await.unwrap();
    let client = client(&store);
    read(&client).await.unwrap_err();
    assert_eq!(store.arrived().len(), 5);
    let operations = guard.operations();
    let [requests, function] =
        ["object_store", "read"].map(|name| operations.iter().find(|it| it.name.ends_with(name)));
    requests.unwrap().assert_ended(5, Some(RetryError::MaxAttempts));
    function.unwrap().assert_ended(1, Some(RetryError::NotRetryable));

    // Without the connector's link, the policy would find in the chain that the connection was refused.
    let guard = test::begin();
    let nowhere = builder(&store).with_endpoint(format!("http://{}", refused_address()));
    read(&nowhere.with_http_connector(connector()).build().unwrap()).await.unwrap_err();
    assert_eq!(guard.operations().iter().map(|it| it.attempts).sum::<u32>(), 6);

    // Other errors are known as before.
    let refused = || async { Err::<(), _>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused)) };
    let report = retry(&READS, refused).policy(object_store014::policy()).report().await;
    assert_eq!(report.attempts, 5);
}
