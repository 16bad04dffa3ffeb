//! A scrape of the running server of the example `metrics`, as Prometheus would make it.

#[path = "../../metrics/calls.rs"]
mod calls;
#[path = "../../metrics/server.rs"]
mod server;

use calls::{Client, LOOKUPS, READS, WRITES};
use server::Server;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::timeout;

/// A timeout for what is expected to finish. It only bounds a failing test.
const PATIENCE: Duration = Duration::from_mins(1);

/// The page that documents the metrics and the alerts.
const PAGE: &str = include_str!("../../../docs/production.md");

/// A sample: its name, its labels and its value.
#[derive(Clone, Debug)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// What a server exposes, in the text format of Prometheus.
#[derive(Debug, Default)]
struct Scrape {
    /// Types by name.
    types: BTreeMap<String, String>,
    /// Names with a description.
    described: BTreeSet<String>,
    samples: Vec<Sample>,
}

impl Scrape {
    fn parse(text: &str) -> Self {
        let mut scrape = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["#", "TYPE", name, kind] => drop(scrape.types.insert(name.to_owned(), kind.to_owned())),
                ["#", "HELP", name, ..] => drop(scrape.described.insert(name.to_owned())),
                _ => scrape.samples.push(sample(line)),
            }
        }
        scrape
    }

    /// Returns the sum of the samples with this name and these labels, and perhaps others.
    fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let has =
            |sample: &Sample, (name, value): &(&str, &str)| sample.labels.get(*name).is_some_and(|it| it == value);
        let samples = self.samples.iter().filter(|it| it.name == name && labels.iter().all(|label| has(it, label)));
        samples.map(|sample| sample.value).sum()
    }
}

fn sample(line: &str) -> Sample {
    let (series, value) = line.rsplit_once(' ').unwrap();
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let labels = labels.strip_suffix('}').unwrap().split(',').filter(|label| !label.is_empty());
    let label = |text: &str| {
        let (name, value) = text.split_once('=').unwrap();
        (name.to_owned(), value.trim_matches('"').to_owned())
    };
    Sample { name: name.to_owned(), labels: labels.map(label).collect(), value: value.parse().unwrap() }
}

/// Returns the documented metrics: name, type and labels.
fn documented() -> Vec<(String, String, BTreeSet<String>)> {
    let plain = |cell: &str| cell.trim().trim_matches('`').to_owned();
    let rows = PAGE.lines().filter_map(|line| match line.split('|').collect::<Vec<_>>()[..] {
        ["", name, kind, _unit, labels, _, ""] => Some((plain(name), plain(kind), labels)),
        _ => None,
    });
    let rows = rows.filter(|(name, ..)| name.starts_with("retry_"));
    rows.map(|(name, kind, labels)| (name, kind, labels.split(',').map(plain).collect())).collect()
}

