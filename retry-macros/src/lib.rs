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
/// use retry_core::{RetryInfo, RetrySafety};
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
///     #[retry(fault = "client")]
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
/// # On a variant, or on a struct
///
/// | `#[retry(...)]` | says | and implies |
/// |---|---|---|
/// | `throttling` | the request was turned away, because there were too many of late | `safe` |
/// | `timeout` | no answer came in time | `safe = "maybe"` |
/// | `safe`, or `safe = "yes"` | the request was not acted upon, or is harmless to repeat | |
/// | `never`, or `safe = "no"` | a retry is wrong or pointless | |
/// | `safe = "maybe"` | the error can't tell: whether the operation is idempotent decides | |
/// | `fault = "server"` | the server failed | `safe = "maybe"` |
/// | `fault = "client"` | the request was wrong | `never` |
/// | `fault = "other"` | nobody's known fault; the default | `never` |
/// | `retry_after = "1500ms"` | a retry waits at least that long | |
/// | `transparent` | everything is taken from one field, which must implement `RetryInfo` | |
///
/// Options combine: `throttling, never` is a legitimate thing to say, and so is `fault = "client", safe`. Units of
/// durations are `ns`, `us`, `ms`, `s`, `m` and `h`, behind a whole number.
///
/// `transparent` takes the field that is marked `#[retry(transparent)]` itself, else the only field, else the one named
/// `source`. The mark on a field suffices. Nothing else can be said beside it.
///
/// # On a field
///
/// | `#[retry(...)]` | says |
/// |---|---|
/// | `retry_after` | it holds the wait that the server asked for: a `Duration`, a `SystemTime`, or an `Option` of either |
/// | `retry_after(secs)`, `retry_after(millis)` | the same as a whole number, or an `Option` of one |
/// | `transparent` | everything is taken from this field |
///
/// A field beats the constant beside it; a field that holds `None` says nothing. A wait makes nothing retryable by itself.
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
/// # On an enum
///
/// Any of the constant options: they hold for variants that neither say nor imply otherwise. And `crate = path`, if
/// retry-core has another name where the derive stands.
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
/// # Which one wins
///
/// For each answer by itself: what the variant says, then what it implies, then what the enum says or implies, then
/// what follows from the fault, and at last "no". So what nobody labels is not retried, and a `never` on the enum does
/// not beat a `throttling` on a variant.
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
/// Each attempt starts from the arguments as they were passed: a `mut` argument starts anew (so it must be `Copy`, or be
/// named in `clone`), a `&mut` one is lent to one attempt after the other. If the body uses up an owned argument, rustc
/// says that it is "moved here, in previous iteration of loop"; see `clone`. Methods, trait impls, generics and `impl Trait`
/// work as they do without the attribute, and the future is `Send` if it is without the attribute, even if the error is
/// not.
///
/// If the future is dropped while it waits for a retry, what was paid for that retry goes back to the quota.
///
/// Besides an `async fn`, it can be a function that ends with an `async` block, plain or in a call such as
/// `Box::pin(async move { .. })`: that block becomes the loop, and what stands before it is done once in each call. So it
/// works on methods under `#[async_trait]`. Functions that are not async at all take [`blocking`](#blocking).
///
/// With `#[tracing::instrument]` above it, each attempt has a span; with that below it, the operation has one, which is the
/// way if an argument is neither a reference nor `Copy`.
///
/// Refused are `mut self`, and a return type that borrows from a `&mut` argument, since the next attempt needs that again.
///
/// The options, one by one. Below each stands what it is without the macro: mostly the closure form, which is a function of
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
///     Status::Done => RetryDirective::Succeed,
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
///     Status::Done => RetryDirective::Succeed,
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
/// cut.
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
/// attempts, as a strategy is; any other expression is evaluated once in each call. The operation's name is the path of the
/// function.
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
/// # use retry_core::{RetryInfo, Timestamp, retryable};
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
/// use retry_core::{Failure, RetryStrategy, StdTimer};
///
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # static DATABASE: StandardRetryStrategy = StandardRetryStrategy::new();
/// # fn query_once(_: &str) -> Result<u64, Failed> { Ok(0) }
/// fn query(sql: &str) -> Result<u64, Failed> {
///     let Ok(mut token) = DATABASE.acquire_initial_token(&StdTimer) else { return query_once(sql) };
///     loop {
///         while let Some(delay) = DATABASE.ready(&mut token, &StdTimer).wait() {
///             std::thread::sleep(delay);
///         }
///         match query_once(sql) {
///             Ok(value) => {
///                 let _ = DATABASE.record_success(token, &StdTimer);
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
