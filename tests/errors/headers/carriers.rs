//! Each carrier of a wait and of a limit: what it says is what is read, on a failure and on a success.

use super::oracle::forms;
use crate::support::secs;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use proptest::prelude::*;
use retry_clients::{http as plain, llm};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// 1,800,000,000 seconds since 1970, which is between two seconds of each date.
const NOW: u64 = 1_800_000_000;

/// A day. Longer waits are read as well, but no longer than what the carrier says.
const LONGEST: u64 = 86_400_000;

fn now() -> SystemTime {
    UNIX_EPOCH + secs(NOW)
}

/// Writes a time until the reset, in milliseconds, as the value of a header.
type Write = fn(u64) -> String;

/// Digits in the unit of the carrier, rounded up.
fn in_seconds(millis: u64) -> String {
    millis.div_ceil(1000).to_string()
}

fn in_millis(millis: u64) -> String {
    millis.to_string()
}

fn with_fraction(millis: u64) -> String {
    format!("{}.{:03}", millis / 1000, millis % 1000)
}

fn since_1970(millis: u64) -> String {
    in_seconds(NOW * 1000 + millis)
}

fn since_1970_with_fraction(millis: u64) -> String {
    with_fraction(NOW * 1000 + millis)
}

fn millis_since_1970(millis: u64) -> String {
    (NOW * 1000 + millis).to_string()
}

fn date(millis: u64) -> String {
    forms(NOW + millis.div_ceil(1000))[0].clone()
}

fn rfc_3339(millis: u64) -> String {
    let (days, rest) = (millis / 86_400_000, millis % 86_400_000);
    // The 15th of January 2027, at 08:00.
    let of_day = rest + 8 * 3_600_000;
    let (day, of_day) = (15 + days + of_day / 86_400_000, of_day % 86_400_000);
    let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
    format!(
        "2027-01-{day:02}T{hour:02}:{minute:02}:{}Z",
        format_args!("{:02}.{:03}", of_day / 1000 % 60, of_day % 1000)
    )
}

fn units(millis: u64) -> String {
    format!("{}h{}m{}s", millis / 3_600_000, millis / 60_000 % 60, with_fraction(millis % 60_000))
}

fn structured(millis: u64) -> String {
    format!("\"default\";r=0;t={}", in_seconds(millis))
}

fn structured_since_1970(millis: u64) -> String {
    format!("\"default\";r=0;t={}", since_1970(millis))
}

fn older_structured(millis: u64) -> String {
    format!("limit=9, remaining=0, reset={}", in_seconds(millis))
}

/// A carrier of a wait: its header, the header that says that nothing remains, and how it is written.
struct Carrier(&'static str, Option<&'static str>, Write);

/// The headers that all services may send.
const GENERAL: [Carrier; 23] = [
    Carrier("retry-after", None, in_seconds),
    Carrier("retry-after", None, with_fraction),
    Carrier("retry-after", None, date),
    Carrier("retry-after-ms", None, in_millis),
    Carrier("x-ms-retry-after-ms", None, in_millis),
    Carrier("x-amz-retry-after", None, in_millis),
    Carrier("ratelimit", None, structured),
    Carrier("ratelimit", None, structured_since_1970),
    Carrier("ratelimit", None, older_structured),
    Carrier("ratelimit-reset", Some("ratelimit-remaining"), in_seconds),
    Carrier("ratelimit-reset", Some("ratelimit-remaining"), since_1970),
    Carrier("x-ratelimit-reset", Some("x-ratelimit-remaining"), in_seconds),
    Carrier("x-ratelimit-reset", Some("x-ratelimit-remaining"), with_fraction),
    Carrier("x-ratelimit-reset", Some("x-ratelimit-remaining"), since_1970),
    Carrier("x-ratelimit-reset", Some("x-ratelimit-remaining"), since_1970_with_fraction),
    Carrier("x-ratelimit-reset", Some("x-ratelimit-remaining"), millis_since_1970),
    Carrier("x-ratelimit-reset-after", Some("x-ratelimit-remaining"), in_seconds),
    Carrier("x-ratelimit-reset-after", Some("x-ratelimit-remaining"), with_fraction),
    Carrier("x-rate-limit-reset", Some("x-rate-limit-remaining"), in_seconds),
    Carrier("x-rate-limit-reset", Some("x-rate-limit-remaining"), since_1970),
    Carrier("x-rate-limit-reset", Some("x-rate-limit-remaining"), millis_since_1970),
    Carrier("x-rate-limit-reset-after", Some("x-rate-limit-remaining"), with_fraction),
    Carrier("ratelimit-reset-after", Some("ratelimit-remaining"), with_fraction),
];

/// The headers that services for language models send besides.
const OF_MODELS: [Carrier; 4] = [
    Carrier("x-ratelimit-reset-requests", Some("x-ratelimit-remaining-requests"), units),
    Carrier("x-ratelimit-reset-tokens", Some("x-ratelimit-remaining-tokens"), units),
    Carrier("anthropic-ratelimit-requests-reset", Some("anthropic-ratelimit-requests-remaining"), rfc_3339),
    Carrier("anthropic-ratelimit-tokens-reset", Some("anthropic-ratelimit-tokens-remaining"), rfc_3339),
];

