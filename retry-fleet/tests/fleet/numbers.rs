//! What a process publishes for the crate `metrics`, as the exporter for Prometheus renders it.

use metrics::with_local_recorder;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use retry_core::quota::EvidenceQuota;
use retry_core::{Clock, TokioTimer};
use retry_fleet::protocol::{Call, Reply, Turn};
use retry_fleet::store::{MemoryStore, Store, StoreError};
use retry_fleet::{Fleet, FleetSwitch};
use retry_limits::PacedRetryStrategy;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;

/// A store that takes 30 ms for a call, refuses it, or does not answer. Tests turn its switch.
#[derive(Clone, Default)]
struct Slow(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    store: MemoryStore,
    fails: Option<Fails>,
}

#[derive(Clone, Copy)]
enum Fails {
    Refuses,
    Silent,
}

fn now() -> u64 {
    u64::try_from(TokioTimer.now().since_origin().as_millis()).unwrap()
}

impl Slow {
    fn fail(&self, fails: Option<Fails>) {
        self.0.lock().unwrap().fails = fails;
    }

    fn turn(&self, off_for: Duration, reason: &str) {
        let mut call = Call::new("operator", "e");
        (call.turn, call.is_leaving) = (Some(Turn { off_for, reason: reason.into(), number: 0 }), true);
        self.0.lock().unwrap().store.call(now(), &call);
    }
}

impl Store for Slow {
    async fn call(&mut self, _: &str, call: &Call) -> Result<Reply, StoreError> {
        let fails = self.0.lock().unwrap().fails;
        match fails {
            None => {
                sleep(Duration::from_millis(30)).await;
                Ok(self.0.lock().unwrap().store.call(now(), call))
            }
            Some(Fails::Refuses) => Err(StoreError::new("refused")),
            Some(Fails::Silent) => std::future::pending().await,
        }
    }
}

/// What a scrape shows: the value of each series, by its text.
fn scrape(handle: &PrometheusHandle) -> BTreeMap<String, f64> {
    handle.run_upkeep();
    let text = handle.render();
    let samples = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    samples
        .map(|line| line.rsplit_once(' ').map(|(name, value)| (name.to_owned(), value.parse().unwrap())).unwrap())
        .collect()
}

/// Runs a fleet of one process in virtual time, with a quota, a limit and a switch.
fn run<F: Future>(store: &Slow, scene: impl FnOnce(PrometheusHandle) -> F) -> F::Output {
    let buckets = [0.005, 0.05, 0.5];
    let builder =
        PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &buckets).unwrap();
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let switch: &'static FleetSwitch = Box::leak(Box::new(FleetSwitch::new(|_| {})));
    with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let fleet = Fleet::new("orders", store.clone()).switch(switch);
            let membership =
                fleet.quota(Arc::new(EvidenceQuota::new())).limit(Arc::new(PacedRetryStrategy::new())).join().unwrap();
            let outcome = scene(handle).await;
            membership.leave().await;
            outcome
        })
    })
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-6
}

// Rule F43.
#[test]
fn the_gauges_show_what_the_process_knows() {
    let store = Slow::default();
    run(&store, async |handle| {
        sleep(Duration::from_secs(5)).await;
        let shown = scrape(&handle);
        for (name, value) in
            [("members", 1.0), ("rate", 100.0), ("retries_enabled", 1.0), ("share", 100.0), ("store_up", 1.0)]
        {
            let name = format!("retry_fleet_{name}{{fleet=\"orders\"}}");
            assert!(close(shown[&name], value), "{name}: {shown:?}");
        }
        store.fail(Some(Fails::Refuses));
        sleep(Duration::from_secs(10)).await;
        assert!(close(scrape(&handle)["retry_fleet_store_up{fleet=\"orders\"}"], 0.0), "the store is lost");
    });
}

// Rule F43.
#[test]
fn calls_to_the_store_are_counted_by_their_outcome_and_timed_if_they_were_answered() {
    let store = Slow::default();
    run(&store, async |handle| {
        let outcome = |shown: &BTreeMap<String, f64>| {
            ["ok", "error", "timeout"].map(|outcome| {
                shown[&format!("retry_fleet_store_calls_total{{fleet=\"orders\",outcome=\"{outcome}\"}}")]
            })
        };
        sleep(Duration::from_millis(1)).await;
        assert!(
            outcome(&scrape(&handle)).iter().all(|count| close(*count, 0.0)),
            "the counters begin before the first answer"
        );
        sleep(Duration::from_secs(5)).await;
        let [ok, errors, timeouts] = outcome(&scrape(&handle));
        assert!(ok > 10.0 && close(errors + timeouts, 0.0), "{ok}, {errors}, {timeouts}");

        store.fail(Some(Fails::Refuses));
        sleep(Duration::from_secs(5)).await;
        let [ok, errors, timeouts] = outcome(&scrape(&handle));
        assert!(errors > 10.0 && close(timeouts, 0.0), "{ok}, {errors}, {timeouts}");

        store.fail(Some(Fails::Silent));
        sleep(Duration::from_secs(5)).await;
        let shown = scrape(&handle);
        let [ok, _, timeouts] = outcome(&shown);
        assert!((2.0..=5.0).contains(&timeouts), "each takes a second: {timeouts}");
        let time = |part: &str| shown[&format!("retry_fleet_store_call_seconds_{part}")];
        assert!(close(time("count{fleet=\"orders\"}"), ok), "only answered calls are timed: {shown:?}");
        assert!(close(time("sum{fleet=\"orders\"}"), 0.03 * ok), "{shown:?}");
        assert!(close(time("bucket{fleet=\"orders\",le=\"0.005\"}"), 0.0), "{shown:?}");
        assert!(close(time("bucket{fleet=\"orders\",le=\"0.05\"}"), ok), "{shown:?}");
    });
}

