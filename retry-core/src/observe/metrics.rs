//! Metrics of all operations, through the crate [`metrics`](https://docs.rs/metrics).
//!
//! The program chooses a recorder, such as that of `metrics-exporter-prometheus`. It installs the recorder first, and then
//! calls [`install`]:
//!
//! ```
//! // A recorder is installed here, for example by `PrometheusBuilder`: see docs/production.md in
//! // the repository for buckets.
//! retry_core::observe::metrics::install()?;
//! # Ok::<(), retry_core::observe::GlobalObserverIsSet>(())
//! ```
//!
//! # The metrics
//!
//! | name | type | unit | labels | meaning |
//! |---|---|---|---|---|
//! | `retry_operations_total` | counter | `count` | `operation`, `strategy`, `outcome` | operations that ended |
//! | `retry_attempts_total` | counter | `count` | `operation`, `strategy` | attempts that began |
//! | `retry_failed_attempts_total` | counter | `count` | `operation`, `strategy`, `error_type` | attempts that failed |
//! | `retry_retries_total` | counter | `count` | `operation`, `strategy`, `error_type` | retries that were scheduled |
//! | `retry_hedges_total` | counter | `count` | `operation`, `strategy`, `result` | calls that reached the delay of their hedge |
//! | `retry_operation_duration_seconds` | histogram | `seconds` | `operation`, `strategy` | the time of an operation, waits included |
//! | `retry_operation_attempts` | histogram | `count` | `operation`, `strategy` | the attempts of an operation |
//! | `retry_backoff_seconds` | histogram | `seconds` | `operation`, `strategy` | the delay before a retry |
//! | `retry_limiter_wait_seconds` | histogram | `seconds` | `operation`, `strategy` | one wait for a limiter, which can end earlier |
//! | `retry_service_wait_seconds` | histogram | `seconds` | `operation`, `strategy` | the time for which an operation waited for the service before it was sent |
//! | `retry_waiting_operations` | gauge | `count` | `strategy` | the operations that wait for the service |
//! | `retry_quota_level` | gauge | `count` | `strategy` | the level of the retry quota |
//! | `retry_quota_capacity` | gauge | `count` | `strategy` | the level of the full quota: that of a quota by evidence changes with the traffic |
//! | `retry_quota_mode` | gauge | `count` | `strategy` | what a quota that has modes does: 0 full, 1 spending, 2 congested, 3 exhausted, 4 waiting |
//! | `retry_send_rate` | gauge | `count_per_second` | `strategy` | the limit on sends, once there is one |
//!
//! The labels have these values:
//!
//! - `operation`: the [name of the operation](Event::operation).
//! - `strategy`: the [name of the strategy](Event::strategy). A strategy without a name has neither this label nor gauges.
//! - `outcome`: `ok` for a success, otherwise the reason to stop, a name from
//!   [`RetryError::as_str`](crate::RetryError::as_str).
//! - `error_type`: the class of the failure, a name from
//!   [`RetryErrorType::as_str`](crate::RetryErrorType::as_str), or `none` if the policy gave it no class. `unknown` means
//!   that nothing classified the error, so it was not retried.
//! - `result`: `won` or `lost` for a [hedge](crate#features) that was sent, otherwise the reason why there was none, a name from
//!   [`NoHedge::as_str`](crate::observe::NoHedge::as_str).
//!
//! The number of values is bounded, except for the names of scopes: each key that was ever used stays in the recorder, even after its
//! scope was evicted. So use [`ScopedRetryStrategy::named_by`](crate::ScopedRetryStrategy::named_by) only if the number of keys is
//! bounded, or if the recorder removes metrics that are idle.
//!
//! An operation that is dropped before its end has no outcome. It appears only in `retry_attempts_total`,
//! `retry_failed_attempts_total` and `retry_retries_total`.
//!
//! # Costs
//!
//! At its first event of an operation, a thread registers the handles with the recorder. It keeps them for a second, in which an event
//! allocates nothing and takes no lock, and then registers them again. So metrics that a recorder has removed because they were idle,
//! as with `idle_timeout` of `metrics-exporter-prometheus`, are published again. Names beyond the first 64, and the same texts at other
//! addresses, are looked up in a map. On `wasm32-unknown-unknown`, which has no clock, handles are kept.

