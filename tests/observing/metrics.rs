//! The metrics of operations, as a recorder gets them.

mod installed;
mod waiting;

use crate::script::{Error, NONE, Script, judge};
use crate::support::{Failed, by_evidence, kept, secs};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Label, Metadata, Recorder, SharedString,
    Unit,
};
use retry_core::observe::metrics::MetricsObserver;
use retry_core::quota::{EvidenceQuota, NoQuota};
use retry_core::strategy::StrategyName;
use retry_core::{
    AdaptiveRetryStrategy, ChainPolicy, Event, EventKind, Hedge, Jitter, Observer, OperationId, PatientRetryStrategy,
    RetryErrorType, RetryStrategy, StandardRetryStrategy, policy_fn, retry, retry_blocking,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A recorder that keeps all values of each series, by its text form, such as `retry_send_rate{strategy="store"}`.
#[derive(Clone, Default)]
struct Recorded(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Names, types, units and meanings.
    described: Vec<(String, &'static str, Option<Unit>, String)>,
    registered: Vec<(Key, &'static str)>,
    values: BTreeMap<String, Vec<f64>>,
    /// How often the metrics were removed.
    removals: u32,
}

impl Recorded {
    fn describe(&self, name: &KeyName, kind: &'static str, unit: Option<Unit>, meaning: &SharedString) {
        let line = (name.as_str().to_owned(), kind, unit, meaning.to_string());
        self.0.lock().unwrap().described.push(line);
    }

    fn register(&self, key: &Key, kind: &'static str) -> Arc<Series> {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={:?}", label.key(), label.value())).collect();
        let mut state = self.0.lock().unwrap();
        state.registered.push((key.clone(), kind));
        let name = format!("{}{{{}}}", key.name(), labels.join(","));
        Arc::new(Series { name, after: state.removals, to: self.clone() })
    }

    /// Removes all metrics, as exporters do with those that are idle: what is counted by handles from before is lost.
    fn remove_metrics(&self) {
        self.0.lock().unwrap().removals += 1;
    }

    /// Returns the values of a series.
    fn values(&self, series: &str) -> Vec<f64> {
        self.0.lock().unwrap().values.get(series).cloned().unwrap_or_default()
    }

    /// Returns the number of values, which for counters that grow by one is their value.
    fn count(&self, series: &str) -> usize {
        self.values(series).len()
    }
}

struct Series {
    name: String,
    /// The removals before it was registered.
    after: u32,
    to: Recorded,
}

impl Series {
    fn add(&self, value: f64) {
        let mut state = self.to.0.lock().unwrap();
        if state.removals == self.after {
            state.values.entry(self.name.clone()).or_default().push(value);
        }
    }
}

impl CounterFn for Series {
    fn increment(&self, value: u64) {
        assert_eq!(value, 1);
        self.add(1.0);
    }

    fn absolute(&self, value: u64) {
        panic!("a counter was set to {value}");
    }
}

impl GaugeFn for Series {
    fn increment(&self, value: f64) {
        panic!("a gauge was incremented by {value}");
    }

    fn decrement(&self, value: f64) {
        panic!("a gauge was decremented by {value}");
    }

    fn set(&self, value: f64) {
        self.add(value);
    }
}

impl HistogramFn for Series {
    fn record(&self, value: f64) {
        self.add(value);
    }
}

impl Recorder for Recorded {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, meaning: SharedString) {
        self.describe(&name, "counter", unit, &meaning);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, meaning: SharedString) {
        self.describe(&name, "gauge", unit, &meaning);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, meaning: SharedString) {
        self.describe(&name, "histogram", unit, &meaning);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.register(key, "counter"))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.register(key, "gauge"))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.register(key, "histogram"))
    }
}

