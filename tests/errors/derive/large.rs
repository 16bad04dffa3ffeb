//! An error type of realistic size: that of a storage service with a dozen dependencies.

use super::{Says, says};
use crate::support::{millis, secs};
use http::StatusCode;
use retry_core::ErrorFault::{Client, Other, Server};
use retry_core::RetryInfo;
use retry_core::RetrySafety::{Maybe, No, Yes};
use retry_core::classify::{Classification, chain, io};
use std::borrow::Cow;
use std::error::Error;
use std::num::ParseIntError;
use std::path::PathBuf;
use std::string::FromUtf8Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The errors of a database.
#[derive(Clone, Debug, RetryInfo)]
#[retry(fault = "server")]
enum DbError {
    #[retry(safe)]
    Deadlock,
    #[retry(safe)]
    SerializationFailure,
    #[retry(fault = "client")]
    UniqueViolation(String),
    #[retry(throttling)]
    TooManyConnections,
    #[retry(timeout)]
    StatementTimeout,
    Crashed,
}

/// The errors of a connection pool, around the errors of its connections.
#[derive(Debug, RetryInfo)]
enum PoolError<E> {
    #[retry(throttling)]
    Exhausted { size: usize },
    #[retry(transparent)]
    Inner(E),
    #[retry(never)]
    Closed,
}

