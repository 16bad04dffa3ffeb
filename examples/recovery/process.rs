//! A client process: calls at random times, whether or not the calls before have ended.

use crate::options::CallOptions;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use reqwest::redirect;
use retry_clients::reqwest013::{ClientError, ResponseExt};
use retry_core::{ErasedStrategy, retryable};
use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// The maximum time of one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(1);

/// The client and the counts of its calls.
#[derive(Debug)]
struct Client {
    http: reqwest::Client,
    url: String,
    strategy: ErasedStrategy,
    begun: AtomicU64,
    succeeded: AtomicU64,
}

impl Client {
    #[retryable(strategy = self.strategy, idempotent)]
    async fn get(&self) -> Result<(), ClientError> {
        self.http.get(&self.url).send().await?.error_for_response().await?.bytes().await?;
        Ok(())
    }

    async fn call(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        if self.get().await.is_ok() {
            self.succeeded.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Calls the server until standard input is closed, and prints every quarter of a second how many calls have begun and
/// succeeded so far.
pub(crate) async fn run(options: CallOptions) -> Result<(), Box<dyn Error>> {
    // The process ends when the one that started it does.
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(0);
    });
    let http = reqwest::Client::builder()
        .timeout(ATTEMPT_TIMEOUT)
        .retry(reqwest::retry::never())
        .redirect(redirect::Policy::none())
        .build()?;
    let client = Arc::new(Client {
        http,
        url: format!("http://{}/", options.server),
        strategy: options.chosen.strategy(),
        begun: AtomicU64::new(0),
        succeeded: AtomicU64::new(0),
    });
    let counted = Arc::clone(&client);
    let mut random = SmallRng::seed_from_u64(u64::from(std::process::id()));
    tokio::spawn(async move {
        let mut next = Instant::now();
        loop {
            // The time between two calls is random, as if they had nothing to do with each other.
            next += Duration::from_secs_f64(-(1.0 - random.random::<f64>()).ln() / options.rate);
            sleep_until(next).await;
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.call().await });
        }
    });
    loop {
        let (begun, succeeded) = (counted.begun.load(Ordering::Relaxed), counted.succeeded.load(Ordering::Relaxed));
        writeln!(io::stdout(), "{begun} {succeeded}")?;
        sleep(Duration::from_millis(250)).await;
    }
}
