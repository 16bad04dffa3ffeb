//! A mixed program that runs for long, and checks that nothing is lost, doubled, stuck or left behind.
//!
//! `cargo run -p soak -- --seconds 60`
//!
//! It runs in rounds. In each round, tasks send requests to a server that fails, stalls and throttles, make transactions in a store,
//! and are members of a fleet, while settings change, retries are switched off and on, and tasks are cancelled and restarted.
//! Then the round ends, and it checks what is left.

mod fleet;
mod ledger;
mod problem;
mod round;
mod server;
mod store;
mod world;

use clap::Parser;
use peak_alloc::PeakAlloc;
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// The rounds after which memory must not grow: the runtime, the maps and the pools have their size.
const WARM_UP: u64 = 2;
/// The growth that is accepted after that, in bytes: room for a few buffers. A leak of ten bytes in each operation exceeds it within
/// ten rounds.
const MOST_GROWTH: usize = 64 * 1024;

/// Runs the library for long, and checks that nothing is lost, doubled, stuck or left behind.
#[derive(Parser)]
struct Options {
    /// How long to begin new rounds. At least four are run.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The seed of all faults. The default is random.
    #[arg(long)]
    seed: Option<u64>,
}

/// Returns the bytes that are allocated. Connections may take a moment to close, so it waits up to five seconds for this limit.
async fn settled(limit: usize) -> usize {
    let began = Instant::now();
    while ALLOCATED.current_usage() > limit && began.elapsed() < Duration::from_secs(5) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    ALLOCATED.current_usage()
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(rand::random);
    println!("seed {seed}");
    let began = Instant::now();
    let mut baseline = 0;
    let mut rounds = 0;
    while rounds < WARM_UP + 2 || began.elapsed() < Duration::from_secs(options.seconds) {
        let line = round::run(rounds, seed).await?;
        rounds += 1;
        let allocated = settled(if rounds <= WARM_UP { usize::MAX } else { baseline + MOST_GROWTH }).await;
        println!("{:>5} s  round {rounds}: {line}, {} KiB allocated", began.elapsed().as_secs(), allocated / 1024);
        if rounds <= WARM_UP {
            baseline = allocated.max(baseline);
        } else if allocated > baseline + MOST_GROWTH {
            problem::problem(format!("{allocated} bytes are allocated, {baseline} after the warm-up"));
        }
        let problems = problem::take_problems();
        if !problems.is_empty() {
            for problem in problems.iter().take(10) {
                eprintln!("{problem}");
            }
            eprintln!("{} problems with the seed {seed}", problems.len());
            return Ok(ExitCode::FAILURE);
        }
    }
    println!("{rounds} rounds without a problem");
    Ok(ExitCode::SUCCESS)
}
