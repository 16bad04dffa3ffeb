//! The error codes of AWS, and the shared test data about them.

use super::verdict;
use crate::support::secs;
use retry_core::classify::{Classification, aws, http};
use retry_core::{ErrorFault, RetryInfo, RetrySafety};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

use ErrorFault::{Client, Other, Server};
use RetrySafety::{Maybe, No, Yes};

#[derive(Deserialize)]
struct Vectors {
    throttling_codes: Vec<String>,
    transient_codes_core: Vec<String>,
    transient_status: Vec<u16>,
    clock_skew_codes_smithy_typescript: Vec<String>,
    cases: Vec<Case>,
    disputed: Vec<Disputed>,
}

#[derive(Deserialize)]
struct Case {
    status: u16,
    code: Option<String>,
    expect: String,
}

/// A row on which implementations differ, with the answer of each.
#[derive(Deserialize)]
struct Disputed {
    status: u16,
    code: Option<String>,
    #[serde(flatten)]
    says: BTreeMap<String, String>,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../vectors/classification.json")).unwrap()
}

fn judged(status: u16, code: Option<&str>) -> Classification {
    code.map_or_else(|| aws::status(status), |code| aws::error_code(code, Some(status)))
}

/// Returns the classification in the words of the data.
fn kind(verdict: Classification) -> &'static str {
    match (verdict.is_retry_safe(), verdict.is_throttle()) {
        (Yes, true) => "throttling",
        (Yes, false) => "transient",
        (No, false) => "none",
        other => panic!("AWS has no such classification: {other:?}"),
    }
}

// Rules E6, E9.
#[test]
fn every_undisputed_case_of_the_shared_data_is_classified_as_expected() {
    let cases = vectors().cases;
    for Case { status, code, expect } in &cases {
        assert_eq!(kind(judged(*status, code.as_deref())), expect, "{status} {code:?}");
    }
    assert_eq!(cases.len(), 27);
}

/// Where implementations differ, the library agrees with the one named here.
#[test]
fn every_disputed_case_is_classified_as_by_a_named_implementation() {
    let sides = [
        (429, None, "throttling", "smithy_python"),
        (503, None, "transient", "smithy_rs"),
        (408, None, "none", "botocore"),
        (400, Some("PriorRequestNotComplete"), "throttling", "note"),
    ];
    let disputed = vectors().disputed;
    assert_eq!(disputed.len(), sides.len());
    for (row, (status, code, expected, side)) in disputed.iter().zip(sides) {
        assert_eq!((row.status, row.code.as_deref()), (status, code));
        assert_eq!(kind(judged(status, code)), expected, "{status} {code:?}");
        assert!(row.says[side].contains(expected), "{status}: {}", row.says[side]);
    }
    // Outside AWS, a 408 is retried, as its RFC says.
    assert_eq!(http::status(408).is_retry_safe(), Yes);
}

// Rules E6, E8.
#[test]
fn every_error_code_is_classified_as_in_its_list() {
    let Vectors { throttling_codes, transient_codes_core, clock_skew_codes_smithy_typescript, .. } = vectors();
    let mut skew_codes = clock_skew_codes_smithy_typescript;
    // This code is mostly about permissions, not about clocks.
    skew_codes.retain(|code| code != "AccessDeniedException");
    let lists = [
        (throttling_codes, 14, verdict(Yes, "throttling", Client)),
        (transient_codes_core, 2, verdict(Yes, "timeout", Client)),
        (skew_codes, 6, verdict(No, "", Client)),
    ];
    for (codes, count, expected) in lists {
        assert_eq!(codes.len(), count);
        for code in codes {
            assert_eq!(aws::known_code(&code), Some(expected), "{code}");
            assert_eq!(aws::error_code(&code, None), expected, "{code}");
            assert_eq!(aws::is_clock_skew(&code), count == 6, "{code}");
            for status in 0..=999 {
                let fault = if judged_status(&code, status) < 500 { Client } else { Server };
                assert_eq!(aws::error_code(&code, Some(status)), expected.with_fault(fault), "{code} {status}");
            }
        }
    }
}

