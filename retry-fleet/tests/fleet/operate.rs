//! The alerts and the dashboard in `operate` ask for what the crates publish, as the documented installation exposes it.

use crate::exporter::documented_recorder;
use metrics::with_local_recorder;
use retry_core::observe::metrics::MetricsObserver;
use retry_core::quota::EvidenceQuota;
use retry_core::{Clock, PatientRetryStrategy, RetryInfo, StandardRetryStrategy, TokioTimer, retry};
use retry_fleet::protocol::{Call, Reply, Turn};
use retry_fleet::store::MemoryStore;
use retry_fleet::{Fleet, FleetSwitch, Store, StoreError};
use retry_limits::PacedRetryStrategy;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

const ALERTS: &str = include_str!("../../operate/alerts.yml");
const DASHBOARD: &str = include_str!("../../operate/dashboard.json");
const PAGE: &str = include_str!("../../OPERATING.md");
/// Words of `PromQL` and of Grafana that the queries may have.
const WORDS: [&str; 14] = [
    "and",
    "bool",
    "by",
    "count",
    "histogram_quantile",
    "increase",
    "label_values",
    "max",
    "min",
    "or",
    "rate",
    "sum",
    "on",
    "unless",
];

/// A store whose switch an operator turns with each call.
struct Turned(MemoryStore);

impl Store for Turned {
    async fn call(&mut self, _: &str, call: &Call) -> Result<Reply, StoreError> {
        let now = u64::try_from(TokioTimer.now().since_origin().as_millis()).unwrap();
        let mut operator = Call::new("operator", "e");
        let turn = Turn { off_for: Duration::from_secs(9), reason: "ada: down".into(), number: 0 };
        (operator.turn, operator.is_leaving) = (Some(turn), true);
        self.0.call(now, &operator);
        Ok(self.0.call(now, call))
    }
}

#[derive(Debug, RetryInfo)]
#[retry(timeout)]
struct Down;

/// The values of each label of each series, as they are scraped.
type Exported = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Runs a fleet, and calls of a service that is down, until the quota is exhausted, or the calls have waited.
fn exported() -> Exported {
    let (recorder, observer) = (documented_recorder(), MetricsObserver::new());
    let handle = recorder.handle();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let quota = EvidenceQuota::new();
            let strategy = Arc::new(StandardRetryStrategy::new().with_quota(quota).name("orders"));
            let patient = PatientRetryStrategy::new().name("stock");
            let fleet = Fleet::new("orders", Turned(MemoryStore::new())).limit(Arc::new(PacedRetryStrategy::new()));
            let membership = fleet.switch(Arc::new(FleetSwitch::new(|_| {}))).join().unwrap();
            for number in 0..400 {
                let call = retry(&*strategy, || async move { if number == 0 { Ok(()) } else { Err(Down) } });
                let _ = call.observer(&observer).name("order").run().await;
            }
            let call = retry(&patient, async || Err::<(), _>(Down));
            let _ = call.observer(&observer).name("pieces").run().await;
            tokio::time::sleep(Duration::from_secs(3)).await;
            drop(membership);
        });
    });
    handle.run_upkeep();
    let mut exported = Exported::new();
    for line in handle.render().lines().filter(|line| line.contains('{')) {
        let (name, rest) = line.split_once('{').unwrap();
        for label in rest.rsplit_once('}').unwrap().0.split(',') {
            let (label, value) = label.split_once('=').unwrap();
            let values = exported.entry(name.to_owned()).or_default().entry(label.to_owned()).or_default();
            values.insert(value.trim_matches('"').to_owned());
        }
    }
    exported
}

/// Checks a query, and returns the labels of its result.
fn check(query: &str, exported: &Exported) -> Result<BTreeSet<String>, String> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let (mut rest, mut metrics, mut grouped) = (query, Vec::new(), BTreeSet::new());
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphabetic() || "\"[{".contains(letter)) {
        rest = &rest[start..];
        if let Some(close) = rest.strip_prefix('[').map(|_| ']').or_else(|| rest.strip_prefix('"').map(|_| '"')) {
            rest = rest[1..].split_once(close).ok_or("something is not closed")?.1;
            continue;
        }
        let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        if word == "by" || word == "on" {
            let (list, after) =
                rest.trim_start().strip_prefix('(').and_then(|list| list.split_once(')')).ok_or("no list")?;
            grouped.extend(list.split(", ").map(str::to_owned));
            rest = after;
        } else if word.starts_with("retry_") {
            let labels = exported.get(word).ok_or(format!("{word} is not exported"))?;
            if let Some((matchers, after)) = rest.strip_prefix('{').and_then(|list| list.split_once('}')) {
                for matcher in matchers.split(',') {
                    let (label, value) = matcher.split_once(['=', '!']).ok_or("no matcher")?;
                    let values = labels.get(label).ok_or(format!("{word} has no label {label}"))?;
                    let value = value.trim_start_matches(['=', '~']).trim_matches('"');
                    if !value.starts_with('$') && !values.contains(value) {
                        return Err(format!("{label} of {word} is never {value:?}"));
                    }
                }
                rest = after;
            }
            metrics.push((word, labels));
        } else if query.starts_with("label_values(") && rest == ")" {
            grouped.insert(word.to_owned());
        } else if !WORDS.contains(&word) {
            return Err(format!("unknown word {word}"));
        }
    }
    for (metric, labels) in &metrics {
        if let Some(label) = grouped.iter().find(|label| !labels.contains_key(*label)) {
            return Err(format!("{metric} has no label {label}"));
        }
    }
    if metrics.is_empty() || query.contains("histogram_quantile") != grouped.contains("le") {
        return Err("a query needs a metric, and a quantile the label le".to_owned());
    }
    grouped.remove("le");
    Ok(grouped)
}

