//! The exporter for Prometheus, installed as docs/production.md says.

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};

/// The page with the installation.
const INSTALLATION: &str = include_str!("../../../docs/production.md");

/// Reads the documented installation: what it sets buckets for.
pub(crate) fn documented_recorder() -> PrometheusRecorder {
    let numbers = |text: &str| -> Vec<f64> {
        let list = text.split_once('[').unwrap().1.split_once(']').unwrap().0;
        list.split(", ").map(|number| number.parse().unwrap()).collect()
    };
    let block = INSTALLATION.split_once("PrometheusBuilder::new()").unwrap();
    let seconds = numbers(block.0.rsplit_once("let seconds = ").unwrap().1);
    let mut builder = PrometheusBuilder::new();
    for setter in block.1.split_once("```").unwrap().0.split(".set_buckets_for_metric(Matcher::").skip(1) {
        let name = setter.split('"').nth(1).unwrap().to_owned();
        let matcher = if setter.starts_with("Suffix") { Matcher::Suffix(name) } else { Matcher::Full(name) };
        let buckets = if setter.contains("&seconds") { seconds.clone() } else { numbers(setter) };
        builder = builder.set_buckets_for_metric(matcher, &buckets).unwrap();
    }
    builder.build_recorder()
}
