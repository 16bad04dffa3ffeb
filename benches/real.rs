//! Bodies as users have them: they await a future whose `poll` is not inlined, such as a client's request. The compiler then knows
//! nothing about the outcome when the retry layer looks at it. `real NAME CALLS` runs one scenario a number of times.
//!
//! This is a program of its own, because more code in the program of [`benches::SCENARIOS`] is compiled in other pieces, and
//! changes the counts of scenarios that it has nothing to do with.

use benches::bodies::LargeError;
use benches::operation::{self, Outcome, StoreError};
use benches::repeat;
use retry_core::quota::EvidenceQuota;
use retry_core::{
    ErasedStrategy, Event, ExponentialBackoff, Jitter, Observer, PatientRetryStrategy, StandardRetryStrategy, retry,
    retryable,
};
use retry_limits::ConcurrencyRetryStrategy;
use std::cell::Cell;
use std::hint::black_box;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::task::{Context, Poll};

/// A request that is answered at its first poll.
#[derive(Debug)]
pub struct Request(u64);

impl Future for Request {
    type Output = Outcome;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
        let number = black_box(self.0);
        Poll::Ready(if number == u64::MAX { Err(StoreError::NoSuchKey) } else { Ok(number) })
    }
}

/// A request whose first attempt fails.
#[derive(Debug)]
pub struct Flaky<'a>(u64, &'a Cell<bool>);

impl Future for Flaky<'_> {
    type Output = Outcome;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
        Poll::Ready(if black_box(self.1).replace(true) { Ok(black_box(self.0)) } else { Err(StoreError::SlowDown) })
    }
}

/// Adds to a `&mut` argument.
#[derive(Debug)]
pub struct Add<'a>(&'a mut u64, u64);

impl Future for Add<'_> {
    type Output = Outcome;

    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
        let of = black_box(self.1);
        *self.0 = self.0.wrapping_add(of);
        Poll::Ready(if of == u64::MAX { Err(StoreError::NoSuchKey) } else { Ok(*self.0) })
    }
}

/// Without a retry layer.
///
/// # Errors
///
/// Returns those of [`Request`].
pub async fn bare(number: u64) -> Outcome {
    Request(number).await
}

/// A failure and a success without a retry layer: two attempts and a branch.
///
/// # Errors
///
/// Returns those of [`Flaky`].
pub async fn bare_flaky(number: u64, failed: &Cell<bool>) -> Outcome {
    match Flaky(number, failed).await {
        Ok(number) => Ok(number),
        Err(_) => Flaky(number, failed).await,
    }
}

/// A request whose error has 64 bytes.
#[derive(Debug)]
pub struct Large(u64);

impl Future for Large {
    type Output = Result<u64, LargeError>;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let number = black_box(self.0);
        Poll::Ready(if number == u64::MAX { Err(LargeError([number; 8])) } else { Ok(number) })
    }
}

/// An error of 64 bytes without a retry layer.
///
/// # Errors
///
/// Returns those of [`Large`].
pub async fn bare_large(number: u64) -> Result<u64, LargeError> {
    Large(number).await
}

/// An error of 64 bytes with the attribute.
///
/// # Errors
///
/// Returns those of [`Large`].
#[retryable(strategy = STORE)]
pub async fn large(number: u64) -> Result<u64, LargeError> {
    Large(number).await
}

/// A `&mut` argument without a retry layer.
///
/// # Errors
///
/// Returns those of [`Add`].
pub async fn bare_mutable(sum: &mut u64, of: u64) -> Outcome {
    Add(sum, of).await
}

/// A `&mut` argument with the attribute.
///
/// # Errors
///
/// Returns those of [`Add`].
#[retryable(strategy = STORE)]
pub async fn mutable(sum: &mut u64, of: u64) -> Outcome {
    Add(&mut *sum, of).await
}

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
/// Retries at once, with a quota that pays for every retry of a run.
static PROMPT: StandardRetryStrategy = StandardRetryStrategy::new().quota_capacity(u32::MAX).jitter(Jitter::Fixed(0.0));
static EVIDENCE: StandardRetryStrategy<ExponentialBackoff, EvidenceQuota> =
    StandardRetryStrategy::new().with_quota(EvidenceQuota::new()).jitter(Jitter::Fixed(0.0));
/// The recommended strategy, which retries at once.
static PATIENT: PatientRetryStrategy = PatientRetryStrategy::over(
    StandardRetryStrategy::new().with_quota(EvidenceQuota::new()).jitter(Jitter::Fixed(0.0)),
);

/// Ignores all events.
struct Nothing;

impl Observer for Nothing {
    fn observe(&self, _: &Event) {}
}

static NOTHING: Nothing = Nothing;
static ERASED: LazyLock<ErasedStrategy> = LazyLock::new(|| ErasedStrategy::new(&STORE));
static CONCURRENCY: ConcurrencyRetryStrategy = ConcurrencyRetryStrategy::new();

