//! Chains of errors: the first known link decides.

use crate::support::{millis, secs};
use retry_core::classify::chain::{Dyn, ErrorLike};
use retry_core::classify::{Classification, chain, io};
use retry_core::{
    Jitter, RetryDirective, RetryInfo, RetrySafety, StandardRetryPolicy, StandardRetryStrategy, TimedOut, policy_fn,
    retry, retryable,
};
use std::error::Error;
use std::fmt::{self, Display};
use std::io::ErrorKind;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

type AnyError = Box<dyn Error + Send + Sync>;

/// An error with no information except its source.
#[derive(Debug)]
struct Layer(AnyError);

impl Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a layer")
    }
}

impl Error for Layer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

fn layers(count: usize, inmost: impl Into<AnyError>) -> AnyError {
    (0..count).fold(inmost.into(), |error, _| Box::new(Layer(error)))
}

fn refused() -> std::io::Error {
    ErrorKind::ConnectionRefused.into()
}

/// Returns the error of an attempt that the library cut.
async fn timed_out() -> TimedOut {
    static NO_RETRIES: StandardRetryStrategy = StandardRetryStrategy::new().max_attempts(1);

    let call = retry(&NO_RETRIES, std::future::pending::<Result<(), TimedOut>>);
    call.attempt_timeout(secs(1)).run().await.unwrap_err()
}

/// Returns the error of a timeout of tokio.
async fn elapsed() -> tokio::time::error::Elapsed {
    tokio::time::timeout(secs(1), std::future::pending::<()>()).await.unwrap_err()
}

const TIMEOUT: Option<Classification> = Some(Classification::new(RetrySafety::Maybe).with_timeout());

// Rule E12.
#[test]
fn a_chain_is_classified_by_its_first_known_link() {
    let known_outside = std::io::Error::new(ErrorKind::TimedOut, refused());
    let unknown_outside = std::io::Error::new(ErrorKind::InvalidData, refused());
    let cases: [(AnyError, Option<ErrorKind>); 10] = [
        (layers(0, refused()), Some(ErrorKind::ConnectionRefused)),
        (layers(3, refused()), Some(ErrorKind::ConnectionRefused)),
        (layers(3, "text"), None),
        (layers(2, known_outside), Some(ErrorKind::TimedOut)),
        // The search continues inside an I/O error of an unknown kind, although `source` skips the inner error.
        (layers(2, unknown_outside), Some(ErrorKind::ConnectionRefused)),
        (layers(2, std::io::Error::other(refused())), Some(ErrorKind::ConnectionRefused)),
        (layers(1, std::io::Error::other(layers(1, refused()))), Some(ErrorKind::ConnectionRefused)),
        (layers(1, std::io::Error::other("text")), None),
        (layers(63, refused()), Some(ErrorKind::ConnectionRefused)),
        (layers(64, refused()), None),
    ];
    for (number, (error, expected)) in cases.iter().enumerate() {
        assert_eq!(chain::known(error), expected.and_then(io::known_kind), "case {number}");
    }
}

// Rule E12.
#[tokio::test(start_paused = true)]
async fn pointers_to_known_errors_are_seen_through() {
    let (cut, late) = (timed_out().await, elapsed().await);
    let shared = |error: AnyError| -> Arc<dyn Error + Send + Sync> { error.into() };
    let refused_kind = io::known_kind(ErrorKind::ConnectionRefused);
    let cases: [(AnyError, Option<Classification>); 14] = [
        (Box::new(Arc::new(refused())), refused_kind),
        (Box::new(Box::new(refused())), refused_kind),
        (Box::new(shared(Box::new(refused()))), refused_kind),
        (Box::new(shared(layers(2, refused()))), refused_kind),
        (Box::new(shared(layers(2, shared(Box::new(Arc::new(refused())))))), refused_kind),
        (Box::new(std::io::Error::other(shared(Box::new(refused())))), refused_kind),
        (Box::new(cut), TIMEOUT),
        (Box::new(Arc::new(cut)), TIMEOUT),
        (Box::new(Box::new(cut)), TIMEOUT),
        (Box::new(shared(Box::new(cut))), TIMEOUT),
        (Box::new(Arc::new(elapsed().await)), TIMEOUT),
        (Box::new(Box::new(elapsed().await)), TIMEOUT),
        (Box::new(shared(layers(1, late))), TIMEOUT),
        (Box::new(shared("text".into())), None),
    ];
    for (number, (error, expected)) in cases.into_iter().enumerate() {
        assert_eq!(chain::known(&error), expected, "case {number}, bare");
        assert_eq!(chain::known(&layers(2, error)), expected, "case {number}, in layers");
    }
    // Errors without `Send` and `Sync` can't be in a `Layer`, so they are tested alone.
    let local: Arc<dyn Error> = Arc::new(refused());
    assert_eq!(chain::known(&local), refused_kind);
    let local: Arc<dyn Error + Send> = Arc::new(refused());
    assert_eq!(chain::known(&local), refused_kind);
}

