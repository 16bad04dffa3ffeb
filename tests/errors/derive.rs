//! The answers of derived errors: each option alone, and their precedence.
#![allow(dead_code, reason = "the fields are only read by the derive")]
#![allow(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "a function named by `with` gets references to fields of any type"
)]
#![allow(clippy::items_after_statements, reason = "an enum is next to its assertions")]

mod conflict;
mod indirect;
mod large;
mod precedence;
mod recursive;
mod shapes;
mod source;
mod status;
mod unknown;
mod verdict;

use crate::support::{millis, secs};
use ErrorFault::{Client, Other, Server};
use RetrySafety::{Maybe, No, Yes};
use retry_core::{ErrorFault, RetryInfo, RetrySafety};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The answers of an error: fault, safety, throttling, timeout, hint.
type Says = (ErrorFault, RetrySafety, bool, bool, Option<Duration>);

fn says(error: &dyn RetryInfo) -> Says {
    (error.fault(), error.is_retry_safe(), error.is_throttle(), error.is_timeout(), error.retry_after())
}

#[derive(Clone, RetryInfo)]
#[retry(throttling, fault = "server", retry_after = "7s")]
struct Inner;

const INNER: Says = (Server, Yes, true, false, Some(Duration::from_secs(7)));

#[test]
fn each_option_sets_its_answer_and_implies_others() {
    #[derive(RetryInfo)]
    enum Failure {
        Unlabelled,
        #[retry(throttling)]
        Throttling,
        #[retry(timeout)]
        Timeout,
        #[retry(throttling, timeout)]
        Both,
        #[retry(safe)]
        Safe(u8),
        #[retry(never)]
        Never {
            field: u8,
        },
        #[retry(safe = "yes")]
        Yes,
        #[retry(safe = "no")]
        No,
        #[retry(safe = "maybe")]
        Maybe,
        #[retry(fault = "client")]
        Client,
        #[retry(fault = "server")]
        Server,
        #[retry(fault = "other")]
        Other,
        #[retry(safe, retry_after = "1500ms")]
        After,
    }

    let cases: [(Failure, Says); 13] = [
        (Failure::Unlabelled, (Other, No, false, false, None)),
        (Failure::Throttling, (Other, Yes, true, false, None)),
        (Failure::Timeout, (Other, Maybe, false, true, None)),
        (Failure::Both, (Other, Yes, true, true, None)),
        (Failure::Safe(0), (Other, Yes, false, false, None)),
        (Failure::Never { field: 0 }, (Other, No, false, false, None)),
        (Failure::Yes, (Other, Yes, false, false, None)),
        (Failure::No, (Other, No, false, false, None)),
        (Failure::Maybe, (Other, Maybe, false, false, None)),
        (Failure::Client, (Client, No, false, false, None)),
        (Failure::Server, (Server, Maybe, false, false, None)),
        (Failure::Other, (Other, No, false, false, None)),
        (Failure::After, (Other, Yes, false, false, Some(millis(1500)))),
    ];
    for (index, (error, expected)) in cases.iter().enumerate() {
        assert_eq!(says(error), *expected, "case {index}");
    }
}

// Rule M14.
#[test]
fn an_explicit_answer_beats_an_implied_one() {
    #[derive(RetryInfo)]
    enum Failure {
        #[retry(throttling, never)]
        ThrottlingNever,
        #[retry(fault = "client", safe)]
        ClientSafe,
        #[retry(timeout, safe)]
        TimeoutSafe,
        #[retry(fault = "client", throttling)]
        ClientThrottling,
        #[retry(fault = "client", timeout)]
        ClientTimeout,
        #[retry(fault = "server", never)]
        ServerNever,
        #[retry(throttling)]
        #[retry(safe = "maybe")]
        InTwoAttributes,
    }

    assert_eq!(says(&Failure::ThrottlingNever), (Other, No, true, false, None));
    assert_eq!(says(&Failure::ClientSafe), (Client, Yes, false, false, None));
    assert_eq!(says(&Failure::TimeoutSafe), (Other, Yes, false, true, None));
    assert_eq!(says(&Failure::ClientThrottling), (Client, Yes, true, false, None));
    assert_eq!(says(&Failure::ClientTimeout), (Client, Maybe, false, true, None));
    assert_eq!(says(&Failure::ServerNever), (Server, No, false, false, None));
    assert_eq!(says(&Failure::InTwoAttributes), (Other, Maybe, true, false, None));
}

