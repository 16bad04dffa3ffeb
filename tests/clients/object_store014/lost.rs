//! Writes that are carried out, and whose answers are lost. The table in retry-clients/FAULTS.md has the results, and is renewed with
//! `UPDATE_EXPECT=1`.

use super::writes::{Kind, NEW, OLD, client_for, run};
use super::{client, faulty};
use crate::request::Request;
use crate::store::{Fault, Store};
use clients_tests::assert_table;
use object_store::path::Path;
use object_store::{Error, MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use retry_core::test;

/// The writes, in words.
const WRITES: [(Kind, &str); 7] = [
    (Kind::Put, "put"),
    (Kind::Create, "put if absent"),
    (Kind::Update, "put if unchanged"),
    (Kind::Copy, "copy"),
    (Kind::CopyIfAbsentByHeader, "copy if absent"),
    (Kind::Delete, "delete"),
    (Kind::Multipart, "completion of a multipart upload"),
];

fn is_completion(request: &Request) -> bool {
    request.method == "POST" && request.query("uploadId").is_some()
}

/// Returns a store with the object `OLD`, which loses its first answer to a write of this kind.
async fn losing(kind: Kind) -> Store {
    let store = faulty(Fault::Unanswered, move |request| kind != Kind::Multipart || is_completion(request)).await;
    store.insert(OLD, OLD);
    store
}

/// Returns how often the write is sent with this number of `object_store`'s own retries, and its outcome.
async fn cell(kind: Kind, own: usize) -> String {
    let _guard = (own == 0).then(test::begin);
    let store = losing(kind).await;
    let outcome = match run(kind, &client_for(kind, &store, own)).await {
        Ok(()) => "success",
        Err(Error::NotFound { .. }) => "`NotFound`",
        Err(Error::AlreadyExists { .. }) => "`AlreadyExists`",
        Err(Error::Precondition { .. }) => "`Precondition`",
        Err(Error::Generic { .. }) => "`Generic`",
        Err(error) => panic!("{error}"),
    };
    let arrived = store.arrived();
    let sent = arrived.iter().filter(|line| Some(*line) == arrived.last()).count();
    format!("{sent}, {outcome}")
}

// Rule H19.
#[tokio::test]
async fn the_outcomes_of_writes_whose_answers_are_lost_are_those_of_the_page() {
    let mut rows = Vec::new();
    for (kind, text) in WRITES {
        rows.push(format!("| {text} | {} | {} |", cell(kind, 0).await, cell(kind, 3).await));
    }
    assert_table("## object_store", &rows);
}

/// Completes an upload of this size, as the docs of the module do.
async fn complete(
    store: &dyn ObjectStore,
    path: &Path,
    mut upload: Box<dyn MultipartUpload>,
    size: u64,
) -> object_store::Result<()> {
    match upload.complete().await {
        Err(error @ Error::NotFound { .. }) => match store.head(path).await {
            Ok(object) if object.size == size => Ok(()),
            _ => Err(error),
        },
        outcome => outcome.map(drop),
    }
}

#[tokio::test]
async fn a_completion_that_was_carried_out_twice_is_decided_by_what_is_there() {
    let path = Path::from(NEW);
    for is_lost in [true, false] {
        let _guard = test::begin();
        let store = if is_lost { losing(Kind::Multipart).await } else { faulty(Fault::None, |_| false).await };
        let client = client(&store);
        let mut upload = client.put_multipart(&path).await.unwrap();
        upload.put_part(PutPayload::from_static(b"content")).await.unwrap();
        if !is_lost {
            // Somebody else aborts it.
            upload.abort().await.unwrap();
        }
        let outcome = complete(&client, &path, upload, 7).await;
        assert_eq!((outcome.is_ok(), store.object(NEW).is_some()), (is_lost, is_lost), "{outcome:?}");
    }
}
