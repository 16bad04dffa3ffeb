//! A file, a fleet and a limit together: two processes share what their quotas know and the limit of a server, and take their settings
//! from one file, which changes while they run.
//!
//! `cargo run --example one_file --features fleet`. The store of the fleet is in memory, so no server is needed. With
//! `RedisStore`, the processes are real ones.

use retry_config::{ConfiguredStrategy, RetryConfig};
use retry_core::quota::EvidenceQuota;
use retry_core::{ExponentialBackoff, RetryInfo, StandardRetryStrategy, TokioTimer, retryable};
use retry_fleet::store::MemoryStore;
use retry_fleet::{Fleet, Membership};
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const FILE: &str = r#"
[table]
mode = "paced" # sends at the rate that the server accepts
max_attempts = 4
"#;

const CHANGED: &str = r#"
[table]
mode = "paced"
max_attempts = 2
"#;

#[derive(Debug, RetryInfo)]
#[retry(throttling)]
struct SlowDown;

/// What one process of the fleet has.
struct Process {
    table: Arc<ConfiguredStrategy<ExponentialBackoff, Arc<EvidenceQuota>>>,
    membership: Membership,
}

impl Process {
    fn start(store: Arc<Mutex<MemoryStore>>) -> Result<Self, Box<dyn Error>> {
        let quota = Arc::new(EvidenceQuota::new());
        let table = Arc::new(read(FILE)?.build_on(StandardRetryStrategy::new().with_quota(Arc::clone(&quota)))?);
        let membership = Fleet::new("table", store).quota(quota).limit(Arc::clone(&table)).join()?;
        Ok(Self { table, membership })
    }

    #[retryable(strategy = self.table)]
    async fn put(&self, server: &Server) -> Result<(), SlowDown> {
        server.accept()
    }
}

fn read(text: &str) -> Result<RetryConfig, Box<dyn Error>> {
    // toml reports a syntax error without the file, so it is added here.
    let document = toml::Deserializer::parse(text).map_err(|error| format!("file \"settings.toml\": {error}"))?;
    Ok(RetryConfig::from_file_section("settings.toml", "table", document)?)
}

/// Stands in for a server that accepts 200 requests per second, from all processes together.
struct Server {
    began: Instant,
    requests: Mutex<(f64, u32)>,
}

impl Server {
    fn accept(&self) -> Result<(), SlowDown> {
        let mut requests = self.requests.lock().expect("nothing panics while it is locked");
        if requests.0 + 1.0 > 200.0 * self.began.elapsed().as_secs_f64() + 10.0 {
            requests.1 += 1;
            return Err(SlowDown);
        }
        requests.0 += 1.0;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let store = Arc::<Mutex<MemoryStore>>::default();
    let processes = [Process::start(store.clone())?, Process::start(store)?];
    let server = Server { began: Instant::now(), requests: Mutex::default() };

    for round in 1..=2 {
        let puts = (0..400).map(|i| processes[i % 2].put(&server));
        let lost = futures_util::future::join_all(puts).await.iter().filter(|outcome| outcome.is_err()).count();
        let rejected = server.requests.lock().expect("nothing panics while it is locked").1;
        println!("round {round}: {lost} of 400 requests lost, {rejected} attempts rejected so far");
        for (process, number) in processes.iter().zip(1..) {
            let status = process.membership.status();
            let rate = process.table.send_rate().unwrap_or(f64::INFINITY);
            let attempts = process.table.settings().max_attempts;
            println!(
                "  process {number} of {}: {rate:.0} sends per second, at most {attempts} attempts",
                status.members
            );
        }
        if round == 1 {
            println!("the file changes");
            for process in &processes {
                process.table.apply(&read(CHANGED)?, &TokioTimer)?;
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }
    for process in processes {
        process.membership.leave().await;
    }
    Ok(())
}