mod handles;

use super::{Event, EventKind, GlobalObserver, GlobalObserverIsSet, Observer, name_of};
use crate::quota::QuotaMode;
use crate::strategy::{RetryStrategy, StrategyName};
use ::metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Unit, with_recorder};
use handles::{Counters, Names};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Sets a [`MetricsObserver`] as the global observer. Install the recorder of the program first.
///
/// # Errors
///
/// Returns an error if a global observer is set. To combine it with metrics, let it pass its events to a
/// [`MetricsObserver`].
pub fn install() -> Result<(), GlobalObserverIsSet> {
    static METRICS: MetricsObserver = MetricsObserver::new();
    GlobalObserver::Metrics(&METRICS).set()
}

/// An observer that publishes the [metrics of operations](self).
///
/// Most programs call [`install`]. Use this type beside your own observer, or for single calls:
///
/// ```
/// use retry_core::observe::metrics::MetricsObserver;
/// use retry_core::observe::set_global_observer;
/// use retry_core::{Event, EventKind, Observer};
///
/// static METRICS: MetricsObserver = MetricsObserver::new();
///
/// struct MetricsAndLog;
///
/// impl Observer for MetricsAndLog {
///     fn observe(&self, event: &Event) {
///         METRICS.observe(event);
///         if let EventKind::Stopped { reason, .. } = event.kind {
///             eprintln!("{} failed: {reason}", event.operation);
///         }
///     }
/// }
///
/// set_global_observer(&MetricsAndLog)?;
/// # Ok::<(), retry_core::observe::GlobalObserverIsSet>(())
/// ```
pub struct MetricsObserver {
    /// The number by which threads find the handles of this observer; 0 before its first event.
    number: AtomicUsize,
}

impl MetricsObserver {
    /// Creates an observer. A thread registers the metrics with the recorder that is installed at its first event of an operation, and at
    /// its first one in each second.
    pub const fn new() -> Self {
        Self { number: AtomicUsize::new(0) }
    }

    /// Counts an attempt that begins, as the event [`EventKind::AttemptStarted`] does, which need not be built. If the time is not at hand,
    /// it is read.
    pub(crate) fn attempt_started(
        &self,
        operation: &'static str,
        strategy: Option<&StrategyName>,
        now: Option<Instant>,
    ) {
        self.with_series((operation, strategy), now, |series| series.attempts.increment(1));
    }

    /// Counts a success, as the event [`EventKind::Succeeded`] does, which need not be built.
    pub(crate) fn succeeded(
        &self,
        operation: &'static str,
        strategy: Option<&StrategyName>,
        success: &End,
        now: Option<Instant>,
    ) {
        self.with_series((operation, strategy), now, |series| series.succeeded(success));
    }

    #[inline]
    fn with_series(
        &self,
        names: (&'static str, Option<&StrategyName>),
        now: Option<Instant>,
        using: impl FnOnce(&mut Series),
    ) {
        let number = match self.number.load(Ordering::Relaxed) {
            0 => self.begin(),
            number => number,
        };
        let register = |(operation, strategy): &Names| Series::new(operation, strategy.as_ref());
        handles::with(number, names, now.or_else(present), register, using);
    }

    /// Describes the metrics, and returns the number of this observer from now on.
    #[cold]
    fn begin(&self) -> usize {
        static LATEST: AtomicUsize = AtomicUsize::new(0);

        // The number guards nothing else, so no ordering is needed.
        let number = LATEST.fetch_add(1, Ordering::Relaxed) + 1;
        match self.number.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => {
                describe_all();
                number
            }
            // Another thread was faster.
            Err(number) => number,
        }
    }
}

/// Returns the present time, or `None` on `wasm32-unknown-unknown`, where the standard library has no clock and would panic.
fn present() -> Option<Instant> {
    (!cfg!(all(target_family = "wasm", target_os = "unknown"))).then(Instant::now)
}

impl Default for MetricsObserver {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MetricsObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsObserver").finish_non_exhaustive()
    }
}

