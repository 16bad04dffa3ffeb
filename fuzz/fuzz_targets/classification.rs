//! Statuses and error codes: all classifications are consistent, for any input.
//!
//! An input is a status and an error code, separated by a space.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retry_core::classify::{Classification, aws, http};
use retry_core::{ErrorFault, RetrySafety};
use std::time::Duration;

fuzz_target!(|input: &str| {
    let Some((status, code)) = input.split_once(' ') else { return };
    let Ok(status) = status.parse::<u16>() else { return };
    let wait = Some(Duration::from_secs(status.into()));
    let plain = http::status(status);
    let waiting = http::status_with(status, wait);
    let by_status = aws::status(status);
    let by_both = aws::error_code(code, Some(status));

    for answer in [plain, waiting, by_status, by_both] {
        assert_sound(answer);
        // A conflict has the fault `Other`, whatever the status. A code can be the server's fault beside any status.
        let server = answer.fault() == ErrorFault::Server;
        assert!(server == (status >= 500 && !answer.is_conflict()) || (server && answer == by_both), "{answer:?}");
    }
    assert!(!plain.is_conflict() && !by_status.is_conflict(), "a status alone is never a conflict");
    assert_eq!(plain.fault() == ErrorFault::Client, (400..500).contains(&status));
    assert_eq!(waiting.retry_after(), wait);
    if ![403, 413, 503].contains(&status) {
        assert_eq!(
            waiting,
            plain.with_retry_after(wait),
            "a wait changes only the classifications of 403, 413 and 503"
        );
    }

    // AWS turns every "maybe" of HTTP into a yes or no, and retries no status that is final for HTTP.
    assert_eq!(by_status.fault(), plain.fault());
    if plain.is_retry_safe() == RetrySafety::No {
        assert_eq!(by_status, plain);
    }
    assert_ne!(by_status.is_retry_safe(), RetrySafety::Maybe);
    assert_eq!(by_status.is_throttle(), status == 429);

    // A known code decides. An unknown code is ignored, and the status decides. Beside a status below 400, that is the
    // status that the service documents for the code, which is an error of the server.
    let by_code = aws::known_code(code);
    let by_status = if status < 400 && by_both.fault() == ErrorFault::Server && by_code.is_none() {
        aws::status(500)
    } else {
        by_status
    };
    assert_eq!(by_both.with_fault(by_status.fault()), by_code.unwrap_or(by_status).with_fault(by_status.fault()));
    assert_eq!(aws::error_code(code, None), by_code.unwrap_or(Classification::new(RetrySafety::No)));
    assert_eq!(aws::known_code(&format!("com.amazonaws.s3#{code}")), by_code, "a namespace is ignored");
    assert_eq!(aws::known_code(&format!(" {code}:http://example.com/#SlowDown")), by_code, "an address is ignored");
    if aws::is_clock_skew(code) {
        assert_eq!(by_both.is_retry_safe(), RetrySafety::No, "a retry fails until the clock is corrected");
    }
});

/// Checks one classification: a throttled request or a conflict was not acted upon, and is not a timeout.
fn assert_sound(answer: Classification) {
    if answer.is_throttle() || answer.is_conflict() {
        assert_eq!(answer.is_retry_safe(), RetrySafety::Yes, "{answer:?}");
        assert!(!answer.is_timeout(), "{answer:?}");
        assert_ne!(answer.is_throttle(), answer.is_conflict(), "{answer:?}");
    }
    if answer.is_timeout() {
        assert_ne!(answer.is_retry_safe(), RetrySafety::No, "{answer:?}");
    }
    let twice = answer.idempotent(true);
    assert_ne!(twice.is_retry_safe(), RetrySafety::Maybe, "{answer:?}");
    assert_eq!(answer.idempotent(false), answer);
}
