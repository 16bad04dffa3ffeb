//! The alerts and the dashboard in a real Prometheus, which scrapes real processes.

#[path = "../fleet/exporter.rs"]
mod exporter;

use crate::process::{Running, setting, stopped};
use crate::server::{PATIENCE, RedisServer, free_port};
use crate::tls::wait_until;
use retry_core::observe::metrics::MetricsObserver;
use retry_core::quota::EvidenceQuota;
use retry_core::{ExponentialBackoff, RetryInfo, StandardRetryStrategy, retry};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Fleet, FleetSwitch};
use retry_limits::PacedRetryStrategy;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::{interval, sleep};

const DASHBOARD: &str = include_str!("../../operate/dashboard.json");
/// The name of the process, as a test.
const NAME: &str = "prometheus::a_process_that_prometheus_scrapes";

static ORDERS: StandardRetryStrategy<ExponentialBackoff, EvidenceQuota> =
    StandardRetryStrategy::new().with_quota(EvidenceQuota::new()).name("orders");
static TABLE: PacedRetryStrategy = PacedRetryStrategy::new();
static SWITCH: FleetSwitch = FleetSwitch::new(|is_on| ORDERS.set_enabled(is_on));
static OBSERVER: LazyLock<MetricsObserver> = LazyLock::new(MetricsObserver::new);

#[derive(Debug, RetryInfo)]
#[retry(timeout)]
struct Down;

/// Its requests fail so often that the quota grants and refuses retries. It answers each request over HTTP with its metrics.
#[test]
#[ignore = "it is a process of the other test, which starts it"]
fn a_process_that_prometheus_scrapes() {
    let recorder = exporter::documented_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut stopped = stopped();
        let store = RedisStore::open(&setting("FLEET_STORE")).unwrap();
        let membership = Fleet::new("orders", store).quota(ORDERS.quota()).limit(&TABLE).switch(&SWITCH).join().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        std::fs::write(setting("FLEET_ADDRESS"), listener.local_addr().unwrap().to_string()).unwrap();
        let (mut requests, mut number) = (interval(Duration::from_millis(10)), 0);
        loop {
            tokio::select! {
                _ = &mut stopped => break,
                _ = requests.tick() => {
                    number += 1;
                    // Two seconds in which one in four fails, and two in which nearly all do.
                    let is_ok = if number / 200 % 2 == 0 { number % 4 != 0 } else { number % 50 == 0 };
                    let operation = move || async move { if is_ok { Ok(()) } else { Err(Down) } };
                    tokio::spawn(retry(&ORDERS, operation).observer(&*OBSERVER).name("order").run());
                }
                Ok((mut connection, _)) = listener.accept() => {
                    handle.run_upkeep();
                    let (mut request, text) = ([0; 4_096], handle.render());
                    let _ = connection.read(&mut request).await;
                    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n\
                                        Connection: close\r\n\r\n", text.len());
                    let _ = connection.write_all((head + &text).as_bytes()).await;
                }
            }
        }
        membership.leave().await;
    });
}

/// A Prometheus that is killed when it is dropped.
struct Prometheus {
    port: u16,
    process: Child,
}

impl Prometheus {
    /// Starts a Prometheus with the alerts of this crate, which scrapes these processes each second.
    fn start(files: &Path, targets: &[String]) -> Self {
        let settings = serde_json::json!({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [concat!(env!("CARGO_MANIFEST_DIR"), "/operate/alerts.yml")],
            "scrape_configs": [{"job_name": "orders", "static_configs": [{"targets": targets}]}],
        });
        // JSON is YAML.
        let file = files.join("prometheus.yml");
        std::fs::write(&file, settings.to_string()).unwrap();
        let port = free_port();
        let process = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", files.join("data").display()))
            .args([&format!("--web.listen-address=127.0.0.1:{port}"), "--log.level=error"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self { port, process }
    }

    /// Returns the values that are the answer to a query.
    fn query(&self, query: &str) -> Vec<f64> {
        let server = format!("http://127.0.0.1:{}", self.port);
        let answer = Command::new("promtool").args(["query", "instant", &server, query]).output().unwrap();
        let text = String::from_utf8(answer.stdout).unwrap();
        let error = String::from_utf8(answer.stderr).unwrap();
        // It may not listen yet, or still be starting. Anything else is a mistake in the query.
        let is_starting = ["refused", "Unavailable", "unavailable"].iter().any(|word| error.contains(word));
        assert!(answer.status.success() || is_starting, "{query}: {error}");
        let values = text.lines().filter_map(|line| line.rsplit_once(" => ")?.1.split(' ').next()?.parse().ok());
        values.filter(|value: &f64| value.is_finite()).collect()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// Rule F43.
#[tokio::test]
async fn each_query_of_the_dashboard_gets_numbers_from_a_real_prometheus() {
    if Command::new("promtool").arg("--version").output().is_err() {
        let is_required = std::env::var_os("RETRY_TEST_SERVERS").is_some_and(|value| value == "required");
        assert!(!is_required, "prometheus is missing: .ci/alerts installs it");
        eprintln!("########## SKIPPED: the dashboard in a real Prometheus, which is missing: .ci/alerts installs it");
        return;
    }
    let (server, files) = (RedisServer::start(&[]), tempfile::tempdir().unwrap());
    let url = format!("redis://127.0.0.1:{}", server.port);
    let addresses = ["first", "second"].map(|name| files.path().join(name));
    let _processes = addresses.clone().map(|address| {
        let settings = [("FLEET_STORE", url.clone().into()), ("FLEET_ADDRESS", address.into_os_string())];
        Running::start(NAME, settings, Duration::ZERO)
    });
    let read = |address: &Path| std::fs::read_to_string(address).unwrap_or_default();
    wait_until("both publish", || addresses.iter().all(|address| !read(address).is_empty())).await;
    let prometheus = Prometheus::start(files.path(), &addresses.clone().map(|address| read(&address)));
    wait_until("both are scraped", || prometheus.query("sum(retry_fleet_store_up)") == [2.0]).await;

    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut open: Vec<String> = targets
        .map(|target| target["expr"].as_str().unwrap())
        .map(|query| query.replace("$__rate_interval", "10s").replace("$fleet", ".*").replace("$strategy", ".*"))
        .collect();
    // The alert is pending for five minutes.
    open.push(r#"ALERTS{alertname="RetryQuotaExhausted",alertstate="pending",strategy="orders"}"#.to_owned());
    assert!(open.len() > 10);
    let (started, mut operator) = (Instant::now(), RedisStore::open(&url).unwrap());
    while !open.is_empty() {
        // One of the queries shows changes of the switch.
        operator.turn_retries_off("orders", Duration::from_secs(2), "ada", "a test").await.unwrap();
        sleep(Duration::from_secs(4)).await;
        open.retain(|query| prometheus.query(query).is_empty());
        assert!(started.elapsed() < 2 * PATIENCE, "no numbers: {open:#?}");
    }
    assert_eq!(prometheus.query("max(retry_fleet_members)"), [2.0]);
    assert!(prometheus.query("retry_fleet_no_such_metric").is_empty());
}