#[test]
fn a_field_of_any_error_type_can_be_classified() {
    #[derive(RetryInfo)]
    enum Failure<E: Error + 'static> {
        Concrete(#[retry(with = chain::known)] std::io::Error),
        Generic(#[retry(with = chain::known)] E),
        Boxed(#[retry(with = chain::known)] AnyError),
        BoxedSend(#[retry(with = chain::known)] Box<dyn Error + Send>),
        BoxedLocal(#[retry(with = chain::known)] Box<dyn Error>),
        BoxedConcrete(#[retry(with = chain::known)] Box<std::io::Error>),
        Shared(#[retry(with = chain::known)] Arc<dyn Error + Send + Sync>),
        SharedConcrete(#[retry(with = chain::known)] Arc<std::io::Error>),
        Borrowed(#[retry(with = chain::known)] &'static (dyn Error + 'static)),
        Anyhow(#[retry(with = chain::known)] anyhow::Error),
        #[retry(with = judge_pointee)]
        Counted(Rc<dyn Error>),
    }
    fn judge_pointee(error: &Rc<dyn Error>) -> Option<Classification> {
        chain::known(&**error)
    }

    let failures: [Failure<Layer>; 11] = [
        Failure::Concrete(refused()),
        Failure::Generic(Layer(refused().into())),
        Failure::Boxed(layers(1, refused())),
        Failure::BoxedSend(layers(1, refused())),
        Failure::BoxedLocal(layers(1, refused())),
        Failure::BoxedConcrete(refused().into()),
        Failure::Shared(layers(1, refused()).into()),
        Failure::SharedConcrete(refused().into()),
        Failure::Borrowed(Box::leak(layers(1, refused()))),
        Failure::Anyhow(anyhow::Error::from(refused()).context("while connecting").context("while starting")),
        Failure::Counted(Rc::new(refused())),
    ];
    for (number, failure) in failures.iter().enumerate() {
        assert_eq!(failure.is_retry_safe(), RetrySafety::Yes, "{number}");
    }
    assert_eq!(Failure::<Layer>::Boxed("text".into()).is_retry_safe(), RetrySafety::No);

    // Outside a field, the helper takes a reference to the error or to its owner.
    let boxed = layers(1, refused());
    let borrowed: &(dyn Error + 'static) = &*boxed;
    assert_eq!(chain::known(borrowed), chain::known(&boxed));
    assert_eq!(chain::known(&*boxed), chain::known(&boxed));
    assert_eq!([boxed].iter().map(chain::known).next().flatten(), io::known_kind(ErrorKind::ConnectionRefused));
}

fn by_known_links<T>(outcome: &anyhow::Result<T>) -> RetryDirective {
    match outcome {
        Ok(_) => RetryDirective::succeed(),
        Err(error) => {
            let verdict = chain::known(error).unwrap_or(Classification::new(RetrySafety::No));
            StandardRetryPolicy::new().evaluate_error(&verdict)
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_function_with_anyhow_errors_retries_a_timed_out_attempt() {
    static SLOW: StandardRetryStrategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0));

    #[retryable(strategy = SLOW, policy = policy_fn(by_known_links), attempt_timeout = "100ms")]
    async fn late_once(calls: &AtomicU32, then: Option<&'static str>) -> anyhow::Result<u32> {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        let patience = if call == 0 { secs(60) } else { Duration::ZERO };
        tokio::time::sleep(patience).await;
        then.map_or(Ok(call), |text| Err(anyhow::anyhow!(text)))
    }

    let (calls, started) = (AtomicU32::new(0), tokio::time::Instant::now());
    assert_eq!(late_once(&calls, None).await.unwrap(), 1);
    assert_eq!(started.elapsed(), millis(1_100));

    let calls = AtomicU32::new(1);
    let error = late_once(&calls, Some("no such table")).await.unwrap_err();
    assert_eq!((error.to_string().as_str(), calls.into_inner()), ("no such table", 2));
}

#[test]
fn the_caller_can_classify_links_of_other_types() {
    #[derive(Debug)]
    struct Busy;
    impl Display for Busy {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("busy")
        }
    }
    impl Error for Busy {}

    let busy = |link: &(dyn Error + 'static)| {
        link.is::<Busy>().then_some(Classification::new(RetrySafety::Yes).with_throttling())
    };
    let shared: Arc<dyn Error + Send + Sync> = Arc::new(Busy);
    let error = layers(2, std::io::Error::other(shared));
    assert!(chain::first_known(&error, busy).is_some_and(|verdict| verdict.is_throttle()));
    assert_eq!(chain::known(&error), None);
    assert_eq!(chain::first_known(&layers(2, "text"), busy), None);
}

/// The kind of a pointer's target has a name, so code can be generic over pointers that are neither errors nor owners.
// Rule E12.
#[test]
fn code_that_is_generic_over_pointers_can_name_the_kind_of_their_targets() {
    fn known<P: Deref<Target: ErrorLike<Dyn>>>(pointer: &P) -> Option<RetrySafety> {
        chain::known(&**pointer).map(|known| known.is_retry_safe())
    }

    let pointers: [Rc<dyn Error>; 2] = [Rc::new(refused()), Rc::new(fmt::Error)];
    assert_eq!(pointers.each_ref().map(known), [Some(RetrySafety::Yes), None]);
    assert_eq!(known(&layers(3, refused())), Some(RetrySafety::Yes));
}

// Rule E12.
#[test]
fn a_cyclic_chain_is_searched_to_a_bounded_depth() {
    #[derive(Debug)]
    struct Circle;
    impl Display for Circle {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a circle")
        }
    }
    impl Error for Circle {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self)
        }
    }
    let mut links = 0;
    let verdict = chain::first_known(&Circle, |_| {
        links += 1;
        None
    });
    assert_eq!((verdict, links), (None, 64));
}