/// Returns the names between the braces of a template, such as `{{ $labels.fleet }}` and `{{fleet}}`.
fn template_labels(text: &str) -> BTreeSet<String> {
    let inner = text.split("{{").skip(1).map(|rest| rest.split_once("}}").unwrap().0.trim());
    inner.map(|name| name.trim_start_matches("$labels.").to_owned()).collect()
}

#[test]
fn each_alert_asks_for_what_is_exported_and_has_a_line_on_the_page_for_operators() {
    let (alerts, exported): (Value, _) = (serde_saphyr::from_str(ALERTS).unwrap(), exported());
    let mut anchors = BTreeSet::new();
    for rule in alerts["groups"].as_array().unwrap().iter().flat_map(|group| group["rules"].as_array().unwrap()) {
        let text = |value: &Value| {
            value.as_str().filter(|text| !text.is_empty()).unwrap_or_else(|| panic!("{rule}")).to_owned()
        };
        let labels = check(&text(&rule["expr"]), &exported).unwrap_or_else(|error| panic!("{error}: {rule}"));
        let [summary, what_to_do, link] =
            ["summary", "description", "runbook_url"].map(|key| text(&rule["annotations"][key]));
        assert!(template_labels(&(summary + &what_to_do)).is_subset(&labels), "{rule}");
        let anchor = link.strip_prefix("retry-fleet/OPERATING.md#").unwrap().to_owned();
        let row = format!("| <a id=\"{anchor}\"></a>`{}` |", text(&rule["alert"]));
        assert_eq!(PAGE.lines().filter(|line| line.starts_with(&row)).count(), 1, "{row}");
        anchors.insert(anchor);
    }
    assert_eq!(PAGE.matches("| <a id=").count(), anchors.len(), "the page has alerts that are not in the file");
}

#[test]
fn each_query_of_the_dashboard_asks_for_what_is_exported() {
    let (dashboard, exported): (Value, _) = (serde_json::from_str(DASHBOARD).unwrap(), exported());
    let mut queries = 0;
    for target in dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap())
    {
        let labels =
            check(target["expr"].as_str().unwrap(), &exported).unwrap_or_else(|error| panic!("{error}: {target}"));
        assert!(template_labels(target["legendFormat"].as_str().unwrap()).is_subset(&labels), "{target}");
        queries += 1;
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap().iter().filter(|it| it["type"] == "query") {
        check(variable["query"].as_str().unwrap(), &exported).unwrap_or_else(|error| panic!("{error}: {variable}"));
        queries += 1;
    }
    assert!(queries > 10);
}

#[test]
fn histograms_have_buckets_by_the_documented_installation_and_wrong_queries_are_found() {
    let exported = exported();
    for name in ["retry_operation_duration_seconds", "retry_operation_attempts", "retry_fleet_store_call_seconds"] {
        assert!(exported.contains_key(&format!("{name}_bucket")), "{name} is a summary");
    }
    for (query, error) in [
        ("rate(retry_fleet_stor_up[5m])", "is not exported"),
        ("histogram_quantile(0.9, sum by (fleet, le) (rate(retry_fleet_store_call_seconds[5m])))", "is not exported"),
        ("histogram_quantile(0.9, sum by (fleet) (rate(retry_fleet_store_call_seconds_bucket[5m])))", "the label le"),
        ("sum by (operation) (retry_fleet_store_up)", "has no label operation"),
        ("rate(retry_operations_total{result=\"ok\"}[5m])", "has no label result"),
        ("rate(retry_operations_total{outcome=\"quota_empty\"}[5m])", "is never"),
        ("summ by (fleet) (retry_fleet_store_up)", "unknown word"),
    ] {
        let found = check(query, &exported).unwrap_err();
        assert!(found.contains(error), "{query}: {found}");
    }
}
