//! Tables of error codes that several clients report, so they need no client and no feature.
//!
//! The functions take plain codes, so they also work for a client that has no module here.
//!
//! | item | classifies | field attribute | examples |
//! |---|---|---|---|
//! | [`grpc`] | gRPC status codes; [`otlp`] as OTLP reads them | `with`, by your function | `RESOURCE_EXHAUSTED` with a delay is throttling |
//! | [`mysql`] | the error numbers of `MySQL` and `MariaDB`, with their messages | `with`, by your function | 1213 is a conflict, 1290 is safe to retry if its message says that the server is read-only |
//! | [`known_sqlite`] | the result codes of `SQLite` | `with = known_sqlite` | 5, `SQLITE_BUSY`, is a conflict |
//! | [`known_sqlstate`] | the SQLSTATE of a database | `with = known_sqlstate` | 40001 is a conflict, 23505 is not retried |
//! | [`known_storage`] | the error codes of Azure Storage, Google Cloud Storage and `MinIO` | `with = known_storage` | `ServerBusy` is throttling, `quotaExceeded` is not retried |
//! | [`known_redis`] | the error codes of Redis and Valkey | `with = known_redis` | `LOADING` is safe to retry, `WRONGTYPE` is not retried |
//!
//! As in [`retry_core::classify`], a function with `known` in its name returns an `Option`: `None` means that the table has no
//! answer.

mod grpc;
mod mysql;
mod redis;
mod sqlite;
mod sqlstate;
mod storage;

pub use grpc::{grpc, grpc_pushback, otlp};
#[cfg(any(feature = "mysql_async037", feature = "sqlx09", feature = "tokio_postgres07"))]
pub(crate) use mysql::LOCK_WAIT_TIMEOUT;
pub use mysql::mysql;
pub use redis::known_redis;
pub use sqlite::known_sqlite;
pub use sqlstate::known_sqlstate;
pub use storage::known_storage;
