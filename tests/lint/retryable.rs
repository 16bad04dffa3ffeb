//! Expansions of `#[retryable]`.

use crate::derive::Every;
use core::cell::Cell;
use core::fmt::Display;
use core::future::{Ready, ready};
use core::num::NonZeroU32;
use core::ops::ControlFlow;
use core::pin::Pin;
use core::time::Duration;
use retry_core::time::{StdTimer, Timestamp};
use retry_core::{
    AdaptiveRetryStrategy, Event, Observer, Report, RetryDirective, RetryErrorType, StandardRetryPolicy,
    StandardRetryStrategy, Stop, TimedOut, TokioTimer, retryable,
};

/// A strategy.
static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
/// An adaptive strategy.
static ADAPTIVE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();
/// A timer.
static TIMER: TokioTimer = TokioTimer;
/// A handle that stops operations.
static STOP: Stop = Stop::new();
/// An observer.
static SILENT: Silent = Silent;

/// A time.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A struct for patterns.
#[derive(Debug)]
pub struct Pair {
    /// The first field.
    pub left: String,
    /// The second field.
    pub right: Cell<u32>,
}

/// An observer without interest in any event.
struct Silent;

impl Observer for Silent {
    #[inline]
    fn is_interested(&self, _: &'static str) -> bool {
        false
    }

    #[inline]
    fn observe(&self, _: &Event) {}
}

impl From<TimedOut> for Every {
    #[inline]
    fn from(error: TimedOut) -> Self {
        Self::TimedOut(error)
    }
}

/// Only a strategy.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE)]
pub async fn plain(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A strategy by name.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = "standard", idempotent)]
pub async fn own(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// The adaptive strategy by name.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = "adaptive", idempotent = false, crate = ::retry_core)]
pub async fn own_adaptive(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A borrowed static.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = &ADAPTIVE)]
pub async fn borrowed(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A strategy from a call.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = strategy())]
pub async fn from_a_call(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A strategy in an argument.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = strategy)]
pub async fn passed(strategy: &StandardRetryStrategy, key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A strategy in an element of an argument.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = *strategies.0)]
pub async fn element(strategies: (&StandardRetryStrategy, u8), key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// Limits on the operation and on each attempt.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, max_time = "30s", attempt_timeout = "5s")]
pub async fn limited(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// Limits that may be missing, with a closure for their error.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(
    strategy = STORE,
    max_time = max_time,
    attempt_timeout = attempt_timeout,
    timed_out = |timed_out| {
        *late = true;
        Every::from(timed_out)
    }
)]
pub async fn limited_by_a_configuration(
    max_time: Option<Duration>,
    attempt_timeout: Option<Duration>,
    late: &mut bool,
    key: &str,
) -> Result<usize, Every> {
    attempt(key).await
}

/// A number of attempts and a name.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, max_attempts = 2, name = "twice")]
pub async fn twice(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A number of attempts and a name that are known at run time, with a hedge and a limit.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(
    strategy = STORE, idempotent, hedge = "50ms", max_time = "5s", timed_out = Every::from, max_attempts = attempts, name = name.clone()
)]
pub async fn at_most(attempts: Option<NonZeroU32>, name: String, key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A computed limit.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, max_time = Duration::from_secs(seconds))]
pub async fn limited_by_an_argument(seconds: u64, key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A limit on each attempt.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, attempt_timeout = "5s")]
pub async fn each_limited(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A limit by a point in time, and a closure for failures.
///
/// # Errors
///
/// As it comes.
#[retryable(strategy = STORE, deadline = deadline, attempt_timeout = "5s", on_retry = |_, event| {
    *failures = event.attempt.max(*failures);
})]
pub async fn told(deadline: Timestamp, failures: &mut u32, key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A function for failures.
///
/// # Errors
///
/// As it comes.
#[retryable(strategy = STORE, on_retry = ignore, blocking, deadline = deadline)]
pub fn told_to_a_function(deadline: Timestamp, key: &str) -> Result<usize, Every> {
    key.parse().or(Ok(0))
}

/// A limit, and closures for failures and for the end.
///
/// # Errors
///
/// As it comes.
#[retryable(
    strategy = STORE,
    max_time = "5s",
    on_retry = |_, event| *failures = event.attempt,
    on_end = |report| *attempts = report.attempts
)]
pub async fn ended(failures: &mut u32, attempts: &mut u32, key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A function for the end.
///
/// # Errors
///
/// As it comes.
#[retryable(strategy = STORE, on_end = at_the_end, blocking)]
pub fn ended_by_a_function(key: &str) -> Result<usize, Every> {
    key.parse().or(Ok(0))
}

/// Ignores a report.
const fn at_the_end(_: &Report<&Result<usize, Every>>) {}

/// Ignores a failure.
const fn ignore(_: &Every, _: &Event) {}

/// A handle that stops operations, by a static.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, stop = &STOP)]
pub async fn stoppable(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A handle that stops operations, by an argument that the body uses.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, stop = stop)]
pub async fn stoppable_by_argument(key: &str, stop: Stop) -> Result<usize, Every> {
    stop.stop();
    attempt(key).await
}

