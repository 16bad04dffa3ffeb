//! What a second thread does to the first where both call with the same strategy.
//!
//! Each thread is pinned to a core of its own: left to the scheduler they may take turns on one, and a short run then
//! shows no contention where there is some. One thread and two take turns within the run, and what is printed is the
//! median of all rounds, because the speed of a machine changes from run to run, and even within one.

use benches::ours::{attribute, by_token, scoped, throttle};
use benches::{operation::bare, repeat};
use core_affinity::CoreId;
use retry_core::{AdaptiveRetryStrategy, TokioTimer};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// How often each is measured.
const ROUNDS: usize = 31;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("measured by `cargo bench` only");
        return;
    }
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let &[first, second, ..] = cores.as_slice() else {
        println!("contention needs two cores");
        return;
    };
    let measure = |name, calls, call: &(dyn Fn(u64) + Sync)| {
        let mut rounds: Vec<_> = (0..ROUNDS).map(|_| Round::new(calls, call, [first, second])).collect();
        rounds.sort_by(|one, other| one.throughput().total_cmp(&other.throughput()));
        let median = rounds[ROUNDS / 2];
        let (Round { alone, together }, throughput) = (median, median.throughput());
        println!(
            "{name:<18} {alone:>8.1} ns a call alone, {together:>8.1} ns with another: {throughput:.2} x throughput"
        );
    };

    measure("bare", 1_000_000, &|calls| repeat(calls, bare));
    measure("attribute", 1_000_000, &|calls| repeat(calls, attribute));
    measure("scoped", 100_000, &|calls| repeat(calls, scoped));
    let adaptive = AdaptiveRetryStrategy::new();
    let call = |calls| repeat(calls, async |number| by_token(&adaptive, number, &TokioTimer).await);
    measure("adaptive, idle", 50_000, &call);
    // The limit is made of the rate that was measured, here that of a thread that does nothing else, so it is no
    // hindrance afterwards.
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(2) {
        call(50_000);
    }
    throttle(&adaptive, &TokioTimer);
    measure("adaptive, limiting", 50_000, &call);
}

/// One thread, then two, in nanoseconds a call.
#[derive(Clone, Copy)]
struct Round {
    alone: f64,
    together: f64,
}

impl Round {
    fn new(calls: u32, call: &(dyn Fn(u64) + Sync), [first, second]: [CoreId; 2]) -> Self {
        let nanos = |longest: Duration| longest.as_secs_f64() * 1e9 / f64::from(calls);
        let run = || call(calls.into());
        Self { alone: nanos(longest(&run, &[first])), together: nanos(longest(&run, &[first, second])) }
    }

    /// What two threads get done, as a multiple of what one does.
    fn throughput(&self) -> f64 {
        2.0 * self.alone / self.together
    }
}

/// How long the slowest of some threads takes that run the same at one time, each on its core.
fn longest(run: &(dyn Fn() + Sync), cores: &[CoreId]) -> Duration {
    let start = Barrier::new(cores.len());
    thread::scope(|scope| {
        let threads: Vec<_> = cores
            .iter()
            .map(|&core| {
                let start = &start;
                scope.spawn(move || {
                    assert!(core_affinity::set_for_current(core), "the thread could not be pinned");
                    start.wait();
                    let started = Instant::now();
                    run();
                    started.elapsed()
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).max().unwrap_or_default()
    })
}
