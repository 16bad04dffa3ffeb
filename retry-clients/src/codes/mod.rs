//! Tables of error codes that several clients report, so they need no client and no feature.
//!
//! The functions take plain codes, so they also work for a client that has no module here.
//!
//! | item | classifies | field attribute | examples |
//! |---|---|---|---|
//! | [`grpc`] | gRPC status codes; [`otlp`] as OTLP reads them | `with`, by your function | `RESOURCE_EXHAUSTED` with a delay is throttling |
//! | [`known_sqlstate`] | the SQLSTATE of a database | `with = known_sqlstate` | 40001 is a conflict, 23505 is not retried |
//! | [`known_redis`] | the error codes of Redis and Valkey | `with = known_redis` | `LOADING` is safe to retry, `WRONGTYPE` is not retried |
//!
//! As in [`retry_core::classify`], a function with `known` in its name returns an `Option`: `None` means that the table has no
//! answer.

mod grpc;
mod redis;
mod sqlstate;

pub use grpc::{grpc, grpc_pushback, otlp};
pub use redis::known_redis;
pub use sqlstate::known_sqlstate;
