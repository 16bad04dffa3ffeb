//! The `tracing` events of an operation.

use crate::support::subscribers::subscribe;
use crate::support::{Failed, Flaky, Recorder, by_evidence, kept, millis, secs};
use retry_core::quota::NoQuota;
use retry_core::strategy::LongPolling;
use retry_core::{Hedge, Jitter, RetryError, StandardRetryStrategy, retry, retryable};
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tokio::time::sleep;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// A layer that formats each event as a line: level, name and fields without the id of the operation.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        struct Line(String);
        impl Visit for Line {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                match field.name() {
                    "message" | "operation_id" => {}
                    name => write!(self.0, " {name}={value:?}").unwrap(),
                }
            }
        }

        assert_eq!(event.metadata().target(), "retry_core");
        let mut line = Line(format!("{}:", event.metadata().name()));
        event.record(&mut line);
        self.0.lock().unwrap().push(format!("{} {}", event.metadata().level(), line.0));
    }
}

/// Returns the events of an operation.
async fn lines(operation: impl Future) -> Vec<String> {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::registry().with(lines.clone());
    let _guard = subscribe(subscriber);
    operation.await;
    std::mem::take(&mut lines.0.lock().unwrap())
}

/// A strategy that is used without failures, so its quota stays full.
static STRATEGY: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STRATEGY)]
async fn get(flaky: &Flaky) -> Result<u32, Failed> {
    flaky.call()
}

// Rule O6.
#[tokio::test(start_paused = true)]
async fn a_success_at_the_first_attempt_is_traced_only() {
    assert_eq!(
        lines(get(&Flaky::new(0, Failed::SAFE))).await,
        [
            r#"TRACE attempt_started: operation="observing::events::get" attempt=1"#,
            r#"TRACE succeeded: operation="observing::events::get" attempt=1 recorded=true quota=500"#,
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_with_a_filter_gets_warnings_only() {
    let lines = Lines::default();
    let layer = lines.clone().with_filter(LevelFilter::WARN);
    let _guard = subscribe(tracing_subscriber::registry().with(layer));
    let strategy = StandardRetryStrategy::new();
    let call = |flaky: Flaky| {
        let strategy = &strategy;
        async move { retry(strategy, || async { flaky.call() }).run().await }
    };
    assert!(call(Flaky::new(1, Failed::THROTTLED)).await.is_ok());
    assert!(call(Flaky::new(1, Failed::FATAL)).await.is_err());
    assert!(lines.0.lock().unwrap().is_empty());
    assert!(call(Flaky::new(9, Failed::SAFE)).await.is_err());
    assert_eq!(lines.0.lock().unwrap().len(), 1);
}

// Rule O6.
#[tokio::test(start_paused = true)]
async fn retries_and_late_successes_are_events() {
    let strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0));
    let flaky = Flaky::new(2, Failed::THROTTLED.after(secs(2)));
    let all = lines(retry(&strategy, || async { flaky.call() }).name("get").run()).await;
    assert_eq!(
        all,
        [
            r#"TRACE attempt_started: operation="get" attempt=1"#,
            r#"DEBUG attempt_failed: operation="get" attempt=1 error_type="throttling" retryable=true retry_after_ms=2000"#,
            r#"DEBUG retry_scheduled: operation="get" attempt=1 error_type="throttling" delay_ms=2000 delay_source="retry_after" quota=495"#,
            r#"TRACE attempt_started: operation="get" attempt=2"#,
            r#"DEBUG attempt_failed: operation="get" attempt=2 error_type="throttling" retryable=true retry_after_ms=2000"#,
            r#"DEBUG retry_scheduled: operation="get" attempt=2 error_type="throttling" delay_ms=2000 delay_source="backoff" quota=490"#,
            r#"TRACE attempt_started: operation="get" attempt=3"#,
            r#"DEBUG succeeded: operation="get" attempt=3 recorded=true quota=491"#,
        ]
    );
}

// Rules O6, Q19.
#[tokio::test(start_paused = true)]
async fn the_mode_of_a_quota_is_a_field() {
    let strategy = by_evidence().jitter(Jitter::Fixed(1.0));
    let flaky = Flaky::new(1, Failed::THROTTLED);
    let all = lines(retry(&strategy, || async { flaky.call() }).name("get").run()).await;
    assert_eq!(
        all[2..],
        [
            r#"DEBUG retry_scheduled: operation="get" attempt=1 error_type="throttling" delay_ms=1000 delay_source="backoff" quota=1 quota_mode="spending""#,
            r#"TRACE attempt_started: operation="get" attempt=2"#,
            r#"DEBUG succeeded: operation="get" attempt=2 recorded=true quota=2 quota_mode="full""#,
        ]
    );
    let all = lines(retry(&strategy, || async { Err::<(), _>(Failed::SAFE) }).name("refused").run()).await;
    let ended = r#"WARN stopped: operation="refused" attempt=3 reason="quota_exhausted" error_type="other" also_refused=0 quota=0 quota_mode="exhausted""#;
    assert_eq!(all.last().unwrap(), ended);
}

// Rules O3, Q9.
#[tokio::test(start_paused = true)]
async fn no_quota_has_no_level_in_any_event() {
    let strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).with_quota(NoQuota);
    let flaky = Flaky::new(1, Failed::THROTTLED);
    let all = lines(retry(&strategy, || async { flaky.call() }).name("get").run()).await;
    assert_eq!(
        all[2..],
        [
            r#"DEBUG retry_scheduled: operation="get" attempt=1 error_type="throttling" delay_ms=1000 delay_source="backoff""#,
            r#"TRACE attempt_started: operation="get" attempt=2"#,
            r#"DEBUG succeeded: operation="get" attempt=2 recorded=true"#,
        ]
    );
    assert_eq!(
        last(retry(&strategy, || async { Err::<(), _>(Failed::FATAL) }).name("get").run()).await,
        r#"DEBUG stopped: operation="get" attempt=1 reason="not_retryable" error_type="client_side""#
    );
}