/// Runs a call whose attempts have these outcomes, one a second, under the recorder.
fn run<S: RetryStrategy>(
    recorder: &Recorded,
    observer: &MetricsObserver,
    strategy: &S,
    outcomes: &[Result<u32, Failed>],
) -> Result<u32, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let outcomes = outcomes.iter().map(|outcome| (secs(1), outcome.map_err(Error::Failed)));
    metrics::with_local_recorder(recorder, || {
        runtime.block_on(async {
            let script = Script::new(outcomes);
            let call = retry(strategy, || script.attempt()).policy(policy_fn(judge)).timer(&script.timer);
            call.observer(observer).name("get").max_time(NONE.max_time).run().await
        })
    })
}

fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).name("store")
}

fn adaptive() -> AdaptiveRetryStrategy {
    AdaptiveRetryStrategy::over(standard())
}

// Rule O13.
#[test]
fn an_operation_is_counted_with_its_outcome_its_attempts_and_its_waits() {
    let (recorder, observer, strategy) = (Recorded::default(), MetricsObserver::new(), standard());
    let fails = [Err(Failed::THROTTLED.after(secs(3))), Err(Failed::TIMEOUT), Ok(1)];
    assert_eq!(run(&recorder, &observer, &strategy, &fails), Ok(1));
    assert!(run(&recorder, &observer, &strategy, &[Err(Failed::FATAL)]).is_err());

    let of_call = r#"operation="get",strategy="store""#;
    let series = |name: &str| format!("{name}{{{of_call}}}");
    let with = |name: &str, label: &str| format!("{name}{{{of_call},{label}}}");
    assert_eq!(recorder.count(&series("retry_attempts_total")), 3 + 1);
    assert_eq!(recorder.count(&with("retry_operations_total", r#"outcome="ok""#)), 1);
    assert_eq!(recorder.count(&with("retry_operations_total", r#"outcome="not_retryable""#)), 1);
    assert_eq!(recorder.count(&with("retry_failed_attempts_total", r#"error_type="throttling""#)), 1);
    assert_eq!(recorder.count(&with("retry_failed_attempts_total", r#"error_type="timeout""#)), 1);
    assert_eq!(recorder.count(&with("retry_failed_attempts_total", r#"error_type="none""#)), 1);
    assert_eq!(recorder.count(&with("retry_retries_total", r#"error_type="throttling""#)), 1);
    assert_eq!(recorder.count(&with("retry_retries_total", r#"error_type="timeout""#)), 1);
    assert_eq!(recorder.values(&series("retry_backoff_seconds")), [3.0, 2.0]);
    assert_eq!(recorder.values(&series("retry_operation_attempts")), [3.0, 1.0]);
    assert_eq!(recorder.values(&series("retry_operation_duration_seconds")), [8.0, 1.0]);
    assert_eq!(recorder.values(r#"retry_quota_level{strategy="store"}"#), [495.0, 485.0, 486.0, 486.0]);
    assert_eq!(recorder.values(r#"retry_quota_capacity{strategy="store"}"#), [500.0; 4]);
    assert_eq!(recorder.count(r#"retry_send_rate{strategy="store"}"#), 0, "nothing limits sends");
    assert_eq!(recorder.count(&series("retry_limiter_wait_seconds")), 0);
}

// Rules O13, Q9.
#[test]
fn no_quota_has_no_gauge() {
    let (recorder, observer, strategy) = (Recorded::default(), MetricsObserver::new(), standard().with_quota(NoQuota));
    assert_eq!(run(&recorder, &observer, &strategy, &[Err(Failed::THROTTLED), Ok(1)]), Ok(1));
    for gauge in ["level", "capacity"] {
        assert_eq!(recorder.values(&format!(r#"retry_quota_{gauge}{{strategy="store"}}"#)), [0.0; 0]);
    }
}

// Rules O13, Q12.
#[test]
fn the_level_of_a_quota_by_evidence_is_a_part_of_its_capacity() {
    let (recorder, observer) = (Recorded::default(), MetricsObserver::new());
    let strategy = standard().with_quota(EvidenceQuota::new());
    let fails = [Err(Failed::SAFE), Err(Failed::SAFE), Ok(1)];
    assert_eq!(run(&recorder, &observer, &strategy, &fails), Ok(1));
    let [levels, capacities] =
        ["level", "capacity"].map(|gauge| recorder.values(&format!(r#"retry_quota_{gauge}{{strategy="store"}}"#)));
    assert_eq!((levels.len(), capacities.len()), (3, 3));
    let is_part = |(level, capacity): (&f64, &f64)| level <= capacity && *capacity >= 1.0;
    assert!(levels.iter().zip(&capacities).all(is_part), "{levels:?} of {capacities:?}");
    assert!(levels.iter().zip(&capacities).any(|(level, capacity)| level < capacity), "{levels:?} of {capacities:?}");
}

// Rule O13.
#[test]
fn waits_for_a_limiter_and_its_rate_are_metrics() {
    let (recorder, observer, strategy) = (Recorded::default(), MetricsObserver::new(), adaptive());
    assert_eq!(run(&recorder, &observer, &strategy, &[Err(Failed::THROTTLED), Ok(1)]), Ok(1));
    let waits = recorder.values(r#"retry_limiter_wait_seconds{operation="get",strategy="store"}"#);
    let (all, duration) = (
        waits.iter().sum::<f64>(),
        recorder.values(r#"retry_operation_duration_seconds{operation="get",strategy="store"}"#),
    );
    assert!(!waits.is_empty() && waits.iter().all(|wait| (0.0..=0.1).contains(wait)), "{waits:?}");
    let around = duration[0] - 1.0 - 1.0 - 1.0;
    assert!((all - around).abs() < 1e-3, "two attempts, the backoff, and {all} s of {around} s for the limiter");
    let rates = recorder.values(r#"retry_send_rate{strategy="store"}"#);
    assert_eq!(rates.last().copied(), strategy.send_rate());
    assert_eq!(rates.len(), 2, "after the throttled attempt and at the end");
}

/// Runs a call with a hedge after two seconds, whose attempts take these times.
fn run_hedged<S: RetryStrategy>(recorder: &Recorded, observer: &MetricsObserver, strategy: &S, seconds: [u64; 2]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (mut times, hedge) = (seconds.into_iter(), kept(Hedge::after(secs(2))));
    let attempt = || {
        let time = times.next().unwrap();
        async move {
            tokio::time::sleep(secs(time)).await;
            Ok::<_, Failed>(())
        }
    };
    let call = retry(strategy, attempt).observer(observer).name("get").idempotent(true).hedge(hedge);
    metrics::with_local_recorder(recorder, || runtime.block_on(call.run())).unwrap();
}

// Rules O13, V12.
#[test]
fn hedges_are_counted_by_their_result() {
    let (recorder, observer, strategy) = (Recorded::default(), MetricsObserver::new(), standard());
    for seconds in [[1, 1], [9, 1], [9, 1], [3, 9]] {
        run_hedged(&recorder, &observer, &strategy, seconds);
    }
    run_hedged(&recorder, &observer, &standard().max_attempts(1), [9, 1]);
    let hedges = |result| {
        recorder.count(&format!(r#"retry_hedges_total{{operation="get",strategy="store",result="{result}"}}"#))
    };
    assert_eq!([hedges("won"), hedges("lost"), hedges("max_attempts"), hedges("all_slow")], [2, 1, 1, 0]);
    assert_eq!(recorder.count(r#"retry_attempts_total{operation="get",strategy="store"}"#), 1 + 2 + 2 + 2 + 1);
}

// Rules O13, Q19.
#[test]
fn the_mode_of_a_quota_is_a_gauge() {
    let (recorder, observer) = (Recorded::default(), MetricsObserver::new());
    let strategy = by_evidence().jitter(Jitter::Fixed(1.0)).name("store");
    let modes = |outcomes: &[Result<u32, Failed>]| {
        let known = recorder.values(r#"retry_quota_mode{strategy="store"}"#).len();
        _ = run(&recorder, &observer, &strategy, outcomes);
        recorder.values(r#"retry_quota_mode{strategy="store"}"#).split_off(known)
    };
    assert_eq!(modes(&[Ok(1)]), [0.0], "full");
    assert_eq!(modes(&[Err(Failed::SAFE), Ok(1)]), [1.0, 1.0], "spending");
    assert_eq!(modes(&[Err(Failed::TIMEOUT)]), [2.0], "congested");
    assert_eq!(modes(&[Err(Failed::SAFE); 5]), [2.0, 3.0], "a retry, and exhausted");
    for _ in 0..100 {
        modes(&[Ok(1)]);
    }
    assert_eq!(modes(&[Ok(1)]), [0.0], "full");
}

// Rule O13.
#[test]
fn a_strategy_without_a_name_has_no_label_and_no_gauge() {
    let (recorder, observer) = (Recorded::default(), MetricsObserver::new());
    let strategy = AdaptiveRetryStrategy::new();
    assert_eq!(run(&recorder, &observer, &strategy, &[Err(Failed::THROTTLED), Ok(1)]), Ok(1));
    let state = recorder.0.lock().unwrap();
    assert!(
        state.registered.iter().all(|(key, kind)| *kind != "gauge" && key.labels().all(|it| it.key() != "strategy"))
    );
    assert_eq!(state.values.get(r#"retry_attempts_total{operation="get"}"#).map(Vec::len), Some(2));
}

// Rule O13.
#[test]
fn handles_are_kept_for_a_second() {
    let (recorder, observer, strategy) = (Recorded::default(), MetricsObserver::new(), adaptive());
    let fails = [Err(Failed::THROTTLED), Ok(1)];
    let began = Instant::now();
    assert_eq!(run(&recorder, &observer, &strategy, &fails), Ok(1));
    let registered = || recorder.0.lock().unwrap().registered.len();
    let first = registered();
    for _ in 0..5 {
        assert_eq!(run(&recorder, &observer, &strategy, &fails), Ok(1));
    }
    // Unless the machine is very slow.
    if began.elapsed() < secs(1) {
        assert_eq!(registered(), first);
    }
    assert_eq!(recorder.count(r#"retry_operations_total{operation="get",strategy="store",outcome="ok"}"#), 6);
    assert_eq!(recorder.0.lock().unwrap().described.len(), 15, "each metric is described once");
}

// Rule O13.
#[test]
fn names_are_told_apart_by_their_texts_however_many_there_are_and_wherever_they_are() {
    let (recorder, observer) = (Recorded::default(), MetricsObserver::new());
    let event = |number: u32| Event {
        operation: Box::leak(format!("operation {}", number / 2).into_boxed_str()),
        operation_id: OperationId::random(),
        strategy: (!number.is_multiple_of(2)).then(|| StrategyName::from(format!("strategy {}", number / 3))),
        attempt: 1,
        elapsed: secs(1),
        kind: EventKind::AttemptStarted,
    };
    // More than a thread finds by their addresses. The second ones have the same texts at other addresses.
    let events: Vec<_> = (0..300).chain(0..300).map(event).collect();
    metrics::with_local_recorder(&recorder, || {
        for _ in 0..2 {
            for event in &events {
                observer.observe(event);
            }
        }
    });
    let state = recorder.0.lock().unwrap();
    let attempts = state.values.iter().filter(|(name, _)| name.starts_with("retry_attempts_total"));
    let counts: Vec<_> = attempts.map(|(_, values)| values.len()).collect();
    assert_eq!(counts, [4; 300]);
}

/// A line of the table of metrics: name, type, unit and labels.
type Row = (String, String, String, BTreeSet<String>);

/// Returns the table of metrics in a page. In documentation comments, `prefix` stands before each line.
fn table(page: &str, prefix: &str) -> BTreeSet<Row> {
    let plain = |cell: &str| cell.trim().trim_matches('`').to_owned();
    let rows = page.lines().filter_map(|line| line.strip_prefix(prefix)?.strip_prefix("| `retry_"));
    rows.filter_map(|row| match row.split('|').collect::<Vec<_>>()[..] {
        [name, kind, unit, labels, _meaning, _] => {
            let labels = labels.split(',').map(plain).collect();
            Some((format!("retry_{}", plain(name)), plain(kind), plain(unit), labels))
        }
        // A table of events.
        _ => None,
    })
    .collect()
}

// Rule O13.
#[test]
fn the_documented_tables_list_what_is_published() {
    let (recorder, observer) = (Recorded::default(), MetricsObserver::new());
    let strategy = AdaptiveRetryStrategy::over(by_evidence().name("store"));
    assert_eq!(run(&recorder, &observer, &strategy, &[Err(Failed::THROTTLED), Ok(1)]), Ok(1));
    run_hedged(&recorder, &observer, &strategy, [9, 1]);
    let strategy = PatientRetryStrategy::new().name("store");
    assert_eq!(run(&recorder, &observer, &strategy, &[Err(Failed::TIMEOUT), Ok(1)]), Ok(1));
    let state = recorder.0.lock().unwrap();
    let published: BTreeSet<Row> = state
        .registered
        .iter()
        .map(|(key, kind)| {
            let (.., unit, _) = state.described.iter().find(|it| it.0 == key.name() && it.1 == *kind).unwrap();
            let labels = key.labels().map(|label: &Label| label.key().to_owned()).collect();
            (key.name().to_owned(), (*kind).to_owned(), unit.unwrap().as_str().to_owned(), labels)
        })
        .collect();
    assert_eq!(published.len(), 15);
    assert_eq!(published, table(include_str!("../../retry-core/src/observe/metrics.rs"), "//! "));
    assert_eq!(published, table(include_str!("../../docs/production.md"), ""));
}

// Rule O13.
#[test]
fn each_class_and_each_reason_is_a_value_of_its_label() {
    let (recorder, observer) = (Recorded::default(), MetricsObserver::new());
    let of = |strategy: StandardRetryStrategy, outcomes: &[Result<u32, Failed>]| {
        let _ = run(&recorder, &observer, &strategy, outcomes);
    };
    of(standard().max_attempts(2), &[Err(Failed::SAFE), Err(Failed::SAFE)]);
    of(standard().quota_capacity(1), &[Err(Failed::SAFE)]);
    of(standard(), &[Err(Failed::SAFE.after(secs(3600)))]);
    let off = standard();
    off.set_enabled(false);
    of(off, &[Err(Failed::SAFE)]);
    for reason in ["max_attempts", "quota_exhausted", "retry_after_too_long", "disabled"] {
        let series = format!(r#"retry_operations_total{{operation="get",strategy="store",outcome="{reason}"}}"#);
        assert_eq!(recorder.count(&series), 1, "{reason}");
    }
    let other = RetryErrorType::Other.as_str();
    let retries = format!(r#"retry_retries_total{{operation="get",strategy="store",error_type="{other}"}}"#);
    assert_eq!(recorder.count(&retries), 1);
}

// Rules O13, P8.
#[test]
fn an_error_that_nothing_classifies_is_counted_as_unknown() {
    let (recorder, observer, strategy) = (Recorded::default(), MetricsObserver::new(), StandardRetryStrategy::new());
    metrics::with_local_recorder(&recorder, || {
        let call = retry_blocking(&strategy, || Err::<(), _>(anyhow::anyhow!("no such table")));
        call.policy(ChainPolicy::new()).observer(&observer).name("read").run().unwrap_err();
    });
    assert_eq!(recorder.count(r#"retry_failed_attempts_total{operation="read",error_type="unknown"}"#), 1);
    assert_eq!(recorder.count(r#"retry_operations_total{operation="read",outcome="not_retryable"}"#), 1);
}