/// A handle that cuts the attempt that runs.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, stop = STOP, cut_on_stop)]
pub async fn cut_by_a_stop(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A future that ends the operation.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, stop = STOP, stop_when = ready(key.len()))]
pub async fn stopped_by_a_future(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A future in an argument that is declared as `mut`.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, stop_when = &mut quit, hedge = "50ms", idempotent)]
pub async fn stopped_by_an_argument(key: &str, mut quit: Ready<()>) -> Result<usize, Every> {
    attempt(key).await
}

/// What ends the operation in place of a retry.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, on_retry = |_, _| ControlFlow::Break(()))]
pub async fn given_up(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A weight, and what was used.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, weight = 7, used = |outcome| outcome.is_ok().then_some(5))]
pub async fn weighs(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// An observer and a timer in statics.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, observer = SILENT, timer = TIMER)]
pub async fn observed(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// An observer and a timer made for the call, and a limit.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, observer = silent(), timer = timer(), max_time = "1s")]
pub async fn observed_by_calls(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// An observer and a timer in arguments.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, observer = observer, timer = timer)]
pub async fn observed_by_arguments<O: Observer + Sync>(
    observer: &O,
    timer: TokioTimer,
    key: &str,
) -> Result<usize, Every> {
    attempt(key).await
}

/// A closure as the policy.
#[retryable(strategy = STORE, policy = |length| if *length == 0 { again() } else { RetryDirective::succeed() })]
pub async fn judged_by_a_closure(key: &str) -> usize {
    attempt(key).await.unwrap_or_default()
}

/// A closure as the policy, whose value looks like a `bool`.
#[retryable(strategy = STORE, policy = |length| is_enough(*length))]
pub async fn judged_by_a_question(key: &str) -> usize {
    attempt(key).await.unwrap_or_default()
}

/// Asks for a retry after an empty value.
const fn is_enough(length: usize) -> RetryDirective {
    if length == 0 { again() } else { RetryDirective::succeed() }
}

/// A value as the policy.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, policy = StandardRetryPolicy::new().idempotent(true))]
pub async fn judged_by_a_value(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// Arguments that are consumed, changed, destructured and lent.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, clone(owned, changed))]
pub async fn arguments(
    owned: String,
    mut changed: String,
    mut counter: u32,
    (first, mut second): (u32, u32),
    lent: &mut Vec<String>,
    _: u8,
) -> Result<u32, Every> {
    changed.push_str(&owned);
    lent.push(owned);
    lent.push(changed);
    counter = counter.saturating_add(first);
    second = second.saturating_add(counter);
    Ok(second)
}

/// Arguments that each attempt borrows mutably.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, clone(cloned))]
pub async fn owned_arguments<T: Display + Send>(
    source: Box<dyn Display + Send>,
    shown: T,
    (first, second): (String, Cell<u32>),
    Pair { left, right: other }: Pair,
    cloned: String,
    mut changed: u32,
) -> Result<String, Every> {
    changed = changed.saturating_add(second.get());
    let length = attempt(&first).await?;
    drop(cloned);
    Ok(format!("{shown} {source} {first} {length} {changed} {left} {}", other.get()))
}

/// Arguments that occur only in a format string.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE)]
pub async fn formatted_arguments(shown: String, r#type: Box<dyn Display + Send>) -> Result<String, Every> {
    let length = attempt("").await?;
    Ok(format!("{shown} {type:>3} {length}"))
}

/// Arguments that hold a mutable reference.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE)]
pub async fn lent_arguments(
    log: Option<&mut Vec<String>>,
    mut future: Pin<&mut (dyn Future<Output = u32> + Send)>,
    other: Option<Pin<&mut (dyn Future<Output = u32> + Send)>>,
    (number, text): (&mut u32, String),
) -> Result<u32, Every> {
    let sum = number.saturating_add(future.as_mut().await);
    if let Some(log_now) = log {
        log_now.push(text.clone());
    }
    *number = match other {
        Some(other_now) => other_now.await,
        None => future.await,
    };
    Ok(sum)
}

/// Arguments that the body does not use.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, clone(_owned))]
pub async fn idle_arguments(_owned: String, _lent: &mut u32) -> Result<(), Every> {
    attempt("").await.map(drop)
}

/// Lifetimes, types, const generics and `impl Trait`.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE)]
pub async fn generic<'item, T, const N: usize>(
    items: [&'item T; N],
    shown: impl Display + Sync,
) -> Result<impl Iterator<Item = &'item T>, Every>
where
    T: Clone + Sync,
{
    attempt(&shown.to_string()).await.map(|_| items.into_iter())
}

/// A value that is coerced to the return type.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE)]
pub async fn coerced(key: &str) -> Result<Box<dyn Display>, Every> {
    if key.is_empty() {
        return Ok(Box::new(0));
    }
    let length = attempt(key).await?;
    Ok(Box::new(length))
}

/// A function with attributes.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE)]
#[inline]
#[must_use = "it is"]
pub(crate) async fn attributes(key: &str) -> Result<usize, Every> {
    #![expect(clippy::let_and_return, reason = "an inner attribute is kept")]
    let outcome = attempt(key).await;
    outcome
}

/// A hedge.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, idempotent, hedge = "p95")]
pub async fn hedged(key: &str) -> Result<usize, Every> {
    attempt(key).await
}

/// A hedge after a fixed delay, with limits, a context, closures and arguments that are bound again.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(
    strategy = STORE, idempotent, hedge = "50ms", context = context, max_time = "30s", clone(key, owned), on_retry = ignore,
    on_end = at_the_end
)]
pub async fn hedged_with_all(mut key: String, owned: String, (mut left, right): (u32, u32)) -> Result<usize, Every> {
    left = left.saturating_add(right).saturating_add(context.attempt());
    key.push_str(&owned);
    attempt(&key).await.map(|length| length.saturating_add(usize::try_from(left).unwrap_or(0)))
}

/// A context.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, context = context, max_time = "30s", attempt_timeout = TIMEOUT)]
pub async fn with_context(key: &str) -> Result<usize, Every> {
    let attempt_number = usize::try_from(context.attempt()).unwrap_or(usize::MAX);
    attempt(key).await.map(|length| length.saturating_add(attempt_number))
}

/// A function that ends with an `async` block.
#[retryable(strategy = STORE)]
pub fn tail(key: &str, mut tries: usize) -> impl Future<Output = Result<usize, Every>> {
    let all = key.len();
    async move {
        tries = tries.saturating_add(1);
        attempt(key).await.map(|length| length.saturating_add(all).saturating_add(tries))
    }
}

/// A function that ends with a boxed block.
#[retryable(strategy = STORE, attempt_timeout = "5s")]
pub fn boxed(key: &str) -> Pin<Box<dyn Future<Output = Result<usize, Every>> + '_>> {
    Box::pin(async move { attempt(key).await })
}

/// A function that binds its block to a name.
#[retryable(strategy = STORE)]
pub fn named(key: &str, text: String) -> Pin<Box<dyn Future<Output = Result<usize, Every>> + Send + '_>> {
    let length = text.len();
    let future = async move { attempt(key).await.map(|found| found.saturating_add(length).saturating_add(text.len())) };
    Box::pin(future)
}

