//! A connector for `object_store` 0.14 that retries the requests of a store, and the errors of its client.
//!
//! # One line for a store
//!
//! With [`RetryConnector`], all requests of a store share one strategy, and its calls stay as they are. Set the retries of
//! `object_store` to 0, because otherwise both multiply, with up to 55 requests for one call:
//!
//! ```
//! use object_store::aws::AmazonS3Builder;
//! use object_store::client::ReqwestConnector;
//! use object_store::{ObjectStore, RetryConfig};
//! use retry_clients::object_store014::RetryConnector;
//! use retry_limits::PacedRetryStrategy;
//!
//! // Paced: it also finds the rate that the store accepts, and sends no faster.
//! static STORE: PacedRetryStrategy = PacedRetryStrategy::new();
//!
//! fn store() -> object_store::Result<impl ObjectStore> {
//!     let retries = RetryConnector::new(ReqwestConnector::default(), &STORE);
//!     let none = RetryConfig { max_retries: 0, ..RetryConfig::default() };
//!     AmazonS3Builder::from_env().with_http_connector(retries).with_retry(none).build()
//! }
//! ```
//!
//! The same two methods are those of the builders for Google Cloud Storage, Azure and HTTP.
//!
//! # Which requests are repeated
//!
//! A request that was not acted upon is repeated, after a 429 or a refused connection for example. If it may have been acted
//! upon, because its answer was lost, came too late or was a 500, the request decides:
//!
//! | request | repeated | why |
//! |---|---|---|
//! | get, head, list | yes | they change nothing |
//! | put of a whole object, copy, delete | yes | the same object is there, or gone, as after one |
//! | part of a multipart upload | yes | the part replaces itself |
//! | creation of a multipart upload | yes | at worst, an upload without parts stays behind |
//! | completion, abort of a multipart upload | yes | it has an effect once; at worst, the repetition reports that the upload is gone ([what to do](self#a-completion-that-reports-notfound)) |
//! | any write with a condition, such as `PutMode::Create`, `PutMode::Update`, `CopyMode::Create` | no | its own first attempt would make the condition fail, and a success would look like `AlreadyExists` |
//! | requests for credentials | yes | another token harms nobody |
//!
//! A condition is known by its header: `If-None-Match`, `If-Match`, `x-goog-if-generation-match`, `Overwrite: F` and headers whose
//! names end in the same way, such as `cf-copy-destination-if-none-match`. If your store has another one,
//! [`idempotent_with`](RetryConnector::idempotent_with) decides.
//!
//! # A completion that reports `NotFound`
//!
//! If the answer to the completion of a multipart upload is lost, the object is stored, and the upload is gone. The repetition
//! can then report [`NotFound`](object_store::Error::NotFound), as it also does with the retries of `object_store`. The connector
//! can't look what is there, because requests are signed before they come here. So look where the upload is completed:
//!
//! ```
//! use object_store::path::Path;
//! use object_store::{Error, MultipartUpload, ObjectStore, ObjectStoreExt};
//!
//! async fn complete(
//!     store: &dyn ObjectStore,
//!     path: &Path,
//!     mut upload: Box<dyn MultipartUpload>,
//!     size: u64,
//! ) -> object_store::Result<()> {
//!     match upload.complete().await {
//!         Err(error @ Error::NotFound { .. }) => match store.head(path).await {
//!             Ok(object) if object.size == size => Ok(()),
//!             _ => Err(error),
//!         },
//!         outcome => outcome.map(drop),
//!     }
//! }
//! ```
//!
//! An older object at the same path can have the same size. If so, compare the `e_tag` with that before the upload, too.
//!
//! # Answers
//!
//! - **Status and headers** classify an answer as in [`classify::http`](retry_core::classify::http). A retry waits at least as long
//!   as a `Retry-After` asks for.
//! - **Error codes** come first: those of the [table of AWS](retry_core::classify::aws), and those of the [other
//!   stores](crate::codes::known_storage). So `SlowDown`, which S3 sends without a `Retry-After`, `ServerBusy` of Azure and
//!   `rateLimitExceeded` of Google are throttling. They are in the body, in XML or JSON, and those of Azure also in headers. A HEAD has no body, so a
//!   503 of S3 to a HEAD is not throttling.
//! - **An error in a success**: S3 can report `InternalError` or `SlowDown` with the status 200, in the answer to a copy, a
//!   completion or a bulk delete. It is treated as a 500 or as throttling.
//! - **Bodies** belong to the attempt, so that a request is repeated if its answer breaks off. The exception is the content of an object
//!   whose length is unknown or above 1 MiB ([`read_bodies`](RetryConnector::read_bodies)).
//! - **The outcome** is that of the last attempt, from which `object_store` makes its error.
//!
//! # Objects that break off
//!
//! With its own retries, `object_store` resumes the content of an object that breaks off, by a request for the rest. Without
//! them, the stream ends with an error. Small objects and ranges are not affected, because they belong to the attempt. For
//! large ones, set a higher limit, read in ranges, or begin again in a retried function. The [`policy`] knows content that
//! broke off, and does not repeat what the connector has repeated already:
//!
//! ```
//! use hyper::body::Bytes;
//! use object_store::{ObjectStore, ObjectStoreExt, path::Path};
//! use retry_clients::object_store014;
//! use retry_core::{PatientRetryStrategy, retryable};
//!
//! static READS: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! #[retryable(strategy = READS, policy = object_store014::policy().idempotent(true))]
//! async fn read(store: &dyn ObjectStore, path: &Path) -> object_store::Result<Bytes> {
//!     store.get(path).await?.bytes().await
//! }
//! ```
//!
//! # Why the connector
//!
//! An error of `object_store` has the status of the answer in its text only, and not the headers. Its `RetryPolicy` is asked
//! for parts of multipart uploads only, when its own retries are used up, and sees no success. So neither can carry a quota
//! or a pace.
//!
//! - **Time.** `timeout` of `object_store`'s `ClientOptions`, by default 30 s, limits each attempt, and
//!   [`max_time`](RetryConnector::max_time) the whole request. A request is signed once, before it comes here, and S3 refuses a
//!   signature that is older than 15 minutes.
//! - **Credentials.** Their requests go through the connector too, with the same strategy.
//! - **Retries of `object_store`** for parts, by `with_retry_policy`, multiply with those of the connector. Leave them out.
//!
//! # Errors
//!
//! | error of the client | classification |
//! |---|---|
//! | around an error of reqwest | by the table of [`reqwest013`] |
//! | of another connector, around an error that retry-core knows | by the table of [`chain`] |
//! | of another connector, `Connect` | yes |
//! | of another connector, `Timeout` | maybe, timeout |
//! | of another connector, `Request`, `Interrupted` | maybe, the server's fault. In `object_store`, `Request` means that nothing was sent, but it is also a connection that was closed without an answer |
//! | of another connector, `Decode` | no |
//! | of another connector, any other kind | unknown |

