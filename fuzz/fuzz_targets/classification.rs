//! Statuses and error codes: whatever they are, the answers agree with themselves and with each other.
//!
//! An input is a status and an error code, with a space between them.
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
        // A lost race is nobody's fault, whatever the status.
        assert_eq!(answer.fault() == ErrorFault::Server, status >= 500 && !answer.is_conflict(), "{answer:?}");
    }
    assert!(!plain.is_conflict() && !by_status.is_conflict(), "no status alone tells of a conflict");
    assert_eq!(plain.fault() == ErrorFault::Client, (400..500).contains(&status));
    assert_eq!(waiting.retry_after(), wait);
    if status != 503 {
        assert_eq!(waiting, plain.with_retry_after(wait), "a wait changes the verdict on 503 only");
    }

    // The SDKs retry some statuses without a doubt that HTTP leaves open, and none that it rules out.
    assert_eq!(by_status.fault(), plain.fault());
    if plain.is_retry_safe() == RetrySafety::No {
        assert_eq!(by_status, plain);
    }
    assert_ne!(by_status.is_retry_safe(), RetrySafety::Maybe);
    assert_eq!(by_status.is_throttle(), status == 429);

    // A known code decides, an unknown one leaves it to the status.
    let by_code = aws::code(code);
    assert_eq!(by_both.with_fault(by_status.fault()), by_code.unwrap_or(by_status).with_fault(by_status.fault()));
    assert_eq!(aws::error_code(code, None), by_code.unwrap_or(Classification::new(RetrySafety::No)));
    assert_eq!(aws::code(&format!("com.amazonaws.s3#{code}")), by_code, "a namespace changes nothing");
    assert_eq!(aws::code(&format!(" {code}:http://example.com/#SlowDown")), by_code, "nor does an address");
    if aws::is_clock_skew(code) {
        assert_eq!(by_both.is_retry_safe(), RetrySafety::No, "no loop is worth it until the clock is right");
    }
});

/// A request that was turned away or lost a race was not acted upon, and was answered in time.
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
