//! Twenty processes that share a limit, and what can happen to them and to their store: how long until they use the limit again?
//!
//! It starts a redis-server and a service on the loopback interface. The service accepts 200 requests per second, with a
//! burst of 20. The processes do not know it.
//!
//! ```sh
//! cargo run --release -p retry-fleet --example faults                  # all faults, about five minutes
//! cargo run --release -p retry-fleet --example faults -- empty deaths  # some of them
//! ```
//!
//! It fails if a fault leaves more than a tenth of the limit unused for longer than the protocol promises.

mod fault;
mod process;
mod service;
mod store;
mod world;

use fault::{FAULTS, Fault};
use std::error::Error;
use std::process::ExitCode;
use world::World;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if process::is_one() {
        process::run()?;
        return Ok(ExitCode::SUCCESS);
    }
    let names: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = names.iter().find(|name| FAULTS.iter().all(|fault| fault.name != **name)) {
        let known: Vec<_> = FAULTS.iter().map(|fault| fault.name).collect();
        return Err(format!("unknown fault `{unknown}`: expected some of {}", known.join(", ")).into());
    }
    let chosen: Vec<&Fault> =
        FAULTS.iter().filter(|fault| names.is_empty() || names.iter().any(|name| name == fault.name)).collect();
    println!("| fault | the limit is used again after | goal | used in 10 s | rejected in 10 s |");
    println!("|---|---|---|---|---|");
    let mut missed = Vec::new();
    for (number, fault) in chosen.iter().enumerate() {
        eprintln!("fault {} of {}: {}", number + 1, chosen.len(), fault.name);
        let mut world = World::new()?;
        let row = fault.run(&mut world)?;
        println!("{row}");
        if !row.is_good() {
            missed.push(fault.name);
        }
    }
    if missed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("missed: {}", missed.join(", "));
    Ok(ExitCode::FAILURE)
}