// Compile errors about observers should not depend on the feature.
#[diagnostic::do_not_recommend]
impl Observer for MetricsObserver {
    fn observe(&self, event: &Event) {
        self.with_series((event.operation, event.strategy.as_ref()), None, |series| series.observe(event));
    }
}

/// The name, unit and meaning of a metric, for the recorder.
struct Metric {
    name: &'static str,
    unit: Unit,
    meaning: &'static str,
}

impl Metric {
    const fn new(name: &'static str, unit: Unit, meaning: &'static str) -> Self {
        Self { name, unit, meaning }
    }

    fn key(&self, labels: Vec<Label>) -> Key {
        Key::from_parts(self.name, labels)
    }

    fn counter(&self, labels: Vec<Label>) -> Counter {
        with_recorder(|recorder| recorder.register_counter(&self.key(labels), &METADATA))
    }

    fn gauge(&self, labels: Vec<Label>) -> Gauge {
        with_recorder(|recorder| recorder.register_gauge(&self.key(labels), &METADATA))
    }

    fn histogram(&self, labels: Vec<Label>) -> Histogram {
        with_recorder(|recorder| recorder.register_histogram(&self.key(labels), &METADATA))
    }
}

static METADATA: Metadata<'_> = Metadata::new("retry_core", Level::INFO, Some(module_path!()));

static OPERATIONS: Metric = Metric::new("retry_operations_total", Unit::Count, "Operations that ended.");
static ATTEMPTS: Metric = Metric::new("retry_attempts_total", Unit::Count, "Attempts that began.");
static FAILED_ATTEMPTS: Metric = Metric::new("retry_failed_attempts_total", Unit::Count, "Attempts that failed.");
static RETRIES: Metric = Metric::new("retry_retries_total", Unit::Count, "Retries that were scheduled.");
static HEDGES: Metric = Metric::new("retry_hedges_total", Unit::Count, "Calls that reached the delay of their hedge.");
static DURATION: Metric =
    Metric::new("retry_operation_duration_seconds", Unit::Seconds, "The time of an operation, waits included.");
static OPERATION_ATTEMPTS: Metric =
    Metric::new("retry_operation_attempts", Unit::Count, "The attempts of an operation.");
static BACKOFF: Metric = Metric::new("retry_backoff_seconds", Unit::Seconds, "The delay before a retry.");
static LIMITER_WAIT: Metric =
    Metric::new("retry_limiter_wait_seconds", Unit::Seconds, "One wait for a limiter, which can end earlier.");
static SERVICE_WAIT: Metric = Metric::new(
    "retry_service_wait_seconds",
    Unit::Seconds,
    "The time for which an operation waited for the service before it was sent.",
);
static WAITING: Metric =
    Metric::new("retry_waiting_operations", Unit::Count, "The operations that wait for the service.");
static QUOTA_LEVEL: Metric = Metric::new("retry_quota_level", Unit::Count, "The level of the retry quota.");
static QUOTA_CAPACITY: Metric = Metric::new("retry_quota_capacity", Unit::Count, "The level of the full retry quota.");
static QUOTA_MODE: Metric = Metric::new(
    "retry_quota_mode",
    Unit::Count,
    "What a quota that has modes does: 0 full, 1 spending, 2 congested, 3 exhausted, 4 waiting.",
);
static SEND_RATE: Metric =
    Metric::new("retry_send_rate", Unit::CountPerSecond, "The limit on sends, once there is one.");

fn describe_all() {
    with_recorder(|recorder| {
        for Metric { name, unit, meaning } in [&OPERATIONS, &ATTEMPTS, &FAILED_ATTEMPTS, &RETRIES, &HEDGES] {
            recorder.describe_counter((*name).into(), Some(*unit), (*meaning).into());
        }
        for Metric { name, unit, meaning } in [&DURATION, &OPERATION_ATTEMPTS, &BACKOFF, &LIMITER_WAIT, &SERVICE_WAIT] {
            recorder.describe_histogram((*name).into(), Some(*unit), (*meaning).into());
        }
        for Metric { name, unit, meaning } in [&QUOTA_LEVEL, &QUOTA_CAPACITY, &QUOTA_MODE, &SEND_RATE, &WAITING] {
            recorder.describe_gauge((*name).into(), Some(*unit), (*meaning).into());
        }
    });
}

