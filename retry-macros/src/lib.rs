//! The macros of `retry-core`: depend on that crate, which re-exports them.
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::exit,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::panic_in_result_fn,
        clippy::string_slice,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::unwrap_in_result,
        clippy::unwrap_used
    )
)]

mod diagnostics;
mod options;
mod retry_info;
mod retryable;
#[cfg(test)]
mod snapshots;
mod tokens;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Says what an error means for a retry: implements `RetryInfo` and `ErrorInfo` for an enum or a struct.
///
/// ```
/// use retry_core::{Success, RetryInfo, RetrySafety};
/// use std::time::Duration;
/// # #[derive(RetryInfo)]
/// # struct TransportError;
///
/// #[derive(RetryInfo)]
/// enum StoreError {
///     #[retry(throttling, fault = "client")]
///     SlowDown {
///         #[retry(retry_after)]
///         wait: Option<Duration>,
///     },
///     #[retry(timeout)]
///     NoAnswer,
///     #[retry(http_status = 404)]
///     NoSuchKey(String),
///     #[retry(transparent)]
///     Transport(TransportError),
///     Other,
/// }
///
/// let slow_down = StoreError::SlowDown { wait: Some(Duration::from_secs(3)) };
/// assert!(slow_down.is_throttle());
/// assert_eq!(slow_down.is_retry_safe(), RetrySafety::Yes);
/// assert_eq!(slow_down.retry_after(), Some(Duration::from_secs(3)));
/// assert_eq!(StoreError::NoAnswer.is_retry_safe(), RetrySafety::Maybe);
/// assert_eq!(StoreError::Other.is_retry_safe(), RetrySafety::No, "what nobody labels is not retried");
/// ```
///
/// # All options
///
/// | where | `#[retry(...)]` | says | and implies |
/// |---|---|---|---|
/// | variant, struct, enum | [`throttling`](#throttling) | the request was turned away, because there were too many of late | `safe` |
/// | variant, struct, enum | [`timeout`](#timeout) | no answer came in time | `safe = "maybe"` |
/// | variant, struct, enum | [`conflict`](#conflict) | the request lost a race against another one | `safe` |
/// | variant, struct, enum | [`safe`, `never`, `safe = ".."`](#safe-and-never) | whether the request may be sent again | |
/// | variant, struct, enum | [`fault = ".."`](#fault) | who caused the error | `"server"`: `safe = "maybe"`, else `never` |
/// | variant, struct, enum | [`retry_after = ".."`](#retry_after) | a retry waits at least that long | |
/// | variant, struct, enum | [`http_status = 429`](#http_status) | all but the wait, by the status | |
/// | variant, struct, field | [`with = path`](#with) | what a fn of yours answers | |
/// | variant, struct, field | [`transparent`](#transparent) | everything is taken from one field | |
/// | field | [`source`](#source) | what is said nowhere else is taken from this field | |
/// | field | [`retry_after`](#retry_after), `retry_after(secs)`, `retry_after(millis)` | the field holds the wait | |
/// | field | [`http_status`](#http_status) | the field holds the status | |
/// | field | [`error_code`](#error_code) | the field holds an error code of AWS | |
/// | field | [`safe`](#safe-and-never) | the field holds the verdict | |
/// | enum | [`exhaustive`](#exhaustive) | each variant must say something | |
/// | enum, struct | [`crate = path`](#crate) | where retry-core is found | |
///
/// Options combine, in one attribute or in several: `throttling, never` is a legitimate thing to say, and so is
/// `fault = "client", safe`.
///
/// # Which one wins
///
/// For each of the six answers by itself, the first that has one:
///
/// 1. what the variant says: `safe`, `never`, `fault`, `throttling`, `timeout`, `conflict`, `retry_after`, where a field beats
///    the constant beside it;
/// 2. `with`;
/// 3. a `safe` field;
/// 4. a field with an `error_code` that is known, then a field with the `http_status`;
/// 5. what follows for safety from `throttling` or `conflict`, else from `timeout`;
/// 6. a constant `http_status`;
/// 7. the `source`;
/// 8. the same for the enum: what it says, then what follows from its `throttling`, `conflict` or `timeout`, then its
///    `http_status`;
/// 9. what follows from the fault;
/// 10. no; nobody's known fault; no wait.
///
/// So what nobody labels is not retried, and a `never` on the enum does not beat a `throttling` on a variant.
///
/// A `None` in a field says nothing, and so does a fn that answers `None`: the next in order is asked. A fn that answers a
/// `bool` says nothing but that. A status, a code, a `Classification` and the error in a source have an answer to everything
/// but the wait, even if it is no.
///
/// ```
/// use retry_core::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
///
/// #[derive(RetryInfo)]
/// #[retry(never, fault = "server")]
/// enum JobError {
///     #[retry(throttling)]
///     Busy,
///     #[retry(throttling, never)]
///     MonthlyQuotaExceeded,
///     #[retry(timeout)]
///     Rejected(#[retry(http_status)] Option<u16>),
///     Crashed,
/// }
///
/// assert_eq!(JobError::Busy.is_retry_safe(), RetrySafety::Yes); // 5 before 8
/// assert_eq!(JobError::Busy.fault(), ErrorFault::Server); // 8
/// assert_eq!(JobError::MonthlyQuotaExceeded.is_retry_safe(), RetrySafety::No); // 1 before 5
/// assert_eq!(JobError::Rejected(Some(404)).is_retry_safe(), RetrySafety::No); // 4 before 5
/// assert_eq!(JobError::Rejected(None).is_retry_safe(), RetrySafety::Maybe); // 5
/// assert_eq!(JobError::Crashed.is_retry_safe(), RetrySafety::No); // 8 before 9
/// ```
///
/// # `throttling`
///
/// The request was turned away, because there were too many of late. So it was not acted upon, and a retry is safe unless
/// the variant says otherwise. By default an error is no throttling.
///
/// ```
/// # use retry_core::RetryInfo;
/// #[derive(RetryInfo)]
/// #[retry(throttling)]
/// struct SlowDown;
/// ```
///
/// By hand:
///
/// ```
/// # use retry_core::{ErrorInfo, RetryInfo, RetrySafety};
/// # struct SlowDown;
/// impl ErrorInfo for SlowDown {}
/// impl RetryInfo for SlowDown {
///     fn is_throttle(&self) -> bool {
///         true
///     }
///     fn is_retry_safe(&self) -> RetrySafety {
///         RetrySafety::Yes
///     }
/// }
/// ```
///
/// # `timeout`
///
/// No answer came in time. Perhaps the request was acted upon, perhaps not, so whether it may be sent again is left to the
/// operation, unless the variant says otherwise. By default an error is no timeout.
///
/// ```
/// # use retry_core::RetryInfo;
/// #[derive(RetryInfo)]
/// #[retry(timeout)]
/// struct NoAnswer;
/// ```
///
/// By hand it is as for [`throttling`](#throttling), with `is_timeout` and `RetrySafety::Maybe`.
///
/// # `conflict`
///
/// The request lost a race against another one: a healthy server refused an optimistic transaction or a conditional write.
/// Nothing was done, so a retry is safe unless the variant says otherwise. It is right where the attempt reads again what it
/// writes; a condition that stays the same fails again. By default an error is no conflict.
///
/// ```
/// # use retry_core::RetryInfo;
/// #[derive(RetryInfo)]
/// enum TransferError {
///     #[retry(conflict)]
///     SerializationFailure,
///     #[retry(conflict, http_status = 412)]
///     PreconditionFailed,
/// }
///
/// assert!(TransferError::SerializationFailure.is_conflict());
/// ```
///
/// By hand it is as for [`throttling`](#throttling), with `is_conflict`.
///
/// # `safe` and `never`
///
/// Whether the request may be sent again. `safe`, or `safe = "yes"`: it was not acted upon, or is harmless to repeat.
/// `never`, or `safe = "no"`: a retry is wrong or pointless. `safe = "maybe"`: the error can't tell, and the operation
/// decides, which knows whether it is idempotent. By default it follows from what else is said, and at last it is no.
///
/// On a field, `safe` stands alone: the verdict lies in the field, a `bool`, a `RetrySafety` or an `Option` of either.
///
/// ```
/// use retry_core::{RetryInfo, RetrySafety};
///
/// #[derive(RetryInfo)]
/// enum JobError {
///     #[retry(safe)]
///     NotStarted,
///     #[retry(never)]
///     Refused,
///     Failed {
///         #[retry(safe)]
///         may_retry: Option<bool>,
///     },
/// }
///
/// assert_eq!(JobError::NotStarted.is_retry_safe(), RetrySafety::Yes);
/// assert_eq!(JobError::Failed { may_retry: Some(true) }.is_retry_safe(), RetrySafety::Yes);
/// assert_eq!(JobError::Failed { may_retry: None }.is_retry_safe(), RetrySafety::No);
/// ```
///
/// By hand:
///
/// ```
/// # use retry_core::{ErrorInfo, RetryInfo, RetrySafety};
/// # enum JobError { NotStarted, Refused, Failed { may_retry: Option<bool> } }
/// impl ErrorInfo for JobError {}
/// impl RetryInfo for JobError {
///     fn is_retry_safe(&self) -> RetrySafety {
///         match self {
///             Self::NotStarted | Self::Failed { may_retry: Some(true) } => RetrySafety::Yes,
///             Self::Refused | Self::Failed { .. } => RetrySafety::No,
///         }
///     }
/// }
/// ```
///
/// # `fault`
///
/// Who caused the error: `fault = "client"` (the request was wrong), `fault = "server"` (the server failed) or
/// `fault = "other"` (nobody, as far as is known), which is the default. Where nothing else says whether a retry is safe,
/// a server's fault may be retried, and any other is not.
///
/// ```
/// use retry_core::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
///
/// #[derive(RetryInfo)]
/// #[retry(fault = "server")]
/// struct Crashed;
///
/// assert_eq!(Crashed.fault(), ErrorFault::Server);
/// assert_eq!(Crashed.is_retry_safe(), RetrySafety::Maybe);
/// ```
///
/// By hand:
///
/// ```
/// # use retry_core::{ErrorFault, ErrorInfo, RetryInfo};
/// # struct Crashed;
/// impl ErrorInfo for Crashed {
///     fn fault(&self) -> ErrorFault {
///         ErrorFault::Server
///     }
/// }
/// impl RetryInfo for Crashed {}
/// ```
///
/// # `retry_after`
///
/// A retry waits at least that long. By default there is no such wait. It makes nothing retryable by itself.
///
/// As a constant, `retry_after = "1500ms"`: a whole number and its unit, `ns`, `us`, `ms`, `s`, `m` or `h`. On a field,
/// `retry_after` stands alone and the field is a `Duration`, a `SystemTime` or an `Option` of either; a whole number, or
/// an `Option` of one, needs its unit: `retry_after(secs)` or `retry_after(millis)`. A field beats the constant beside it.
///
/// ```
/// use retry_core::RetryInfo;
/// use std::time::Duration;
///
/// #[derive(RetryInfo)]
/// #[retry(throttling, retry_after = "10s")]
/// struct Busy {
///     #[retry(retry_after(secs))]
///     header: Option<u64>,
/// }
///
/// assert_eq!(Busy { header: Some(3) }.retry_after(), Some(Duration::from_secs(3)));
/// assert_eq!(Busy { header: None }.retry_after(), Some(Duration::from_secs(10)));
/// ```
///
/// By hand, the wait is this:
///
/// ```
/// # use retry_core::{ErrorInfo, RetryInfo};
/// # use std::time::Duration;
/// # struct Busy { header: Option<u64> }
/// # impl ErrorInfo for Busy {}
/// impl RetryInfo for Busy {
///     fn retry_after(&self) -> Option<Duration> {
///         self.header.map(Duration::from_secs).or(Some(Duration::from_secs(10)))
///     }
///     // And `is_throttle`.
/// }
/// ```
///
/// # `http_status`
///
/// Throttling, timeout, fault and safety follow from an HTTP status, by the table of `retry_core::classify::http`: 429 is
/// throttling, 504 a timeout at a server, 404 the client's fault. By default there is no status.
///
/// As a constant, `http_status = 429`, it is looked up at compile time. On a field it stands alone and the field is a
/// `u16`, an `http::StatusCode` (with retry-core's feature `http`), a reference to one or an `Option` of one. A variant has
/// one or the other.
///
/// A status is judged together with the `retry_after` beside it: a 503 with a wait is throttling, and without one the
/// server's fault. For the status of an enum that is the wait of the variant, else of the enum.
///
/// A word beside a constant status decides on its own answer and on safety, and the status on the rest:
/// `throttling, http_status = 400` is throttling, safe, and the client's fault.
///
/// ```
/// use retry_core::{RetryInfo, RetrySafety};
/// use std::time::Duration;
///
/// #[derive(RetryInfo)]
/// enum ApiError {
///     #[retry(http_status = 429)]
///     TooManyRequests,
///     #[retry(http_status = 404, safe)] // a new key takes a while to be seen everywhere
///     NotFound,
///     Answered {
///         #[retry(http_status)]
///         status: u16,
///         #[retry(retry_after)]
///         wait: Option<Duration>,
///     },
/// }
///
/// assert!(ApiError::TooManyRequests.is_throttle());
/// assert_eq!(ApiError::NotFound.is_retry_safe(), RetrySafety::Yes);
/// assert!(ApiError::Answered { status: 503, wait: Some(Duration::from_secs(1)) }.is_throttle());
/// assert!(!ApiError::Answered { status: 503, wait: None }.is_throttle());
/// ```
///
/// By hand it is as for [`error_code`](#error_code), with `http::status(429)` and `http::status_with(*status, *wait)`.
///
/// # `error_code`
///
/// The field holds the error code of an AWS service, or of one that uses the same: a `String`, a `&str`, a `Box<str>`, an
/// `Arc<str>`, a `Cow<str>` or an `Option` of one. What it means says the table of `retry_core::classify::aws`, and for
/// codes of any other kind there is [`with`](#with). By default there is no code.
///
/// A code that is in the table beats the status. One that is not says nothing: the word is left to the
/// [`http_status`](#http_status), by its own table, and so on.
///
/// ```
/// use retry_core::{RetryInfo, RetrySafety};
///
/// #[derive(RetryInfo)]
/// struct ServiceError {
///     #[retry(error_code)]
///     code: Option<String>,
///     #[retry(http_status)]
///     status: u16,
/// }
///
/// let error = |code: &str| ServiceError { code: Some(code.to_owned()), status: 503 };
/// assert!(error("SlowDown").is_throttle());
/// assert_eq!(error("SomethingElse").is_retry_safe(), RetrySafety::Maybe);
/// ```
///
/// By hand:
///
/// ```
/// use retry_core::classify::{Classification, aws, http};
/// # use retry_core::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
/// # struct ServiceError { code: Option<String>, status: u16 }
///
/// impl ServiceError {
///     fn verdict(&self) -> Classification {
///         match self.code.as_deref() {
///             Some(code) if aws::code(code).is_some() => aws::error_code(code, Some(self.status)),
///             _ => http::status(self.status),
///         }
///     }
/// }
///
/// impl ErrorInfo for ServiceError {
///     fn fault(&self) -> ErrorFault {
///         self.verdict().fault()
///     }
/// }
/// impl RetryInfo for ServiceError {
///     fn is_retry_safe(&self) -> RetrySafety {
///         self.verdict().is_retry_safe()
///     }
///     fn is_throttle(&self) -> bool {
///         self.verdict().is_throttle()
///     }
///     fn is_timeout(&self) -> bool {
///         self.verdict().is_timeout()
///     }
///     fn is_conflict(&self) -> bool {
///         self.verdict().is_conflict()
///     }
/// }
/// ```
///
/// # `with`
///
/// A fn of yours judges. On a variant or a struct it is handed a reference to each field, in order; on a field, to this
/// one alone, which is also the way to a foreign type that can't implement `RetryInfo`. By default there is none, and a
/// variant has one at most.
///
/// It answers a `bool` or a `RetrySafety`, and so says only whether a retry is safe; or a `classify::Classification`, and
/// so says everything; or an `Option` of one of these, where `None` leaves the word to others. It is asked for each answer
/// anew, so it should be quick and say the same each time.
///
/// ```
/// use retry_core::classify::io;
/// use retry_core::{RetryInfo, RetrySafety};
/// use std::io::ErrorKind;
///
/// #[derive(RetryInfo)]
/// enum JobError {
///     #[retry(with = Self::by_exit_code)]
///     Exited { code: i32, output: String },
///     Disconnected(#[retry(with = io::error)] std::io::Error),
/// }
///
/// impl JobError {
///     fn by_exit_code(code: &i32, output: &str) -> bool {
///         *code == 75 || output.contains("try again")
///     }
/// }
///
/// let exited = JobError::Exited { code: 75, output: String::new() };
/// assert_eq!(exited.is_retry_safe(), RetrySafety::Yes);
/// assert!(JobError::Disconnected(ErrorKind::TimedOut.into()).is_timeout());
/// ```
///
/// By hand:
///
/// ```
/// # use retry_core::classify::io;
/// # use retry_core::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
/// # enum JobError { Exited { code: i32, output: String }, Disconnected(std::io::Error) }
/// # impl JobError {
/// #     fn by_exit_code(code: &i32, output: &str) -> bool {
/// #         *code == 75 || output.contains("try again")
/// #     }
/// # }
/// impl ErrorInfo for JobError {
///     fn fault(&self) -> ErrorFault {
///         match self {
///             Self::Exited { .. } => ErrorFault::Other,
///             Self::Disconnected(error) => io::error(error).map_or(ErrorFault::Other, |verdict| verdict.fault()),
///         }
///     }
/// }
/// impl RetryInfo for JobError {
///     fn is_retry_safe(&self) -> RetrySafety {
///         match self {
///             Self::Exited { code, output } if Self::by_exit_code(code, output) => RetrySafety::Yes,
///             Self::Exited { .. } => RetrySafety::No,
///             Self::Disconnected(error) => io::error(error).map_or(RetrySafety::No, |verdict| verdict.is_retry_safe()),
///         }
///     }
///     fn is_timeout(&self) -> bool {
///         matches!(self, Self::Disconnected(error) if io::error(error).is_some_and(|verdict| verdict.is_timeout()))
///     }
///     // And `is_throttle` in the same way.
/// }
/// ```
///
/// # `transparent`
///
/// Everything is taken from one field, which implements `RetryInfo`, itself or behind a `Box`, an `Arc`, an `Rc`, a `Cow` or a
/// reference; an `Infallible` will do as well. By default nothing is. It is the field that is marked `#[retry(transparent)]`
/// itself, where the mark suffices; else the only one, else the one named `source`. Nothing else can be said beside it, and no
/// default of the enum reaches it. An `Option` may hold no error to ask, so it takes [`source`](#source).
///
/// ```
/// use retry_core::RetryInfo;
/// # #[derive(RetryInfo)]
/// # #[retry(throttling)]
/// # struct TransportError;
///
/// #[derive(RetryInfo)]
/// enum StoreError {
///     #[retry(transparent)]
///     Transport(TransportError),
/// }
///
/// assert!(StoreError::Transport(TransportError).is_throttle());
/// ```
///
/// By hand it is as for [`source`](#source), with all of the methods.
///
/// # `source`
///
/// What is said nowhere else of this variant is taken from the field, which implements `RetryInfo` as for
/// [`transparent`](#transparent), or is an `Option` of such a type. It comes before what the enum says. Where the source asks
/// for no wait, the wait of the enum counts; where the `Option` is `None`, all that the enum says counts. By default nothing is
/// taken from a field, `#[source]` or `#[from]` or not.
///
/// ```
/// use retry_core::{ErrorFault, ErrorInfo, RetryInfo};
/// # #[derive(RetryInfo)]
/// # #[retry(throttling, fault = "server")]
/// # struct TransportError;
///
/// #[derive(RetryInfo)]
/// enum StoreError {
///     #[retry(fault = "client")]
///     Login {
///         user: String,
///         #[retry(source)]
///         cause: Box<TransportError>,
///     },
/// }
///
/// let error = StoreError::Login { user: "me".to_owned(), cause: Box::new(TransportError) };
/// assert_eq!(error.fault(), ErrorFault::Client);
/// assert!(error.is_throttle());
/// ```
///
/// By hand:
///
/// ```
/// # use retry_core::{ErrorFault, ErrorInfo, RetryInfo, RetrySafety};
/// # #[derive(RetryInfo)]
/// # struct TransportError;
/// # enum StoreError { Login { user: String, cause: Box<TransportError> } }
/// impl ErrorInfo for StoreError {
///     fn fault(&self) -> ErrorFault {
///         ErrorFault::Client
///     }
/// }
/// impl RetryInfo for StoreError {
///     fn is_retry_safe(&self) -> RetrySafety {
///         match self {
///             Self::Login { cause, .. } => cause.is_retry_safe(),
///         }
///     }
///     // And `is_throttle`, `is_timeout`, `is_conflict` and `retry_after` in the same way.
/// }
/// ```
///
/// # Defaults of an enum
///
/// On the enum, a constant option holds for the variants that neither say nor imply otherwise. By default there is none.
///
/// ```
/// use retry_core::{RetryInfo, RetrySafety};
///
/// #[derive(RetryInfo)]
/// #[retry(fault = "server")]
/// enum Failure {
///     Crashed,
///     Overloaded,
///     #[retry(never)]
///     Unsupported,
/// }
///
/// assert_eq!(Failure::Crashed.is_retry_safe(), RetrySafety::Maybe);
/// assert_eq!(Failure::Unsupported.is_retry_safe(), RetrySafety::No);
/// ```
///
/// By hand it is the last arm of each match: `_ => ErrorFault::Server`.
///
/// # `exhaustive`
///
/// A variant without any `#[retry(...)]`, on itself or on a field, does not compile. By default it is not retried, or what
/// the enum says. With `exhaustive`, who adds a variant has to say what it means:
///
/// ```compile_fail
/// # use retry_core::RetryInfo;
/// #[derive(RetryInfo)]
/// #[retry(exhaustive)]
/// enum StoreError {
///     #[retry(throttling)]
///     SlowDown,
///     NoSuchKey, // error: `NoSuchKey` has no `#[retry(...)]`, and the enum is `exhaustive`
/// }
/// ```
///
/// By hand it is a match without a `_`.
///
/// # `crate`
///
/// Where retry-core is found, if it has another name where the derive stands. By default `::retry_core`.
///
/// ```
/// # use retry_core as renamed;
/// #[derive(renamed::RetryInfo)]
/// #[retry(crate = renamed, throttling)]
/// struct SlowDown;
/// ```
///
/// By hand it is the path of the traits: `impl renamed::RetryInfo for SlowDown`.
///
/// # Generics
///
/// A field that is asked gets a bound where its type mentions a type parameter: `Box<E>: RetryInfo` for a `source` of
/// that type. Other fields, and those that only a fn judges, get none.
///
/// Types may contain each other, which such bounds would send in circles. So where a pointer leads to another type with a
/// single parameter, the bound is on that parameter: `E: RetryInfo` for a `source` of the type `Box<Transport<E>>`. It is on the
/// field's type after all if there are several parameters, or if the parameter has a bound that errors in general have not, as
/// in `S: Service`. If neither fits, declare what does: a field behind a pointer gets no bound if the enum declares one by
/// `RetryInfo` for its parameter, as in `enum StoreError<C, E: RetryInfo>` or `where Box<Located<C>>: RetryInfo`.
#[proc_macro_derive(RetryInfo, attributes(retry))]
pub fn derive_retry_info(input: TokenStream) -> TokenStream {
    retry_info::derive(&parse_macro_input!(input as DeriveInput)).into()
}

