//! The classification of statuses. This module and its submodules test every row
//! of every table.

mod aws;
mod chain;
mod io;

use crate::support::{millis, secs};
use retry_core::classify::{Classification, http};
use retry_core::{ErrorFault, ErrorInfo, RetryErrorType, RetryInfo, RetrySafety};
use std::ops::RangeInclusive;
use std::time::Duration;

use ErrorFault::{Client, Other, Server};
use RetrySafety::{Maybe, No, Yes};

pub(crate) fn verdict(safety: RetrySafety, flags: &str, fault: ErrorFault) -> Classification {
    let mut verdict = Classification::new(safety).with_fault(fault);
    for flag in flags.split_whitespace() {
        verdict = match flag {
            "throttling" => verdict.with_throttling(),
            "timeout" => verdict.with_timeout(),
            "conflict" => verdict.with_conflict(),
            other => panic!("no such flag: {other}"),
        };
    }
    verdict
}

// Rule E1.
#[test]
fn every_status_is_classified_as_in_its_row() {
    let rows: &[(&[RangeInclusive<u16>], Classification)] = &[
        (&[0..=399], verdict(No, "", Other)),
        (&[408..=408], verdict(Yes, "timeout", Client)),
        (&[425..=425], verdict(Yes, "", Client)),
        (&[429..=429], verdict(Yes, "throttling", Client)),
        (&[400..=407, 409..=424, 426..=428, 430..=499], verdict(No, "", Client)),
        (&[509..=509, 529..=529], verdict(Yes, "throttling", Server)),
        (&[500..=500, 502..=503], verdict(Maybe, "", Server)),
        (&[504..=504], verdict(Maybe, "timeout", Server)),
        (&[501..=501, 505..=505], verdict(No, "", Server)),
        (&[506..=508, 510..=528, 530..=599], verdict(Maybe, "", Server)),
        (&[600..=u16::MAX], verdict(Maybe, "", Server)),
    ];
    assert_eq!(rows.len(), 11);
    let mut seen = 0;
    for (statuses, expected) in rows {
        for status in statuses.iter().cloned().flatten() {
            assert_eq!(http::status(status), *expected, "status {status}");
            // A wait makes a 503 and a 403 throttling, and a 413 safe to retry. It changes no other classification.
            for wait in [Some(secs(7)), Some(Duration::ZERO)] {
                let waiting = match status {
                    403 => verdict(Yes, "throttling", Client),
                    413 => verdict(Yes, "", Client),
                    503 => verdict(Yes, "throttling", Server),
                    _ => *expected,
                };
                assert_eq!(http::status_with(status, wait), waiting.with_retry_after(wait), "status {status}");
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 65_536);
}

/// This test does not compile if the names and the shapes differ.
#[test]
fn a_function_with_known_in_its_name_can_have_no_answer_and_the_other_tables_always_have_one() {
    use retry_clients::codes::{grpc, known_redis, known_sqlstate, otlp};
    use retry_core::classify::{aws, chain, io};
    use std::io::ErrorKind;

    let by_status: [fn(u16) -> Classification; 2] = [http::status, aws::status];
    let by_code: [fn(i32, Option<Duration>) -> Classification; 2] = [grpc, otlp];
    let by_text: [fn(&str) -> Option<Classification>; 3] = [aws::known_code, known_sqlstate, known_redis];
    let by_kind: fn(ErrorKind) -> Option<Classification> = io::known_kind;
    let by_error: fn(&std::io::Error) -> Option<Classification> = io::known;
    let in_chain: fn(&std::io::Error) -> Option<Classification> = chain::known;
    assert_eq!(by_status.map(|classify| classify(404).is_retry_safe()), [No; 2]);
    assert_eq!(by_code.map(|classify| classify(3, None).is_retry_safe()), [No; 2]);
    assert_eq!(by_text.map(|classify| classify("unknown")), [None; 3]);
    let missing = std::io::Error::from(ErrorKind::NotFound);
    assert_eq!([by_kind(ErrorKind::NotFound), by_error(&missing), in_chain(&missing)], [None; 3]);
}

#[test]
fn a_status_can_be_classified_at_compile_time() {
    const BUSY: Classification = http::status_with(503, Some(Duration::from_secs(1)));
    const SAFE: RetrySafety = http::status(502).idempotent(http::idempotent_method("GET")).is_retry_safe();
    const REST: (bool, bool, ErrorFault, Option<Duration>) =
        (BUSY.is_throttle(), BUSY.is_timeout(), BUSY.fault(), BUSY.retry_after());
    assert_eq!(SAFE, Yes);
    assert_eq!(REST, (true, false, Server, Some(secs(1))));
}

// Rule E2.
#[test]
fn maybe_becomes_yes_for_idempotent_methods_only() {
    let methods = [
        (true, ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY"].as_slice()),
        (false, &["POST", "PATCH", "CONNECT", "PROPFIND", "get", "GET ", "GETS", "query", ""]),
    ];
    let mut seen = 0;
    for (idempotent, names) in methods {
        for name in names {
            assert_eq!(http::idempotent_method(name), idempotent, "{name}");
            for status in 0..=999 {
                let plain = http::status(status);
                let judged = plain.idempotent(http::idempotent_method(name));
                let turned = idempotent && plain.is_retry_safe() == Maybe;
                assert_eq!(judged.is_retry_safe(), if turned { Yes } else { plain.is_retry_safe() }, "{name} {status}");
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 16);
}

#[test]
fn a_classification_can_be_changed_answer_by_answer() {
    for safety in [Yes, Maybe, No] {
        let changed = http::status_with(503, Some(secs(7))).with_safety(safety);
        assert_eq!(changed, verdict(safety, "throttling", Server).with_retry_after(Some(secs(7))));
    }
}

#[test]
fn an_error_type_can_hold_a_classification() {
    #[derive(Debug, RetryInfo)]
    enum StoreError {
        #[retry(transparent)]
        Answer(Classification),
    }
    let error = StoreError::Answer(http::status_with(503, Some(millis(250))));
    assert_eq!(Classification::of(&error), http::status_with(503, Some(millis(250))));
    assert_eq!(RetryErrorType::of(&error), RetryErrorType::Throttling);
    assert_eq!(ErrorInfo::fault(&error), Server);
}