/// The end of an operation.
pub(crate) struct End {
    pub(crate) attempts: u32,
    pub(crate) elapsed: Duration,
    pub(crate) levels: Levels,
}

/// The values of the gauges of a strategy.
pub(crate) struct Levels {
    waiting: Option<u32>,
    quota: Option<u32>,
    quota_capacity: Option<u32>,
    quota_mode: Option<QuotaMode>,
    send_rate: Option<f64>,
}

impl Levels {
    /// Returns the present values.
    #[inline]
    pub(crate) fn of(strategy: &impl RetryStrategy) -> Self {
        Self {
            waiting: strategy.waiting_operations(),
            quota: strategy.quota_level(),
            quota_capacity: strategy.full_quota_level(),
            quota_mode: strategy.quota_mode(),
            send_rate: strategy.send_rate(),
        }
    }
}

/// Returns the number of a mode in the documented order.
const fn number_of(mode: QuotaMode) -> f64 {
    match mode {
        QuotaMode::Full => 0.0,
        QuotaMode::Spending => 1.0,
        QuotaMode::Congested => 2.0,
        QuotaMode::Exhausted => 3.0,
        QuotaMode::Waiting => 4.0,
    }
}

/// The handles for one operation and one strategy.
struct Series {
    /// The labels `operation` and `strategy`.
    labels: Vec<Label>,
    /// The label `strategy`, if the strategy has a name.
    strategy: Option<Label>,
    attempts: Counter,
    duration: Histogram,
    operation_attempts: Histogram,
    backoff: Histogram,
    limiter_wait: Histogram,
    service_wait: Histogram,
    /// The operations that succeeded.
    succeeded: Option<Counter>,
    /// By reason.
    failed_operations: Counters,
    /// By the class of the failure.
    failed_attempts: Counters,
    /// By the class of the failure.
    retries: Counters,
    /// By result: won, lost, or the reason why none was sent.
    hedges: Counters,
    // The gauges are registered with their first value. Otherwise they would show 0 for a quota or a limit that a
    // strategy does not have.
    quota_level: Option<Gauge>,
    quota_capacity: Option<Gauge>,
    quota_mode: Option<Gauge>,
    send_rate: Option<Gauge>,
    waiting: Option<Gauge>,
}

impl Series {
    fn new(operation: &'static str, strategy: Option<&StrategyName>) -> Self {
        let strategy = strategy.map(|name| Label::new("strategy", name.as_str().to_owned()));
        let labels: Vec<_> =
            [Some(Label::new("operation", operation)), strategy.clone()].into_iter().flatten().collect();
        Self {
            attempts: ATTEMPTS.counter(labels.clone()),
            duration: DURATION.histogram(labels.clone()),
            operation_attempts: OPERATION_ATTEMPTS.histogram(labels.clone()),
            backoff: BACKOFF.histogram(labels.clone()),
            limiter_wait: LIMITER_WAIT.histogram(labels.clone()),
            service_wait: SERVICE_WAIT.histogram(labels.clone()),
            succeeded: None,
            failed_operations: Counters::default(),
            failed_attempts: Counters::default(),
            retries: Counters::default(),
            hedges: Counters::default(),
            quota_level: None,
            quota_capacity: None,
            quota_mode: None,
            send_rate: None,
            waiting: None,
            labels,
            strategy,
        }
    }