/// A blocking function.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, blocking)]
pub fn blocking(key: &str, mut tries: usize) -> Result<usize, Every> {
    tries = tries.saturating_add(1);
    if key.is_empty() { Err(Every::Unlabelled) } else { Ok(tries) }
}

/// A blocking function with limits, an observer and a context.
///
/// # Errors
///
/// Returns the error of the last attempt.
#[retryable(strategy = STORE, max_time = TIMEOUT, timer = StdTimer, observer = SILENT, context = context, blocking)]
pub fn blocking_within(key: &mut String) -> Result<impl Display, Every> {
    key.push_str(&context.operation_id().to_string());
    if key.is_empty() { Err(Every::Unlabelled) } else { Ok(key.len()) }
}

/// A type with methods.
#[derive(Debug)]
pub struct Client {
    /// The strategy.
    retry: StandardRetryStrategy,
    /// The number of requests sent.
    sent: usize,
}

impl Client {
    /// A field as the strategy.
    ///
    /// # Errors
    ///
    /// Returns the error of the last attempt.
    #[retryable(strategy = self.retry)]
    pub async fn get(&self, key: &str) -> Result<usize, Every> {
        attempt(key).await.map(|length| length.saturating_add(self.sent))
    }

    /// A field as the strategy of a method that changes another field.
    ///
    /// # Errors
    ///
    /// Returns the error of the last attempt.
    #[retryable(strategy = self.retry)]
    pub async fn put(&mut self, key: &str) -> Result<usize, Every> {
        self.sent = self.sent.saturating_add(1);
        attempt(key).await.map(|length| self.sent.saturating_add(length))
    }

