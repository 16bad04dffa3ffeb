//! Which requests are sent again.

use super::{builder, connector, faulty, retries};
use crate::store::{Fault, Store};
use futures_util::{StreamExt, stream};
use object_store::aws::{AmazonS3, S3CopyIfNotExists};
use object_store::client::ReqwestConnector;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutPayload, UpdateVersion};
use retry_clients::object_store014::RetryConnector;
use retry_core::{RetryError, RetryErrorType, StandardRetryStrategy, test};
use std::collections::BTreeMap;

/// The kinds of requests, by the operation that makes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Get,
    Head,
    List,
    Put,
    Create,
    Update,
    Copy,
    CopyIfAbsent,
    CopyIfAbsentByHeader,
    Delete,
    DeleteMany,
    Multipart,
    Abort,
}

const KINDS: [Kind; 13] = [
    Kind::Get,
    Kind::Head,
    Kind::List,
    Kind::Put,
    Kind::Create,
    Kind::Update,
    Kind::Copy,
    Kind::CopyIfAbsent,
    Kind::CopyIfAbsentByHeader,
    Kind::Delete,
    Kind::DeleteMany,
    Kind::Multipart,
    Kind::Abort,
];

/// The key of an object that is there before the operation. Its content is its tag.
pub(crate) const OLD: &str = "old";
pub(crate) const NEW: &str = "new";

/// Makes the requests of an operation, on a store that has the object `OLD`.
pub(crate) async fn run(kind: Kind, client: &AmazonS3) -> object_store::Result<()> {
    let (old, new) = (Path::from(OLD), Path::from(NEW));
    let content = || PutPayload::from_static(b"content");
    match kind {
        Kind::Get => client.get(&old).await?.bytes().await.map(drop),
        Kind::Head => client.head(&old).await.map(drop),
        Kind::List => client.list(None).next().await.unwrap().map(drop),
        Kind::Put => client.put(&new, content()).await.map(drop),
        Kind::Create => client.put_opts(&new, content(), PutMode::Create.into()).await.map(drop),
        Kind::Update => {
            let version = UpdateVersion { e_tag: Some(format!("\"{OLD}\"")), version: None };
            client.put_opts(&old, content(), PutMode::Update(version).into()).await.map(drop)
        }
        Kind::Copy => client.copy(&old, &new).await,
        Kind::CopyIfAbsent | Kind::CopyIfAbsentByHeader => client.copy_if_not_exists(&old, &new).await,
        Kind::Delete => client.delete(&old).await,
        Kind::DeleteMany => {
            let deleted = client.delete_stream(stream::iter([Ok(old)]).boxed()).next().await;
            deleted.unwrap().map(drop)
        }
        Kind::Multipart => {
            let mut upload = client.put_multipart(&new).await?;
            upload.put_part(content()).await?;
            upload.complete().await.map(drop)
        }
        Kind::Abort => client.put_multipart(&new).await?.abort().await,
    }
}

/// Returns a client whose settings fit the kind.
pub(crate) fn client_for(kind: Kind, store: &Store, own: usize) -> AmazonS3 {
    let builder = builder(store).with_retry(retries(own));
    let builder = if own == 0 { builder.with_http_connector(connector()) } else { builder };
    let by_header = S3CopyIfNotExists::Header("cf-copy-destination-if-none-match".into(), "*".into());
    let copy = if kind == Kind::CopyIfAbsentByHeader { by_header } else { S3CopyIfNotExists::Multipart };
    builder.with_copy_if_not_exists(copy).with_disable_bulk_delete(kind == Kind::Delete).build().unwrap()
}

/// Runs an operation whose requests each have this fault at first. Returns its outcome and the store.
async fn run_faulty(kind: Kind, fault: Fault, own: usize) -> (object_store::Result<()>, Store) {
    let store = faulty(fault, |_| true).await;
    store.insert(OLD, OLD);
    let outcome = run(kind, &client_for(kind, &store, own)).await;
    (outcome, store)
}

/// Returns the number of times that each request was made.
fn counts(lines: Vec<String>) -> BTreeMap<String, usize> {
    lines.into_iter().fold(BTreeMap::new(), |mut counts, line| {
        *counts.entry(line).or_default() += 1;
        counts
    })
}

fn is_conditional(line: &str) -> bool {
    line.ends_with(" on a condition")
}

// Rule H19.
#[tokio::test]
async fn a_write_on_a_condition_is_sent_once_if_it_may_have_been_carried_out_and_any_other_request_again() {
    let lost =
        [Fault::Unanswered, Fault::Dropped, Fault::Refused(500, "", "InternalError"), Fault::Refused(503, "", "")];
    for (kind, fault) in KINDS.iter().flat_map(|kind| lost.map(|fault| (*kind, fault))) {
        let _guard = test::begin();
        let (outcome, store) = run_faulty(kind, fault, 0).await;
        let arrived = counts(store.arrived());
        for (line, count) in &arrived {
            assert_eq!(*count, if is_conditional(line) { 1 } else { 2 }, "{kind:?} {fault:?} {line}");
        }
        // A completion that was carried out twice reports that the upload is gone.
        let is_gone = kind == Kind::Multipart && matches!(fault, Fault::Unanswered);
        let is_sent_once = arrived.keys().any(|line| is_conditional(line));
        assert_eq!(outcome.is_ok(), !is_sent_once && !is_gone, "{kind:?} {fault:?} {outcome:?}");
        if is_sent_once {
            assert!(matches!(outcome, Err(Error::Generic { .. })), "{kind:?} {fault:?} {outcome:?}");
        }
        if is_gone {
            assert!(matches!(outcome, Err(Error::NotFound { .. })), "{outcome:?}");
            assert_eq!(store.object(NEW).unwrap(), b"content");
        }
        for (line, count) in counts(store.acted_upon()) {
            assert!(count == 1 || !is_conditional(&line), "{kind:?} {fault:?} {line}");
        }
    }
}