    fn observe(&mut self, event: &Event) {
        // Few kinds of events do not need the handles.
        match event.kind {
            EventKind::AttemptStarted => self.attempts.increment(1),
            EventKind::AttemptFailed { failure } => self.attempt_failed(name_of(failure.error_type())),
            EventKind::Limited { wait } => self.limiter_wait.record(wait),
            EventKind::RetryScheduled { error_type, delay, quota, quota_capacity, quota_mode, send_rate, .. } => {
                self.retried(name_of(error_type));
                self.backoff.record(delay);
                self.set_levels(&Levels { waiting: None, quota, quota_capacity, quota_mode, send_rate });
            }
            EventKind::WaitingForService { waiting, quota, quota_capacity, quota_mode, send_rate, .. } => {
                self.set_levels(&Levels { waiting, quota, quota_capacity, quota_mode, send_rate });
            }
            EventKind::Released { waited, waiting } => {
                self.service_wait.record(waited);
                self.set_other_levels(&Levels {
                    waiting,
                    quota: None,
                    quota_capacity: None,
                    quota_mode: None,
                    send_rate: None,
                });
            }
            EventKind::Stopped { reason, waiting, quota, quota_capacity, quota_mode, send_rate, .. } => {
                let outcome = reason.as_str();
                self.failed_operations.increment(outcome, || counter_of(&self.labels, &OPERATIONS, "outcome", outcome));
                let levels = Levels { waiting, quota, quota_capacity, quota_mode, send_rate };
                self.end(&End { attempts: event.attempt, elapsed: event.elapsed, levels });
            }
            EventKind::Succeeded { waiting, quota, quota_capacity, quota_mode, send_rate, .. } => {
                let levels = Levels { waiting, quota, quota_capacity, quota_mode, send_rate };
                self.succeeded(&End { attempts: event.attempt, elapsed: event.elapsed, levels });
            }
            EventKind::HedgeNotSent { reason } => self.hedged(reason.as_str()),
            EventKind::HedgeEnded { won } => self.hedged(if won { "won" } else { "lost" }),
            EventKind::HedgeSent
            | EventKind::Refused { .. }
            | EventKind::UnknownError { .. }
            | EventKind::Progressed
            | EventKind::Nested { .. } => {}
        }
    }

    fn attempt_failed(&mut self, error_type: &'static str) {
        let counter = || counter_of(&self.labels, &FAILED_ATTEMPTS, "error_type", error_type);
        self.failed_attempts.increment(error_type, counter);
    }

    fn retried(&mut self, error_type: &'static str) {
        self.retries.increment(error_type, || counter_of(&self.labels, &RETRIES, "error_type", error_type));
    }

    fn hedged(&mut self, result: &'static str) {
        self.hedges.increment(result, || counter_of(&self.labels, &HEDGES, "result", result));
    }

    #[inline]
    fn succeeded(&mut self, success: &End) {
        self.succeeded.get_or_insert_with(|| counter_of(&self.labels, &OPERATIONS, "outcome", "ok")).increment(1);
        self.end(success);
    }

    #[inline]
    fn end(&mut self, end: &End) {
        self.operation_attempts.record(end.attempts);
        self.duration.record(end.elapsed);
        self.set_levels(&end.levels);
    }

    /// Sets the gauges of the strategy, if the strategy has a name.
    #[inline]
    fn set_levels(&mut self, levels: &Levels) {
        let Some(strategy) = &self.strategy else { return };
        set(strategy, &mut self.quota_level, &QUOTA_LEVEL, levels.quota.map(f64::from));
        set(strategy, &mut self.quota_capacity, &QUOTA_CAPACITY, levels.quota_capacity.map(f64::from));
        if levels.waiting.is_some() || levels.quota_mode.is_some() || levels.send_rate.is_some() {
            self.set_other_levels(levels);
        }
    }

    /// Sets the gauges that a strategy with a token bucket does not have.
    #[inline(never)]
    fn set_other_levels(&mut self, &Levels { waiting, quota_mode, send_rate, .. }: &Levels) {
        let Some(strategy) = &self.strategy else { return };
        set(strategy, &mut self.waiting, &WAITING, waiting.map(f64::from));
        set(strategy, &mut self.quota_mode, &QUOTA_MODE, quota_mode.map(number_of));
        set(strategy, &mut self.send_rate, &SEND_RATE, send_rate);
    }
}

/// Returns the counter of this metric with these labels, and with this value of the label `name`.
#[cold]
fn counter_of(labels: &[Label], metric: &Metric, name: &'static str, value: &'static str) -> Counter {
    metric.counter([labels, &[Label::new(name, value)]].concat())
}

/// Sets a gauge of a strategy, if there is a value.
#[inline]
fn set(strategy: &Label, gauge: &mut Option<Gauge>, metric: &Metric, value: Option<f64>) {
    if let Some(value) = value {
        gauge.get_or_insert_with(|| metric.gauge(vec![strategy.clone()])).set(value);
    }
}