    /// A method that takes its receiver by value.
    ///
    /// # Errors
    ///
    /// Returns the error of the last attempt.
    #[retryable(strategy = STORE)]
    pub async fn close(self) -> Result<(), Every> {
        attempt("").await.map(drop)
    }

    /// A field of a receiver by value as the strategy.
    ///
    /// # Errors
    ///
    /// Returns the error of the last attempt.
    #[retryable(strategy = self.retry)]
    pub async fn count(self) -> Result<usize, Every> {
        attempt("").await.map(|length| length.saturating_add(self.sent))
    }

    /// The same with a boxed receiver.
    ///
    /// # Errors
    ///
    /// Returns the error of the last attempt.
    #[retryable(strategy = self.retry)]
    pub async fn count_in_a_box(self: Box<Self>) -> Result<usize, Every> {
        attempt("").await.map(|length| length.saturating_add(self.sent))
    }
}

/// A trait with an async method.
pub trait Get {
    /// Gets.
    fn get(&self, key: &str) -> impl Future<Output = Result<usize, Every>> + Send;
}

impl Get for StandardRetryStrategy {
    #[retryable(strategy = self)]
    async fn get(&self, key: &str) -> Result<usize, Every> {
        attempt(key).await
    }
}

/// Makes one attempt.
async fn attempt(key: &str) -> Result<usize, Every> {
    ready(if key.is_empty() { Err(Every::Unlabelled) } else { Ok(key.len()) }).await
}

/// Returns a strategy.
const fn strategy() -> &'static StandardRetryStrategy {
    &STORE
}

/// Returns an observer.
const fn silent() -> Silent {
    Silent
}

/// Returns a timer.
const fn timer() -> TokioTimer {
    TokioTimer
}

/// Asks for a retry.
const fn again() -> RetryDirective {
    RetryDirective::retry(RetryErrorType::Other)
}