// Rule H19.
#[tokio::test]
async fn any_request_that_was_turned_away_is_sent_again() {
    let refusals = [(503, "", "SlowDown"), (503, "retry-after: 3\r\n", ""), (429, "", ""), (408, "", "")];
    for (kind, (status, headers, code)) in KINDS.iter().flat_map(|kind| refusals.map(|refusal| (*kind, refusal))) {
        let _guard = test::begin();
        let (outcome, store) = run_faulty(kind, Fault::Refused(status, headers, code), 0).await;
        outcome.unwrap_or_else(|error| panic!("{kind:?} {status} {error}"));
        assert!(counts(store.arrived()).values().all(|count| *count == 2), "{kind:?} {status} {:?}", store.arrived());
        assert!(counts(store.acted_upon()).values().all(|count| *count == 1), "{kind:?} {status}");
    }
}

// Rule H19.
#[tokio::test]
async fn a_request_that_was_answered_with_no_is_not_sent_again() {
    for (kind, status) in KINDS.iter().flat_map(|kind| [400, 403, 404, 409, 412, 501].map(|status| (*kind, status))) {
        let _guard = test::begin();
        let (outcome, store) = run_faulty(kind, Fault::Refused(status, "", ""), 0).await;
        outcome.unwrap_err();
        let arrived = counts(store.arrived());
        assert!(arrived.values().all(|count| *count == 1), "{kind:?} {status} {arrived:?}");
    }
}

// Rule H19.
#[tokio::test]
async fn a_condition_that_lost_a_race_is_tried_again() {
    for kind in [Kind::Create, Kind::Update] {
        let guard = test::begin();
        let (outcome, store) = run_faulty(kind, Fault::Refused(409, "", "ConditionalRequestConflict"), 0).await;
        outcome.unwrap();
        assert_eq!(store.arrived().len(), 2);
        assert_eq!(guard.only().classes, [Some(RetryErrorType::Conflict)]);
    }
}

/// What the connector is for: `object_store` itself takes a connection that was closed without an answer for a request that was
/// not sent.
#[tokio::test]
async fn retries_of_object_store_repeat_a_creation_that_was_carried_out() {
    let (outcome, store) = run_faulty(Kind::Create, Fault::Unanswered, 3).await;
    assert!(matches!(outcome, Err(Error::AlreadyExists { .. })), "{outcome:?}");
    assert_eq!(store.arrived().len(), 2);
    assert_eq!(store.object(NEW).unwrap(), b"content");
}

// Rule H19.
#[tokio::test]
async fn a_function_decides_in_place_of_the_table() {
    let _guard = test::begin();
    let store = faulty(Fault::Refused(500, "", ""), |_| true).await;
    let retries = connector().idempotent_with(|request| request.method() != "PUT");
    let client = builder(&store).with_http_connector(retries).build().unwrap();
    run(Kind::Put, &client).await.unwrap_err();
    store.insert(OLD, OLD);
    run(Kind::Get, &client).await.unwrap();
    assert_eq!(store.arrived(), ["PUT new", "GET old", "GET old"]);
}

static SMALL: StandardRetryStrategy = StandardRetryStrategy::new().quota_capacity(20);

// Rule H19.
#[tokio::test]
async fn all_requests_of_a_store_share_one_quota() {
    let guard = test::begin();
    let store = Store::start(None, |_, _| Fault::Refused(500, "", "")).await.unwrap();
    let retries = RetryConnector::new(ReqwestConnector::default(), &SMALL).name("store");
    let client = builder(&store).with_http_connector(retries).build().unwrap();
    for kind in [Kind::Put, Kind::Get, Kind::Delete, Kind::List] {
        run(kind, &client).await.unwrap_err();
    }
    // The first one makes five attempts, for a cost of 20, and nothing is left for the others.
    let attempts: Vec<_> = guard.operations().iter().map(|it| (it.name, it.attempts, it.reason)).collect();
    let alone = ("store", 1, Some(RetryError::QuotaExhausted));
    assert_eq!(attempts, [("store", 5, Some(RetryError::MaxAttempts)), alone, alone, alone]);
    assert_eq!(store.arrived().len(), 8);
}

#[tokio::test]
async fn retries_of_both_multiply() {
    let _guard = test::begin();
    let store = Store::start(None, |_, _| Fault::Refused(500, "", "")).await.unwrap();
    let client = builder(&store).with_http_connector(connector()).with_retry(retries(10)).build().unwrap();
    run(Kind::Get, &client).await.unwrap_err();
    assert_eq!(store.arrived().len(), 55);
}
