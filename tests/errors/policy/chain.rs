//! The policy for errors that are judged by their chain.

use crate::support::{millis, secs};
use retry_core::classify::{Classification, chain, http};
use retry_core::{
    ChainPolicy, Jitter, RetryDirective, RetryErrorType, RetryInfo, RetryPolicy, RetrySafety, StandardRetryStrategy,
    TimeLimit, TimedOut, retry, retryable,
};
use std::cell::Cell;
use std::error::Error;
use std::fmt::{self, Debug, Display};
use std::io::{self, ErrorKind};
use std::sync::Arc;

static STRATEGY: StandardRetryStrategy =
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).quota_capacity(100_000);

type AnyError = Box<dyn Error + Send + Sync>;

macro_rules! displayed {
    ($($error:ty),+) => {$(
        impl Display for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Debug::fmt(self, f)
            }
        }
        impl Error for $error {}
    )+};
}

/// An error of the program itself.
#[derive(Debug, RetryInfo)]
#[retry(throttling, retry_after = "7s")]
struct Busy;

/// An error of a client library.
#[derive(Debug)]
struct Answered(u16);

displayed!(Busy, Answered);

fn answered(link: &(dyn Error + 'static)) -> Option<Classification> {
    link.downcast_ref().map(|Answered(status)| http::status(*status))
}

#[allow(clippy::unnecessary_wraps, reason = "this is the signature of a link")]
fn never(_: &(dyn Error + 'static)) -> Option<Classification> {
    Some(Classification::new(RetrySafety::No))
}

fn refused() -> io::Error {
    ErrorKind::ConnectionRefused.into()
}

fn reset() -> io::Error {
    ErrorKind::ConnectionReset.into()
}

const RETRY_OTHER: RetryDirective = RetryDirective::retry(RetryErrorType::Other);
const RETRY_SERVER: RetryDirective = RetryDirective::retry(RetryErrorType::ServerSide);
const FAIL_SERVER: RetryDirective = RetryDirective::fail(Some(RetryErrorType::ServerSide));
const FAIL_OTHER: RetryDirective = RetryDirective::fail(Some(RetryErrorType::Other));
const UNKNOWN: RetryDirective = RetryDirective::fail(Some(RetryErrorType::Unknown));

// Rule P7.
#[test]
fn owners_of_any_error_are_judged_by_the_first_known_link() {
    fn judge<E>(error: E) -> RetryDirective
    where
        ChainPolicy: RetryPolicy<Result<(), E>>,
    {
        ChainPolicy::<chain::Owner>::new().evaluate(&Err(error))
    }

    assert_eq!(judge(anyhow::Error::from(refused()).context("while connecting").context("outside")), RETRY_OTHER);
    assert_eq!(judge(eyre::Report::from(refused()).wrap_err("while connecting")), RETRY_OTHER);
    assert_eq!(judge(Box::<dyn Error>::from(refused())), RETRY_OTHER);
    assert_eq!(judge(Box::new(refused()) as Box<dyn Error + Send>), RETRY_OTHER);
    assert_eq!(judge(AnyError::from(refused())), RETRY_OTHER);
    assert_eq!(
        judge(AnyError::from(TimedOut::new(TimeLimit::Attempt, secs(1)))),
        RetryDirective::retry(RetryErrorType::Timeout)
    );
    assert_eq!(judge(anyhow::anyhow!("no such table")), UNKNOWN);
    assert_eq!(judge(eyre::eyre!("no such table")), UNKNOWN);
    assert_eq!(judge(AnyError::from("no such table")), UNKNOWN);
    let policy: ChainPolicy = ChainPolicy::default();
    assert_eq!(policy.evaluate(&anyhow::Ok(7)), RetryDirective::succeed());
}

// Rule P7.
#[test]
fn errors_of_one_type_are_judged_by_their_chain_too() {
    const IO: ChainPolicy<chain::Concrete> = ChainPolicy::new();

    assert_eq!(IO.evaluate(&Err::<(), _>(refused())), RETRY_OTHER);
    assert_eq!(IO.evaluate(&Err::<(), _>(io::Error::other(refused()))), RETRY_OTHER);
    let shared: Arc<dyn Error + Send + Sync> = Arc::new(refused());
    assert_eq!(IO.evaluate(&Err::<(), _>(shared)), RETRY_OTHER);
    assert_eq!(IO.evaluate_error(&fmt::Error), UNKNOWN);
    assert_eq!(IO.evaluate(&Ok::<_, io::Error>(7)), RetryDirective::succeed());
}

// Rule P7.
#[test]
fn added_functions_are_asked_in_order_and_before_the_table() {
    const POLICY: ChainPolicy = ChainPolicy::new().also(chain::typed::<Busy>).also(answered);

    let busy = RetryDirective::retry(RetryErrorType::Throttling).after(Some(secs(7)));
    assert_eq!(POLICY.evaluate_error(&anyhow::Error::from(Busy).context("outside")), busy);
    assert_eq!(POLICY.evaluate_error(&AnyError::from(io::Error::other(Answered(502)))), RETRY_SERVER);
    assert_eq!(POLICY.evaluate_error(&AnyError::from(io::Error::other(Answered(501)))), FAIL_SERVER);
    assert_eq!(POLICY.evaluate_error(&AnyError::from(refused())), RETRY_OTHER, "the table is still asked");
    assert_eq!(ChainPolicy::new().evaluate_error(&AnyError::from(Busy)), UNKNOWN, "nobody added this type");

    // The outer link decides, even if a function would be asked earlier about the inner one.
    let outer_is_known = AnyError::from(io::Error::new(ErrorKind::ConnectionReset, Answered(501)));
    assert_eq!(POLICY.evaluate_error(&outer_is_known), RETRY_SERVER);

    let first_wins: ChainPolicy = ChainPolicy::new().also(chain::typed::<Busy>).also(never);
    assert_eq!(first_wins.evaluate_error(&AnyError::from(Busy)), busy);
    assert_eq!(first_wins.evaluate_error(&AnyError::from(refused())), FAIL_OTHER, "it is asked before the table");
}

// Rules P2, P7.
#[test]
fn what_maybe_means_is_a_setting_of_the_policy() {
    let error = AnyError::from(reset());
    let other = AnyError::from(io::Error::from(ErrorKind::Interrupted));
    let policy: ChainPolicy = ChainPolicy::new();
    assert_eq!(policy.evaluate_error(&error), RETRY_SERVER, "the server is at fault");
    assert_eq!(policy.evaluate_error(&other), FAIL_OTHER);
    assert_eq!(policy.idempotent(true).evaluate_error(&other), RETRY_OTHER);
    assert_eq!(policy.idempotent(false).evaluate_error(&error), FAIL_SERVER);
    assert_eq!(policy.idempotent(false).evaluate_error(&AnyError::from(refused())), RETRY_OTHER);
}

#[test]
fn eight_functions_can_be_added_and_a_ninth_is_refused() {
    let full =
        (0..7).fold(ChainPolicy::<chain::Owner>::new(), |policy, _| policy.also(answered)).also(chain::typed::<Busy>);
    assert!(matches!(full.evaluate_error(&AnyError::from(Busy)), RetryDirective::Retry { .. }), "the eighth is asked");
    assert!(format!("{full:?}").contains("added: 8"), "{full:?}");
    let message = std::panic::catch_unwind(|| full.also(answered)).unwrap_err();
    assert!(message.downcast_ref::<&str>().is_some_and(|text| text.contains("at most 8 functions")));
}

// Rule P7.
#[tokio::test(start_paused = true)]
async fn one_line_makes_a_function_with_anyhow_errors_retryable() {
    #[retryable(strategy = STRATEGY, policy = ChainPolicy::new().also(answered).idempotent(true), attempt_timeout = "100ms")]
    async fn read(calls: &Cell<u32>) -> anyhow::Result<u32> {
        calls.set(calls.get() + 1);
        match calls.get() {
            1 => tokio::time::sleep(secs(60)).await,
            2 => Err(anyhow::Error::from(Answered(503)).context("while reading"))?,
            3 => Err(refused())?,
            _ => {}
        }
        Ok(calls.get())
    }

    let (calls, started) = (Cell::new(0), tokio::time::Instant::now());
    assert_eq!(read(&calls).await.unwrap(), 4);
    assert_eq!(started.elapsed(), millis(100) + secs(1 + 2 + 4));

    let closure = || async { Err::<(), _>(eyre::eyre!("no such table")) };
    let report = retry(&STRATEGY, closure).policy(ChainPolicy::new()).report().await;
    assert_eq!(report.attempts, 1);
}

// Rule P7.
#[tokio::test(start_paused = true)]
async fn the_kind_of_the_error_is_inferred_in_an_expression() {
    #[retryable(strategy = STRATEGY, policy = ChainPolicy::new())]
    async fn connect(calls: &Cell<u32>) -> io::Result<u32> {
        calls.set(calls.get() + 1);
        if calls.get() < 3 { Err(refused()) } else { Ok(calls.get()) }
    }

    assert_eq!(connect(&Cell::new(0)).await.unwrap(), 3);
}

/// An enum whose variant forwards `source` past the error that it contains.
#[derive(Debug, thiserror::Error)]
enum StoreError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("no such key")]
    NoSuchKey,
}

