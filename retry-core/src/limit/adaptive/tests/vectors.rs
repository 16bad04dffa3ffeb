//! The limiter's arithmetic, checked against the reference vectors.

use crate::limit::adaptive::rate::{Cubic, MeasuredRate};
use crate::limit::adaptive::send_bucket::{Limiter, SendBucket, highest_rate};
use crate::limit::queue::SendQueue;
use crate::time::Timestamp;
use serde::Deserialize;
use std::time::Duration;

#[derive(Deserialize)]
struct Vectors {
    cubic_success: Curve,
    cubic_mixed_spec: Curve,
    cubic_params: Vec<Params>,
    end_to_end: EndToEnd,
    rate_clocker: Vec<Clocker>,
    rate_cap: Vec<Cap>,
    token_bucket: Vec<Bucket>,
}

#[derive(Deserialize)]
struct Curve {
    given: CurveGiven,
    cases: Vec<CurveCase>,
}

#[derive(Deserialize)]
struct CurveGiven {
    last_max_rate: f64,
    last_throttle_time: f64,
}

#[derive(Deserialize)]
struct CurveCase {
    response: String,
    timestamp: f64,
    calculated_rate: f64,
}

#[derive(Deserialize)]
struct Params {
    w_max: f64,
    k: f64,
}

#[derive(Deserialize)]
struct EndToEnd {
    cases: Vec<Update>,
    tolerance: f64,
}

#[derive(Deserialize)]
struct Update {
    response: String,
    timestamp: f64,
    measured_tx_rate: f64,
    new_token_bucket_rate: f64,
    derived_max_capacity: f64,
    derived_current_capacity: f64,
}

#[derive(Deserialize)]
struct Clocker {
    created_at: f64,
    timestamps: Vec<f64>,
    expect: Option<f64>,
    expect_between: Option<(f64, f64)>,
    expect_at_least: Option<f64>,
}

#[derive(Deserialize)]
struct Cap {
    measured: f64,
    adjustor: f64,
    expect_new_rate: f64,
}

#[derive(Deserialize)]
struct Bucket {
    name: String,
    #[serde(default)]
    given: BucketGiven,
    ops: Vec<Op>,
}

#[derive(Default, Deserialize)]
struct BucketGiven {
    min_rate: Option<f64>,
    max_rate: Option<f64>,
    fill_rate: Option<f64>,
    last_timestamp: Option<f64>,
}

#[derive(Deserialize)]
struct Op {
    #[serde(rename = "op")]
    name: String,
    t: Option<f64>,
    value: Option<f64>,
    throttle: Option<bool>,
    #[serde(default = "once")]
    repeat: u32,
    expect_granted: Option<bool>,
    expect_wait_s: Option<f64>,
    expect_capacity: Option<serde_json::Value>,
    expect_fill_rate: Option<f64>,
    expect_max_capacity: Option<f64>,
}

fn once() -> u32 {
    1
}

fn vectors() -> Vectors {
    let data = include_str!("../../../../../tests/vectors/adaptive.json");
    serde_json::from_str(data).expect("the data is well formed")
}