/// Returns the last event of an operation.
async fn last(operation: impl Future) -> String {
    lines(operation).await.pop().unwrap()
}

// Rules O6, O10.
#[tokio::test(start_paused = true)]
async fn the_name_of_the_strategy_is_a_field() {
    let strategy = StandardRetryStrategy::new().name("store");
    assert_eq!(
        last(retry(&strategy, || async { Ok::<_, Failed>(()) }).name("get").run()).await,
        r#"TRACE succeeded: operation="get" strategy="store" attempt=1 recorded=true quota=500"#
    );
}

// Rule O6.
#[tokio::test(start_paused = true)]
async fn a_call_whose_retries_are_switched_off_is_no_warning() {
    let strategy = StandardRetryStrategy::new();
    strategy.set_enabled(false);
    assert_eq!(
        last(retry(&strategy, || async { Err::<(), _>(Failed::SAFE) }).name("get").run()).await,
        r#"DEBUG stopped: operation="get" attempt=1 reason="disabled" error_type="other" quota=500"#
    );
}

// Rules O3, O6.
#[tokio::test(start_paused = true)]
async fn the_reason_to_stop_is_an_event() {
    let strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).quota_capacity(25);
    let stopped = |error: Failed| {
        let strategy = &strategy;
        last(async move { retry(strategy, || async { Err::<(), _>(error) }).name("stops").run().await })
    };
    assert_eq!(
        stopped(Failed::FATAL).await,
        r#"DEBUG stopped: operation="stops" attempt=1 reason="not_retryable" error_type="client_side" quota=25"#
    );
    assert_eq!(
        stopped(Failed::SAFE.after(secs(999))).await,
        r#"WARN stopped: operation="stops" attempt=1 reason="retry_after_too_long" error_type="other" quota=25"#
    );
    assert_eq!(
        stopped(Failed::SAFE).await,
        r#"WARN stopped: operation="stops" attempt=5 reason="max_attempts" error_type="other" quota=5"#
    );
    assert_eq!(
        stopped(Failed::TIMEOUT).await,
        r#"WARN stopped: operation="stops" attempt=1 reason="quota_exhausted" error_type="timeout" also_refused=0 quota=5"#
    );
    assert_eq!(
        last(retry(&strategy, std::future::pending::<Result<(), Failed>>).max_time(secs(1)).name("stops").run()).await,
        r#"WARN stopped: operation="stops" attempt=1 reason="max_time" error_type="none" quota=5"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_success_that_the_strategy_did_not_record_is_a_warning() {
    let forgetful = Recorder::new().forgetting();
    assert_eq!(
        last(retry(&forgetful, || async { Ok::<_, Failed>(()) }).name("get").run()).await,
        r#"WARN succeeded: operation="get" attempt=1 recorded=false"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_initial_token_is_an_event_whatever_the_outcome() {
    let refusing = Recorder::new().refusing_initial_token(RetryError::QuotaExhausted);
    assert_eq!(
        lines(retry(&refusing, || async { Ok::<_, Failed>(()) }).name("get").run()).await,
        [
            r#"WARN refused: operation="get" attempt=1 reason="quota_exhausted""#,
            r#"TRACE attempt_started: operation="get" attempt=1"#,
            r#"WARN succeeded: operation="get" attempt=1 recorded=false"#,
        ]
    );
    assert_eq!(
        last(retry(&refusing, || async { Err::<(), _>(Failed::SAFE) }).name("get").run()).await,
        r#"WARN stopped: operation="get" attempt=1 reason="refused" error_type="other""#
    );
}

// Rule V12.
#[tokio::test(start_paused = true)]
async fn that_there_never_is_a_hedge_is_a_warning_once_for_each_function() {
    let hedge = kept(Hedge::after(secs(1)));
    let slow = async || {
        sleep(secs(2)).await;
        Ok::<_, Failed>(())
    };
    let reported = async |strategy: &Recorder, name: &'static str| {
        let all = lines(retry(strategy, slow).name(name).idempotent(true).hedge(hedge).run()).await;
        all.into_iter().find(|line| line.contains("hedge_not_sent")).unwrap()
    };
    let text = |level: &str, name: &str, reason: &str| {
        format!(r#"{level} hedge_not_sent: operation="{name}" attempt=1 reason="{reason}""#)
    };
    let (one, other) = ("sells_no_hedges", "sells_no_hedges_either");
    // Without a subscriber, nothing is remembered.
    retry(&Recorder::new(), slow).name(one).idempotent(true).hedge(hedge).run().await.unwrap();
    // An operation whose initial token was refused could buy no hedge from any strategy.
    let refusing = Recorder::new().refusing_initial_token(RetryError::QuotaExhausted);
    assert_eq!(reported(&refusing, one).await, text("DEBUG", one, "not_sold"));
    for name in [one, other] {
        assert_eq!(reported(&Recorder::new(), name).await, text("WARN", name, "not_sold"));
        assert_eq!(reported(&Recorder::new(), name).await, text("DEBUG", name, "not_sold"));
    }
    // The same if nothing says that the function may be executed twice.
    for level in ["WARN", "DEBUG"] {
        let all = lines(retry(&STRATEGY, slow).name("says_nothing").hedge(hedge).run()).await;
        assert!(all.contains(&text(level, "says_nothing", "idempotency_unknown")), "{all:?}");
    }
    // Other reasons are no warnings.
    let disabled = retry_core::without_retries(reported(&Recorder::new(), "is_disabled")).await;
    assert_eq!(disabled, text("DEBUG", "is_disabled", "disabled"));
}

// Rule O7.
#[tokio::test(start_paused = true)]
async fn the_name_of_a_closure_is_its_path() {
    let all = lines(retry(&STRATEGY, || async { Ok::<_, Failed>(()) }).run()).await;
    assert!(
        all[0].starts_with("TRACE attempt_started: operation=\"observing::events::the_name_of_a_closure"),
        "{}",
        all[0]
    );
}

// Rule O6.
#[tokio::test(start_paused = true)]
async fn waits_for_a_limiter_and_delays_without_a_token_are_events() {
    let limited = Recorder::new().waiting([millis(1500), millis(20)]);
    assert_eq!(
        lines(retry(&limited, || async { Ok::<_, Failed>(()) }).name("get").run()).await,
        [
            r#"TRACE limited: operation="get" attempt=1 wait_ms=1500"#,
            r#"TRACE limited: operation="get" attempt=1 wait_ms=20"#,
            r#"TRACE attempt_started: operation="get" attempt=1"#,
            r#"TRACE succeeded: operation="get" attempt=1 recorded=true"#,
        ]
    );
    let strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).quota_capacity(4).name("queue");
    let strategy = LongPolling::over(strategy);
    let poll = retry(&strategy, || async { Err::<(), _>(Failed::SAFE) }).name("receive");
    assert_eq!(
        lines(poll.run()).await[2..],
        [
            r#"WARN quota_exhausted: strategy="queue" capacity=4"#,
            r#"DEBUG waiting_for_service: operation="receive" strategy="queue" attempt=1 error_type="other" delay_ms=0 quota=4"#,
            r#"WARN stopped: operation="receive" strategy="queue" attempt=1 reason="quota_exhausted" error_type="none" also_refused=0 quota=4"#,
        ]
    );
}