impl Carrier {
    fn headers(&self, value: &str) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.extend(self.1.map(|name| (HeaderName::from_static(name), HeaderValue::from_static("0"))));
        headers.insert(self.0, HeaderValue::from_str(value).ok()?);
        Some(headers)
    }
}

fn general_wait(headers: &HeaderMap) -> Option<Duration> {
    plain::response(StatusCode::TOO_MANY_REQUESTS, headers, now()).retry_after()
}

fn model_wait(headers: &HeaderMap) -> Option<Duration> {
    llm::response(StatusCode::TOO_MANY_REQUESTS, headers, None, now()).retry_after()
}

/// Returns the longest reset that a success reports.
fn reported(headers: &HeaderMap) -> Option<Duration> {
    let limits = [llm::response_rate_limit(headers, now()), llm::response_token_limit(headers, now())];
    limits.into_iter().flatten().filter_map(|limit| limit.reset()).max()
}

// Rules E3, E4, E5, E17, E19, E24, E29.
#[test]
fn each_carrier_is_read_in_its_unit_on_a_failure_and_on_a_success() {
    for (carrier, of_models) in GENERAL.iter().map(|it| (it, false)).chain(OF_MODELS.iter().map(|it| (it, true))) {
        let value = carrier.2(58_000);
        let headers = carrier.headers(&value).unwrap();
        let expected = Some(secs(58));
        assert_eq!(model_wait(&headers), expected, "{}: {value}", carrier.0);
        assert_eq!(general_wait(&headers), if of_models { None } else { expected }, "{}: {value}", carrier.0);
        // A wait is no limit.
        let is_limit = carrier.1.is_some() || carrier.0 == "ratelimit";
        assert_eq!(reported(&headers), if is_limit { expected } else { None }, "{}: {value}", carrier.0);
    }
}

proptest! {
    // Rules E3, E4, E5, E17, E19, E24, E29.
    #[test]
    fn no_carrier_asks_for_less_than_it_says_and_none_for_a_second_more(millis in 0..LONGEST) {
        let said = Duration::from_millis(millis);
        for carrier in GENERAL.iter().chain(&OF_MODELS) {
            let value = carrier.2(millis);
            let headers = carrier.headers(&value).unwrap();
            for read in [model_wait(&headers), reported(&headers)].into_iter().flatten() {
                prop_assert!((said..said + secs(1)).contains(&read), "{}: {value}: {read:?}", carrier.0);
            }
            prop_assert!(model_wait(&headers).is_some(), "{}: {value}", carrier.0);
        }
    }

    // Rules E17, E19, E24, E29.
    #[test]
    fn a_limit_is_never_reset_in_years(value in prop_oneof![
        "[0-9]{10,30}",
        "[0-9]{10,20}\\.[0-9]{1,9}",
        "1[5-9][0-9]{8}",
        "1[5-9][0-9]{11}",
        "1[5-9][0-9]{14}",
        "1[5-9][0-9]{17}",
    ]) {
        // At most 1,000,000,000 is a number of seconds.
        let is_wait = value.parse::<f64>().is_ok_and(|number| number <= 1e9);
        let longest = secs(366 * 86_400);
        for carrier in GENERAL.iter().filter(|it| it.1.is_some()) {
            for clock in [now(), UNIX_EPOCH, UNIX_EPOCH + secs(1)] {
                let headers = carrier.headers(&value).unwrap();
                let wait = plain::response(StatusCode::TOO_MANY_REQUESTS, &headers, clock).retry_after();
                let reset = plain::response_rate_limit(&headers, clock).and_then(|limit| limit.reset());
                prop_assert!(is_wait || wait.is_none_or(|wait| wait <= longest), "{}: {value}: {wait:?}", carrier.0);
                prop_assert!(is_wait || reset.is_none_or(|reset| reset <= longest), "{}: {value}: {reset:?}", carrier.0);
            }
        }
    }

    // Rules E3, E5, E17, E19, E24, E29.
    #[test]
    fn what_is_in_no_unit_is_ignored(value in prop_oneof![
        "", "[ \\t]+", "-[0-9]{1,9}", "\\+[0-9]{1,9}", "[0-9]{1,9}e[0-9]", "[0-9]{1,9}\\.", "\\.[0-9]{1,9}", "[0-9]{1,5},[0-9]{1,5}",
        "0x[0-9a-f]{1,8}", "[0-9]{1,3}( [0-9]{1,3})+", "[a-rt-z]{1,8}", "[0-9]{1,4}d", "inf", "NaN", "null", "true",
    ]) {
        for carrier in GENERAL.iter().chain(&OF_MODELS) {
            let value = if carrier.0 == "ratelimit" { format!("\"default\";r=0;t={value}") } else { value.clone() };
            if carrier.0 == "ratelimit" && value.contains(',') {
                // A list of two limits.
                continue;
            }
            let Some(headers) = carrier.headers(&value) else { continue };
            prop_assert_eq!(model_wait(&headers), None, "{}: {:?}", carrier.0, value);
            prop_assert_eq!(reported(&headers), None, "{}: {:?}", carrier.0, value);
        }
    }
}