/// Retries a function: its body becomes one attempt, and the function the loop around it.
///
/// ```
/// use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
///
/// #[derive(RetryInfo)]
/// #[retry(throttling)]
/// struct SlowDown;
///
/// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
///
/// #[retryable(strategy = STORE)]
/// async fn put(key: &str, body: &[u8]) -> Result<(), SlowDown> {
///     // One attempt.
/// #   Ok(())
/// }
/// ```
///
/// The return type is a `Result` whose error implements `RetryInfo` (an alias of one will do), unless there is a `policy`.
/// The caller gets the last outcome, untouched. `?` and `return` end the attempt, at any depth.
///
/// Each attempt starts from the arguments as they were passed. A `mut` argument starts anew, so it must be `Copy` or be named
/// in [`clone`](#clone). A `&mut` argument is reborrowed for each attempt, and so is what a `ref mut` in a pattern borrows. The
/// same holds for a `Pin<&mut T>`, an `Option<&mut T>` and an `Option<Pin<&mut T>>` that the signature spells out; behind an
/// alias they are owned values. If the body uses up an owned argument, rustc says that it is "moved here, in previous iteration
/// of loop"; see `clone`. Methods, trait impls, generics and `impl Trait` work as they do without the attribute.
///
/// The future is `Send` if it is without the attribute, even if the error is not `Send`. An owned argument need not be `Sync`
/// for that, because one attempt at a time borrows it mutably. There are two exceptions, which must be `Sync` as well: an
/// argument that `strategy`, `observer` or `timer` borrows during the whole call, as in `strategy = stores.pick()`; and a name
/// in a pattern if the signature doesn't spell out that it is bound by value, as in `(a, b): Pair`.
///
/// If the future is dropped while it waits for a retry, what was paid for that retry goes back to the quota.
///
/// Besides an `async fn`, the function can be one that returns an `async` block: as it is, in a call such as
/// `Box::pin(async move { .. })`, with methods behind it such as `.boxed()` or `.instrument(span)`, under a name
/// (`let future = async move { .. }; future`), or with `return`. The loop then stands in that block, and everything around the
/// block is done once in each call. So the attribute works on methods under `#[async_trait]`. Functions that are not async at
/// all take [`blocking`](#blocking).
///
/// Attributes are applied from above. With `#[tracing::instrument]` above it, each attempt has a span; with that below it, the
/// operation has one, which is the way if an argument is neither a reference nor `Copy`. `#[tokio::main]` and `#[tokio::test]`
/// go below it.
///
/// Refused are `mut self`, and a return type that borrows from a `&mut` argument, since the next attempt needs that again.
///
/// | option | says | default |
/// |---|---|---|
/// | [`strategy`](#strategy) | whether, when and how often to try again | must be given |
/// | [`idempotent`](#idempotent) | whether the operation may be carried out twice | the error's fault decides |
/// | [`policy`](#policy) | what outcomes mean | the error's `RetryInfo` decides |
/// | [`max_time`](#max_time) | how long all of it may take | no limit |
/// | [`attempt_timeout`](#attempt_timeout) | how long one attempt may take | no limit |
/// | [`context`](#context) | a name for what an attempt may know of its operation | none |
/// | [`observer`](#observer) | who is told what happens | nobody |
/// | [`timer`](#timer) | clock and sleeper | tokio's, or with `blocking` the standard library's |
/// | [`blocking`](#blocking) | that the function is not async, and may block its thread | it has to be async |
/// | [`clone`](#clone) | arguments of which each attempt gets a clone | none |
/// | [`crate`](#crate) | where retry-core is found | `::retry_core` |
///
/// Below, each option by itself, and with it what it is without the macro: mostly the closure form, which is a function of
/// the library like any other. What the expansion is at bottom, over the strategy's own interface, the README shows.
///
/// # `strategy`
///
/// Which strategy decides on retries. It must be given.
///
/// One that is named, `strategy = STORE`, is shared by all calls that name it, and so is its retry quota. A field or an
/// argument is named the same way, and borrowed only between attempts, so that a `&mut self` body may use all of `self`:
///
/// ```
/// # use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// struct Client {
///     retry: StandardRetryStrategy,
///     sent: u64,
/// }
///
/// impl Client {
///     #[retryable(strategy = self.retry)]
///     async fn send(&mut self) -> Result<(), Failed> {
///         self.sent += 1;
///         Ok(())
///     }
/// }
/// ```
///
/// Without the macro:
///
/// ```
/// # use retry_core::{RetryInfo, StandardRetryStrategy, retry};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # struct Client { retry: StandardRetryStrategy }
/// # impl Client {
/// # async fn send_once(&self) -> Result<(), Failed> { Ok(()) }
/// async fn send(&self) -> Result<(), Failed> {
///     retry(&self.retry, || self.send_once()).run().await
/// }
/// # }
/// ```
///
/// Any other expression is evaluated once in each call, and gives a reference or an `Arc` of a strategy that is kept
/// elsewhere. An owned strategy that is made there and then is refused, because its quota would be fresh in each call; so
/// is a `const` in place of a `static`:
///
/// ```compile_fail,E0277
/// # use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// #[retryable(strategy = StandardRetryStrategy::new())]
/// async fn send() -> Result<(), Failed> {
///     Ok(())
/// }
/// ```
///
/// `strategy = "standard"` and `strategy = "adaptive"` make a static with default settings for this function alone:
///
/// ```
/// # use retry_core::{RetryInfo, retryable};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// #[retryable(strategy = "standard")]
/// async fn send() -> Result<(), Failed> {
///     Ok(())
/// }
/// ```
///
/// # `idempotent`
///
/// What becomes of an error that is neither known to be safe nor known not to be. With `idempotent` it is retried, with
/// `idempotent = false` it is not. By default it is retried if the server is at fault or a timeout struck.
///
/// For a money transfer that would be wrong after a timeout, since it may have been carried out:
///
/// ```
/// # use retry_core::{RetryInfo, retryable};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// #[retryable(strategy = "standard", idempotent = false)]
/// async fn transfer(from: u64, to: u64, cents: u64) -> Result<(), Failed> {
///     Ok(())
/// }
/// ```
///
/// Without the macro:
///
/// ```
/// # use retry_core::{RetryInfo, StandardRetryStrategy, retry};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # static BANK: StandardRetryStrategy = StandardRetryStrategy::new();
/// # async fn transfer() -> Result<(), Failed> { Ok(()) }
/// # async fn example() -> Result<(), Failed> {
/// retry(&BANK, || transfer()).idempotent(false).run().await
/// # }
/// ```
///
/// # `policy`
///
/// What outcomes mean, `Ok` included, instead of what the error says. By default the standard policy, which asks the
/// error's `RetryInfo`.
///
/// A closure needs no type for its argument; any other expression is a `RetryPolicy` and is evaluated after each attempt,
/// so name one or make a small one. With a policy the function may return any type.
///
/// ```
/// # use retry_core::{RetryInfo, retryable};
/// use retry_core::{RetryDirective, RetryErrorType};
///
/// /// Polls until the job is done, or five times.
/// #[retryable(strategy = "standard", policy = |status| match status {
///     Status::Done => RetryDirective::succeed(),
///     Status::Running => RetryDirective::retry(RetryErrorType::Other),
/// })]
/// async fn wait_for_job() -> Status {
///     Status::Done
/// }
///
/// enum Status {
///     Running,
///     Done,
/// }
/// ```
///
/// Without the macro:
///
/// ```
/// # use retry_core::{RetryDirective, RetryErrorType, StandardRetryStrategy, policy_fn, retry};
/// # static JOBS: StandardRetryStrategy = StandardRetryStrategy::new();
/// # enum Status { Running, Done }
/// # async fn status() -> Status { Status::Done }
/// # async fn example() -> Status {
/// let until_done = policy_fn(|status: &Status| match status {
///     Status::Done => RetryDirective::succeed(),
///     Status::Running => RetryDirective::retry(RetryErrorType::Other),
/// });
/// retry(&JOBS, || status()).policy(until_done).run().await
/// # }
/// ```
///
/// `idempotent` is a setting of the standard policy, so it can't stand beside another one:
///
/// ```compile_fail
/// # use retry_core::{RetryInfo, StandardRetryPolicy, retryable};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// #[retryable(strategy = "standard", policy = StandardRetryPolicy::new(), idempotent)]
/// async fn send() -> Result<(), Failed> {
///     Ok(())
/// }
/// ```
///
/// # `max_time`
///
/// How long all of it may take, from the first poll on: attempts, backoff, and the wait for a limiter. By default there is
/// no limit. A text with a unit, or an expression that gives a `Duration` and is evaluated once in each call.
///
/// It is hard: no wait ends after it, and an attempt that is under way when it is over is cut. What the caller gets then is
/// the last outcome that there was, an `Ok` too, else a `TimedOut`, so the error type implements `From<TimedOut>`:
///
/// ```
/// use retry_core::{RetryInfo, TimedOut, retryable};
///
/// #[derive(RetryInfo)]
/// enum StoreError {
///     #[retry(throttling)]
///     SlowDown,
///     #[retry(transparent)]
///     NoAnswer(TimedOut),
/// }
///
/// impl From<TimedOut> for StoreError {
///     fn from(error: TimedOut) -> Self {
///         Self::NoAnswer(error)
///     }
/// }
///
/// #[retryable(strategy = "standard", max_time = "30s", attempt_timeout = "5s")]
/// async fn get(key: &str) -> Result<String, StoreError> {
///     // One attempt.
/// #   Ok(key.to_owned())
/// }
/// ```
///
/// Without the macro:
///
/// ```
/// # use retry_core::{RetryInfo, StandardRetryStrategy, TimedOut, retry};
/// # use std::time::Duration;
/// # #[derive(RetryInfo)]
/// # #[retry(transparent)]
/// # struct StoreError(TimedOut);
/// # impl From<TimedOut> for StoreError { fn from(error: TimedOut) -> Self { Self(error) } }
/// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
/// # async fn get() -> Result<(), StoreError> { Ok(()) }
/// # async fn example() -> Result<(), StoreError> {
/// let call = retry(&STORE, || get()).max_time(Duration::from_secs(30)).attempt_timeout(Duration::from_secs(5));
/// call.run().await
/// # }
/// ```
///
/// Because the last outcome is kept, the future is `Send` only if the outcome is. An attempt that blocks its thread can't be
/// cut. An expression that gives zero leaves one poll; a text can't be zero.
///
/// # `attempt_timeout`
///
/// How long one attempt may take, given as for `max_time`, and cut to what remains of that. By default there is no limit.
/// For an example, and the code without the macro, see there.
///
/// An attempt that is cut has a `TimedOut` for its outcome, and is judged like any other: it is a timeout, of which nobody
/// knows whether it was acted upon. The error type implements `From<TimedOut>`.
///
/// # `context`
///
/// A name by which the body knows its context, an `AttemptContext`: the number of the attempt, the operation's id, which is
/// the same for all attempts and so serves as an idempotency key, what was made of the attempt before it, and the time that
/// is left. By default there is none, and no id is made.
///
/// ```
/// # use retry_core::{RetryInfo, retryable};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # async fn charge(_: u64, _key: String) -> Result<(), Failed> { Ok(()) }
/// #[retryable(strategy = "standard", context = context)]
/// async fn pay(cents: u64) -> Result<(), Failed> {
///     charge(cents, context.operation_id().to_string()).await
/// }
/// ```
///
/// Without the macro, the closure keeps what it needs:
///
/// ```
/// # use retry_core::{RetryInfo, StandardRetryStrategy, retry};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # static BANK: StandardRetryStrategy = StandardRetryStrategy::new();
/// # async fn charge(_: u64, _key: String, _attempt: u32) -> Result<(), Failed> { Ok(()) }
/// # fn random_key() -> String { String::new() }
/// async fn pay(cents: u64) -> Result<(), Failed> {
///     let (key, mut attempt) = (random_key(), 0);
///     let call = retry(&BANK, || {
///         attempt += 1;
///         charge(cents, key.clone(), attempt)
///     });
///     call.run().await
/// }
/// ```
///
/// # `observer`
///
/// Who is told what happens, an `Observer`; by default nobody, and then there is no cost. A place is borrowed anew between
/// attempts, as a strategy is; any other expression is evaluated once in each call.
///
/// The operation's name is the path of the function: `crate::module::function`, `crate::module::Type::method`, or
/// `<crate::module::Type as crate::module::Trait>::method`, without generic arguments.
///
/// ```
/// # use retry_core::{RetryInfo, retryable};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// use retry_core::{Event, EventKind, Observer};
///
/// /// Says so whenever an operation gives up.
/// struct Alarm;
///
/// impl Observer for Alarm {
///     fn observe(&self, event: &Event) {
///         if let EventKind::Stopped { reason, .. } = event.kind {
///             eprintln!("{} gave up after {} attempts: {reason}", event.operation, event.attempt);
///         }
///     }
/// }
///
/// #[retryable(strategy = "standard", observer = Alarm)]
/// async fn send() -> Result<(), Failed> {
///     Ok(())
/// }
/// ```
///
/// Without the macro:
///
/// ```
/// # use retry_core::{Event, Observer, RetryInfo, StandardRetryStrategy, retry};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # struct Alarm;
/// # impl Observer for Alarm { fn observe(&self, _: &Event) {} }
/// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
/// # async fn send() -> Result<(), Failed> { Ok(()) }
/// # async fn example() -> Result<(), Failed> {
/// retry(&STORE, || send()).observer(Alarm).name(concat!(module_path!(), "::send")).run().await
/// # }
/// ```
///
/// # `timer`
///
/// Clock and sleeper: a `Timer`, by default tokio's. A place is borrowed anew between attempts, as a strategy is; any other
/// expression is evaluated once in each call.
///
/// ```
/// # use std::time::Duration;
/// # use retry_core::time::Timestamp;
/// # use retry_core::{RetryInfo, retryable};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// use retry_core::{Clock, Timer};
///
/// /// Never sleeps: for tests of what happens, not of when.
/// struct Impatient;
///
/// impl Clock for Impatient {
///     fn now(&self) -> Timestamp {
///         Timestamp::from_origin(Duration::ZERO)
///     }
/// }
///
/// impl Timer for Impatient {
///     type Sleep = std::future::Ready<()>;
///
///     fn sleep(&self, _delay: Duration) -> Self::Sleep {
///         std::future::ready(())
///     }
/// }
///
/// #[retryable(strategy = "standard", timer = Impatient)]
/// async fn send() -> Result<(), Failed> {
///     Ok(())
/// }
/// ```
///
/// Without the macro:
///
/// ```
/// # use retry_core::{RetryInfo, StandardRetryStrategy, TokioTimer, retry};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
/// # async fn send() -> Result<(), Failed> { Ok(()) }
/// # async fn example() -> Result<(), Failed> {
/// retry(&STORE, || send()).timer(TokioTimer).run().await
/// # }
/// ```
///
/// # `blocking`
///
/// For a function that is not async: it blocks its thread while it waits. By default a function has to be async.
///
/// The timer is then a `BlockingTimer`, by default that of the standard library. There is no `attempt_timeout`, since
/// nothing can cut an attempt, and `max_time` bounds waits and starts only.
///
/// ```
/// use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
///
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// static DATABASE: StandardRetryStrategy = StandardRetryStrategy::new();
///
/// #[retryable(strategy = DATABASE, blocking)]
/// fn query(sql: &str) -> Result<u64, Failed> {
///     // One attempt.
/// #   Ok(0)
/// }
/// ```
///
/// Without the macro:
///
/// ```
/// # use retry_core::{RetryInfo, StandardRetryStrategy};
/// use retry_core::time::StdTimer;
/// use retry_core::{Failure, RetryStrategy};
///
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # static DATABASE: StandardRetryStrategy = StandardRetryStrategy::new();
/// # fn query_once(_: &str) -> Result<u64, Failed> { Ok(0) }
/// fn query(sql: &str) -> Result<u64, Failed> {
///     let Ok(mut token) = DATABASE.acquire_initial_token(&StdTimer) else { return query_once(sql) };
///     loop {
///         while let Some(delay) = DATABASE.ready(&mut token, &StdTimer, None).wait() {
///             std::thread::sleep(delay);
///         }
///         match query_once(sql) {
///             Ok(value) => {
///                 let _ = DATABASE.record_success(token, &Success::default(), &StdTimer);
///                 return Ok(value);
///             }
///             Err(error) => match DATABASE.refresh_retry_token(token, &Failure::of(&error), &StdTimer) {
///                 Ok(next) => token = next,
///                 Err(_why) => return Err(error),
///             },
///         }
///     }
/// }
/// # assert!(query("").is_ok());
/// ```
///
/// # `clone`
///
/// Arguments of which each attempt gets a clone, because it uses them up. By default none is cloned.
///
/// ```
/// # use retry_core::{RetryInfo, retryable};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # async fn post(body: Vec<u8>) -> Result<(), Failed> { Ok(()) }
/// #[retryable(strategy = "standard", clone(body))]
/// async fn send(body: Vec<u8>) -> Result<(), Failed> {
///     post(body).await
/// }
/// ```
///
/// It does not compile without it:
///
/// ```compile_fail,E0382
/// # use retry_core::{RetryInfo, retryable};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # async fn post(body: Vec<u8>) -> Result<(), Failed> { Ok(()) }
/// #[retryable(strategy = "standard")]
/// async fn send(body: Vec<u8>) -> Result<(), Failed> {
///     post(body).await
/// }
/// ```
///
/// Without the macro:
///
/// ```
/// # use retry_core::{RetryInfo, StandardRetryStrategy, retry};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
/// # async fn post(body: Vec<u8>) -> Result<(), Failed> { Ok(()) }
/// async fn send(body: Vec<u8>) -> Result<(), Failed> {
///     retry(&STORE, || post(body.clone())).run().await
/// }
/// ```
///
/// # `crate`
///
/// Where retry-core is found: `crate = path`. By default `::retry_core`.
///
/// ```
/// mod facade {
///     pub use retry_core;
/// }
///
/// # use retry_core::{RetryInfo, retryable};
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// #[retryable(strategy = "standard", crate = facade::retry_core)]
/// async fn send() -> Result<(), Failed> {
///     Ok(())
/// }
/// ```
#[proc_macro_attribute]
pub fn retryable(options: TokenStream, item: TokenStream) -> TokenStream {
    retryable::attribute(options.into(), &item.into()).into()
}
