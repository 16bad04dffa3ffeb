//! Copies thousands of objects between two buckets of a service that injects faults, and counts the lost objects.
//!
//! Begin with `client.rs`, which holds the retry code. The only other part of it is the choice of a strategy in
//! `strategy.rs`. The rest is the service, which makes retries necessary, and the counts that show their effect.
//!
//! ```text
//! cargo run --example bulk_copy                        # faults: nothing is lost
//! cargo run --example bulk_copy -- --strategy none     # the same faults without retries: objects are lost
//! cargo run --example bulk_copy -- --outage 5s         # the service is down for five seconds: objects wait for it
//! cargo run --example bulk_copy -- --outage 5s --strategy standard
//! cargo run --example bulk_copy -- --limit             # a limit on the rate: many requests are rejected
//! cargo run --example bulk_copy -- --limit --strategy standard
//! cargo run --example bulk_copy -- --limit --strategy paced
//! cargo run --example bulk_copy -- --help
//! ```

mod client;
mod copy;
mod count;
mod faults;
mod http;
mod limit;
mod look;
mod noun;
mod options;
mod outage;
mod progress;
mod quota;
mod service;
mod source;
mod strategy;
mod table;
mod tally;
mod text;
mod wrap;

use client::Client;
use http::Http;
use options::{Options, Settings};
use progress::Progress;
use quota::Quotas;
use service::Service;
use source::Source;
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use table::{Plan, Summary};
use tally::Tally;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Exits with 0 if no object was lost, 1 if objects were lost or the run itself failed, and 2 for invalid arguments.
#[tokio::main]
async fn main() -> ExitCode {
    let settings = Options::read();
    let source = match Source::load(&settings.folder, settings.objects) {
        Ok(source) => source,
        Err(error) => Options::refuse(&error),
    };
    match run(&settings, &source).await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            anstream::eprintln!("{bad}error{bad:#}: {error}", bad = look::BAD);
            ExitCode::FAILURE
        }
    }
}

/// Copies the source and prints the table. Returns the number of lost objects.
async fn run(settings: &Settings, source: &Source) -> Result<usize, Box<dyn Error>> {
    let tally = Tally::default();
    tracing_subscriber::registry().with(tally.clone()).try_init()?;
    write!(anstream::stdout(), "{}", Plan { settings, source })?;

    // The source bucket is filled directly and not through HTTP, so that the run measures only the copy.
    let service = Service::start(settings.rules.clone(), source.contents()).await?;
    let http = Http::new(format!("http://{}", service.address()), settings.attempt_timeout)?;
    let strategies = settings.strategy.for_reads_and_writes();
    let progress = Arc::new(Progress::new(source.objects.len(), Quotas::new(settings.strategy, &strategies)));
    let [reads, writes] = strategies;
    let client = Arc::new(Client { http, reads, writes });
    let copied = copy::run(&client, source.keys(), settings.tasks, settings.deadline, &progress).await;

    let arrived = service.stop();
    let lost = source.objects.iter().filter(|object| !object.is_intact(arrived.get(&object.key))).count();
    let (attempts, outage, tally) = (client.http.requests(), service.outage(), tally.counted());
    let service = service.counters();
    write!(anstream::stdout(), "{}", Summary { settings, copied, lost, attempts, service, outage, tally })?;
    Ok(lost)
}
