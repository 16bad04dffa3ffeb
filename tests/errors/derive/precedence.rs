//! Precedence: each source of an answer against each source of lower precedence.

use super::{Says, says};
use crate::support::{Failed, secs};
use retry_core::ErrorFault::{Client, Other, Server};
use retry_core::RetrySafety::{Maybe, No, Yes};
use retry_core::classify::Classification;
use retry_core::{ErrorInfo, RetryInfo};
use std::time::Duration;

/// Derives an error from these sources.
///
/// `[word ..]` is an option of the variant, `[default ..]` of the enum, and the others of a field.
/// Beside `[wait ..]` stands a field that could allow a retry, because a wait on what is never retried is refused.
macro_rules! error {
    ($([$($source:tt)*])*) => { error!(@ [] [] [] [] $([$($source)*])*) };

    (@ [$($c:tt)*] [$($v:tt)*] [$($f:tt)*] [$($i:tt)*] [word $($word:tt)*] $($more:tt)*) => {
        error!(@ [$($c)*] [$($v)* ($($word)*)] [$($f)*] [$($i)*] $($more)*)
    };
    (@ [$($c:tt)*] [$($v:tt)*] [$($f:tt)*] [$($i:tt)*] [default $($word:tt)*] $($more:tt)*) => {
        error!(@ [$($c)* ($($word)*)] [$($v)*] [$($f)*] [$($i)*] $($more)*)
    };
    (@ [$($c:tt)*] [$($v:tt)*] [$($f:tt)*] [$($i:tt)*] [with $judge:ident] $($more:tt)*) => {
        error!(@ [$($c)*] [$($v)*] [$($f)* #[retry(with = $judge)] with: (),] [$($i)* with: (),] $($more)*)
    };
    (@ [$($c:tt)*] [$($v:tt)*] [$($f:tt)*] [$($i:tt)*] [safe $value:expr] $($more:tt)*) => {
        error!(@ [$($c)*] [$($v)*] [$($f)* #[retry(safe)] safe: Option<bool>,] [$($i)* safe: $value,] $($more)*)
    };
    (@ [$($c:tt)*] [$($v:tt)*] [$($f:tt)*] [$($i:tt)*] [code $value:expr] $($more:tt)*) => {
        error!(@ [$($c)*] [$($v)*] [$($f)* #[retry(error_code)] code: Option<&'static str>,] [$($i)* code: $value,] $($more)*)
    };
    (@ [$($c:tt)*] [$($v:tt)*] [$($f:tt)*] [$($i:tt)*] [status $value:expr] $($more:tt)*) => {
        error!(@ [$($c)*] [$($v)*] [$($f)* #[retry(http_status)] status: Option<u16>,] [$($i)* status: $value,] $($more)*)
    };
    (@ [$($c:tt)*] [$($v:tt)*] [$($f:tt)*] [$($i:tt)*] [wait $value:expr] $($more:tt)*) => {
        error!(@ [$($c)*] [$($v)*] [$($f)* #[retry(retry_after)] wait: Option<Duration>,] [$($i)* wait: $value,] [safe None] $($more)*)
    };
    (@ [$($c:tt)*] [$($v:tt)*] [$($f:tt)*] [$($i:tt)*] [source $value:expr] $($more:tt)*) => {
        error!(@ [$($c)*] [$($v)*] [$($f)* #[retry(source)] source: Failed,] [$($i)* source: $value,] $($more)*)
    };
    (@ [$($c:tt)*] [$($v:tt)*] [$($f:tt)*] [$($i:tt)*]) => {{
        #[derive(RetryInfo)]
        #[retry(crate = ::retry_core)]
        $(#[retry $c])*
        enum Error {
            $(#[retry $v])*
            Case { $($f)* },
        }
        Error::Case { $($i)* }
    }};
}

/// Checks that the first value of each source beats the second value of each source of lower precedence.
macro_rules! each_beats_those_below {
    ($answer:ident:) => {};
    ($answer:ident: $first:tt $says:expr, or $instead:tt; $($behind:tt $others:expr, or $worse:tt;)*) => {
        assert_eq!(error!($first).$answer(), $says, "{} alone", stringify!($first));
        $(
            let text = concat!(stringify!($first), " before ", stringify!($worse));
            assert_eq!(error!($first $worse).$answer(), $says, "{text}");
            assert_ne!(error!($worse).$answer(), $says, "{text} must be told apart");
        )*
        each_beats_those_below!($answer: $($behind $others, or $worse;)*);
    };
}

fn yes((): &()) -> bool {
    true
}

fn no((): &()) -> bool {
    false
}

fn silent((): &()) -> Option<Classification> {
    None
}

fn client((): &()) -> Classification {
    Classification::new(No).with_fault(Client)
}

fn server((): &()) -> Classification {
    Classification::new(No).with_fault(Server)
}

fn throttled((): &()) -> Classification {
    Classification::new(No).with_throttling()
}

fn late((): &()) -> Classification {
    Classification::new(No).with_timeout()
}

fn lost((): &()) -> Classification {
    Classification::new(No).with_conflict()
}

fn waits_3s((): &()) -> Classification {
    Classification::new(No).with_retry_after(Some(secs(3)))
}

const CLIENT: Failed = Failed { fault: Client, ..Failed::SAFE };
const SERVER: Failed = Failed { fault: Server, ..Failed::SAFE };

// Rule M14.
#[test]
fn precedence_of_safety() {
    each_beats_those_below!(is_retry_safe:
        [word safe = "yes"] Yes, or [word never];
        [with yes] Yes, or [with no];
        [safe Some(true)] Yes, or [safe Some(false)];
        [code Some("SlowDown")] Yes, or [code Some("RequestExpired")];
        [status Some(429)] Yes, or [status Some(404)];
        [word throttling] Yes, or [word timeout];
        [source Failed::SAFE] Yes, or [source Failed::FATAL];
        [default safe] Yes, or [default never];
        [default throttling] Yes, or [default timeout];
        [default http_status = 429] Yes, or [default http_status = 404];
        [word fault = "server"] Maybe, or [word fault = "client"];
    );
    // Beside a field that is marked `safe`, `never` is a mistake.
    each_beats_those_below!(is_retry_safe:
        [word never] No, or [word safe];
        [with no] No, or [with yes];
        [code Some("RequestExpired")] No, or [code Some("SlowDown")];
        [word timeout] Maybe, or [word throttling];
        [word http_status = 404] No, or [word http_status = 429];
        [source Failed::FATAL] No, or [source Failed::SAFE];
        [default never] No, or [default safe];
    );
    each_beats_those_below!(is_retry_safe:
        [with no] No, or [with yes];
        [safe Some(false)] No, or [safe Some(true)];
        [code Some("RequestExpired")] No, or [code Some("SlowDown")];
        [word timeout] Maybe, or [word throttling];
        [word http_status = 404] No, or [word http_status = 429];
        [source Failed::FATAL] No, or [source Failed::SAFE];
        [default never] No, or [default safe];
        [default timeout] Maybe, or [default throttling];
        [default http_status = 404] No, or [default http_status = 429];
    );
    each_beats_those_below!(is_retry_safe:
        [word conflict] Yes, or [word timeout];
        [word http_status = 429] Yes, or [word http_status = 412];
        [source Failed::SAFE] Yes, or [source Failed::FATAL];
        [default conflict] Yes, or [default timeout];
        [default http_status = 429] Yes, or [default http_status = 412];
    );
}

// Rule M14.
#[test]
fn precedence_of_the_fault() {
    each_beats_those_below!(fault:
        [word fault = "client"] Client, or [word fault = "server"];
        [with client] Client, or [with server];
        [status Some(404)] Client, or [status Some(500)];
        [source CLIENT] Client, or [source SERVER];
        [default fault = "client"] Client, or [default fault = "server"];
        [default http_status = 404] Client, or [default http_status = 500];
    );
    each_beats_those_below!(fault:
        [word fault = "server"] Server, or [word fault = "client"];
        [with server] Server, or [with client];
        [word http_status = 500] Server, or [word http_status = 404];
        [source SERVER] Server, or [source CLIENT];
        [default fault = "server"] Server, or [default fault = "client"];
        [default http_status = 500] Server, or [default http_status = 404];
    );
    each_beats_those_below!(fault:
        [code Some("SlowDown")] Client, or [code None];
        [source CLIENT] Client, or [source SERVER];
        [default fault = "client"] Client, or [default fault = "server"];
    );
    assert_eq!(error!([code Some("SlowDown")] [status Some(503)]).fault(), Server, "the status decides the fault");
    assert_eq!(error!([code Some("SlowDown")] [word http_status = 503]).fault(), Server);
}

// Rule M14.
#[test]
fn precedence_of_throttling() {
    each_beats_those_below!(is_throttle:
        [word throttling] true, or [word timeout];
        [with throttled] true, or [with late];
        [code Some("SlowDown")] true, or [code Some("RequestTimeout")];
        [status Some(429)] true, or [status Some(404)];
        [source Failed::THROTTLED] true, or [source Failed::SAFE];
        [default throttling] true, or [default timeout];
        [default http_status = 429] true, or [default http_status = 404];
    );
    each_beats_those_below!(is_throttle:
        [with late] false, or [with throttled];
        [code Some("RequestTimeout")] false, or [code Some("SlowDown")];
        [word http_status = 404] false, or [word http_status = 429];
        [source Failed::SAFE] false, or [source Failed::THROTTLED];
        [default http_status = 404] false, or [default throttling];
    );
}

// Rule M14.
#[test]
fn precedence_of_timeouts() {
    each_beats_those_below!(is_timeout:
        [word timeout] true, or [word throttling];
        [with late] true, or [with throttled];
        [code Some("RequestTimeout")] true, or [code Some("SlowDown")];
        [status Some(504)] true, or [status Some(500)];
        [source Failed::TIMEOUT] true, or [source Failed::SAFE];
        [default timeout] true, or [default throttling];
        [default http_status = 408] true, or [default http_status = 404];
    );
    each_beats_those_below!(is_timeout:
        [with throttled] false, or [with late];
        [code Some("SlowDown")] false, or [code Some("RequestTimeout")];
        [word http_status = 500] false, or [word http_status = 504];
        [source Failed::SAFE] false, or [source Failed::TIMEOUT];
        [default http_status = 404] false, or [default timeout];
    );
}

// Rule M14.
#[test]
fn precedence_of_conflicts() {
    each_beats_those_below!(is_conflict:
        [word conflict] true, or [word throttling];
        [with lost] true, or [with late];
        [code Some("TransactionConflictException")] true, or [code Some("SlowDown")];
        [source Failed::CONFLICT] true, or [source Failed::SAFE];
        [default conflict] true, or [default throttling];
    );
    each_beats_those_below!(is_conflict:
        [with late] false, or [with lost];
        [code Some("SlowDown")] false, or [code Some("TransactionConflictException")];
        [source Failed::SAFE] false, or [source Failed::CONFLICT];
        [default throttling] false, or [default conflict];
    );
    assert!(error!([status Some(409)] [word conflict]).is_conflict());
    assert!(error!([word http_status = 409, conflict]).is_conflict());
    assert!(
        !error!([status Some(409)] [source Failed::CONFLICT]).is_conflict(),
        "a status beats the conflict of a source"
    );
    assert!(!error!([word http_status = 409] [default conflict]).is_conflict());
}

// Rule M14.
#[test]
fn precedence_of_the_wait() {
    each_beats_those_below!(retry_after:
        [wait Some(secs(1))] Some(secs(1)), or [wait None];
        [word safe, retry_after = "2s"] Some(secs(2)), or [word safe, retry_after = "2s"];
        [with waits_3s] Some(secs(3)), or [with waits_3s];
        [source Failed::SAFE.after(secs(4))] Some(secs(4)), or [source Failed::SAFE.after(secs(4))];
        [default retry_after = "5s"] Some(secs(5)), or [default retry_after = "5s"];
    );
}

// Rule M15.
#[test]
fn empty_sources_are_ignored() {
    macro_rules! with_empty {
        ($($source:tt)*) => {
            [
                says(&error!([with silent] $($source)*)),
                says(&error!([safe None] $($source)*)),
                says(&error!([code None] $($source)*)),
                says(&error!([code Some("NeverHeardOf")] $($source)*)),
                says(&error!([status None] $($source)*)),
                says(&error!([wait None] $($source)*)),
                says(&error!([with silent] [code None] [status None] [wait None] $($source)*)),
            ]
        };
    }

    let all = |says: Says| [says; 7];
    assert_eq!(with_empty!(), all((Other, No, false, false, None)));
    assert_eq!(with_empty!([word throttling]), all((Other, Yes, true, false, None)));
    assert_eq!(with_empty!([word fault = "server"]), all((Server, Maybe, false, false, None)));
    assert_eq!(with_empty!([source Failed::TIMEOUT.after(secs(1))]), all((Other, Maybe, false, true, Some(secs(1)))));
    assert_eq!(with_empty!([default http_status = 429]), all((Client, Yes, true, false, None)));
    assert_eq!(with_empty!([default timeout, retry_after = "5s"]), all((Other, Maybe, false, true, Some(secs(5)))));
}

// Rule M14.
#[test]
fn each_answer_is_determined_independently() {
    let error = error!([word fault = "client"] [safe Some(true)] [source Failed::TIMEOUT] [default retry_after = "5s"]);
    assert_eq!(says(&error), (Client, Yes, false, true, Some(secs(5))), "the answers come from four sources");

    let error = error!([with yes] [status Some(404)] [source Failed::THROTTLED.after(secs(4))]);
    assert_eq!(says(&error), (Client, Yes, false, false, Some(secs(4))), "a bool sets only the safety");

    let error = error!([word never] [with throttled] [default http_status = 500]);
    assert_eq!(
        says(&error),
        (Other, No, true, false, None),
        "a classification sets every answer, including the fault `Other`"
    );

    let error = error!([word throttling] [default never]);
    assert_eq!(
        says(&error),
        (Other, Yes, true, false, None),
        "a default does not beat an implied answer of the variant"
    );
}