/// Returns the names of metrics in the expressions of the page.
fn names_in_expressions() -> BTreeSet<String> {
    let blocks = PAGE.split("```promql\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let words = blocks.flat_map(|block| block.split(|char: char| !char.is_ascii_alphanumeric() && char != '_'));
    words.filter(|word| word.starts_with("retry_")).map(str::to_owned).collect()
}

async fn scrape(server: &Server) -> Scrape {
    let response = timeout(PATIENCE, reqwest::get(server.metrics_url())).await.unwrap().unwrap();
    Scrape::parse(&response.error_for_status().unwrap().text().await.unwrap())
}

#[tokio::test]
#[expect(clippy::float_cmp, reason = "counts are whole numbers")]
async fn a_scrape_of_the_running_server_has_the_documented_metrics_with_plausible_values() {
    let server = Server::start(calls::install_metrics().unwrap()).await.unwrap();
    let client = Client::new(server.address()).unwrap();
    assert!(scrape(&server).await.samples.is_empty(), "nothing was called yet");
    timeout(PATIENCE, calls::run(&client)).await.unwrap();
    let scrape = scrape(&server).await;

    let documented = documented();
    assert_eq!(documented.len(), 15);
    assert_eq!(scrape.types.keys().collect::<Vec<_>>(), {
        let mut names: Vec<_> = documented.iter().map(|(name, ..)| name).collect();
        names.sort();
        names
    });
    for (name, kind, labels) in &documented {
        assert_eq!(scrape.types.get(name), Some(kind), "{name}");
        assert!(scrape.described.contains(name), "{name}");
        let parts = if kind == "histogram" { vec!["_bucket", "_sum", "_count"] } else { vec![""] };
        for part in parts {
            let samples: Vec<_> = scrape.samples.iter().filter(|it| it.name == format!("{name}{part}")).collect();
            assert!(!samples.is_empty(), "{name}{part}");
            for sample in samples {
                let of_sample: BTreeSet<_> = sample.labels.keys().filter(|label| *label != "le").cloned().collect();
                assert_eq!(&of_sample, labels, "{sample:?}");
            }
        }
    }
    for name in names_in_expressions() {
        assert!(scrape.samples.iter().any(|sample| sample.name == name), "{name} is in an expression");
    }

    let (store, table) = server.requests();
    for (strategy, calls, requests) in [("store", READS, store), ("table", WRITES, table)] {
        let of = |name: &str| scrape.sum(name, &[("strategy", strategy)]);
        let [calls, requests] = [calls, requests].map(f64::from);
        assert_eq!(of("retry_operations_total"), calls, "{strategy}");
        assert_eq!(of("retry_attempts_total"), requests, "the server counts the same: {strategy}");
        assert_eq!(of("retry_retries_total"), requests - calls, "{strategy}");
        assert!(requests > calls, "{strategy} was retried");
        assert_eq!(of("retry_backoff_seconds_count"), requests - calls, "{strategy}");
        assert_eq!(of("retry_operation_attempts_sum"), requests, "{strategy}");
        assert_eq!(of("retry_operation_attempts_count"), calls, "{strategy}");
        assert_eq!(of("retry_operation_duration_seconds_count"), calls, "{strategy}");
        let waited = of("retry_backoff_seconds_sum") + of("retry_limiter_wait_seconds_sum");
        assert!((0.0..of("retry_operation_duration_seconds_sum")).contains(&waited), "{strategy} waited {waited} s");
        assert!((0.0..=of("retry_quota_capacity")).contains(&of("retry_quota_level")), "{strategy}");
    }
    let outcomes = |outcome| scrape.sum("retry_operations_total", &[("strategy", "store"), ("outcome", outcome)]);
    assert_eq!((outcomes("ok"), outcomes("not_retryable")), (f64::from(READS) * 0.9, f64::from(READS) * 0.1));
    let retries = |strategy, class| scrape.sum("retry_retries_total", &[("strategy", strategy), ("error_type", class)]);
    assert!(retries("store", "server_side") > 0.0 && retries("table", "throttling") > 0.0);
    let hedges = |result| scrape.sum("retry_hedges_total", &[("strategy", "index"), ("result", result)]);
    // The quota sells none before the first answer.
    assert!((1.0..=f64::from(LOOKUPS)).contains(&(hedges("won") + hedges("lost"))));
    assert!(hedges("won") > 0.0);
    assert!(scrape.sum("retry_send_rate", &[("strategy", "table")]) >= 0.5);
    assert!(scrape.sum("retry_limiter_wait_seconds_count", &[("strategy", "table")]) > 0.0);
    let of_stock = |name: &str| scrape.sum(name, &[("strategy", "stock")]);
    assert_eq!(of_stock("retry_service_wait_seconds_count"), 1.0);
    assert!(of_stock("retry_service_wait_seconds_sum") >= 1.0);
    assert_eq!(of_stock("retry_waiting_operations"), 0.0, "it was sent");
}
