//! The codes of gRPC, OTLP's reading of them, and pushback.

use crate::classify::verdict;
use crate::support::{millis, secs};
use proptest::prelude::*;
use retry_clients::codes::{grpc, grpc_pushback, otlp};
use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetryInfo, RetrySafety};
use std::time::Duration;

use ErrorFault::{Client, Other, Server};
use RetrySafety::{Maybe, No, Yes};

/// Every code with its answer for a response without a delay.
fn rows() -> [(i32, &'static str, Classification); 17] {
    [
        (0, "OK", verdict(No, "", Other)),
        (1, "CANCELLED", verdict(No, "", Other)),
        (2, "UNKNOWN", verdict(No, "", Server)),
        (3, "INVALID_ARGUMENT", verdict(No, "", Client)),
        (4, "DEADLINE_EXCEEDED", verdict(Maybe, "timeout", Other)),
        (5, "NOT_FOUND", verdict(No, "", Client)),
        (6, "ALREADY_EXISTS", verdict(No, "", Client)),
        (7, "PERMISSION_DENIED", verdict(No, "", Client)),
        (8, "RESOURCE_EXHAUSTED", verdict(No, "", Client)),
        (9, "FAILED_PRECONDITION", verdict(No, "", Client)),
        (10, "ABORTED", verdict(Maybe, "conflict", Other)),
        (11, "OUT_OF_RANGE", verdict(No, "", Client)),
        (12, "UNIMPLEMENTED", verdict(No, "", Server)),
        (13, "INTERNAL", verdict(No, "", Server)),
        (14, "UNAVAILABLE", verdict(Maybe, "", Server)),
        (15, "DATA_LOSS", verdict(No, "", Server)),
        (16, "UNAUTHENTICATED", verdict(No, "", Client)),
    ]
}

/// The answer for a response with a delay, which changes the answer of one code only.
fn with_delay(code: i32, plain: Classification, delay: Duration) -> Classification {
    let answer = if code == 8 { verdict(Yes, "throttling", Client) } else { plain };
    answer.with_retry_after(Some(delay))
}

// Rule E13.
#[test]
fn every_code_of_grpc_is_classified_as_in_its_row() {
    for (code, name, expected) in rows() {
        assert_eq!(grpc(code, None), expected, "{name}");
        for delay in [Duration::ZERO, millis(250), Duration::MAX] {
            assert_eq!(grpc(code, Some(delay)), with_delay(code, expected, delay), "{name} with a delay of {delay:?}");
        }
    }
    for unknown in [-1, 17, 99, i32::MIN, i32::MAX] {
        assert_eq!(grpc(unknown, None), grpc(2, None), "{unknown} is read as UNKNOWN");
    }
}

// Rule E13.
#[test]
fn otlp_says_yes_to_six_more_codes() {
    let mut more = 0;
    for (code, name, plain) in rows() {
        let yes = matches!(
            name,
            "CANCELLED" | "DEADLINE_EXCEEDED" | "ABORTED" | "OUT_OF_RANGE" | "UNAVAILABLE" | "DATA_LOSS"
        );
        let expected = if yes { plain.with_safety(Yes) } else { plain };
        assert_eq!(otlp(code, None), expected, "{name}");
        assert_eq!(otlp(code, Some(secs(3))), with_delay(code, expected, secs(3)), "{name} with a delay");
        more += i32::from(yes);
    }
    assert_eq!(more, 6);
}

// Rule E14.
#[test]
fn a_pushback_that_is_no_number_of_milliseconds_forbids_a_retry() {
    let valid = [("0", 0), ("1", 1), ("250", 250), ("007", 7), ("2147483647", 2_147_483_647)];
    for (text, expected) in valid {
        assert_eq!(grpc_pushback(text), Some(millis(expected)), "{text:?}");
    }
    let most = "9".repeat(30);
    let invalid = [
        "-1",
        "-0",
        "+1",
        "",
        " ",
        " 1",
        "1 ",
        "1.5",
        "1e3",
        "1ms",
        "soon",
        "2147483648",
        &most,
        "0x10",
        "1_000",
        "1,2",
        "\u{661}",
        "NaN",
        "1\0",
    ];
    for text in invalid {
        assert_eq!(grpc_pushback(text), None, "{text:?}");
    }
}

proptest! {
    // Rule E14.
    #[test]
    fn a_pushback_is_read_exactly_or_forbids_a_retry(number in 0..=i32::MAX, other in any::<i64>(), text in any::<String>()) {
        let wait = |number| Some(Duration::from_millis(number));
        prop_assert_eq!(grpc_pushback(&number.to_string()), wait(u64::try_from(number).unwrap()));
        let fits = i32::try_from(other).ok().and_then(|number| u64::try_from(number).ok());
        prop_assert_eq!(grpc_pushback(&other.to_string()), fits.and_then(wait));
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        prop_assert!(is_number || grpc_pushback(&text).is_none(), "{:?}", text);
    }
}

// Rule E13.
#[test]
fn an_error_type_can_be_classified_by_its_code_of_grpc() {
    #[derive(RetryInfo)]
    #[retry(with = judge)]
    struct CallFailed {
        code: i32,
        delay: Option<Duration>,
    }
    #[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "the derive hands over references")]
    fn judge(code: &i32, delay: &Option<Duration>) -> Classification {
        grpc(*code, *delay)
    }

    for (code, name, expected) in rows() {
        assert_eq!(Classification::of(&CallFailed { code, delay: None }), expected, "{name}");
        let waiting = CallFailed { code, delay: Some(secs(2)) };
        assert_eq!(Classification::of(&waiting), with_delay(code, expected, secs(2)), "{name}");
    }
}

#[test]
fn a_code_of_grpc_can_be_classified_at_compile_time() {
    const BUSY: Classification = grpc(8, Some(Duration::from_secs(1)));
    const LOST: Classification = otlp(15, None);
    assert!(BUSY.is_throttle());
    assert_eq!(LOST.is_retry_safe(), Yes);
}
