//! Services for language models: the codes of each dialect, and the headers that they add.

use crate::classify::verdict;
use crate::support::{millis, secs};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use proptest::prelude::*;
use retry_clients::codes::grpc;
use retry_clients::http as plain;
use retry_clients::llm::{
    anthropic, duration, known_google, known_google_quota, known_openai, known_openai_error, response,
    response_rate_limit, response_token_limit,
};
use retry_core::classify::Classification;
use retry_core::classify::http::{self as statuses, RateLimit};
use retry_core::{ErrorFault, RetryError, RetrySafety, StandardRetryStrategy, retry};
use retry_limits::PacedRetryStrategy;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ErrorFault::{Client, Server};
use RetrySafety::{Maybe, No, Yes};

/// 1,800,000,000 seconds since 1970.
const DATE: &str = "Fri, 15 Jan 2027 08:00:00 GMT";

fn now() -> SystemTime {
    UNIX_EPOCH + secs(1_800_000_000)
}

fn map(headers: &[(&'static str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, HeaderValue::from_str(value).unwrap());
    }
    map
}

fn judge(status: u16, headers: &[(&'static str, &str)], known: Option<Classification>) -> Classification {
    response(StatusCode::from_u16(status).unwrap(), &map(headers), known, now())
}

fn wait(headers: &[(&'static str, &str)]) -> Option<Duration> {
    judge(429, headers, None).retry_after()
}

// Rule E20.
#[test]
fn the_codes_of_openai_mean_what_their_rows_say_and_any_other_code_leaves_it_to_the_status() {
    for (codes, expected) in [
        (["rate_limit_exceeded", "slow_down"].as_slice(), verdict(Yes, "throttling", Client)),
        (&["server_is_overloaded", "capacity_exceeded"], verdict(Yes, "throttling", Server)),
        (
            &[
                "insufficient_quota",
                "billing_hard_limit_reached",
                "credit_balance_exhausted",
                "organization_spend_limit_exceeded",
                "organization_usage_limit_exceeded",
                "project_spend_limit_exceeded",
                "context_length_exceeded",
                "invalid_api_key",
                "model_not_found",
            ],
            verdict(No, "", Client),
        ),
        (&["server_error"], verdict(Maybe, "", Server)),
    ] {
        for code in codes {
            assert_eq!(known_openai(code), Some(expected), "{code}");
            // The code is stronger than the status.
            for status in [400, 401, 404, 429, 498, 500, 503] {
                assert_eq!(judge(status, &[], known_openai(code)), expected, "{status} {code}");
            }
        }
    }
    for code in ["", "rate_limit", "Rate_Limit_Exceeded", " server_error", "insufficient_quota.", "null"] {
        assert_eq!(known_openai(code), None, "{code:?}");
        for status in 400..600 {
            assert_eq!(judge(status, &[], known_openai(code)), statuses::status(status), "{status} {code:?}");
        }
    }
}

// Rule E20.
#[tokio::test(start_paused = true)]
async fn a_429_whose_quota_is_used_up_ends_the_operation_after_one_attempt() {
    for (code, reason, attempts) in
        [("insufficient_quota", RetryError::NotRetryable, 1), ("rate_limit_exceeded", RetryError::MaxAttempts, 5)]
    {
        let api = StandardRetryStrategy::new();
        let report = retry(&api, async || Err::<(), _>(judge(429, &[], known_openai(code)))).report().await;
        assert_eq!((report.reason, report.attempts), (Some(reason), attempts), "{code}");
    }
}

// Rule E21.
#[test]
fn the_types_of_anthropic_mean_what_their_rows_say_and_any_other_type_is_not_retried() {
    for (error_type, expected) in [
        ("rate_limit_error", verdict(Yes, "throttling", Client)),
        ("overloaded_error", verdict(Yes, "throttling", Server)),
        ("api_error", verdict(Maybe, "", Server)),
        ("timeout_error", verdict(Maybe, "timeout", Server)),
        ("invalid_request_error", verdict(No, "", Client)),
        ("authentication_error", verdict(No, "", Client)),
        ("billing_error", verdict(No, "", Client)),
        ("permission_error", verdict(No, "", Client)),
        ("not_found_error", verdict(No, "", Client)),
        ("conflict_error", verdict(No, "", Client)),
        ("request_too_large", verdict(No, "", Client)),
        ("Overloaded_Error", verdict(No, "", Client)),
        ("", verdict(No, "", Client)),
    ] {
        assert_eq!(anthropic(error_type), expected, "{error_type}");
        assert_eq!(judge(529, &[], Some(anthropic(error_type))), expected, "{error_type}");
    }
}

// Rule E22.
#[test]
fn the_status_of_google_is_the_name_of_a_grpc_code_and_the_longer_delay_counts() {
    let names = [
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    ];
    for (code, name) in (0..).zip(names) {
        for delay in [None, duration("30s")] {
            let expected = match code {
                // These services use it for rate limits.
                8 => verdict(Yes, "throttling", Client).with_retry_after(delay),
                _ => grpc(code, delay),
            };
            assert_eq!(known_google(name, delay), Some(expected), "{name}");
        }
    }
    for name in ["", "CANCELED", "unavailable", "8", "RESOURCE_EXHAUSTED "] {
        assert_eq!(known_google(name, duration("30s")), None, "{name:?}");
    }
    let exhausted = |delay| known_google("RESOURCE_EXHAUSTED", duration(delay));
    assert_eq!(judge(429, &[], exhausted("")), verdict(Yes, "throttling", Client));
    let waiting = verdict(Yes, "throttling", Client).with_retry_after(Some(secs(60)));
    assert_eq!(judge(429, &[("retry-after", "60")], exhausted("")), waiting);
    assert_eq!(judge(429, &[], exhausted("58.934310785s")).retry_after(), Some(Duration::new(58, 934_310_785)));
    assert_eq!(judge(429, &[("retry-after", "60")], exhausted("30s")).retry_after(), Some(secs(60)));
    assert_eq!(judge(429, &[("retry-after", "20")], exhausted("30s")).retry_after(), Some(secs(30)));
}

// Rule E22.
#[test]
fn a_quota_of_google_that_lasts_for_a_day_is_final_even_with_a_delay() {
    let never = Some(verdict(No, "", Client));
    for (id, expected) in [
        ("GenerateRequestsPerDayPerProjectPerModel-FreeTier", never),
        ("GenerateRequestsPerDayPerProjectPerModel", never),
        ("GenerateContentInputTokensPerModelPerDay-FreeTier", never),
        ("generate_requests_per_model_per_day", never),
        ("CachedContentStorageTokensPerProject-FreeTier", never),
        ("GenerateRequestsPerMonth", never),
        ("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", None),
        ("GenerateContentInputTokensPerModelPerMinute-FreeTier", None),
        ("generate_content_requests_per_minute_per_project_per_base_model", None),
        ("RequestsPerSecondPerProject", None),
        ("Daylight", None),
        ("", None),
    ] {
        assert_eq!(known_google_quota(id), expected, "{id}");
    }
    let headers = [("retry-after", "20")];
    assert_eq!(judge(429, &headers, never).is_retry_safe(), No);
}

// Rule E23.
#[test]
fn x_should_retry_settles_the_question_in_this_profile_only() {
    let quota = known_openai("insufficient_quota");
    let limit = known_openai("rate_limit_exceeded");
    for (status, known, word, expected) in [
        (429, None, "false", verdict(No, "throttling", Client)),
        (429, limit, "False", verdict(No, "throttling", Client)),
        (500, None, "FALSE", verdict(No, "", Server)),
        (504, None, " false\t", verdict(No, "timeout", Server)),
        (409, None, "true", verdict(Yes, "", Client)),
        (500, None, "TRUE", verdict(Yes, "", Server)),
        (504, None, "true", verdict(Yes, "timeout", Server)),
        (429, limit, "true", verdict(Yes, "throttling", Client)),
        (429, quota, "true", verdict(Yes, "throttling", Client)),
        (400, Some(anthropic("api_error")), "true", verdict(Yes, "", Server)),
    ] {
        let headers = [("x-should-retry", word)];
        assert_eq!(judge(status, &headers, known), expected, "{status} {word}");
        let general = plain::response(StatusCode::from_u16(status).unwrap(), &map(&headers), now());
        assert_eq!(general, statuses::status(status), "another profile does not read it");
    }
    for word in ["", "yes", "1", "truefalse", "true, true", "false;"] {
        assert_eq!(judge(500, &[("x-should-retry", word)], None), statuses::status(500), "{word:?}");
        assert_eq!(judge(409, &[("x-should-retry", word)], None), statuses::status(409), "{word:?}");
    }
    let twice = [("x-should-retry", "true"), ("x-should-retry", "true")];
    assert_eq!(judge(409, &twice, None), statuses::status(409));
    // The wait stays.
    assert_eq!(wait(&[("x-should-retry", "true"), ("retry-after", "7")]), Some(secs(7)));
}

// Rule E26.
#[test]
fn a_server_that_says_whether_to_retry_is_obeyed_where_a_policy_asks_for_it() {
    let judge = |status, headers: &[(&'static str, &str)]| {
        plain::advised_response(StatusCode::from_u16(status).unwrap(), &map(headers), now())
    };
    for name in ["stripe-should-retry", "x-should-retry"] {
        for (status, word, expected) in [
            (429, "false", verdict(No, "throttling", Client)),
            (500, "False", verdict(No, "", Server)),
            (504, "FALSE", verdict(No, "timeout", Server)),
            (409, "true", verdict(Yes, "", Client)),
            (402, " TRUE\t", verdict(Yes, "", Client)),
            (500, "true", verdict(Yes, "", Server)),
            (200, "true", statuses::status(200)),
        ] {
            assert_eq!(judge(status, &[(name, word)]), expected, "{name}: {word} with {status}");
            // Without that policy, only the profile of language models reads its own one.
            let general = plain::response(StatusCode::from_u16(status).unwrap(), &map(&[(name, word)]), now());
            assert_eq!(general, statuses::status(status), "{name}");
        }
        for word in ["", "yes", "0", "true, true"] {
            assert_eq!(judge(409, &[(name, word)]), statuses::status(409), "{name}: {word:?}");
        }
        assert_eq!(judge(409, &[(name, "true"), (name, "true")]), statuses::status(409));
        assert_eq!(judge(429, &[(name, "true"), ("retry-after", "7")]).retry_after(), Some(secs(7)));
    }
    for (stripe, other) in [("true", "false"), ("false", "true")] {
        let headers = [("stripe-should-retry", stripe), ("x-should-retry", other)];
        assert_eq!(judge(500, &headers), verdict(No, "", Server));
    }
    let stripe = [("stripe-should-retry", "false")];
    assert_eq!(
        response(StatusCode::INTERNAL_SERVER_ERROR, &map(&stripe), None, now()),
        statuses::status(500),
        "the profile of language models does not read it"
    );
}

// Rule E24.
#[test]
fn a_wait_in_milliseconds_comes_before_one_in_seconds() {
    assert_eq!(judge(503, &[("retry-after", "1.5")], None), statuses::status_with(503, Some(millis(1500))));
    assert_eq!(wait(&[("retry-after-ms", "1200"), ("retry-after", "1.5")]), Some(millis(1200)));
    assert_eq!(wait(&[("retry-after-ms", "1200.5"), ("retry-after", "1.5")]), Some(millis(1500)));
}

// Rule E30.
#[test]
fn no_code_and_no_wait_makes_a_request_succeed_whose_status_says_that_it_cannot() {
    let codes = [
        None,
        known_openai("rate_limit_exceeded"),
        known_openai("server_error"),
        known_openai("context_length_exceeded"),
        Some(anthropic("overloaded_error")),
        known_google("RESOURCE_EXHAUSTED", Some(secs(9))),
    ];
    for status in [402, 405, 406, 410, 411, 413, 414, 415, 416, 417, 422, 426, 428, 431, 451, 501, 505] {
        for known in codes {
            let wait = known.and_then(|known| known.retry_after());
            let fault = if status < 500 { Client } else { Server };
            assert_eq!(judge(status, &[], known), verdict(No, "", fault).with_retry_after(wait), "{status} {known:?}");
            let headers = [("retry-after", "20"), ("ratelimit", "\"a\";r=0;t=30")];
            let expected = verdict(No, "", fault).with_retry_after(Some(secs(20)));
            assert_eq!(judge(status, &headers, known), expected, "{status} {known:?}");
        }
    }
    // The word of the server is about this answer, so it is stronger.
    assert_eq!(judge(413, &[("x-should-retry", "true")], None).is_retry_safe(), Yes);
}

// Rule E30.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_too_large_is_sent_once_by_a_strategy_that_paces() {
    let api = PacedRetryStrategy::new();
    let headers = [("retry-after", "60")];
    let large =
        "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 14368, please reduce";
    for (status, known) in [
        (413, known_openai("rate_limit_exceeded")),
        (413, known_openai_error("rate_limit_exceeded", large)),
        (429, known_openai_error("rate_limit_exceeded", large)),
    ] {
        let report = retry(&api, async || Err::<(), _>(judge(status, &headers, known))).report().await;
        assert_eq!((report.reason, report.attempts), (Some(RetryError::NotRetryable), 1), "{status}");
        // Nobody else waits for it.
        let other = retry(&api, async || Ok::<_, Classification>(())).report().await;
        assert!(other.elapsed < secs(1), "{:?}", other.elapsed);
    }
}

// Rule E20.
#[test]
fn a_message_says_whether_a_request_is_larger_than_the_limit() {
    let limited = known_openai("rate_limit_exceeded");
    let never = Some(verdict(No, "", Client));
    for (message, expected) in [
        (
            "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 30601. The input",
            never,
        ),
        (
            "Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, Requested 6294",
            never,
        ),
        (" request TOO large", never),
        ("Rate limit reached for gpt-4 on tokens per min. Limit: 10000 / min.", limited),
        ("Rate limit reached for m on tokens per min (TPM): Limit 10000, Used 0, Requested 12000.", never),
        ("Rate limit reached for m on tokens per min (TPM): Limit 10,000, Used 0, Requested 12,000.", never),
        ("Rate limit reached for m on tokens per min (TPM): Limit 10000, Used 9000, Requested 10000.", limited),
        (
            "Rate limit reached for m on tokens per min (TPM): Limit 6000, Used 5034, Requested 1443. Please try again in 4.77s.",
            limited,
        ),
        ("Limit 99999999999999999999999, Requested 99999999999999999999999", limited),
        ("Limit x, Requested 5", limited),
        ("Requested 7", limited),
        ("The prompt says: request too large", limited),
        ("", limited),
        ("\u{e9}equest too large", limited),
    ] {
        assert_eq!(known_openai_error("rate_limit_exceeded", message), expected, "{message}");
        let without_code = if expected == never { never } else { None };
        assert_eq!(known_openai_error("", message), without_code, "{message}");
    }
    assert_eq!(known_openai_error("server_error", ""), known_openai("server_error"));
    assert_eq!(judge(429, &[("retry-after", "60")], never), verdict(No, "", Client).with_retry_after(Some(secs(60))));
}

// Rule E24.
#[test]
fn a_limit_in_the_headers_of_the_ietf_is_a_wait_of_a_throttled_request() {
    let reported = [("ratelimit", "\"default\";r=0;t=58")];
    assert_eq!(wait(&reported), Some(secs(58)));
    assert_eq!(judge(400, &reported, known_openai("rate_limit_exceeded")).retry_after(), Some(secs(58)));
    assert_eq!(judge(500, &reported, None).retry_after(), None);
    let tokens = [("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "1m0s")];
    assert_eq!(wait(&[reported[0], tokens[0], tokens[1]]), Some(secs(60)), "the last reset");
    assert_eq!(wait(&[reported[0], tokens[0], ("x-ratelimit-reset-tokens", "1s")]), Some(secs(58)));
}

// Rule E24.
#[test]
fn a_duration_is_a_sequence_of_numbers_with_units() {
    for (text, expected) in [
        ("120ms", millis(120)),
        ("1s", secs(1)),
        ("6m0s", secs(360)),
        ("1h2m3s", secs(3723)),
        ("2m59.56s", millis(179_560)),
        ("7.66s", millis(7660)),
        ("30s", secs(30)),
        (" 0s\t", Duration::ZERO),
        ("1.5h", secs(5400)),
        ("24h0m0s", secs(86_400)),
        ("17us", Duration::from_micros(17)),
        ("17\u{b5}s", Duration::from_micros(17)),
        ("17\u{3bc}s", Duration::from_micros(17)),
        ("9ns", Duration::from_nanos(9)),
        ("0.3333333333333333333333333h", secs(1200)),
        ("0.0000000001s", Duration::from_nanos(1)),
        ("999999999999999999999999999999999999999999h", Duration::MAX),
        ("18446744073709551615s", secs(u64::MAX)),
        ("18446744073709551616s", Duration::MAX),
    ] {
        assert_eq!(duration(text), Some(expected), "{text}");
    }
    for text in [
        "",
        " ",
        "0",
        "30",
        "s",
        "-1s",
        "+1s",
        "1",
        "6m0",
        "6m 0s",
        "1d",
        "1S",
        "1M",
        "1.s",
        ".5s",
        "1..5s",
        "1.5.5s",
        "1s!",
        "1,5s",
        "1e3s",
        "\u{661}s",
        "1\u{a0}s",
        "2026-01-01T00:00:00Z",
        "soon",
        "..",
        "1mss",
    ] {
        assert_eq!(duration(text), None, "{text:?}");
    }
}

// Rule E24.
#[test]
fn the_reset_of_a_limit_of_which_nothing_remains_is_the_wait_if_no_header_asks_for_one() {
    let requests = [("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "6m0s")];
    let tokens = [("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "120ms")];
    assert_eq!(wait(&requests), Some(secs(360)));
    assert_eq!(wait(&tokens), Some(millis(120)));
    assert_eq!(wait(&[requests[0], requests[1], tokens[0], tokens[1]]), Some(secs(360)), "the longest");
    assert_eq!(wait(&[requests[0], requests[1], ("retry-after", "1.5")]), Some(millis(1500)));
    for remaining in ["1", "-1", "", "none"] {
        assert_eq!(wait(&[("x-ratelimit-remaining-requests", remaining), requests[1]]), None, "{remaining:?}");
    }
    for reset in ["", "6", "-6m", "soon", "2027-01-15T08:01:00Z"] {
        assert_eq!(wait(&[requests[0], ("x-ratelimit-reset-requests", reset)]), None, "{reset:?}");
    }
    // A malformed limit does not hide another one.
    assert_eq!(wait(&[requests[0], ("x-ratelimit-reset-requests", "x"), tokens[0], tokens[1]]), Some(millis(120)));
    let pairs = [
        ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
        ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
        ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
        ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ];
    for (remaining, reset) in pairs {
        assert_eq!(wait(&[(remaining, "0"), (reset, "2027-01-15T08:01:30Z")]), Some(secs(90)), "{reset}");
        assert_eq!(wait(&[(remaining, "1"), (reset, "2027-01-15T08:01:30Z")]), None, "{reset}");
        assert_eq!(wait(&[(remaining, "0"), (reset, "90s")]), None, "{reset}");
    }
}

// Rule E24.
#[test]
fn a_time_of_reset_is_one_of_rfc_3339_and_counts_from_the_date_of_the_response() {
    let until =
        |reset| wait(&[("anthropic-ratelimit-tokens-remaining", "0"), ("anthropic-ratelimit-tokens-reset", reset)]);
    for (reset, expected) in [
        ("2027-01-15T08:00:00Z", Duration::ZERO),
        (" 2027-01-15t08:00:01z ", secs(1)),
        ("2027-01-15T08:00:01.25Z", millis(1250)),
        ("2027-01-15T10:00:05+02:00", secs(5)),
        ("2027-01-15T02:30:05-05:30", secs(5)),
        ("2027-01-16T08:00:00Z", secs(86_400)),
        ("2027-03-01T08:00:00Z", secs(45 * 86_400)),
        ("2028-03-01T08:00:00Z", secs(411 * 86_400)),
        ("2026-12-31T23:59:59Z", Duration::ZERO),
        ("0000-01-01T00:00:00Z", Duration::ZERO),
        ("1969-12-31T23:59:59.5Z", Duration::ZERO),
        ("9999-12-31T23:59:59Z", secs(253_402_300_799 - 1_800_000_000)),
    ] {
        assert_eq!(until(reset), Some(expected), "{reset}");
    }
    for reset in [
        "",
        "2027-01-15",
        "2027-01-15T08:00:00",
        "2027-01-15 08:00:00Z",
        "2027-1-15T08:00:00Z",
        "2027-13-01T08:00:00Z",
        "2027-00-01T08:00:00Z",
        "2027-02-29T08:00:00Z",
        "2100-02-29T08:00:00Z",
        "2027-01-00T08:00:00Z",
        "2027-01-32T08:00:00Z",
        "2027-01-15T24:00:00Z",
        "2027-01-15T08:60:00Z",
        "2027-01-15T08:00:60Z",
        "2027-01-15T08:00:00.Z",
        "2027-01-15T08:00:00Zx",
        "2027-01-15T08:00:00+2:00",
        "2027-01-15T08:00:00+0200",
        "2027-01-15T08:00:00+24:00",
        "2027-01-15T08:00Z",
        "-027-01-15T08:00:00Z",
        "+027-01-15T08:00:00Z",
        "1800000090",
        "Fri, 15 Jan 2027 08:01:00 GMT",
    ] {
        assert_eq!(until(reset), None, "{reset:?}");
    }
    // The client's clock is ten minutes slow.
    let headers = map(&[
        ("anthropic-ratelimit-requests-remaining", "0"),
        ("anthropic-ratelimit-requests-reset", "2027-01-15T08:00:30Z"),
        ("date", DATE),
    ]);
    let slow = response(StatusCode::TOO_MANY_REQUESTS, &headers, None, now() - secs(600));
    assert_eq!(slow.retry_after(), Some(secs(30)));
    assert_eq!(response_rate_limit(&headers, now() - secs(600)).unwrap().reset(), Some(secs(30)));
}

// Rules B5, E24.
#[tokio::test(start_paused = true)]
async fn a_reset_above_the_longest_wait_ends_the_operation_with_that_reason() {
    let limit =
        |reset| judge(429, &[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", reset)], None);
    for (reset, max, reason, attempts) in [
        ("5m0s", Some(secs(300)), RetryError::MaxAttempts, 5),
        ("6m0s", Some(secs(300)), RetryError::RetryAfterTooLong, 1),
        ("6m0s", Some(secs(600)), RetryError::MaxAttempts, 5),
    ] {
        let api = StandardRetryStrategy::new().max_retry_after(max);
        let report = retry(&api, async || Err::<(), _>(limit(reset))).report().await;
        assert_eq!((report.reason, report.attempts), (Some(reason), attempts), "{reset}");
    }
}

// Rule E25.
#[test]
fn a_report_is_made_of_limits_of_requests_and_never_of_tokens() {
    let read = |headers: &[(&'static str, &'static str)]| response_rate_limit(&map(headers), now());
    let limit = |remaining, reset: Option<u64>| Some(RateLimit::new(remaining).with_reset(reset.map(secs)));
    let openai = [("x-ratelimit-remaining-requests", "59"), ("x-ratelimit-reset-requests", "1m30s")];
    let anthropic = [
        ("anthropic-ratelimit-requests-remaining", "49"),
        ("anthropic-ratelimit-requests-reset", "2027-01-15T08:00:20Z"),
    ];
    let tokens = [
        ("x-ratelimit-remaining-tokens", "3"),
        ("x-ratelimit-reset-tokens", "1s"),
        ("anthropic-ratelimit-tokens-remaining", "3"),
        ("anthropic-ratelimit-tokens-reset", "2027-01-15T08:00:20Z"),
        ("anthropic-ratelimit-input-tokens-remaining", "3"),
        ("anthropic-ratelimit-output-tokens-remaining", "0"),
    ];
    assert_eq!(read(&[]), None);
    assert_eq!(read(&tokens), None);
    assert_eq!(read(&[tokens.as_slice(), &openai].concat()), limit(59, Some(90)));
    assert_eq!(read(&[tokens.as_slice(), &anthropic].concat()), limit(49, Some(20)));
    assert_eq!(read(&[openai, anthropic].concat()), limit(49, Some(20)));
    assert_eq!(read(&openai[..1]), limit(59, None));
    // Malformed ones are ignored, one by one.
    assert_eq!(read(&[openai[0], ("x-ratelimit-reset-requests", "90")]), limit(59, None));
    assert_eq!(read(&[("anthropic-ratelimit-requests-remaining", "many"), openai[0]]), limit(59, None));
    assert_eq!(read(&[("x-ratelimit-remaining-requests", "-1"), ("x-ratelimit-remaining", "7")]), limit(7, None));
    assert_eq!(read(&[openai[0], openai[0]]), None, "a header that must be there once");
    assert_eq!(read(&[("ratelimit", "\"a\";r=5;t=6")]), limit(5, Some(6)));
    // The general reader knows none of them.
    assert_eq!(plain::response_rate_limit(&map(&[openai, anthropic].concat()), now()), None);
}

// Rule E28.
#[test]
fn a_report_of_tokens_is_the_limit_of_which_the_fewest_remain() {
    let read = |headers: &[(&'static str, &'static str)]| response_token_limit(&map(headers), now());
    let limit = |remaining, reset: Option<u64>| Some(RateLimit::new(remaining).with_reset(reset.map(secs)));
    let openai = [("x-ratelimit-remaining-tokens", "1200"), ("x-ratelimit-reset-tokens", "6m0s")];
    let anthropic = [
        ("anthropic-ratelimit-tokens-remaining", "900"),
        ("anthropic-ratelimit-tokens-reset", "2027-01-15T08:00:20Z"),
        ("anthropic-ratelimit-input-tokens-remaining", "800"),
        ("anthropic-ratelimit-output-tokens-remaining", "700"),
        ("anthropic-ratelimit-output-tokens-reset", "2027-01-15T08:00:30Z"),
        ("anthropic-ratelimit-requests-remaining", "3"),
    ];
    let general = [("ratelimit", r#""a";r=5, "b";r=600;t=6"#), ("ratelimit-policy", r#""b";q=9;qu="tokens""#)];
    assert_eq!(read(&[]), None);
    assert_eq!(read(&openai), limit(1200, Some(360)));
    assert_eq!(read(&anthropic), limit(700, Some(30)));
    assert_eq!(read(&anthropic[..3]), limit(800, None));
    assert_eq!(read(&[openai.as_slice(), &anthropic[..2]].concat()), limit(900, Some(20)));
    assert_eq!(read(&general), limit(600, Some(6)));
    assert_eq!(read(&[("ratelimit", r#""b";r=600;t=1800000006"#), general[1]]), limit(600, Some(6)));
    assert_eq!(read(&[openai, general].concat()), limit(1200, Some(360)));
    // Malformed ones are ignored, one by one.
    assert_eq!(read(&[openai[0], ("x-ratelimit-reset-tokens", "90")]), limit(1200, None));
    assert_eq!(read(&[("x-ratelimit-remaining-tokens", "-1"), anthropic[2]]), limit(800, None));
    // Reports of requests are none of tokens.
    assert_eq!(read(&[("x-ratelimit-remaining-requests", "5"), ("x-ratelimit-remaining", "5"), general[0]]), None);
}

const NAMES: [&str; 11] = [
    "x-should-retry",
    "retry-after",
    "retry-after-ms",
    "date",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-reset",
    "x-ratelimit-reset",
];

proptest! {
    // Rules E23, E24, E25.
    #[test]
    fn no_text_makes_the_readers_panic(
        text in r"(\PC|[ \t.:+\-TZhmsun0-9]){0,40}",
        digits in r"[0-9]{1,60}",
        time in r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,30})?(Z|[+\-][0-9]{2}:[0-9]{2})",
    ) {
        let unit = format!("{digits}h{digits}.{digits}s");
        for value in [&text, &digits, &time, &unit] {
            let _ = duration(value);
            let _ = known_google(value, duration(value));
            for remaining in ["0", value.as_str()] {
                let mut headers = HeaderMap::new();
                for name in NAMES {
                    let value = if name.contains("remaining") { remaining } else { value };
                    headers.extend(HeaderValue::from_str(value).ok().map(|value| (HeaderName::from_static(name), value)));
                }
                for now in [UNIX_EPOCH, now(), UNIX_EPOCH - secs(9)] {
                    let _ = response(StatusCode::TOO_MANY_REQUESTS, &headers, None, now);
                    let _ = (response_rate_limit(&headers, now), response_token_limit(&headers, now));
                }
            }
        }
    }

    // Rule E24.
    #[test]
    fn what_is_written_as_hours_minutes_and_seconds_is_read(hours in 0..99_u64, minutes in 0..60_u64, nanos in 0..60_000_000_000_u64) {
        let written = format!("{hours}h{minutes}m{}.{:09}s", nanos / 1_000_000_000, nanos % 1_000_000_000);
        prop_assert_eq!(duration(&written), Some(secs(hours * 3600 + minutes * 60) + Duration::from_nanos(nanos)));
    }
}
