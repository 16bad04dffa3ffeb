//! How soon a server is back after a stall, by what its clients' retries are limited with: real processes against a real
//! HTTP server on this machine.
//!
//! The server works off its requests one after the other. It stalls for a while, and then has a queue of requests, of which
//! many were given up by their clients. Each retry makes the queue longer. `strategies.rs` has what is compared.
//!
//! ```text
//! cargo run --release --example recovery
//! cargo run --release --example recovery -- --load 93 --only none,fixed
//! cargo run --release --example recovery -- --help
//! ```

mod options;
mod process;
mod progress;
mod run;
mod seconds;
mod server;
mod strategies;
mod table;

use options::{Options, Task};
use std::error::Error;
use std::process::ExitCode;
use table::Table;

/// Exits with 0 after all runs, with 1 if one could not be made, and with 2 for invalid arguments.
#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Options::task() {
        Task::Call(options) => process::run(options).await,
        Task::Compare(options) => compare(&options).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Makes a run with each strategy, and prints a line for each.
async fn compare(options: &Options) -> Result<(), Box<dyn Error>> {
    let table = Table::new(options);
    println!("{table}");
    for chosen in options.strategies() {
        let outcome = run::run(options, chosen).await?;
        println!("{}", table.row(chosen, &outcome));
    }
    Ok(())
}