#[derive(Debug, RetryInfo)]
#[retry(crate = ::retry_core)]
enum StorageError<T: Error + 'static, M: ?Sized> {
    // Without options.
    InvalidName(String),
    InvalidRange {
        start: u64,
        end: u64,
    },
    InvalidUtf8(FromUtf8Error),
    #[retry(never)]
    InvalidNumber {
        text: String,
        source: ParseIntError,
    },
    NotEmpty,
    IsDirectory(PathBuf),
    Encoding(Cow<'static, str>),
    Internal(Box<dyn Error + Send + Sync>),
    Unsupported {
        feature: &'static str,
    },
    Cancelled,
    Poisoned(),
    Nothing {},
    Marker(Arc<M>),
    Nested(Box<Self>),
    // Constant answers.
    #[retry(fault = "client")]
    NoSuchBucket(String),
    #[retry(fault = "client")]
    NoSuchKey {
        bucket: String,
        key: String,
    },
    #[retry(fault = "client")]
    AccessDenied,
    #[retry(fault = "client", never)]
    InvalidSignature,
    #[retry(fault = "client")]
    TooLarge {
        size: u64,
        limit: u64,
    },
    #[retry(fault = "client", safe)]
    ExpiredToken,
    #[retry(fault = "client", safe = "maybe")]
    Conflict,
    #[retry(fault = "server")]
    InternalError,
    #[retry(fault = "server", never)]
    NotImplemented,
    #[retry(fault = "server", safe, retry_after = "100ms")]
    LeaderMoved,
    #[retry(throttling)]
    SlowDown,
    #[retry(throttling, fault = "client", retry_after = "1s")]
    QuotaExceeded,
    #[retry(throttling, never)]
    MonthlyQuotaExceeded,
    #[retry(timeout)]
    RequestTimeout,
    #[retry(timeout, safe)]
    ReadTimeout,
    #[retry(timeout, fault = "server")]
    GatewayTimeout,
    #[retry(safe)]
    ConnectionRefused,
    #[retry(safe = "maybe")]
    ConnectionReset,
    #[retry(never)]
    TlsHandshake,
    // Statuses.
    #[retry(http_status = 400)]
    BadRequest,
    #[retry(http_status = 403)]
    Forbidden {
        reason: String,
    },
    #[retry(http_status = 408)]
    ClientTooSlow,
    #[retry(http_status = 409, safe)]
    OperationAborted,
    #[retry(http_status = 412)]
    PreconditionFailed(String),
    #[retry(http_status = 425)]
    TooEarly,
    #[retry(http_status = 429, retry_after = "3s")]
    TooManyRequests,
    #[retry(http_status = 500)]
    ServerError,
    #[retry(http_status = 501)]
    NoSuchMethod,
    #[retry(http_status = 503)]
    Unavailable(#[retry(retry_after)] Option<Duration>),
    #[retry(http_status = 507)]
    InsufficientStorage,
    // Answers in fields.
    Answered {
        #[retry(http_status)]
        status: StatusCode,
        #[retry(error_code)]
        code: Option<String>,
        message: String,
        #[retry(retry_after(secs))]
        retry_after: Option<u64>,
    },
    Batch {
        #[retry(error_code)]
        code: Box<str>,
        failed: Vec<usize>,
    },
    Proxy(#[retry(http_status)] u16, String),
    #[retry(throttling, fault = "server")]
    Paused {
        #[retry(retry_after)]
        until: SystemTime,
    },
    #[retry(fault = "server")]
    Plugin {
        name: String,
        #[retry(safe)]
        retryable: Option<bool>,
    },
    #[retry(throttling)]
    Backpressure(#[retry(retry_after(millis))] u32),
    // Answers of functions.
    Io(#[retry(with = io::known)] std::io::Error),
    Http {
        url: String,
        #[retry(with = chain::known)]
        source: T,
    },
    #[retry(with = Self::judge_exit)]
    Worker {
        exit_code: Option<i32>,
        killed: bool,
    },
    // Answers of other errors.
    #[retry(transparent)]
    Database(DbError),
    #[retry(transparent)]
    Replica {
        name: String,
        source: Arc<DbError>,
    },
    Pool(#[retry(transparent)] PoolError<DbError>, Duration),
    #[retry(transparent)]
    Judged(Classification),
    #[retry(transparent)]
    Dynamic(Box<dyn RetryInfoAndDebug>),
    #[retry(fault = "client")]
    Migration {
        version: u32,
        #[retry(source)]
        cause: DbError,
    },
    #[retry(never)]
    Commit(#[retry(source)] Box<PoolError<Arc<DbError>>>),
}

/// Adds `Debug`, so that assertions can print the whole error.
trait RetryInfoAndDebug: RetryInfo + std::fmt::Debug {}
impl RetryInfoAndDebug for DbError {}

impl<T: Error, M: ?Sized> StorageError<T, M> {
    fn judge_exit(exit_code: &Option<i32>, killed: &bool) -> Option<Classification> {
        match exit_code {
            _ if *killed => Some(Classification::new(Yes).with_fault(Server)),
            Some(75) => Some(Classification::new(Maybe)),
            Some(_) => Some(Classification::new(No).with_fault(Client)),
            None => None,
        }
    }
}

type Storage = StorageError<std::io::Error, str>;

const NOTHING: Says = (Other, No, false, false, None);

// Rule M13.
#[test]
fn variants_without_options_are_not_retried() {
    let number = "x".parse::<u8>().unwrap_err();
    let utf8 = String::from_utf8(vec![0xff]).unwrap_err();
    let unlabelled = [
        Storage::InvalidName(String::new()),
        Storage::InvalidRange { start: 0, end: 0 },
        Storage::InvalidUtf8(utf8),
        Storage::InvalidNumber { text: String::new(), source: number },
        Storage::NotEmpty,
        Storage::IsDirectory(PathBuf::new()),
        Storage::Encoding("".into()),
        Storage::Internal("".into()),
        Storage::Unsupported { feature: "" },
        Storage::Cancelled,
        Storage::Poisoned(),
        Storage::Nothing {},
        Storage::Marker("".into()),
        Storage::Nested(Box::new(Storage::SlowDown)),
    ];
    for error in &unlabelled {
        assert_eq!(says(error), NOTHING, "{error:?}");
    }
}

#[test]
fn constants_and_statuses_in_a_large_enum() {
    let wait = |millis| Some(self::millis(millis));
    let cases = [
        (Storage::NoSuchBucket(String::new()), (Client, No, false, false, None)),
        (Storage::NoSuchKey { bucket: String::new(), key: String::new() }, (Client, No, false, false, None)),
        (Storage::AccessDenied, (Client, No, false, false, None)),
        (Storage::InvalidSignature, (Client, No, false, false, None)),
        (Storage::TooLarge { size: 2, limit: 1 }, (Client, No, false, false, None)),
        (Storage::ExpiredToken, (Client, Yes, false, false, None)),
        (Storage::Conflict, (Client, Maybe, false, false, None)),
        (Storage::InternalError, (Server, Maybe, false, false, None)),
        (Storage::NotImplemented, (Server, No, false, false, None)),
        (Storage::LeaderMoved, (Server, Yes, false, false, wait(100))),
        (Storage::SlowDown, (Other, Yes, true, false, None)),
        (Storage::QuotaExceeded, (Client, Yes, true, false, wait(1000))),
        (Storage::MonthlyQuotaExceeded, (Other, No, true, false, None)),
        (Storage::RequestTimeout, (Other, Maybe, false, true, None)),
        (Storage::ReadTimeout, (Other, Yes, false, true, None)),
        (Storage::GatewayTimeout, (Server, Maybe, false, true, None)),
        (Storage::ConnectionRefused, (Other, Yes, false, false, None)),
        (Storage::ConnectionReset, (Other, Maybe, false, false, None)),
        (Storage::TlsHandshake, NOTHING),
        (Storage::BadRequest, (Client, No, false, false, None)),
        (Storage::Forbidden { reason: String::new() }, (Client, No, false, false, None)),
        (Storage::ClientTooSlow, (Client, Yes, false, true, None)),
        (Storage::OperationAborted, (Client, Yes, false, false, None)),
        (Storage::PreconditionFailed(String::new()), (Client, No, false, false, None)),
        (Storage::TooEarly, (Client, Yes, false, false, None)),
        (Storage::TooManyRequests, (Client, Yes, true, false, wait(3000))),
        (Storage::ServerError, (Server, Maybe, false, false, None)),
        (Storage::NoSuchMethod, (Server, No, false, false, None)),
        (Storage::Unavailable(None), (Server, Maybe, false, false, None)),
        (Storage::Unavailable(wait(5)), (Server, Yes, true, false, wait(5))),
        (Storage::InsufficientStorage, (Server, Maybe, false, false, None)),
    ];
    for (error, expected) in &cases {
        assert_eq!(says(error), *expected, "{error:?}");
    }
}

#[test]
fn fields_in_a_large_enum() {
    let answered = |status, code: Option<&str>, retry_after| Storage::Answered {
        status: StatusCode::from_u16(status).unwrap(),
        code: code.map(str::to_owned),
        message: String::new(),
        retry_after,
    };
    let io = || std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    let plugin = |retryable| Storage::Plugin { name: String::new(), retryable };
    let worker = |exit_code, killed| Storage::Worker { exit_code, killed };
    let cases = [
        (answered(503, None, None), (Server, Maybe, false, false, None)),
        (answered(503, None, Some(4)), (Server, Yes, true, false, Some(secs(4)))),
        (answered(503, Some("SlowDown"), None), (Server, Yes, true, false, None)),
        (answered(404, Some("NoSuchKey"), None), (Client, No, false, false, None)),
        (Storage::Batch { code: "RequestTimeout".into(), failed: vec![1] }, (Client, Yes, false, true, None)),
        (Storage::Batch { code: "Malformed".into(), failed: vec![] }, NOTHING),
        (Storage::Proxy(504, String::new()), (Server, Maybe, false, true, None)),
        (Storage::Paused { until: SystemTime::UNIX_EPOCH }, (Server, Yes, true, false, Some(Duration::ZERO))),
        (plugin(Some(true)), (Server, Yes, false, false, None)),
        (plugin(Some(false)), (Server, No, false, false, None)),
        (plugin(None), (Server, Maybe, false, false, None)),
        (Storage::Backpressure(20), (Other, Yes, true, false, Some(millis(20)))),
        (Storage::Io(io()), (Server, Maybe, false, false, None)),
        (Storage::Http { url: String::new(), source: io() }, (Server, Maybe, false, false, None)),
        (worker(None, true), (Server, Yes, false, false, None)),
        (worker(Some(75), false), (Other, Maybe, false, false, None)),
        (worker(Some(1), false), (Client, No, false, false, None)),
        (worker(None, false), NOTHING),
    ];
    for (error, expected) in &cases {
        assert_eq!(says(error), *expected, "{error:?}");
    }
}

#[test]
fn sources_in_a_large_enum() {
    let deadlock = (Server, Yes, false, false, None);
    let name = String::new;
    let cases = [
        (Storage::Database(DbError::Deadlock), deadlock),
        (Storage::Database(DbError::SerializationFailure), deadlock),
        (Storage::Database(DbError::UniqueViolation(name())), (Client, No, false, false, None)),
        (Storage::Replica { name: name(), source: Arc::new(DbError::Crashed) }, (Server, Maybe, false, false, None)),
        (Storage::Pool(PoolError::Inner(DbError::Deadlock), secs(1)), deadlock),
        (Storage::Pool(PoolError::Exhausted { size: 1 }, secs(1)), (Other, Yes, true, false, None)),
        (Storage::Pool(PoolError::Closed, secs(1)), NOTHING),
        (Storage::Judged(Classification::new(Yes).with_timeout()), (Other, Yes, false, true, None)),
        (Storage::Dynamic(Box::new(DbError::StatementTimeout)), (Server, Maybe, false, true, None)),
        (Storage::Migration { version: 1, cause: DbError::Deadlock }, (Client, Yes, false, false, None)),
        (
            Storage::Commit(Box::new(PoolError::Inner(Arc::new(DbError::TooManyConnections)))),
            (Server, No, true, false, None),
        ),
    ];
    for (error, expected) in &cases {
        assert_eq!(says(error), *expected, "{error:?}");
    }
}