/// Declares functions with the attribute, which differ in its options only.
macro_rules! requests {
    ($($(#[$doc:meta])* $name:ident($($option:tt)*);)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        /// Returns those of [`Request`].
        #[retryable($($option)*)]
        pub async fn $name(number: u64) -> Outcome {
            Request(number).await
        }
    )*};
}

requests! {
    /// The attribute with a static strategy and a full quota.
    attribute(strategy = STORE);
    /// The attribute with the recommended strategy, which has seen no failure.
    patient(strategy = PATIENT);
    /// A time limit with the clock and the sleep of tokio.
    max_time(strategy = STORE, max_time = "30s");
    /// Both time limits with the clock and the sleep of tokio.
    limited(strategy = STORE, max_time = "30s", attempt_timeout = "5s");
    /// An observer that does nothing, with the clock of tokio.
    observer(strategy = STORE, observer = NOTHING);
    /// A strategy whose type is erased.
    erased(strategy = &*ERASED);
    /// A limit on concurrent attempts that is far from reached, with the clock of tokio.
    concurrency(strategy = CONCURRENCY);
}

/// The closure form with the same strategy.
///
/// # Errors
///
/// Returns those of [`Request`].
pub async fn closure(number: u64) -> Outcome {
    retry(&STORE, || Request(number)).run().await
}

/// The attribute: one failure, then a success, without a delay.
///
/// # Errors
///
/// Returns those of [`Flaky`].
#[retryable(strategy = PROMPT)]
pub async fn flaky_attribute(number: u64, failed: &Cell<bool>) -> Outcome {
    Flaky(number, failed).await
}

/// The closure form: one failure, then a success, without a delay.
///
/// # Errors
///
/// Returns those of [`Flaky`].
pub async fn flaky_closure(number: u64, failed: &Cell<bool>) -> Outcome {
    retry(&PROMPT, || Flaky(number, failed)).run().await
}

/// The attribute with a quota by evidence: one failure, then a success, without a delay.
///
/// # Errors
///
/// Returns those of [`Flaky`].
#[retryable(strategy = EVIDENCE)]
pub async fn flaky_evidence(number: u64, failed: &Cell<bool>) -> Outcome {
    Flaky(number, failed).await
}

/// The attribute with the recommended strategy: one failure, then a success, without a delay.
///
/// # Errors
///
/// Returns those of [`Flaky`].
#[retryable(strategy = PATIENT)]
pub async fn flaky_patient(number: u64, failed: &Cell<bool>) -> Outcome {
    Flaky(number, failed).await
}

/// With the body of [`operation`], for features that are compiled and not used.
///
/// # Errors
///
/// Returns those of [`operation::attempt`].
#[retryable(strategy = STORE)]
pub async fn own_attribute(number: u64) -> Outcome {
    operation::attempt(number).await
}

/// The closure form with the body of [`operation`].
///
/// # Errors
///
/// Returns those of [`operation::attempt`].
pub async fn own_closure(number: u64) -> Outcome {
    retry(&STORE, || operation::attempt(number)).run().await
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(calls) = arguments.next().and_then(|calls| calls.parse().ok()) else {
        eprintln!("usage: real NAME CALLS");
        return ExitCode::FAILURE;
    };
    match name.as_str() {
        "own_bare" => repeat(calls, operation::bare),
        "own_attribute" => repeat(calls, own_attribute),
        "own_closure" => repeat(calls, own_closure),
        "bare" => repeat(calls, bare),
        "attribute" => repeat(calls, attribute),
        "closure" => repeat(calls, closure),
        "patient" => repeat(calls, patient),
        "max_time" => repeat(calls, max_time),
        "limited" => repeat(calls, limited),
        "observer" => repeat(calls, observer),
        "erased" => repeat(calls, erased),
        "concurrency" => repeat(calls, concurrency),
        "mutable_bare" => repeat(calls, async |number| bare_mutable(&mut black_box(0), number).await),
        "mutable_attribute" => repeat(calls, async |number| mutable(&mut black_box(0), number).await),
        "large_error_bare" => repeat(calls, async |number| Ok(bare_large(number).await.unwrap_or(number))),
        "large_error_attribute" => repeat(calls, async |number| Ok(large(number).await.unwrap_or(number))),
        "bare_fail_once" => repeat(calls, async |number| bare_flaky(number, &Cell::new(false)).await),
        "attribute_fail_once" => repeat(calls, async |number| flaky_attribute(number, &Cell::new(false)).await),
        "closure_fail_once" => repeat(calls, async |number| flaky_closure(number, &Cell::new(false)).await),
        "evidence_fail_once" => repeat(calls, async |number| flaky_evidence(number, &Cell::new(false)).await),
        "patient_fail_once" => repeat(calls, async |number| flaky_patient(number, &Cell::new(false)).await),
        _ => {
            eprintln!("unknown scenario {name:?}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
