//! The headers that ask for a wait: exactly the values of the grammar are accepted. Those that report a rate limit do not
//! panic.
//!
//! An input is the header's value, the response's `Date`, and the client's clock in nanoseconds since 1970, separated
//! by the byte 0xFF. All parts but the value may be missing.
#![no_main]

#[path = "../../tests/errors/headers/oracle.rs"]
mod oracle;

use libfuzzer_sys::fuzz_target;
use oracle::{date, fraction, number};
use retry_clients::http::{rate_limit, rate_limit_remaining, retry_after, retry_after_millis};
use std::time::{Duration, UNIX_EPOCH};

const SECOND: i128 = 1_000_000_000;

fuzz_target!(|input: &[u8]| {
    let mut parts = input.split(|byte| *byte == 0xff);
    let value = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let response_date = parts.next().map(String::from_utf8_lossy);
    let clock = parts.next().unwrap_or_default().iter().fold(0_i64, |clock, byte| clock << 8 | i64::from(*byte));
    let now = if clock < 0 {
        UNIX_EPOCH - Duration::from_nanos(clock.unsigned_abs())
    } else {
        UNIX_EPOCH + Duration::from_nanos(clock.unsigned_abs())
    };

    let wait = number(&value).map(Duration::from_secs).or_else(|| fraction(&value)).or_else(|| {
        let until = i128::from(date(&value)?) * SECOND;
        let since = response_date.as_deref().and_then(date).map_or(clock.into(), |date| i128::from(date) * SECOND);
        let wait = (until - since).max(0);
        Some(Duration::new((wait / SECOND).try_into().ok()?, (wait % SECOND).try_into().ok()?))
    });
    assert_eq!(retry_after(&value, response_date.as_deref(), now), wait);
    let _ = rate_limit(&value);
    let _ = rate_limit_remaining(&value, response_date.as_deref(), now);
    assert_eq!(retry_after_millis(&value), number(&value).map(Duration::from_millis));
});
