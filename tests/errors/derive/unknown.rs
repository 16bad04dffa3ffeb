//! Cases that hold an inner error and have no label are unknown.

use retry_core::classify::{Classification, chain};
use retry_core::{
    ChainPolicy, ErrorFault, ErrorInfo, RetryDirective, RetryErrorType, RetryInfo, RetryPolicy, RetrySafety,
    StandardRetryPolicy,
};
use std::num::ParseIntError;
use std::rc::Rc;
use std::sync::Arc;
use std::{fmt, io};
use thiserror::Error;

#[derive(Debug, Error)]
#[error("the connection was closed")]
struct ClientError;

/// Without labels, as its author forgot them.
#[derive(Debug, Error, RetryInfo)]
#[allow(deprecated, reason = "the warning about labels is tested in tests/ui")]
enum Forgotten<E: std::error::Error + 'static> {
    #[error("from")]
    From(#[from] ClientError),
    #[error("source")]
    Source(#[source] E),
    #[error("named")]
    Named { source: io::Error },
    #[error(transparent)]
    Transparent(fmt::Error),
    #[error("leaf")]
    Leaf(String),
    #[error("parsed")]
    Parsed(ParseIntError),
    #[error("never")]
    #[retry(never)]
    Never(#[source] io::Error),
    #[error("labelled")]
    Labelled(
        #[source]
        #[retry(with = retry_core::classify::io::known)]
        io::Error,
    ),
}

type Outcome = Result<(), Forgotten<io::Error>>;

fn refused() -> io::Error {
    io::ErrorKind::ConnectionRefused.into()
}

const UNKNOWN: RetryDirective = RetryDirective::fail(Some(RetryErrorType::Unknown));
const OTHER: RetryDirective = RetryDirective::fail(Some(RetryErrorType::Other));

// Rule M21.
#[test]
fn a_case_with_an_inner_error_and_without_a_label_is_unknown() {
    let unknown = [
        Forgotten::From(ClientError),
        Forgotten::Source(refused()),
        Forgotten::Named { source: refused() },
        Forgotten::Transparent(fmt::Error),
    ];
    for error in unknown {
        assert!(error.is_unknown(), "{error:?}");
        assert_eq!(error.is_retry_safe(), RetrySafety::No, "{error:?}");
        assert_eq!(RetryErrorType::of(&error), RetryErrorType::Unknown, "{error:?}");
        for policy in [StandardRetryPolicy::new(), StandardRetryPolicy::new().idempotent(true)] {
            assert_eq!(policy.evaluate(&Outcome::Err(error_like(&error))), UNKNOWN, "{error:?}");
        }
    }
}

/// Makes an error of the same variant.
fn error_like(error: &Forgotten<io::Error>) -> Forgotten<io::Error> {
    match error {
        Forgotten::Source(_) => Forgotten::Source(refused()),
        Forgotten::Named { .. } => Forgotten::Named { source: refused() },
        Forgotten::Transparent(_) => Forgotten::Transparent(fmt::Error),
        _ => Forgotten::From(ClientError),
    }
}

// Rule M21.
#[test]
fn a_case_without_an_inner_error_or_with_a_label_is_known() {
    let known: [Forgotten<io::Error>; 4] = [
        Forgotten::Leaf(String::new()),
        Forgotten::Parsed("x".parse::<u8>().unwrap_err()),
        Forgotten::Never(refused()),
        Forgotten::Labelled(io::ErrorKind::NotFound.into()),
    ];
    for error in known {
        assert!(!error.is_unknown(), "{error:?}");
        assert_eq!(StandardRetryPolicy::new().evaluate(&Outcome::Err(error)), OTHER);
    }
}

// Rule M21.
#[test]
fn a_label_on_the_enum_is_meant_for_all_cases() {
    #[derive(Debug, Error, RetryInfo)]
    #[retry(never)]
    #[error(transparent)]
    enum Labelled {
        Inner(#[from] ClientError),
    }

    assert!(!Labelled::Inner(ClientError).is_unknown());
}

// Rule M21.
#[test]
fn a_struct_is_a_case_too() {
    #[derive(Debug, Error, RetryInfo)]
    #[retry(crate = ::retry_core)]
    #[allow(deprecated, reason = "the label is missing on purpose")]
    #[error("failed")]
    struct Failed {
        source: ClientError,
    }

    assert!(Failed { source: ClientError }.is_unknown());
}

/// An inner error that knows nothing.
fn inner() -> Forgotten<io::Error> {
    Forgotten::From(ClientError)
}

// Rules M17, M21.
#[test]
fn an_inner_error_that_is_unknown_makes_the_outer_one_unknown() {
    #[derive(RetryInfo)]
    #[retry(fault = "server")]
    enum Outer {
        #[retry(transparent)]
        Transparent(Box<Forgotten<io::Error>>),
        Source(#[retry(source)] Option<Forgotten<io::Error>>),
        #[retry(throttling)]
        Throttled(#[retry(source)] Forgotten<io::Error>),
        #[retry(safe)]
        Safe(#[retry(source)] Forgotten<io::Error>),
        With {
            #[retry(with = Option::clone)]
            safe: Option<bool>,
            #[retry(http_status)]
            status: Option<u16>,
            #[retry(source)]
            cause: Forgotten<io::Error>,
        },
        Leaf,
    }

    let with = |safe, status| Outer::With { safe, status, cause: inner() };
    for unknown in [Outer::Transparent(Box::new(inner())), Outer::Source(Some(inner())), with(None, None)] {
        assert!(unknown.is_unknown());
        assert_eq!(StandardRetryPolicy::new().evaluate(&Err::<(), _>(unknown)), UNKNOWN);
    }
    let known = [
        Outer::Transparent(Box::new(Forgotten::Leaf(String::new()))),
        Outer::Source(None),
        Outer::Source(Some(Forgotten::Leaf(String::new()))),
        Outer::Throttled(inner()),
        Outer::Safe(inner()),
        with(Some(true), None),
        with(None, Some(503)),
        Outer::Leaf,
    ];
    for (number, known) in known.into_iter().enumerate() {
        assert!(!known.is_unknown(), "{number}");
    }
}

// Rule P6.
#[test]
fn a_pointer_to_an_unknown_error_is_unknown() {
    let error: &dyn RetryInfo = &inner();
    assert!(error.is_unknown() && Box::new(inner()).is_unknown());
    assert!(Rc::new(inner()).is_unknown() && Arc::new(inner()).is_unknown());
}

// Rule P8.
#[test]
fn a_chain_goes_on_after_an_unknown_link() {
    const POLICY: ChainPolicy<chain::Concrete> = ChainPolicy::new().also(chain::typed::<Forgotten<io::Error>>);

    // The next link is an I/O error, which is known.
    assert!(matches!(POLICY.evaluate(&Outcome::Err(Forgotten::Source(refused()))), RetryDirective::Retry { .. }));
    assert_eq!(POLICY.evaluate(&Outcome::Err(Forgotten::From(ClientError))), UNKNOWN);
    assert_eq!(POLICY.evaluate(&Outcome::Err(Forgotten::Leaf(String::new()))), OTHER);
}

// Rule P8.
#[test]
fn a_copied_classification_stays_unknown_until_its_safety_is_set() {
    let copied = Classification::of(&inner());
    let policy = StandardRetryPolicy::new();
    assert_eq!(policy.evaluate_error(&copied), UNKNOWN);
    assert_eq!(policy.evaluate_error(&copied.with_safety(RetrySafety::No)), OTHER);
}

// Rule P8.
#[test]
fn what_an_unknown_error_says_itself_comes_first() {
    struct ByHand {
        safety: RetrySafety,
        is_throttle: bool,
    }

    impl ErrorInfo for ByHand {
        fn fault(&self) -> ErrorFault {
            ErrorFault::Server
        }
    }

    impl RetryInfo for ByHand {
        fn is_retry_safe(&self) -> RetrySafety {
            self.safety
        }

        fn is_throttle(&self) -> bool {
            self.is_throttle
        }

        fn is_unknown(&self) -> bool {
            true
        }
    }

    let evaluate =
        |safety, is_throttle| StandardRetryPolicy::new().evaluate(&Err::<(), _>(ByHand { safety, is_throttle }));
    assert_eq!(evaluate(RetrySafety::No, false), UNKNOWN);
    assert_eq!(evaluate(RetrySafety::No, true), RetryDirective::fail(Some(RetryErrorType::Throttling)));
    assert_eq!(evaluate(RetrySafety::Yes, false), RetryDirective::retry(RetryErrorType::Unknown));
}
