//! Tests of the accepted values of the headers that ask for a wait, and of the classification of whole responses.

use super::oracle::{date, forms, fraction, number};
use crate::support::{millis, secs};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use proptest::prelude::*;
use retry_clients::http::{exchange, response, response_retry_after, retry_after, retry_after_millis};
use retry_core::classify::{Classification, http as statuses};
use retry_core::{ErrorFault, RetrySafety};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The first second of the year 10000.
const END: u64 = 253_402_300_800;
/// The first second of the year 2070. The two-digit year 70 means 1970, so this is the first date it can't express.
const END_OF_TWO_DIGITS: u64 = 3_155_760_000;

// Rule E4.
#[test]
fn a_date_is_understood_in_all_three_forms() {
    let forms = forms(784_111_777);
    assert_eq!(forms[0], "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(forms[1], "Sunday, 06-Nov-94 08:49:37 GMT");
    assert_eq!(forms[2], "Sun Nov  6 08:49:37 1994");
    let now = UNIX_EPOCH + secs(784_111_700);
    for form in &forms {
        assert_eq!(retry_after(form, None, now), Some(secs(77)), "{form}");
        assert_eq!(retry_after(&format!(" {form}\t"), None, now), Some(secs(77)), "{form}");
    }
}

// Rule E4.
#[test]
fn a_date_that_is_past_asks_for_no_wait() {
    for now in [784_111_777, 784_111_778, END * 2] {
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", None, UNIX_EPOCH + secs(now)), Some(Duration::ZERO));
    }
    assert_eq!(retry_after("Thu, 01 Jan 1970 00:00:00 GMT", None, SystemTime::now()), Some(Duration::ZERO));
}

// Rule E4.
#[test]
fn the_response_s_own_date_is_what_a_date_counts_from() {
    let until = "Sun, 06 Nov 1994 08:49:37 GMT";
    let past = UNIX_EPOCH + secs(784_111_770);
    // A clock that is ten years fast, and one that is slow.
    for now in [past + secs(315_360_000), UNIX_EPOCH] {
        assert_eq!(retry_after(until, Some("Sun, 06 Nov 1994 08:49:07 GMT"), now), Some(secs(30)));
        assert_eq!(retry_after(until, Some(" Sunday, 06-Nov-94 08:49:07 GMT "), now), Some(secs(30)));
        assert_eq!(retry_after(until, Some("Sun, 06 Nov 1994 08:49:38 GMT"), now), Some(Duration::ZERO));
    }
    // A malformed `Date` is ignored.
    assert_eq!(retry_after(until, Some("now"), past), Some(secs(7)));
    // A number of seconds needs no `Date`.
    assert_eq!(retry_after("5", Some("Sun, 06 Nov 1994 08:49:07 GMT"), past), Some(secs(5)));
}

#[test]
fn what_is_almost_a_date_is_malformed() {
    let malformed = [
        "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sat, 31 Dec 2016 23:59:60 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Wed, 29 Feb 1995 08:49:37 GMT",
        "Fri, 31 Dec 1969 23:59:59 GMT",
        "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94008:49:37 GMT",
        "GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT\r\n",
        "1994-11-06T08:49:37Z",
    ];
    assert_eq!(malformed.len(), 20);
    for text in malformed {
        assert_eq!(retry_after(text, None, UNIX_EPOCH), None, "{text:?}");
    }
}

/// Replaces each character of each form by every ASCII character.
#[test]
fn no_character_of_a_date_is_left_unread() {
    for form in forms(784_111_777) {
        let mut accepted = 0;
        for at in 0..form.len() {
            for by in '\0'..='\x7f' {
                let mut text = form.clone();
                text.replace_range(at..=at, by.encode_utf8(&mut [0; 4]));
                let wait = retry_after(&text, None, UNIX_EPOCH);
                assert_eq!(wait, date(&text).map(secs), "{text:?}");
                accepted += usize::from(wait.is_some());
            }
        }
        // At each place the original character is accepted, and at some places other digits are.
        assert!(accepted > form.len(), "{form}");
    }
}

fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

// Rules E1, E5.
#[test]
fn a_response_s_headers_come_to_one_wait() {
    let date = ("date", "Sun, 06 Nov 1994 08:49:07 GMT");
    let until = ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
    // The last column is whether the headers make a 503 throttling, and a 403, too.
    let cases: [(&[_], Option<Duration>, bool); 25] = [
        (&[], None, false),
        (&[date], None, false),
        (&[("retry-after", "7")], Some(secs(7)), true),
        (&[("retry-after", "0")], Some(secs(0)), true),
        (&[("retry-after", "soon")], None, false),
        (&[until, date], Some(secs(30)), true),
        (&[("retry-after", "7"), ("retry-after", "7")], None, false),
        (&[("retry-after", "\u{e9}")], None, false),
        (&[("x-amz-retry-after", "1500")], Some(millis(1500)), false),
        // Milliseconds are finer than seconds.
        (&[("x-amz-retry-after", "1500"), ("retry-after", "7")], Some(millis(1500)), true),
        (&[("x-amz-retry-after", "9000"), ("retry-after", "7")], Some(secs(9)), true),
        (&[("x-amz-retry-after", "-100"), ("retry-after", "1.5")], Some(millis(1500)), true),
        (&[("x-amz-retry-after", "-100"), ("retry-after", "1.5s")], None, false),
        (&[("x-amz-retry-after", "-100"), ("retry-after", "7")], Some(secs(7)), true),
        (&[("retry-after-ms", "5")], Some(millis(5)), true),
        (&[("x-ms-retry-after-ms", " 0\t")], Some(secs(0)), true),
        (&[("retry-after-ms", "5"), ("retry-after", "7")], Some(millis(5)), true),
        (&[("x-ms-retry-after-ms", "9000"), ("retry-after", "7")], Some(secs(9)), true),
        (&[("retry-after-ms", "1500"), date, until], Some(millis(1500)), true),
        (&[("retry-after-ms", "1.5")], None, false),
        (&[("retry-after-ms", "1.5"), ("retry-after", "7")], Some(secs(7)), true),
        (&[("retry-after-ms", "5"), ("retry-after-ms", "5")], None, false),
        (&[("retry-after-ms", "5"), ("retry-after-ms", "5"), ("x-ms-retry-after-ms", "6")], Some(millis(6)), true),
        // No retry comes earlier than any of them says.
        (&[("retry-after-ms", "5"), ("x-ms-retry-after-ms", "6"), ("x-amz-retry-after", "4")], Some(millis(6)), true),
        (&[("retry-after-ms", "x"), ("x-amz-retry-after", "4"), ("retry-after", "x")], Some(millis(4)), false),
    ];
    for (fields, wait, throttling) in cases {
        let headers = headers(fields);
        assert_eq!(response_retry_after(&headers, UNIX_EPOCH), wait, "{fields:?}");
        let answer = response(StatusCode::SERVICE_UNAVAILABLE, &headers, UNIX_EPOCH);
        assert_eq!((answer.is_throttle(), answer.retry_after()), (throttling, wait), "{fields:?}");
        let forbidden = response(StatusCode::FORBIDDEN, &headers, UNIX_EPOCH);
        let safety = if throttling { RetrySafety::Yes } else { RetrySafety::No };
        assert_eq!((forbidden.is_throttle(), forbidden.retry_after()), (throttling, wait), "{fields:?}");
        assert_eq!((forbidden.is_retry_safe(), forbidden.fault()), (safety, ErrorFault::Client), "{fields:?}");
    }
}

// Rule E1.
#[test]
fn each_form_of_retry_after_makes_a_503_and_a_403_throttling() {
    let mut forms = forms(784_111_777).to_vec();
    forms.extend(["7", "0", " 7\t", "99999999999999999999999999"].map(str::to_owned));
    assert_eq!(forms.len(), 8);
    for (status, fault) in [(503, ErrorFault::Server), (403, ErrorFault::Client)] {
        let status = StatusCode::from_u16(status).unwrap();
        for form in &forms {
            let answer = response(status, &headers(&[("retry-after", form)]), UNIX_EPOCH);
            assert_eq!(answer.retry_after(), retry_after(form, None, UNIX_EPOCH), "{form}");
            let expected = Classification::new(RetrySafety::Yes).with_throttling().with_fault(fault);
            assert_eq!(answer.with_retry_after(None), expected, "{status} {form}");
        }
    }
}

// Rules E1, E19.
#[test]
fn a_limit_that_is_used_up_makes_a_403_throttling_and_its_reset_is_the_wait() {
    let now = UNIX_EPOCH + secs(1_800_000_000);
    let date = ("date", "Fri, 15 Jan 2027 07:59:50 GMT");
    let none = ("x-ratelimit-remaining", "0");
    let cases: [(&[_], Option<Duration>, bool); 26] = [
        (&[none], None, true),
        (&[("x-ratelimit-remaining", " 00 ")], None, true),
        (&[none, ("x-ratelimit-reset", "30")], Some(secs(30)), true),
        (&[none, ("x-ratelimit-reset", "0")], Some(secs(0)), true),
        (&[none, ("x-ratelimit-reset", "1000000000")], Some(secs(1_000_000_000)), true),
        (&[none, ("x-ratelimit-reset", "1000000001")], Some(secs(0)), true),
        (&[none, ("x-ratelimit-reset", "1800000030")], Some(secs(30)), true),
        (&[none, ("x-ratelimit-reset", "1800000030"), date], Some(secs(40)), true),
        (&[none, ("x-ratelimit-reset", "1800000030"), ("date", "today")], Some(secs(30)), true),
        // A wait counts, whatever the reset is.
        (&[none, ("x-ratelimit-reset", "1800000030"), ("retry-after", "7")], Some(secs(7)), true),
        (&[none, ("x-ratelimit-reset", "30"), ("retry-after-ms", "5")], Some(millis(5)), true),
        (&[none, ("x-ratelimit-reset", "30"), ("x-amz-retry-after", "5")], Some(millis(5)), true),
        // What is malformed is ignored.
        (&[none, ("x-ratelimit-reset", "30"), ("retry-after", "soon")], Some(secs(30)), true),
        (&[none, ("x-ratelimit-reset", "soon")], None, true),
        (&[none, ("x-ratelimit-reset", "-1")], None, true),
        (&[none, ("x-ratelimit-reset", "30"), ("x-ratelimit-reset", "30")], None, true),
        (&[("x-ratelimit-remaining", "none"), ("x-ratelimit-reset", "30")], None, false),
        (&[none, none, ("x-ratelimit-reset", "30")], None, false),
        // Requests remain, or nothing says that none do.
        (&[("x-ratelimit-remaining", "1"), ("x-ratelimit-reset", "30")], None, false),
        (&[("x-ratelimit-reset", "30")], None, false),
        // Milliseconds since 1970, a fraction, the time that is left, and another spelling.
        (&[none, ("x-ratelimit-reset", "1800000030500")], Some(millis(30_500)), true),
        (&[none, ("x-ratelimit-reset", "1800000030.5")], Some(millis(30_500)), true),
        (
            &[none, ("x-ratelimit-reset", "1800000030"), ("x-ratelimit-reset-after", "29.501")],
            Some(millis(29_501)),
            true,
        ),
        (&[("x-ratelimit-remaining", "0.0"), ("x-ratelimit-reset", "30")], Some(secs(30)), true),
        (&[("x-rate-limit-remaining", "0"), ("x-rate-limit-reset", "1800000030")], Some(secs(30)), true),
        (&[("x-rate-limit-remaining", "0"), ("x-rate-limit-reset-after", "30"), none], Some(secs(30)), true),
    ];
    for (fields, wait, throttling) in cases {
        let headers = headers(fields);
        assert_eq!(response_retry_after(&headers, now), wait, "{fields:?}");
        let forbidden = response(StatusCode::FORBIDDEN, &headers, now);
        let safety = if throttling { RetrySafety::Yes } else { RetrySafety::No };
        let expected = Classification::new(safety).with_fault(ErrorFault::Client).with_retry_after(wait);
        let expected = if throttling { expected.with_throttling() } else { expected };
        assert_eq!(forbidden, expected, "{fields:?}");
        // The reset is the wait of each status. Only the status 403 is classified by it.
        let has_wait = fields.iter().any(|(name, value)| name.starts_with("retry-after") && *value != "soon");
        for status in [200, 404, 429, 500, 502, 504, 529] {
            let answer = response(StatusCode::from_u16(status).unwrap(), &headers, now);
            assert_eq!(answer, statuses::status(status).with_retry_after(wait), "{status} {fields:?}");
        }
        let unavailable = response(StatusCode::SERVICE_UNAVAILABLE, &headers, now);
        assert_eq!((unavailable.is_throttle(), unavailable.retry_after()), (has_wait, wait), "{fields:?}");
    }
}

// Rules E19, E29.
#[test]
fn a_limit_in_the_headers_of_the_ietf_is_a_wait_if_the_response_is_throttling_and_nothing_else_asks_for_one() {
    let now = UNIX_EPOCH + secs(1_800_000_000);
    let older = ("ratelimit-remaining", "0");
    let policy = ("ratelimit-policy", r#""volume";q=9000;w=60;qu="content-bytes""#);
    let cases: [(&[_], Option<Duration>); 18] = [
        (&[("ratelimit", r#""default";r=0;t=58"#)], Some(secs(58))),
        (&[("ratelimit", r#""default";r=0"#)], None),
        (&[("ratelimit", r#""default";r=1;t=58"#)], None),
        (&[("ratelimit", r#""default";r=0;t=soon"#)], None),
        (&[("ratelimit", r#""second";r=0;t=1, "day";r=0;t=60"#)], Some(secs(60))),
        (&[("ratelimit", r#""day";r=0;t=60, "second";r=0;t=1"#)], Some(secs(60))),
        (&[("ratelimit", r#""day";r=9;t=60, "second";r=0;t=1"#)], Some(secs(1))),
        (&[("ratelimit", r#""default";r=0;t=1800000058"#)], Some(secs(58))),
        (&[("ratelimit", "limit=10, remaining=0, reset=58")], Some(secs(58))),
        // Nothing remains, whatever the unit of the limit.
        (&[("ratelimit", r#""volume";r=0;t=58"#), policy], Some(secs(58))),
        (&[older, ("ratelimit-reset", "58")], Some(secs(58))),
        (&[older, ("ratelimit-reset", "1800000058")], Some(secs(58))),
        (&[older], None),
        (&[("ratelimit-remaining", "1"), ("ratelimit-reset", "58")], None),
        (&[older, ("ratelimit-reset", "58"), ("ratelimit", r#""default";r=0;t=59"#)], Some(secs(59))),
        (&[older, ("ratelimit-reset", "58"), ("retry-after", "7")], Some(secs(7))),
        (&[older, ("ratelimit-reset", "58"), ("retry-after", "soon")], Some(secs(58))),
        (
            &[older, ("ratelimit-reset", "58"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "7")],
            Some(secs(7)),
        ),
    ];
    for (fields, wait) in cases {
        let headers = headers(fields);
        for status in [429, 509, 529] {
            let answer = response(StatusCode::from_u16(status).unwrap(), &headers, now);
            assert_eq!(answer, statuses::status(status).with_retry_after(wait), "{status} {fields:?}");
        }
        let is_asked = fields.iter().any(|(name, value)| !name.starts_with("ratelimit") && *value != "soon");
        let asked = if is_asked { wait } else { None };
        assert_eq!(response_retry_after(&headers, now), asked, "{fields:?}");
        for status in [404, 500] {
            let answer = response(StatusCode::from_u16(status).unwrap(), &headers, now);
            assert_eq!(answer, statuses::status(status).with_retry_after(asked), "{status} {fields:?}");
        }
    }
}

// Rule E1.
#[test]
fn a_413_is_safe_to_retry_only_after_the_wait_that_it_asks_for() {
    let judge = |fields: &[(&'static str, &str)]| response(StatusCode::PAYLOAD_TOO_LARGE, &headers(fields), UNIX_EPOCH);
    let safe = Classification::new(RetrySafety::Yes).with_fault(ErrorFault::Client);
    assert_eq!(judge(&[("retry-after", "7")]), safe.with_retry_after(Some(secs(7))));
    assert_eq!(judge(&[("retry-after-ms", "1500")]), safe.with_retry_after(Some(millis(1500))));
    let limit = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "7")];
    for (fields, wait) in [
        ([].as_slice(), None),
        (&[("retry-after", "soon")], None),
        (&[("x-amz-retry-after", "7")], Some(millis(7))),
        (&limit, Some(secs(7))),
    ] {
        assert_eq!(judge(fields), statuses::status(413).with_retry_after(wait), "{fields:?}");
        assert_eq!(judge(fields).is_retry_safe(), RetrySafety::No, "{fields:?}");
    }
}

#[test]
fn an_exchange_is_judged_by_its_method_too() {
    let none = headers(&[]);
    let query = Method::from_bytes(b"QUERY").unwrap();
    for (method, safety) in
        [(Method::GET, RetrySafety::Yes), (query, RetrySafety::Yes), (Method::POST, RetrySafety::Maybe)]
    {
        let answer = exchange(&method, StatusCode::BAD_GATEWAY, &none, UNIX_EPOCH);
        assert_eq!(answer, Classification::new(safety).with_fault(ErrorFault::Server));
    }
    assert_eq!(Classification::from(StatusCode::BAD_GATEWAY), statuses::status(502));
}

// Rules E3, E5.
#[test]
fn a_wait_in_a_header_consists_of_digits_and_one_in_seconds_may_have_a_fraction() {
    let wait = |text: &str| retry_after(text, None, UNIX_EPOCH);
    let most = "9".repeat(30);
    let valid = [("120", 120), ("0", 0), (" 120 ", 120), ("\t7", 7), ("007", 7), (most.as_str(), u64::MAX)];
    for (text, number) in valid {
        assert_eq!(wait(text), Some(secs(number)), "{text:?}");
        assert_eq!(retry_after_millis(text), Some(millis(number)), "{text:?}");
    }
    for (text, expected) in [
        ("1.5", 1500),
        (" 0.25\t", 250),
        ("2.0", 2000),
        ("0.0", 0),
        ("007.1", 7100),
        ("1.0001", 1001),
        ("1.9991", 2000),
        ("1.001000000000000000000000000000", 1001),
        ("0.0000000000000000000000000000019", 1),
    ] {
        assert_eq!(wait(text), Some(millis(expected)), "{text:?}");
        assert_eq!(retry_after_millis(text), None, "{text:?}");
    }
    assert_eq!(wait(&format!("{most}.5")), Some(Duration::MAX));
    for text in ["1.", ".5", ".", "1.5.5", "1,5", "1.5s", "1.5e3", "1. 5", "1 .5", "-1.5", "+1.5", "1.+5", "1.\u{661}"]
    {
        assert_eq!(wait(text), None, "{text:?}");
    }
    let malformed = [
        "-1", "+1", "1e3", "120s", "", " ", "1, 2", "1,2", "120, 120", "1 2", "0x10", "1_000", "inf", "NaN",
        "\u{661}2", "\u{a0}1", "1\n", "1\0", "soon", "invalid",
    ];
    assert_eq!(malformed.len(), 20);
    for text in malformed {
        assert_eq!(wait(text), None, "{text:?}");
        assert_eq!(retry_after_millis(text), None, "{text:?}");
    }
}

proptest! {
    #[test]
    fn every_date_is_understood(until in 0..END, since in 0..END) {
        let wait = Some(secs(until.saturating_sub(since)));
        for (index, form) in forms(until).iter().enumerate() {
            if index != 1 || until < END_OF_TWO_DIGITS {
                prop_assert_eq!(retry_after(form, None, UNIX_EPOCH + secs(since)), wait, "{}", form);
                prop_assert_eq!(retry_after(form, Some(&forms(since)[0]), UNIX_EPOCH), wait, "{}", form);
            }
        }
    }

    // Rules E3, E5.
    #[test]
    fn a_wait_is_accepted_if_and_only_if_it_is_a_number(
        text in prop_oneof!["[ \t]{0,2}[0-9]{0,40}[ \t]{0,2}", "[ \t]{0,2}[0-9]{0,20}\\.[0-9]{0,9}[ \t]{0,2}", "[0-9 \t.,+\\-eEs\n\u{a0}]{0,8}", any::<String>()],
        response_date in proptest::option::of(any::<String>()),
    ) {
        let number = number(&text);
        let seconds = number.map(secs).or_else(|| fraction(&text));
        prop_assert_eq!(retry_after(&text, response_date.as_deref(), UNIX_EPOCH), seconds);
        prop_assert_eq!(retry_after_millis(&text), number.map(Duration::from_millis));
    }

    #[test]
    fn a_date_is_accepted_if_and_only_if_it_is_in_the_grammar(
        seconds in 0..END_OF_TWO_DIGITS, form in 0..4_usize,
        edits in prop::collection::vec((0..40_usize, prop_oneof![" -~", "[0-9]", "\\PC"]), 0..3),
        cut in 20..40_usize,
    ) {
        let mut text: Vec<char> = forms(seconds)[form].chars().take(cut).collect();
        for (at, by) in edits {
            let at = at % text.len();
            text.splice(at..=at, by.chars());
        }
        let text: String = text.into_iter().collect();
        prop_assert_eq!(retry_after(&text, None, UNIX_EPOCH), date(&text).map(secs), "{:?}", text);
    }
}
