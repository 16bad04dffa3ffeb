//! Classification of the errors of known clients and of the codes that services send, for [`retry_core`].
//!
#![cfg_attr(feature = "reqwest013", doc = "```")]
#![cfg_attr(not(feature = "reqwest013"), doc = "```ignore")]
//! use reqwest::Client;
//! use retry_clients::reqwest013::{ClientError, ResponseExt};
//! use retry_core::{StandardRetryStrategy, retryable};
//!
//! static API: StandardRetryStrategy = StandardRetryStrategy::new();
//!
//! #[retryable(strategy = API, idempotent, attempt_timeout = "2s")]
//! async fn get(http: &Client, url: &str) -> Result<String, ClientError> {
//!     Ok(http.get(url).send().await?.error_for_response().await?.text().await?)
//! }
//! ```
//!
//! | client | feature and module | error | needs Rust |
//! |---|---|---|---|
//! | hyper 1 | [`hyper1`] | `hyper::Error` | 1.88 |
//! | hyper-util 0.1 | [`hyper_util01`] | `hyper_util::client::legacy::Error` | 1.88 |
//! | `mysql_async` 0.37 | [`mysql_async037`] | `mysql_async::Error` | 1.88 |
//! | `object_store` 0.14 | [`object_store014`] | `object_store::client::HttpError` | 1.88 |
//! | redis 1 | [`redis1`] | `redis::RedisError` | 1.88 |
//! | reqwest 0.12 | [`reqwest012`] | `reqwest::Error` | 1.88 |
//! | reqwest 0.13 | [`reqwest013`] | `reqwest::Error` | 1.88 |
//! | reqwest-middleware 0.5 | [`reqwest_middleware05`] | `reqwest_middleware::Error` | 1.88 |
//! | sqlx 0.9 | [`sqlx09`] | `sqlx::Error` | 1.94 |
//! | tokio-postgres 0.7 | [`tokio_postgres07`] | `tokio_postgres::Error` | 1.88 |
//! | tonic 0.14 | [`tonic014`] | `tonic::Status` | 1.88 |
//! | ureq 3 | [`ureq3`] | `ureq::Error` | 1.88 |
//!
//! The Rust that a feature needs is that of its dependencies, as `Cargo.lock` of the repository has them.
//!
//! No feature is on by default. Each names a client together with its major version, so a new major version of a client
//! is a new feature, and the old one stays. The features of the clients themselves are left to you: this crate turns on
//! only those without which an error can't be classified.
//!
//! The modules have the same parts:
//!
//! | item | use it |
//! |---|---|
//! | `classify` | on a field of a derived error: `#[retry(with = reqwest013::classify)]` |
//! | `policy` | for a function that returns the client's own error, alone or in an `anyhow::Error` or the like: `#[retryable(strategy = API, policy = reqwest013::policy())]` |
//! | `ClientError` | for a function with a time limit: `Result<T, reqwest013::ClientError>` has the client's own error or a time limit that was exceeded |
//! | `link` | for the errors of more clients in the same function: `policy = reqwest013::policy().also(redis1::link)` |
//! | `response_policy` | for layers of `tower` around an HTTP client, where an error status is an `Ok`: a [`ResponsePolicy`](http::ResponsePolicy). For reqwest, reqwest-middleware and hyper-util |
//! | `transaction`, `TransactionError` | for a transaction of `PostgreSQL`, `MySQL` or `MariaDB`, in the three modules that have them: they know whether COMMIT had been sent |
//! | a table | to look up the classification of each error, the reason for it, and how it was observed |
//!
//! In the column *safe*, *yes* means that the request was not acted upon, or that a repetition does no harm; *maybe*
//! means that the request may have been acted upon. Whether a *maybe* is retried is up to the operation: mark it
//! `idempotent` or `idempotent = false`, or with a policy, `.idempotent(true)` or `.idempotent(false)`.
//!
//! Each policy is a [`ChainPolicy`](retry_core::ChainPolicy), which classifies an error of any type by its chain of
//! sources. It also knows I/O errors and the timeouts of retry-core and tokio.
//!
//! A client's own error can't be made from a [`TimedOut`](retry_core::TimedOut), so a function with `max_time`, `deadline` or
//! `attempt_timeout` returns the [`ClientError`] of the module in its place, and needs no policy:
//! `#[retryable(strategy = CACHE, idempotent, max_time = "2s")] async fn get(..) -> Result<String, redis1::ClientError>`.
//! It can also return an `anyhow::Error` or the like, with the same policy as above.
//!
//! With one line, [`reqwest_middleware05::RetryMiddleware`] retries all requests of a client, and
//! [`object_store014::RetryConnector`] those of a store. For a stack of `tower` layers around a client of reqwest or
//! hyper-util, use `RetryLayer` of the crate `retry-tower` with the `response_policy` of the client.
//!
//! # Codes and headers
//!
//! These modules need no client and no feature:
//!
//! | module | has |
//! |---|---|
//! | [`codes`] | the codes of gRPC and OTLP, SQLSTATEs, the codes of `MySQL`, `MariaDB` and `SQLite`, and the errors of Redis and Valkey, and of object stores |
//! | [`headers`] | the headers that tell a server the number of the attempt and the time left, and the deadline of a caller |
//! | [`http`] | parsers for `Retry-After`, with dates by the feature `httpdate`, and for reports of rate limits. With the feature `http`, which clients of HTTP turn on, it classifies whole responses |
//! | [`llm`] | the errors of services for language models, and with the feature `http` their headers |
//!
//! # Clients without a module
//!
//! - **`kube`.** Version 5 retries by itself, POST included, after a 429, 503 or 504. Leave the retries to it, or set
//!   `default_retry` of its `Config` to `false`, because its retries multiply with those of an operation.
//! - **`opendal`.** Each of its minor versions is a new major version. Leave its `RetryLayer` out, and retry the requests in
//!   an `HttpTransport`, as the program `examples/opendal` in the repository does. Don't repeat the calls of a `Writer`:
//!   with 0.59, one that failed drops what it held back, and the next attempt succeeds without it.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod client_error;
pub mod codes;
#[cfg(any(feature = "hyper_util01", feature = "reqwest012", feature = "reqwest013", feature = "tonic014"))]
mod connect;
mod forward;
pub mod headers;
pub mod http;
#[cfg(feature = "hyper1")]
pub mod hyper1;
#[cfg(feature = "hyper_util01")]
pub mod hyper_util01;
pub mod llm;
#[cfg(feature = "mysql_async037")]
pub mod mysql_async037;
#[cfg(feature = "object_store014")]
pub mod object_store014;
#[cfg(feature = "redis1")]
pub mod redis1;
#[cfg(any(feature = "hyper_util01", feature = "reqwest012", feature = "reqwest013", feature = "tonic014"))]
mod refused;
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
mod reqwest;
#[cfg(feature = "reqwest012")]
pub mod reqwest012;
#[cfg(feature = "reqwest013")]
pub mod reqwest013;
#[cfg(feature = "reqwest_middleware05")]
pub mod reqwest_middleware05;
#[cfg(any(
    feature = "mysql_async037",
    feature = "redis1",
    feature = "sqlx09",
    feature = "tokio_postgres07",
    feature = "ureq3"
))]
mod resolve;
#[cfg(feature = "sqlx09")]
pub mod sqlx09;
#[cfg(feature = "tokio_postgres07")]
pub mod tokio_postgres07;
#[cfg(feature = "tonic014")]
pub mod tonic014;
#[cfg(any(feature = "mysql_async037", feature = "sqlx09", feature = "tokio_postgres07"))]
mod transaction;
#[cfg(feature = "ureq3")]
pub mod ureq3;

pub use client_error::ClientError;
#[cfg(any(feature = "mysql_async037", feature = "sqlx09", feature = "tokio_postgres07"))]
pub use transaction::TransactionError;
