//! Metrics for Prometheus: four strategies against a flaky service, whose server also exposes the metrics.
//!
//! `cargo run --example metrics` makes some calls, shows the metrics and ends. With `-- --serve`, it continues calling until
//! it is stopped, so that a Prometheus can scrape it.

mod calls;
mod server;

use calls::Client;
use server::Server;
use std::error::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let serve = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--serve") => true,
        Some(other) => return Err(format!("unknown option {other:?}: expected --serve or none").into()),
    };
    let server = Server::start(calls::install_metrics()?).await?;
    let url = server.metrics_url();
    println!("metrics at {url}");

    let client = Client::new(server.address())?;
    calls::run(&client).await;
    let (store, table) = server.requests();
    println!("{} reads took {store} requests, and {} writes took {table}", calls::READS, calls::WRITES);
    let scraped = reqwest::get(&url).await?.text().await?;
    for line in scraped.lines().filter(|line| line.starts_with("retry_") && !line.contains("_bucket{")) {
        println!("{line}");
    }
    if serve {
        loop {
            calls::run(&client).await;
        }
    }
    Ok(())
}
