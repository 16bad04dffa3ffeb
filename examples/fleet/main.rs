//! Copies objects by many processes, first by processes that know nothing of each other and then by a fleet, through
//! the service of the example `bulk_copy`, which throttles, fails for ten seconds and recovers.
//!
//! Begin with `process.rs`, which holds what a process of a fleet adds to its code. The rest starts the store and the
//! processes, and counts.
//!
//! ```text
//! cargo run --example fleet --features fleet
//! cargo run --example fleet --features fleet -- --only shared --kill-store
//! cargo run --example fleet --features fleet -- --only shared --pause-store
//! cargo run --example fleet --features fleet -- --only shared --kill-worker
//! cargo run --example fleet --features fleet -- --help
//! ```
//!
//! It starts a store, which is redis-server or valkey-server, if one of them is installed, or uses that of `--store URL`.

mod fault;
mod job;
mod options;
mod process;
mod progress;
mod report;
mod run;
mod store;
mod table;
mod workers;

// The client and the service are those of the example `bulk_copy`.
#[path = "../bulk_copy/client.rs"]
mod client;
#[path = "../bulk_copy/count.rs"]
mod count;
#[path = "../bulk_copy/faults.rs"]
mod faults;
#[path = "../bulk_copy/http.rs"]
mod http;
#[path = "../bulk_copy/limit.rs"]
mod limit;
#[path = "../bulk_copy/noun.rs"]
mod noun;
#[path = "../bulk_copy/outage.rs"]
mod outage;
#[path = "../bulk_copy/service.rs"]
mod service;
#[path = "../bulk_copy/source.rs"]
mod source;
#[path = "../bulk_copy/tally.rs"]
mod tally;
#[path = "../bulk_copy/text.rs"]
mod text;

use options::{Mode, Options, Settings, Task};
use run::Outcome;
use source::Source;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use store::StoreServer;
use table::{Comparison, Plan};

/// Exits with 0 if the last run lost no object, with 1 if it did or the run itself failed, and with 2 for invalid arguments or without
/// a store.
#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Options::read() {
        Task::Copy(options) => process::run(&options).await.map(|()| true),
        Task::Compare(settings) => compare(&settings).await,
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Makes the runs and prints the comparison. Returns whether the last one is good.
async fn compare(settings: &Settings) -> Result<bool, Box<dyn Error>> {
    let mut server = match &settings.store {
        None if settings.modes.contains(&Mode::Shared) => match StoreServer::start() {
            Ok(server) => Some(server),
            Err(error) => Options::refuse(&error),
        },
        _ => None,
    };
    if let Some(url) = &settings.store
        && let Err(error) = store::check(url).await
    {
        Options::refuse(&format_args!("invalid value for '--store': {error}"));
    }
    let url = settings.store.clone().or_else(|| server.as_ref().map(StoreServer::url)).unwrap_or_default();
    let store = server.as_ref().map(StoreServer::program).or(settings.store.as_ref().map(|_| "that of --store"));
    let source = Source::load(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")), settings.objects as usize)?;
    write!(io::stdout(), "{}", Plan { settings, source: &source, tasks: process::TASKS, store })?;

    let mut outcomes: Vec<Outcome> = Vec::new();
    for mode in &settings.modes {
        outcomes.push(run::run(settings, *mode, &source, &url, server.as_mut()).await?);
    }
    write!(io::stdout(), "{}", Comparison { settings, outcomes: &outcomes })?;
    Ok(outcomes.last().is_some_and(Outcome::is_good))
}
