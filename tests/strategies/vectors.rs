//! The shared test data: traces of a client, tables of delays, and cases of the quota.

use crate::support::{Failed, secs};
use retry_core::strategy::LongPolling;
use retry_core::{
    BackoffStrategy, ErrorFault, ExponentialBackoff, Failure, Jitter, RetryError, RetryErrorType, RetryQuota,
    RetrySafety, RetryStrategy, RetryToken, StandardRetryStrategy, Success, TokenBucket, TokioTimer, retry,
};
use serde::Deserialize;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Deserialize)]
struct Vectors {
    v2_0: Vec<Trace>,
    v2_1: Vec<Trace>,
    v2_1_capacity_sequences: Vec<Sequence>,
    retry_after_clamp: Vec<Clamp>,
    quota_unit: Vec<QuotaCase>,
    backoff_tables: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Trace {
    name: String,
    given: Given,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Given {
    max_attempts: u32,
    initial_tokens: u32,
    jitter: f64,
    max_backoff_s: f64,
    #[serde(default)]
    long_polling: bool,
    non_throttling_base_s: Option<f64>,
}

/// A sequence of failures and successes of one client, with the expected quota.
#[derive(Deserialize)]
struct Sequence {
    name: String,
    ops: Vec<String>,
    last_op_granted: bool,
    expect_last_acquired: u32,
    expect_remaining: u32,
}

/// A hint of the server, with the expected wait.
#[derive(Deserialize)]
struct Clamp {
    #[serde(rename = "t_i_s")]
    backoff: f64,
    #[serde(rename = "retry_after_s")]
    hint: f64,
    #[serde(rename = "expect_s")]
    wait: f64,
}

#[derive(Clone, Deserialize)]
struct Step {
    response: Response,
    expect: Expected,
}

#[derive(Clone, Deserialize)]
struct Response {
    kind: String,
    retry_after_s: Option<f64>,
    /// The raw header.
    retry_after_ms: Option<String>,
}

#[derive(Clone, Deserialize)]
struct Expected {
    outcome: String,
    quota: Option<u32>,
    delay_s: Option<f64>,
}

#[derive(Deserialize)]
struct QuotaCase {
    name: String,
    start: u32,
    max: u32,
    event: String,
    amount: Option<u32>,
    expect: u32,
    granted: Option<bool>,
}

#[derive(Deserialize)]
struct Table {
    base_s: f64,
    max_s: f64,
    jitter: f64,
    by_retry_index: Vec<f64>,
}

#[derive(Deserialize)]
struct Overflow {
    base_s: f64,
    max_s: f64,
    jitter: f64,
    retry_index: u32,
    expect_s: f64,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../vectors/standard.json")).expect("the data is well formed")
}

fn parsed<T: for<'de> Deserialize<'de>>(value: &serde_json::Value) -> T {
    T::deserialize(value).expect("the data is well formed")
}

fn response(response: &Response) -> Result<(), Failed> {
    let server = Failed { fault: ErrorFault::Server, safety: RetrySafety::Maybe, ..Failed::SAFE };
    let error = match response.kind.as_str() {
        "success" => return Ok(()),
        "server_error" | "transient" => server,
        "throttling" => Failed::THROTTLED,
        "timeout" => Failed::TIMEOUT,
        "non_retryable" => Failed::FATAL,
        other => panic!("unknown kind of response: {other}"),
    };
    let header = response.retry_after_ms.as_ref().and_then(|millis| millis.parse().ok()).map(Duration::from_millis);
    Err(Failed { retry_after: header.or(response.retry_after_s.map(Duration::from_secs_f64)), ..error })
}

/// Replays the trace of one client: checks the outcome, the quota and the sleep of each step.
async fn replay(trace: &Trace, strategy: &StandardRetryStrategy) {
    let steps = RefCell::new(trace.steps.iter());
    while steps.borrow().len() > 0 {
        let before: Cell<Option<(&Step, Instant)>> = Cell::new(None);
        let check_retry = || {
            if let Some((step, failed_at)) = before.take() {
                let name = &trace.name;
                assert_eq!(step.expect.outcome, "retry", "{name}");
                assert_eq!(Some(strategy.quota().available()), step.expect.quota, "{name}");
                assert_eq!(Some(failed_at.elapsed().as_secs_f64()), step.expect.delay_s, "{name}");
            }
        };
        let attempt = || async {
            check_retry();
            // A trace may end with a granted retry, whose outcome it does not include.
            let Some(step) = steps.borrow_mut().next() else { return Ok(()) };
            before.set(Some((step, Instant::now())));
            response(&step.response)
        };
        let report = if trace.given.long_polling {
            retry(&LongPolling::over(strategy), attempt).report().await
        } else {
            retry(strategy, attempt).report().await
        };
        let Some((last, at)) = before.take() else { continue };
        let outcome = match report.reason {
            None => "success",
            Some(RetryError::MaxAttempts) => "max_attempts_exceeded",
            Some(RetryError::QuotaExhausted) => "quota_exceeded",
            Some(RetryError::NotRetryable) => "fail",
            Some(other) => panic!("{}: {other}", trace.name),
        };
        assert_eq!(outcome, last.expect.outcome, "{}", trace.name);
        let quota = last.expect.quota.unwrap_or(trace.given.initial_tokens);
        assert_eq!(strategy.quota().available(), quota, "{}", trace.name);
        let wait = last.expect.delay_s.unwrap_or(0.0);
        assert_eq!(at.elapsed(), Duration::from_secs_f64(wait), "{}: the wait at the end", trace.name);
    }
}

// Rules N9, Q4.
#[tokio::test(start_paused = true)]
async fn traces_of_aws_2_0_are_reproduced() {
    let traces = vectors().v2_0;
    for trace in &traces {
        let Given { max_attempts, initial_tokens, jitter, max_backoff_s, .. } = trace.given;
        let strategy = StandardRetryStrategy::aws_2_0()
            .max_attempts(max_attempts)
            .quota_capacity(initial_tokens)
            .backoff(secs(1), Duration::from_secs_f64(max_backoff_s))
            .jitter(Jitter::Fixed(jitter));
        replay(trace, &strategy).await;
    }
    assert_eq!(traces.len(), 6);
}

// Rules N7, N9, Q4, R20.
#[tokio::test(start_paused = true)]
async fn traces_of_aws_2_1_are_reproduced() {
    let traces = vectors().v2_1;
    for trace in &traces {
        let Given { max_attempts, initial_tokens, jitter, max_backoff_s, non_throttling_base_s, .. } = trace.given;
        let strategy = StandardRetryStrategy::aws_2_1()
            .max_attempts(max_attempts)
            .quota_capacity(initial_tokens)
            .backoff(
                Duration::from_secs_f64(non_throttling_base_s.unwrap_or(0.05)),
                Duration::from_secs_f64(max_backoff_s),
            )
            .throttling_base(secs(1))
            .jitter(Jitter::Fixed(jitter));
        replay(trace, &strategy).await;
    }
    assert_eq!(traces.len(), 18);
    assert_eq!(traces.iter().filter(|trace| trace.given.long_polling).count(), 5);
}

#[test]
fn quota_sequences_of_aws_2_1_are_reproduced() {
    let sequences = vectors().v2_1_capacity_sequences;
    for Sequence { name, ops, last_op_granted, expect_last_acquired, expect_remaining } in &sequences {
        let strategy = StandardRetryStrategy::aws_2_1();
        let mut token = None;
        let (mut granted, mut acquired) = (true, 0);
        for op in ops {
            let held = token.take().unwrap_or_else(|| strategy.acquire_initial_token(&TokioTimer).unwrap());
            let error = match op.as_str() {
                "S" => {
                    strategy.record_success(held, &Success::default(), &TokioTimer).unwrap();
                    granted = true;
                    continue;
                }
                "T" => Failed::SAFE,
                "TH" => Failed::THROTTLED,
                other => panic!("unknown operation: {other}"),
            };
            let before = strategy.quota().available();
            token = strategy.refresh_retry_token(held, &Failure::of(&error), &TokioTimer).ok();
            granted = token.is_some();
            acquired = before - strategy.quota().available();
        }
        assert_eq!(granted, *last_op_granted, "{name}");
        assert_eq!(acquired, *expect_last_acquired, "{name}");
        assert_eq!(strategy.quota().available(), *expect_remaining, "{name}");
    }
    assert_eq!(sequences.len(), 7);
}

// Rules B4, N13.
#[test]
fn hints_are_limited_as_in_aws_2_1() {
    let clamps = vectors().retry_after_clamp;
    for Clamp { backoff, hint, wait } in &clamps {
        let strategy =
            StandardRetryStrategy::aws_2_1().backoff(Duration::from_secs_f64(*backoff), secs(20)).jitter(Jitter::None);
        let token = strategy.acquire_initial_token(&TokioTimer).unwrap();
        let failure = Failure::of(&Failed::SAFE.after(Duration::from_secs_f64(*hint)));
        let token = strategy.refresh_retry_token(token, &failure, &TokioTimer).unwrap();
        assert_eq!(token.delay(), Duration::from_secs_f64(*wait));
    }
    assert_eq!(clamps.len(), 8);
}

fn backoff(base_s: f64, max_s: f64, jitter: f64) -> ExponentialBackoff {
    ExponentialBackoff::new(Duration::from_secs_f64(base_s), Duration::from_secs_f64(max_s))
        .jitter(Jitter::Fixed(jitter))
}

// Rule B1.
#[test]
fn delays_agree_with_the_tables() {
    let mut checked = 0;
    let mut check = |backoff: &ExponentialBackoff, index: u32, expected: Duration, name: &str| {
        let delay = backoff.compute_next_backoff_delay(index, RetryErrorType::Other);
        assert_eq!(delay, expected, "{name}, retry {index}");
        checked += 1;
    };
    for (name, table) in &vectors().backoff_tables {
        match name.as_str() {
            "overflow" => {
                for row in parsed::<Vec<Overflow>>(table) {
                    let backoff = backoff(row.base_s, row.max_s, row.jitter);
                    check(&backoff, row.retry_index, Duration::from_secs_f64(row.expect_s), name);
                }
            }
            "java_23ms_table" => {
                let (base_ms, max_ms): (u64, u64) = (parsed(&table["base_ms"]), parsed(&table["max_ms"]));
                for (attempt, jitter, expect_ms) in parsed::<Vec<(u32, f64, u64)>>(&table["rows"]) {
                    // The first attempt has no delay, and so no retry index.
                    let Some(index) = attempt.checked_sub(2) else {
                        assert_eq!(expect_ms, 0);
                        continue;
                    };
                    let backoff =
                        ExponentialBackoff::new(Duration::from_millis(base_ms), Duration::from_millis(max_ms))
                            .jitter(Jitter::Fixed(jitter));
                    check(&backoff, index, Duration::from_millis(expect_ms), name);
                }
            }
            _ => {
                let table: Table = parsed(table);
                let backoff = backoff(table.base_s, table.max_s, table.jitter);
                for (index, seconds) in (0..).zip(&table.by_retry_index) {
                    check(&backoff, index, Duration::from_secs_f64(*seconds), name);
                }
            }
        }
    }
    assert_eq!(checked, 11 + 9 + 9 + 3 + 3 + 2 + 11);
}

// Rules N8, N10, Q1.
#[tokio::test(start_paused = true)]
async fn quota_cases_are_reproduced() {
    let cases = vectors().quota_unit;
    for case in &cases {
        let strategy = StandardRetryStrategy::aws_2_0().quota_capacity(case.max);
        let bucket: &TokenBucket = strategy.quota();
        assert!(bucket.try_acquire(case.max - case.start, &TokioTimer));
        match (case.event.as_str(), case.amount) {
            ("success_without_retry", None) => retry(&strategy, || async { Ok::<_, Failed>(()) }).run().await.unwrap(),
            ("final_failure", None) => {
                retry(&strategy, || async { Err::<(), _>(Failed::FATAL) }).run().await.unwrap_err();
            }
            ("release", Some(amount)) => bucket.refund(amount),
            ("acquire", Some(amount)) => {
                assert_eq!(Some(bucket.try_acquire(amount, &TokioTimer)), case.granted, "{}", case.name);
            }
            other => panic!("unknown event: {other:?}"),
        }
        assert_eq!(bucket.available(), case.expect, "{}", case.name);
    }
    assert_eq!(cases.len(), 5);
}