// Rule M14.
#[test]
fn the_options_of_the_enum_are_defaults_for_its_variants() {
    #[derive(RetryInfo)]
    #[retry(never, fault = "client", retry_after = "2s")]
    enum Denied {
        Plain,
        #[retry(throttling)]
        Throttling,
        #[retry(timeout, retry_after = "3s")]
        Timeout,
        #[retry(fault = "server")]
        Server,
        #[retry(safe)]
        Safe,
    }

    assert_eq!(says(&Denied::Plain), (Client, No, false, false, Some(secs(2))));
    assert_eq!(
        says(&Denied::Throttling),
        (Client, Yes, true, false, Some(secs(2))),
        "the implied safety of the variant beats the default"
    );
    assert_eq!(says(&Denied::Timeout), (Client, Maybe, false, true, Some(secs(3))));
    assert_eq!(
        says(&Denied::Server),
        (Server, No, false, false, Some(secs(2))),
        "the default beats the safety implied by the fault"
    );
    assert_eq!(says(&Denied::Safe), (Client, Yes, false, false, Some(secs(2))));

    #[derive(RetryInfo)]
    #[retry(fault = "server")]
    enum Broken {
        Plain,
        #[retry(fault = "client")]
        Client,
    }

    assert_eq!(says(&Broken::Plain), (Server, Maybe, false, false, None));
    assert_eq!(says(&Broken::Client), (Client, No, false, false, None));

    #[derive(RetryInfo)]
    #[retry(throttling)]
    enum Busy {
        Plain,
        #[retry(never)]
        Never,
        #[retry(timeout)]
        Timeout,
    }

    assert_eq!(says(&Busy::Plain), (Other, Yes, true, false, None));
    assert_eq!(says(&Busy::Never), (Other, No, true, false, None));
    assert_eq!(
        says(&Busy::Timeout),
        (Other, Maybe, true, true, None),
        "the safety implied by the variant beats the default"
    );
}

#[test]
fn a_wait_in_a_field_beats_a_constant_wait() {
    #[derive(RetryInfo)]
    #[retry(safe)]
    enum Failure<'a> {
        Duration(#[retry(retry_after)] Duration),
        Lent(#[retry(retry_after)] &'a Duration),
        LentSecs(#[retry(retry_after(secs))] &'a u8),
        Option {
            #[retry(retry_after)]
            wait: Option<Duration>,
        },
        #[retry(retry_after = "9s")]
        Beside(u8, #[retry(retry_after)] Option<Duration>),
        Secs(#[retry(retry_after(secs))] u64),
        Millis(#[retry(retry_after(millis))] Option<i32>),
        Time(#[retry(retry_after)] SystemTime),
        Long(#[retry(retry_after(millis))] u128),
    }

    let after = |error: Failure<'_>| error.retry_after();
    assert_eq!(after(Failure::Duration(secs(3))), Some(secs(3)));
    assert_eq!(after(Failure::Lent(&secs(6))), Some(secs(6)));
    assert_eq!(after(Failure::LentSecs(&8)), Some(secs(8)));
    assert_eq!(after(Failure::Option { wait: Some(secs(4)) }), Some(secs(4)));
    assert_eq!(after(Failure::Option { wait: None }), None);
    assert_eq!(after(Failure::Beside(0, Some(secs(5)))), Some(secs(5)));
    assert_eq!(after(Failure::Beside(0, None)), Some(secs(9)), "an empty field is ignored");
    assert_eq!(after(Failure::Secs(u64::MAX)), Some(secs(u64::MAX)));
    assert_eq!(after(Failure::Millis(Some(250))), Some(millis(250)));
    assert_eq!(after(Failure::Millis(Some(-1))), None);
    assert_eq!(after(Failure::Millis(None)), None);
    assert_eq!(after(Failure::Long(250)), Some(millis(250)));
    assert_eq!(after(Failure::Long(u128::MAX)), Some(millis(u64::MAX)));
    assert_eq!(after(Failure::Time(SystemTime::UNIX_EPOCH)), Some(Duration::ZERO), "a time in the past is not a wait");
    let wait = after(Failure::Time(SystemTime::now() + secs(1000))).unwrap();
    assert!(wait <= secs(1000) && wait > secs(900));
}

// Rule M17.
#[test]
fn transparent_forwards_every_answer_to_one_field() {
    #[derive(RetryInfo)]
    enum Failure {
        #[retry(transparent)]
        Only(Inner),
        #[retry(transparent)]
        Boxed {
            inner: Box<Inner>,
        },
        #[retry(transparent)]
        Marked(u8, #[retry(transparent)] Arc<Inner>),
        MarkedOnly(#[retry(transparent)] Box<dyn RetryInfo>, String),
        #[retry(transparent)]
        Source {
            path: String,
            source: Inner,
        },
        Plain,
    }

    let all = [
        Failure::Only(Inner),
        Failure::Boxed { inner: Box::new(Inner) },
        Failure::Marked(0, Arc::new(Inner)),
        Failure::MarkedOnly(Box::new(Inner), String::new()),
        Failure::Source { path: String::new(), source: Inner },
    ];
    for error in &all {
        assert_eq!(says(error), INNER);
    }
    assert_eq!(says(&Failure::Plain), (Other, No, false, false, None));
}

#[test]
fn durations_are_read_in_every_unit() {
    #[derive(RetryInfo)]
    #[retry(safe)]
    enum Failure {
        #[retry(retry_after = "5ns")]
        Nanos,
        #[retry(retry_after = "5us")]
        Micros,
        #[retry(retry_after = "5ms")]
        Millis,
        #[retry(retry_after = "0s")]
        Secs,
        #[retry(retry_after = "5m")]
        Minutes,
        #[retry(retry_after = "5h")]
        Hours,
    }

    use Failure::{Hours, Micros, Millis, Minutes, Nanos, Secs};
    let after = [Nanos, Micros, Millis, Secs, Minutes, Hours].map(|error| error.retry_after().unwrap());
    let expected =
        [Duration::from_nanos(5), Duration::from_micros(5), millis(5), Duration::ZERO, secs(300), secs(18_000)];
    assert_eq!(after, expected);
}