/// Returns the events of a call whose first attempt takes 300 ms, and whose hedge is sent after 100 ms and takes this time.
async fn hedged(strategy: &impl retry_core::RetryStrategy, hedge_takes: u64) -> Vec<String> {
    let hedge = kept(Hedge::after(millis(100)));
    let calls = std::cell::Cell::new(0);
    let call = retry(strategy, || {
        let time = if calls.replace(calls.get() + 1) == 0 { 300 } else { hedge_takes };
        async move {
            sleep(millis(time)).await;
            Ok::<_, Failed>(())
        }
    });
    lines(call.name("get").idempotent(true).hedge(hedge).run()).await
}

// Rules O6, V12.
#[tokio::test(start_paused = true)]
async fn a_hedge_that_is_sent_ends_or_is_not_sent_is_an_event() {
    for (hedge_takes, end) in [(50, ["won=true", "attempt=2"]), (900, ["won=false", "attempt=1"])] {
        assert_eq!(
            hedged(&StandardRetryStrategy::new(), hedge_takes).await[1..4],
            [
                r#"DEBUG hedge_sent: operation="get" attempt=2"#,
                r#"TRACE attempt_started: operation="get" attempt=2"#,
                &format!(r#"DEBUG hedge_ended: operation="get" attempt=2 {}"#, end[0]),
            ]
        );
        let ended = hedged(&StandardRetryStrategy::new(), hedge_takes).await.pop().unwrap();
        assert!(ended.contains(&format!(r#"succeeded: operation="get" {} recorded=true"#, end[1])), "{ended}");
    }
    let off = StandardRetryStrategy::new();
    off.set_enabled(false);
    assert_eq!(hedged(&off, 50).await[1], r#"DEBUG hedge_not_sent: operation="get" attempt=1 reason="disabled""#);
}

// Rules O6, O18.
#[tokio::test(start_paused = true)]
async fn the_first_retry_within_an_attempt_is_a_warning() {
    let [outer, inner] = [4, 3].map(|max| StandardRetryStrategy::new().max_attempts(max));
    let nested = async || {
        let flaky = Flaky::new(1, Failed::SAFE);
        let inner = || retry(&inner, || async { flaky.call() }).name("inner").run();
        lines(retry(&outer, inner).name("outer").run()).await
    };
    assert_eq!(nested().await[3], r#"WARN nested: operation="inner" attempt=1 outer="outer" max_attempts=12"#);
    assert!(nested().await.iter().all(|line| !line.contains("nested")), "once for two functions");
}
