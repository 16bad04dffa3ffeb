//! The errors of reqwest 0.12, observed with 0.12.28.
//!
//! A function that calls a server, with reqwest's errors and the server's error responses in one type:
//!
//! ```
//! # use reqwest012 as reqwest;
//! use reqwest::Client;
//! use retry_clients::reqwest012::{ClientError, ResponseExt};
//! use retry_core::{PatientRetryStrategy, retryable};
//!
//! static API: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! #[retryable(strategy = API, idempotent, max_time = "10s", attempt_timeout = "2s")]
//! async fn get(http: &Client, url: &str) -> Result<String, ClientError> {
//!     Ok(http.get(url).send().await?.error_for_response().await?.text().await?)
//! }
//! ```
//!
//! In your own error type, write an attribute on the field: `#[retry(transparent)]` for a [`ClientError`], and
//! `#[retry(with = reqwest012::classify)]` for a `reqwest::Error`.
//!
#![doc = include_str!("reqwest.md")]

crate::reqwest::version!(reqwest012);