// Rule E9.
#[test]
fn an_unknown_code_is_ignored_and_the_status_decides() {
    let transient = vectors().transient_status;
    assert_eq!(transient.len(), 4);
    let unknown = [
        "internalerror",
        "InternalErrors",
        "slowdown",
        "Slow Down",
        "AccessDeniedException",
        "ConditionalCheckFailedException",
        "",
        "#",
        ":SlowDown",
        "SlowDown#",
        "http://SlowDown",
        "a#b:SlowDown",
    ];
    for code in unknown {
        assert_eq!(aws::known_code(code), None, "{code:?}");
        assert!(!aws::is_clock_skew(code));
        assert_eq!(aws::error_code(code, None), verdict(No, "", Other), "{code:?}");
        for status in 0..=u16::MAX {
            let plain = http::status(status);
            let expected = match status {
                429 => verdict(Yes, "throttling", Client),
                504 => verdict(Yes, "timeout", Server),
                _ if transient.contains(&status) => verdict(Yes, "", Server),
                _ => verdict(No, "", plain.fault()),
            };
            assert_eq!(aws::error_code(code, Some(status)), expected, "{code:?} {status}");
            assert_eq!(aws::status(status), expected, "{status}");
        }
    }
}

/// Returns the status by which a code beside another status is judged: S3 reports these errors in a 200, too.
fn judged_status(code: &str, status: u16) -> u16 {
    match code {
        "InternalError" if status < 400 => 500,
        "ServiceUnavailable" | "SlowDown" if status < 400 => 503,
        _ => status,
    }
}

// Rule E18.
#[test]
fn a_code_beside_a_status_of_success_is_judged_by_the_status_that_its_service_documents() {
    let names = ["InternalError", "ServiceUnavailable", "SlowDown", "Throttling", "NoSuchKey"];
    for (name, code) in names.iter().flat_map(|name| [(*name, (*name).to_owned()), (*name, format!("ns#{name}:x"))]) {
        for status in 0..=999 {
            let judged = judged_status(name, status);
            let fault = if judged < 500 { Client } else { Server };
            let expected = match name {
                "SlowDown" | "Throttling" => verdict(Yes, "throttling", fault),
                _ => aws::status(judged),
            };
            assert_eq!(aws::error_code(&code, Some(status)), expected, "{code} {status}");
        }
    }
    let in_a_200 = |code| aws::error_code(code, Some(200));
    assert_eq!(in_a_200("InternalError"), verdict(Yes, "", Server));
    assert_eq!(in_a_200("ServiceUnavailable"), verdict(Yes, "", Server));
    assert_eq!(in_a_200("SlowDown"), verdict(Yes, "throttling", Server));
    assert_eq!(in_a_200("Throttling"), verdict(Yes, "throttling", Client));
    assert_eq!(in_a_200("NoSuchKey"), verdict(No, "", Other));
    // Without any status, these two codes say nothing by themselves.
    for code in ["InternalError", "ServiceUnavailable"] {
        assert_eq!(aws::error_code(code, None), verdict(No, "", Other), "{code}");
    }
}

