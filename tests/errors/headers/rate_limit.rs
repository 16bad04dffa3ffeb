//! The headers by which a server reports how much of its rate limit remains.

use crate::support::secs;
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use retry_clients::http::{rate_limit, rate_limit_remaining, response_limit_in, response_rate_limit};
use retry_core::classify::http::RateLimit;
use retry_core::{RetryDirective, RetryErrorType, Success};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[expect(clippy::unnecessary_wraps, reason = "as the readers return it")]
fn limit(remaining: u64, reset: impl Into<Option<u64>>) -> Option<RateLimit> {
    Some(RateLimit::new(remaining).with_reset(reset.into().map(secs)))
}

// Rule E17.
#[test]
fn the_field_of_the_draft_is_a_list_of_limits_of_which_the_one_with_the_fewest_requests_counts() {
    for (value, expected) in [
        (r#""default";r=50;t=30"#, limit(50, 30)),
        (r#""default";t=30;r=50"#, limit(50, 30)),
        ("\t\"default\" ; r=50 ;\tt=30 ", limit(50, 30)),
        (r#""default";r=0"#, limit(0, None)),
        ("default;r=5", limit(5, None)),
        (r#""a";r=50;t=30,"b";r=9;t=1,"c";r=10"#, limit(9, 1)),
        (r#""a, b; \" c";r=50;pk=:cGs=:;x="r=1;t=2""#, limit(50, None)),
        (r#""a";t=5, "b";r=7;t=6"#, limit(7, 6)),
        (r#""a";r=99999999999999999999;t=99999999999999999999"#, limit(u64::MAX, u64::MAX)),
        ("limit=100, remaining=50, reset=30", limit(50, 30)),
        ("remaining=50", limit(50, None)),
        (r#"limit=100;w=60, remaining=50;comment="x", reset=30"#, limit(50, 30)),
    ] {
        assert_eq!(rate_limit(value), expected, "{value}");
    }
    for value in [
        "",
        " ",
        ",",
        "\"a\"",
        "\"a\";t=5",
        "\"a;r=5",
        r#""a";r=-1"#,
        r#""a";r=1.5"#,
        r#""a";r=+1"#,
        r#""a";r="#,
        r#""a";r= 1"#,
        r#""a";r"#,
        r#""a";r=5;t=-1"#,
        r#""a";r=5;t=soon"#,
        r#""a";r=5,"#,
        r#""a";r=5,"b";r=x"#,
        "50",
        "r=50",
        "reset=30",
        "limit=5",
        "remaining=x",
        "remaining=5, reset=x",
        "\u{661}",
        "\"a\";r=\u{661}",
    ] {
        assert_eq!(rate_limit(value), None, "{value}");
    }
}

// Rule E17.
#[test]
fn the_older_headers_hold_numbers_and_a_large_time_is_a_point_in_time() {
    let now = UNIX_EPOCH + secs(1_800_000_000);
    for (remaining, reset, expected) in [
        ("50", Some("30"), limit(50, 30)),
        (" 50\t", Some("\t30 "), limit(50, 30)),
        ("50", None, limit(50, None)),
        ("50", Some("soon"), limit(50, None)),
        ("50", Some("-1"), limit(50, None)),
        ("50", Some("999999999"), limit(50, 999_999_999)),
        ("50", Some("1000000000"), limit(50, 1_000_000_000)),
        ("50", Some("1000000001"), limit(50, 0)),
        ("50", Some("1800003600"), limit(50, 3600)),
        ("50", Some("1800003600.25"), limit(50, 3601)),
        ("50", Some("29.001"), limit(50, 30)),
        ("50", Some("1800003600000"), limit(50, 3600)),
        ("50", Some("1800003600001"), limit(50, 3601)),
        ("50", Some("1831622400"), limit(50, 31_622_400)),
        ("599.9", Some("30"), limit(599, 30)),
        // More than a year away, or in another unit.
        ("50", Some("1831622401"), limit(50, None)),
        ("50", Some("100000000000"), limit(50, None)),
        ("50", Some("100000000001"), limit(50, 0)),
        ("50", Some("1831622400001"), limit(50, None)),
        ("50", Some("1800003600000000"), limit(50, None)),
        ("50", Some("1800003600000000000"), limit(50, None)),
        ("50", Some("99999999999999999999999999"), limit(50, None)),
        ("50", Some("99999999999999999999999999.5"), limit(50, None)),
        ("50", Some("1."), limit(50, None)),
        ("5.", Some("30"), None),
        ("-1", Some("30"), None),
        ("", Some("30"), None),
        ("5 of 10", None, None),
    ] {
        assert_eq!(rate_limit_remaining(remaining, reset, now), expected, "{remaining} {reset:?}");
    }
    // A clock that was never set.
    for clock in [UNIX_EPOCH - secs(5), UNIX_EPOCH] {
        assert_eq!(rate_limit_remaining("1", Some("1000000001"), clock), limit(1, None));
        assert_eq!(rate_limit_remaining("1", Some("30"), clock), limit(1, 30));
    }
}

fn read(headers: &[(&'static str, &'static str)], now: SystemTime) -> Option<RateLimit> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, HeaderValue::from_static(value));
    }
    response_rate_limit(&map, now)
}

// Rule E17.
#[test]
fn a_limit_in_another_unit_than_requests_is_not_read() {
    let both = r#""requests";r=50;t=30, "bytes";r=9;t=5"#;
    let policy = "ratelimit-policy";
    for (policies, limits, expected) in [
        ([r#""requests";q=100;w=60, "bytes";q=10000;qu="content-bytes""#, ""], both, limit(50, 30)),
        ([r#""requests";q=100;qu="requests";w=60, "bytes";qu="content-bytes";q=9"#, ""], both, limit(50, 30)),
        ([r#""bytes";q=4;qu="concurrent-requests""#, ""], both, limit(50, 30)),
        ([r#""bytes";q=4 ; qu=content-bytes "#, ""], both, limit(50, 30)),
        (["bytes;q=4;qu=\"content-bytes\"", ""], both, limit(50, 30)),
        ([r#""bytes";q=4;qu="""#, ""], both, limit(50, 30)),
        ([r#""bytes";q=4;qu="requests""#, ""], both, limit(9, 5)),
        ([r#""bytes";q=4;qu=requests"#, ""], both, limit(9, 5)),
        ([r#""bytes";q=4"#, ""], both, limit(9, 5)),
        ([r#""other";q=4;qu="content-bytes""#, ""], both, limit(9, 5)),
        ([r#""x;qu=\"bytes\"", "bytes";q=4"#, ""], both, limit(9, 5)),
        // The list can be spread over several lines.
        ([r#""requests";q=4"#, r#""bytes";qu="content-bytes""#], both, limit(50, 30)),
        // No limit of requests is left, so the older header is read.
        ([r#""bytes";q=4;qu="content-bytes""#, ""], r#""bytes";r=9"#, limit(40, None)),
        // A malformed policy is ignored, and so is a limit that is malformed.
        ([r#""bytes";qu="content-bytes"#, ""], both, limit(9, 5)),
        ([r#"=;qu="content-bytes""#, ""], both, limit(9, 5)),
        ([r#""bytes";qu="content-bytes""#, ""], r#""bytes";r=9, "requests";r=x"#, limit(40, None)),
        ([r#""bytes";qu="content-bytes""#, ""], "remaining=7, reset=8", limit(7, 8)),
    ] {
        let lines = policies.iter().filter(|line| !line.is_empty()).map(|line| (policy, *line));
        let headers: Vec<_> = lines.chain([("ratelimit", limits), ("x-ratelimit-remaining", "40")]).collect();
        assert_eq!(read(&headers, UNIX_EPOCH), expected, "{policies:?} {limits}");
    }
}

// Rule E27.
#[test]
fn a_limit_is_read_in_its_unit() {
    let both = r#""calls";r=50;t=30, "bytes";r=900;t=5, "more";r=7000;t=9"#;
    let bytes = r#""bytes";q=4;qu="content-bytes", "more";q=9;qu=content-bytes"#;
    for (policies, limits, expected) in [
        (bytes, both, limit(900, 5)),
        (r#""more";q=9;qu="content-bytes""#, both, limit(7000, 9)),
        (r#""more";q=9;qu="bytes""#, both, None),
        (r#""other";q=9;qu="content-bytes""#, both, None),
        ("", both, None),
        // A malformed list has no limit in another unit.
        (r#""bytes";qu="content-bytes"#, both, None),
        (bytes, r#""bytes";r=x"#, None),
        // The older form is about requests.
        (bytes, "remaining=7, reset=8", None),
    ] {
        let headers: HeaderMap = [("ratelimit-policy", policies), ("ratelimit", limits), ("ratelimit-remaining", "40")]
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .into_iter()
            .collect();
        assert_eq!(response_limit_in("content-bytes", &headers), expected, "{policies} {limits}");
    }
    let mut headers = HeaderMap::new();
    headers.insert("ratelimit", HeaderValue::from_static(both));
    assert_eq!(response_limit_in("requests", &headers), limit(50, 30));
}

// Rule E17.
#[test]
fn a_time_of_reset_counts_from_the_date_of_the_response() {
    // 1,800,000,000 seconds since 1970. The client's clock is ten minutes slow.
    let date = ("date", "Fri, 15 Jan 2027 08:00:00 GMT");
    let now = UNIX_EPOCH + secs(1_799_999_400);
    for name in ["x-ratelimit", "x-rate-limit", "ratelimit"] {
        let (remaining, reset) = match name {
            "ratelimit" => ("ratelimit-remaining", "ratelimit-reset"),
            "x-rate-limit" => ("x-rate-limit-remaining", "x-rate-limit-reset"),
            _ => ("x-ratelimit-remaining", "x-ratelimit-reset"),
        };
        let headers = [(remaining, "5"), (reset, "1800000030"), date];
        assert_eq!(read(&headers, now), limit(5, 30), "{name}");
        assert_eq!(read(&headers[..2], now), limit(5, 630), "{name}");
    }
    let list = [("ratelimit", "\"a\";r=5;t=1800000030"), date];
    assert_eq!(read(&list, now), limit(5, 30));
    assert_eq!(read(&list[..1], now), limit(5, 630));
}

// Rule E17.
#[test]
fn of_the_headers_of_a_response_the_newest_that_is_well_formed_counts() {
    let now = UNIX_EPOCH + secs(1_800_000_000);
    let read = |headers: &[(&'static str, &'static str)]| read(headers, now);
    let older = ("ratelimit-remaining", "40");
    let oldest = [("x-ratelimit-remaining", "30"), ("x-ratelimit-reset", "1800000009")];
    assert_eq!(read(&[]), None);
    assert_eq!(read(&oldest), limit(30, 9));
    assert_eq!(read(&[oldest[0], oldest[1], older]), limit(40, None));
    assert_eq!(read(&[oldest[0], older, ("ratelimit", "\"a\";r=50")]), limit(50, None));
    assert_eq!(read(&[older, ("ratelimit", "\"a\";r=")]), limit(40, None), "a malformed one is passed over");
    assert_eq!(
        read(&[("ratelimit", "\"a\";r=50"), ("ratelimit", "\"b\";r=20;t=3")]),
        limit(20, 3),
        "a list in two lines"
    );
    assert_eq!(read(&[oldest[0], older, older]), limit(30, None), "a header that must be there once");
    let dashed = [("x-rate-limit-remaining", "20"), ("x-rate-limit-reset", "7")];
    assert_eq!(read(&dashed), limit(20, 7));
    assert_eq!(read(&[oldest, dashed].concat()), limit(30, 9));
    assert_eq!(
        read(&[oldest[0], oldest[1], ("x-ratelimit-reset-after", "8.2")]),
        limit(30, 9),
        "the time that is left"
    );
    assert_eq!(read(&[oldest[0], oldest[1], ("x-ratelimit-reset-after", "soon")]), limit(30, 9));
    assert_eq!(read(&[("ratelimit", "\"a\";r=5;t=6, \"b\";r=5;t=9, \"c\";r=5")]), limit(5, 9), "the last reset");
}

#[test]
fn a_report_keeps_what_fits() {
    let most = RateLimit::new(u64::MAX).with_reset(Some(Duration::MAX));
    assert_eq!((most.remaining(), most.reset()), (u32::MAX, Some(secs(u64::from(u32::MAX) - 2))));
    let least = RateLimit::new(0).with_reset(Some(Duration::from_millis(999)));
    assert_eq!((least.remaining(), least.reset()), (0, Some(secs(0))));
    assert_eq!(most.with_reset(None).reset(), None);
}

// Rule E17.
#[test]
fn a_success_carries_a_report_and_a_failure_does_not() {
    let limit = limit(5, 6);
    assert_eq!(Success::default().with_rate_limit(limit).rate_limit(), limit);
    let RetryDirective::Succeed { success, .. } = RetryDirective::succeed().with_rate_limit(limit) else { panic!() };
    assert_eq!(success.rate_limit(), limit);
    for failure in [RetryDirective::fail(None), RetryDirective::retry(RetryErrorType::Throttling)] {
        assert_eq!(failure.with_rate_limit(limit), failure);
    }
}

proptest! {
    // Rule E17.
    #[test]
    fn no_text_makes_the_readers_panic(value in r#"(\PC|[ \t",;=\\rt0-9:-]){0,40}"#, other in r"\PC{0,12}") {
        let _ = rate_limit(&value);
        let _ = rate_limit_remaining(&value, Some(&other), SystemTime::now());
        let _ = rate_limit_remaining(&other, Some(&value), UNIX_EPOCH);
        let mut headers = HeaderMap::new();
        for (name, text) in [("ratelimit", &value), ("ratelimit-policy", &value), ("ratelimit-policy", &other)] {
            headers.extend(HeaderValue::from_str(text).ok().map(|text| (HeaderName::from_static(name), text)));
        }
        let _ = response_rate_limit(&headers, UNIX_EPOCH);
    }

    // Rule E17.
    #[test]
    fn what_is_written_as_the_draft_says_is_read(
        limits in prop::collection::vec((r"[ -!#-\[\]-~]{0,8}", any::<u32>(), prop::option::of(0..u32::MAX)), 1..5)
    ) {
        let written = limits.iter().map(|(name, r, t)| {
            format!("\"{name}\";r={r}{}", t.map_or_else(String::new, |t| format!(";t={t}")))
        });
        let written = written.collect::<Vec<_>>().join(", ");
        let fewest = limits.iter().min_by_key(|(_, r, _)| *r);
        let expected = fewest.and_then(|(_, r, t)| limit(u64::from(*r), t.map(u64::from)));
        prop_assert_eq!(rate_limit(&written), expected, "{}", written);
    }
}