// Rule F43.
#[test]
fn changes_of_the_switch_are_counted_with_the_name_of_who_turned_it() {
    let store = Slow::default();
    run(&store, async |handle| {
        let switches = || -> BTreeMap<String, f64> {
            let shown = scrape(&handle).into_iter();
            let labels = |name: String| name.strip_prefix("retry_fleet_switches_total").map(str::to_owned);
            shown.filter_map(|(name, value)| labels(name).map(|labels| (labels, value))).collect()
        };
        let expected = |counts: &[(&str, &str, f64)]| -> BTreeMap<String, f64> {
            let series = |to, by| format!("{{fleet=\"orders\",to=\"{to}\",by=\"{by}\"}}");
            counts.iter().map(|(to, by, count)| (series(to, by), *count)).collect()
        };
        sleep(Duration::from_secs(2)).await;
        assert_eq!(switches(), expected(&[]));
        store.turn(Duration::from_mins(10), "ada: orders are down");
        sleep(Duration::from_secs(2)).await;
        assert_eq!(switches(), expected(&[("off", "ada", 1.0)]));
        assert!(close(scrape(&handle)["retry_fleet_retries_enabled{fleet=\"orders\"}"], 0.0));
        store.turn(Duration::ZERO, "");
        sleep(Duration::from_secs(2)).await;
        assert_eq!(switches(), expected(&[("off", "ada", 1.0), ("on", "", 1.0)]));
        store.turn(Duration::from_mins(10), "ada: orders are down");
        sleep(Duration::from_secs(2)).await;
        store.turn(Duration::ZERO, "bob");
        sleep(Duration::from_secs(2)).await;
        assert_eq!(switches(), expected(&[("off", "ada", 2.0), ("on", "", 1.0), ("on", "bob", 1.0)]));
        // The end of the time is a change, too, and a text without a name has no `by`.
        store.turn(Duration::from_secs(3), "ada: again");
        sleep(Duration::from_secs(5)).await;
        store.turn(Duration::from_secs(3), "maintenance");
        sleep(Duration::from_secs(5)).await;
        assert_eq!(switches(), expected(&[("off", "", 1.0), ("off", "ada", 3.0), ("on", "", 3.0), ("on", "bob", 1.0)]));
    });
}

/// The documentation of the crate, whose table lists the metrics.
const REFERENCE: &str = include_str!("../../src/lib.rs");

// Rule F43.
#[test]
fn the_documented_table_has_the_published_metrics_with_their_types_and_labels() {
    let store = Slow::default();
    let text = run(&store, async |handle: PrometheusHandle| {
        sleep(Duration::from_secs(1)).await;
        store.turn(Duration::from_mins(10), "ada: orders are down");
        sleep(Duration::from_secs(2)).await;
        handle.run_upkeep();
        handle.render()
    });
    let plain = |cell: &str| cell.trim().trim_matches('`').to_owned();
    let mut documented = BTreeMap::new();
    for line in REFERENCE.lines().filter_map(|line| line.strip_prefix("//! | `retry_fleet_")) {
        let [name, kind, _unit, labels, _meaning, ""] = line.split('|').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let labels: BTreeSet<_> = labels.split(',').map(plain).collect();
        documented.insert(format!("retry_fleet_{}", plain(name)), (plain(kind), labels));
    }
    let mut published = BTreeMap::new();
    for line in text.lines() {
        if let ["#", "TYPE", name, kind] = line.split(' ').collect::<Vec<_>>()[..] {
            assert!(text.contains(&format!("# HELP {name} ")), "{name} is described");
            let mut labels = BTreeSet::new();
            for sample in text.lines().filter(|line| line.contains('{')) {
                let (series, rest) = sample.split_once('{').unwrap();
                if series == name || ["_bucket", "_sum", "_count"].iter().any(|part| series == format!("{name}{part}"))
                {
                    let named = rest
                        .rsplit_once('}')
                        .unwrap()
                        .0
                        .split(',')
                        .map(|label| label.split_once('=').unwrap().0.to_owned());
                    labels.extend(named.filter(|label| label != "le"));
                }
            }
            published.insert(name.to_owned(), (kind.to_owned(), labels));
        }
    }
    assert_eq!(published, documented);
}