// Rule E18.
#[test]
fn a_field_with_a_code_beside_a_status_of_success_is_judged_in_the_same_way() {
    #[derive(RetryInfo)]
    struct Answered(
        #[retry(error_code)] &'static str,
        #[retry(http_status)] u16,
        #[retry(retry_after)] Option<Duration>,
    );

    let mut seen = 0;
    for code in ["InternalError", "ServiceUnavailable", "SlowDown", "NoSuchKey"] {
        for (status, wait) in
            [200, 204, 304, 399, 400, 500, 503].into_iter().flat_map(|s| [(s, None), (s, Some(secs(2)))])
        {
            let judged = judged_status(code, status);
            let expected = match code {
                "SlowDown" => aws::error_code(code, Some(judged)).with_retry_after(wait),
                _ => http::status_with(judged, wait),
            };
            assert_eq!(Classification::of(&Answered(code, status, wait)), expected, "{code} {status} {wait:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 4 * 7 * 2);
    assert!(Answered("ServiceUnavailable", 200, Some(secs(2))).is_throttle());
}

// Rule E18.
#[test]
fn a_provider_that_sts_could_not_reach_may_be_asked_again() {
    for status in (0..=999).map(Some).chain([None]) {
        assert_eq!(aws::error_code("IDPCommunicationError", status), verdict(Maybe, "", Server), "{status:?}");
    }
    assert_eq!(aws::known_code("sts#IDPCommunicationError"), Some(verdict(Maybe, "", Server)));
    assert!(!aws::is_clock_skew("IDPCommunicationError"));
}

// Rule E6.
#[test]
fn what_the_models_of_services_mark_as_retryable_is_retried_whatever_the_status() {
    for (code, flags, status) in [
        ("ThrottledRequestException", "throttling", 429),
        ("ClientTimeoutException", "timeout", 408),
        ("BulkLoadIdNotFoundException", "", 404),
        ("ModelNotReadyException", "", 429),
        ("ModelNotReadyException", "", 424),
        ("S3Exception", "", 400),
    ] {
        let expected = verdict(Yes, flags, Client);
        assert_eq!(aws::known_code(code), Some(expected), "{code}");
        assert_eq!(aws::error_code(code, Some(status)), expected, "{code}");
        assert_eq!(aws::error_code(&format!("ns#{code}:x"), Some(503)), expected.with_fault(Server), "{code}");
    }
    // Its mark contradicts its status, and means nothing in another service.
    assert_eq!(aws::error_code("RangeNotSatisfiableException", Some(416)), verdict(No, "", Client));
    assert_eq!(aws::error_code("ConflictException", Some(409)), verdict(No, "", Client));
}

// Rule E7.
#[test]
fn a_conflict_has_the_fault_other_whatever_the_status() {
    for code in [
        "ConditionalRequestConflict",
        "OperationAborted",
        "ReplicatedWriteConflictException",
        "TransactionConflictException",
    ] {
        let expected = verdict(Yes, "conflict", Other);
        assert_eq!(aws::known_code(code), Some(expected), "{code}");
        assert_eq!(aws::error_code(code, None), expected, "{code}");
        assert!(!aws::is_clock_skew(code));
        for status in 0..=999 {
            assert_eq!(aws::error_code(code, Some(status)), expected, "{code} {status}");
        }
    }
    // The same condition fails again, unless the attempt reads again, which only its author knows.
    for status in [409, 412] {
        assert_eq!(aws::error_code("ConditionalCheckFailedException", Some(status)), verdict(No, "", Client));
        assert_eq!((aws::status(status), http::status(status)), (verdict(No, "", Client), verdict(No, "", Client)));
    }
}

// Rule E10.
/// Protocols put a namespace before a code and an address behind it.
#[test]
fn a_code_is_looked_up_by_its_bare_name() {
    #[derive(RetryInfo)]
    struct Answered(#[retry(error_code)] &'static str, #[retry(http_status)] u16);

    let cases = [
        ("com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException", verdict(Yes, "throttling", Client)),
        (
            "ThrottlingException:http://internal.amazon.com/coral/com.amazon.coral.service/",
            verdict(Yes, "throttling", Client),
        ),
        ("aws.protocoltests#SlowDown:http://example.com/#fragment", verdict(Yes, "throttling", Client)),
        ("a#b#SlowDown", verdict(Yes, "throttling", Client)),
        ("SlowDown:", verdict(Yes, "throttling", Client)),
        (" SlowDown\n", verdict(Yes, "throttling", Client)),
        ("ns # RequestTimeout : x", verdict(Yes, "timeout", Client)),
        ("com.amazonaws.s3#ConditionalRequestConflict", verdict(Yes, "conflict", Other)),
        ("ns#AuthFailure", verdict(No, "", Client)),
    ];
    for (code, expected) in cases {
        assert_eq!(aws::known_code(code), Some(expected), "{code:?}");
        assert_eq!(aws::error_code(code, Some(400)), expected, "{code:?}");
        assert_eq!(aws::is_clock_skew(code), code == "ns#AuthFailure", "{code:?}");
    }
    assert!(Answered("com.amazonaws.s3#SlowDown", 400).is_throttle());
}