fn at(seconds: f64) -> Timestamp {
    Timestamp::from_origin(Duration::from_secs_f64(seconds))
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

// Rule A6.
#[test]
fn the_curve_of_the_rate() {
    let Vectors { cubic_success, cubic_mixed_spec, .. } = vectors();
    let mut checked = 0;
    for Curve { given, cases } in [cubic_success, cubic_mixed_spec] {
        let mut cubic = Cubic::new(at(0.0));
        cubic.throttled(at(given.last_throttle_time), given.last_max_rate);
        let mut rate = given.last_max_rate;
        for case in cases {
            rate = match case.response.as_str() {
                "success" => cubic.grown_up_to(at(case.timestamp), f64::INFINITY),
                "throttle" => cubic.throttled(at(case.timestamp), rate),
                other => panic!("unknown response: {other}"),
            };
            close(rate, case.calculated_rate, 1e-6);
            checked += 1;
        }
    }
    assert_eq!(checked, 15);
}

// Rule A6.
#[test]
fn the_time_back_to_the_former_rate() {
    let params = vectors().cubic_params;
    for Params { w_max, k } in &params {
        let mut cubic = Cubic::new(at(0.0));
        cubic.throttled(at(100.0), *w_max);
        close(cubic.grown_up_to(at(100.0 + k), f64::INFINITY), *w_max, 1e-6);
    }
    assert_eq!(params.len(), 2);
}

// Rule A5.
#[test]
fn the_measured_rate() {
    let clockers = vectors().rate_clocker;
    for Clocker { created_at, timestamps, expect, expect_between, expect_at_least } in &clockers {
        let mut measured = MeasuredRate::new(at(*created_at));
        let rate = timestamps.iter().fold(0.0, |_, timestamp| measured.update(at(*timestamp)));
        match (expect, expect_between, expect_at_least) {
            (Some(expected), None, None) => close(rate, *expected, 1e-7),
            (None, Some((low, high)), None) => assert!(*low <= rate && rate <= *high, "{rate}"),
            (None, None, Some(low)) => assert!(*low <= rate, "{rate}"),
            _ => panic!("one expectation each"),
        }
    }
    assert_eq!(clockers.len(), 7);
}

// Rules A5, A6, A7, A8.
#[test]
fn the_limiter_from_end_to_end() {
    let EndToEnd { cases, tolerance } = vectors().end_to_end;
    let mut limiter = Limiter::new(at(0.0));
    for case in &cases {
        limiter.response(at(case.timestamp), case.response == "throttle");
        close(limiter.measured.rate, case.measured_tx_rate, tolerance);
        close(limiter.bucket.fill, case.new_token_bucket_rate, tolerance);
        close(limiter.bucket.max_capacity, case.derived_max_capacity, tolerance);
        close(limiter.bucket.capacity, case.derived_current_capacity, tolerance);
    }
    assert_eq!(cases.len(), 17);
}

// Rule A7.
#[test]
fn the_rate_is_at_most_twice_the_measured_one() {
    let caps = vectors().rate_cap;
    for Cap { measured, adjustor, expect_new_rate } in &caps {
        close(adjustor.min(highest_rate(*measured)), *expect_new_rate, 0.0);
    }
    assert_eq!(caps.len(), 2);
}

// Rule A8.
#[test]
fn the_bucket_of_sends() {
    let buckets = vectors().token_bucket;
    for Bucket { name, given, ops } in &buckets {
        let mut limiter = Limiter::new(at(0.0));
        let mut bucket = SendBucket::default();
        if let (Some(fill), Some(last)) = (given.fill_rate, given.last_timestamp) {
            // The only bucket with a given state. It holds one send, less an amount that no clock can measure.
            bucket = SendBucket { fill, max_capacity: 1.0, capacity: 1.0 - 1e-12, last_refill: Some(at(last)) };
        }
        if let Some(rate) = given.max_rate {
            bucket.set_rate(at(0.0), rate, given.min_rate.unwrap_or(0.5));
        }
        for op in ops {
            for _ in 0..op.repeat {
                match op.name.as_str() {
                    "update" => {
                        limiter.response(at(op.t.unwrap()), op.throttle.unwrap());
                        bucket = limiter.bucket;
                    }
                    "set_rate" => bucket.set_rate(at(0.0), op.value.unwrap(), given.min_rate.unwrap()),
                    "acquire" if bucket.last_refill.is_none() => assert_eq!(op.expect_granted, Some(true), "{name}"),
                    "acquire" => {
                        bucket.refill(at(op.t.unwrap()));
                        let wait = bucket.wait_for(1.0);
                        assert_eq!(Some(wait.is_zero()), op.expect_granted, "{name}: {wait:?}");
                        if wait.is_zero() {
                            bucket.take();
                        }
                        if let Some(expected) = op.expect_wait_s {
                            close(wait.as_secs_f64(), expected, 1e-6);
                        }
                    }
                    other => panic!("unknown operation: {other}"),
                }
                match op.expect_capacity.as_ref().map(|value| (value.as_f64(), value.as_str())) {
                    Some((Some(expected), _)) => close(bucket.capacity, expected, 1e-6),
                    Some((None, Some(">=0"))) => assert!(bucket.capacity >= 0.0, "{name}"),
                    Some(other) => panic!("unknown expectation: {other:?}"),
                    None => {}
                }
                if let Some(expected) = op.expect_fill_rate {
                    close(bucket.fill, expected, 0.0);
                }
                if let Some(expected) = op.expect_max_capacity {
                    close(bucket.max_capacity, expected, 0.0);
                }
            }
        }
    }
    assert_eq!(buckets.len(), 6);
}

// Rule A14.
#[test]
fn a_wait_shorter_than_the_resolution_of_the_clock_is_granted_at_once() {
    let mut bucket = SendBucket { fill: 1e9, max_capacity: 1e9, capacity: 1.0 - 1e-7, last_refill: Some(at(1.0)) };
    assert_eq!(bucket.wait_for(1.0), Duration::ZERO);
    bucket.take();
    assert!(bucket.capacity.abs() < 1e-9, "the balance never goes below zero");
    for step in 1..1000_u32 {
        let fill = 0.5 + f64::from(step) * 0.37;
        let mut bucket = SendBucket {
            fill,
            max_capacity: fill.max(1.0),
            capacity: 0.1 / f64::from(step),
            last_refill: Some(at(1.0)),
        };
        let wait = bucket.wait_for(1.0);
        bucket.refill(at(1.0).saturating_add(wait));
        assert_eq!(bucket.wait_for(1.0), Duration::ZERO, "after the wait, the send is granted");
    }
}

#[test]
fn the_curve_is_a_number_before_and_after_its_flat_part() {
    let mut cubic = Cubic::new(at(0.0));
    cubic.throttled(at(10.0), 100.0);
    for elapsed in [0.0, 0.5, 4.2, 5.0, 100.0] {
        assert!(cubic.grown_up_to(at(10.0 + elapsed), f64::INFINITY).is_finite());
    }
    let [before, after] = [10.5, 15.0].map(|time| cubic.grown_up_to(at(time), f64::INFINITY));
    assert!(before < 100.0 && after > 100.0);
}

// Rule A1.
#[test]
fn a_queue_without_throttling_has_no_limit() {
    let mut queue = SendQueue::new(Limiter::new(at(0.0)), at(0.0));
    for response in 0..1000 {
        let (limiter, now) = queue.limit_at(at(f64::from(response) / 100.0));
        limiter.response(now, false);
    }
    assert!(!queue.limit().is_enabled());
}