mod answer;
mod connector;
mod request;

pub use connector::RetryConnector;

use crate::reqwest013;
use object_store::Error;
use object_store::client::{HttpError, HttpErrorKind};
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, ErrorFault, RetrySafety};

/// Classifies an error of `object_store`'s client by the [table](self). Returns `None` if it is not known.
pub fn classify(error: &HttpError) -> Option<Classification> {
    let maybe = Classification::new(RetrySafety::Maybe);
    chain::first_known(error, |link| reqwest013::link(link).or_else(|| chain::link(link))).or(match error.kind() {
        HttpErrorKind::Connect => Some(Classification::new(RetrySafety::Yes)),
        HttpErrorKind::Timeout => Some(maybe.with_timeout()),
        HttpErrorKind::Request | HttpErrorKind::Interrupted => Some(maybe.with_fault(ErrorFault::Server)),
        HttpErrorKind::Decode => Some(Classification::new(RetrySafety::No)),
        _ => None,
    })
}

/// Classifies an error of `object_store` that is a link of a chain, for [`ChainPolicy::also`]: content that
/// [broke off](self#objects-that-break-off) by [`classify`], and any other error as *no*, because a [`RetryConnector`] has
/// repeated its request already. Returns `None` for any other link.
pub fn link(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    let error = link.downcast_ref::<Error>()?;
    let broken = if let Error::Generic { source, .. } = error { source.downcast_ref::<HttpError>() } else { None };
    Some(broken.and_then(classify).unwrap_or(Classification::new(RetrySafety::No)))
}

/// Returns a [`ChainPolicy`] that knows the errors of `object_store`, by [`link`].
pub const fn policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(link)
}