/// An error of a client library.
#[derive(Debug, thiserror::Error)]
#[error("status {0}")]
struct ClientError(u16);

fn client(link: &(dyn Error + 'static)) -> Option<Classification> {
    link.downcast_ref().map(|ClientError(status)| http::status(*status))
}

// Rule P7.
#[test]
fn one_line_makes_the_error_in_a_transparent_variant_known() {
    const BLIND: ChainPolicy = ChainPolicy::new().also(client);
    const POLICY: ChainPolicy = BLIND.also(|link| match link.downcast_ref()? {
        StoreError::Client(error) => client(error),
        StoreError::NoSuchKey => None,
    });

    let error = || anyhow::Error::from(StoreError::from(ClientError(502))).context("while reading");
    assert_eq!(BLIND.evaluate_error(&error()), UNKNOWN, "thiserror's `source` skips the error in the variant");
    assert_eq!(POLICY.evaluate_error(&error()), RETRY_SERVER);
    assert_eq!(POLICY.evaluate_error(&anyhow::Error::from(StoreError::NoSuchKey)), UNKNOWN);
}

// Rule P7.
#[test]
fn one_line_makes_a_typed_context_known() {
    const CHAIN: ChainPolicy = ChainPolicy::new().also(chain::typed::<Busy>).idempotent(true);

    let anyhow_first = CHAIN.whole_first(|error: &anyhow::Error| error.downcast_ref::<Busy>().map(Classification::of));
    let eyre_first = CHAIN.whole_first(|error: &eyre::Report| error.downcast_ref::<Busy>().map(Classification::of));
    let judge = |error| anyhow_first.evaluate(&anyhow::Result::<()>::Err(error));

    let busy = RetryDirective::retry(RetryErrorType::Throttling).after(Some(secs(7)));
    let by_anyhow = anyhow::Error::from(Answered(404)).context(Busy).context("while reading");
    assert_eq!(CHAIN.evaluate_error(&by_anyhow), UNKNOWN, "the context is hidden from the chain");
    assert_eq!(judge(by_anyhow), busy);
    assert_eq!(judge(anyhow::Error::from(refused()).context("while connecting")), RETRY_OTHER);
    assert_eq!(judge(anyhow::anyhow!("no such table")), UNKNOWN);
    let unknown = Err::<(), _>(anyhow::anyhow!("no such table"));
    assert_eq!(anyhow_first.unknown_error(&unknown).unwrap().to_string(), "no such table");
    let maybe = |_: &anyhow::Error| Some(Classification::new(RetrySafety::Maybe));
    assert_eq!(CHAIN.whole_first(maybe).evaluate(&unknown), RETRY_OTHER, "`idempotent` applies to it");
    let by_eyre = eyre::Report::from(Answered(404)).wrap_err(Busy).wrap_err("while reading");
    assert_eq!(CHAIN.evaluate_error(&by_eyre), UNKNOWN, "the context is hidden from the chain");
    assert_eq!(eyre_first.evaluate(&Err::<(), _>(by_eyre)), busy);
    assert_eq!(eyre_first.evaluate(&eyre::Ok(7)), RetryDirective::succeed());
    assert!(format!("{eyre_first:?}").starts_with("WholeFirst { chain: ChainPolicy { added: 1,"), "{eyre_first:?}");
}

// Rules P7, V5.
#[test]
fn a_chain_policy_says_whether_the_operation_may_be_executed_twice_if_that_was_set() {
    type Outcome = Result<(), AnyError>;

    fn says(policy: impl RetryPolicy<Outcome>) -> Option<bool> {
        policy.is_idempotent()
    }

    let whole = |policy: ChainPolicy| policy.whole_first(|_: &AnyError| None);
    for stated in [true, false] {
        let policy = ChainPolicy::new().idempotent(stated);
        assert_eq!((says(policy), says(whole(policy))), (Some(stated), Some(stated)));
    }
    assert_eq!((says(ChainPolicy::new()), says(whole(ChainPolicy::new()))), (None, None));
}

// Rule P8.
#[test]
fn an_error_without_a_known_link_means_what_otherwise_says() {
    let unknown = AnyError::from(Answered(404));
    let evaluated = |policy: ChainPolicy, error: &AnyError| policy.evaluate_error(error);
    assert_eq!(evaluated(ChainPolicy::new(), &unknown), RetryDirective::fail(Some(RetryErrorType::Unknown)));
    let no = ChainPolicy::new().otherwise(Classification::new(RetrySafety::No));
    assert_eq!(evaluated(no, &unknown), RetryDirective::fail(Some(RetryErrorType::Other)));
    let maybe = ChainPolicy::new().otherwise(Classification::new(RetrySafety::Maybe));
    assert_eq!(evaluated(maybe.idempotent(true), &unknown), RetryDirective::retry(RetryErrorType::Other));
    assert_eq!(evaluated(maybe, &unknown), RetryDirective::fail(Some(RetryErrorType::Other)));
    // Known links go first, wherever `otherwise` stands.
    let busy = RetryDirective::retry(RetryErrorType::Throttling).after(Some(secs(7)));
    assert_eq!(evaluated(no.also(chain::typed::<Busy>), &AnyError::from(Busy)), busy);
    let refused = AnyError::from(io::Error::from(ErrorKind::ConnectionRefused));
    assert!(matches!(evaluated(no, &refused), RetryDirective::Retry { .. }));
}
