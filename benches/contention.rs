//! What a second thread does to the first where both share one strategy, or nothing.
//!
//! Each thread is pinned to a core of its own: left to the scheduler they may take turns on one, and a short run then
//! shows no contention where there is some. One thread and two take turns within one run, and what is printed is the
//! median of their ratios, because the speed of a machine changes from run to run, and even within one.

use benches::clocks::Rush;
use benches::operation::Outcome;
use benches::ours::{attribute, by_token, limiting};
use benches::{operation::bare, repeat};
use core_affinity::CoreId;
use retry_core::{AdaptiveRetryStrategy, TokioTimer};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: usize = 31;

fn main() {
    // Under `cargo test` it shall only be seen to run.
    let (rounds, calls) = if std::env::args().any(|argument| argument == "--bench") { (ROUNDS, 400_000) } else { (1, 10) };
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let &[first, second, ..] = cores.as_slice() else {
        println!("contention needs two cores");
        return;
    };
    println!("{:<20} {:>12} {:>12} {:>10}", "", "1 thread, ns", "2 threads, ns", "throughput");
    let measure = |name, call: &(dyn Fn(u64) + Sync)| report(name, &[first, second], rounds, || call(calls));

    measure("bare", &|calls| repeat(calls, bare));
    measure("attribute", &|calls| repeat(calls, attribute));
    let idle = AdaptiveRetryStrategy::new();
    measure("adaptive idle", &|calls| repeat(calls / 8, async |number| by_token(&idle, number, &TokioTimer).await));
}
