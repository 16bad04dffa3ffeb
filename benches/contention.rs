//! The throughput of two threads that share one strategy, compared with that of one thread.
//!
//! Each thread is pinned to its own core. Otherwise the scheduler may run both on one core, and a short run then shows
//! no contention. The same happens if another program needs a core, so a round counts only if both threads ran at the
//! same time. The program alternates between one thread and two and prints the median of all rounds, because the speed
//! of a machine changes from run to run and even within a run.

use benches::operation::{bare, flaky};
use benches::ours::{attribute, by_token, flaky_attribute, hedged, scoped};
use benches::repeat;
use benches::waiters::throttle;
use core_affinity::CoreId;
use retry_core::{AdaptiveRetryStrategy, TokioTimer};
use retry_limits::{ConcurrencyRetryStrategy, PacedRetryStrategy};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The number of measurements of each scenario.
const ROUNDS: usize = 31;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("skipped: run `cargo bench` to measure");
        return;
    }
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let &[first, second, ..] = cores.as_slice() else {
        println!("skipped: contention needs two cores");
        return;
    };
    let measure = |name, calls, call: &(dyn Fn(u64) + Sync)| {
        let mut rounds: Vec<_> = (0..ROUNDS).map(|_| Round::new(calls, call, [first, second])).collect();
        rounds.sort_by(|one, other| one.throughput().total_cmp(&other.throughput()));
        let median = rounds[ROUNDS / 2];
        let (Round { alone, together }, throughput) = (median, median.throughput());
        println!(
            "{name:<18} {alone:>8.1} ns per call with one thread, {together:>8.1} ns with two: {throughput:.2} x throughput"
        );
    };

    measure("bare", 400_000, &|calls| repeat(calls, bare));
    measure("attribute", 300_000, &|calls| repeat(calls, attribute));
    measure("hedged", 100_000, &|calls| repeat(calls, hedged));
    // The least that a shared `Arc` costs: the yardstick of `scoped`, whose handle is one.
    let shared = Arc::new(());
    measure("arc", 40_000, &|calls| {
        repeat(calls, async |number| {
            let handle = black_box(Arc::clone(&shared));
            let outcome = bare(number).await;
            drop(handle);
            outcome
        });
    });
    measure("scoped", 20_000, &|calls| repeat(calls, scoped));
    // The least that state behind a lock costs: the yardstick of the adaptive strategy.
    let counter = Mutex::new(0_u64);
    measure("mutex", 30_000, &|calls| {
        repeat(calls, async |number| {
            *counter.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            bare(number).await
        });
    });
    measure("one of ten fails", 100_000, &|calls| {
        repeat(calls, async |number| flaky_attribute(number, &Cell::new(!number.is_multiple_of(10))).await);
    });
    // The least that a quota behind a lock costs: a retry takes from it, and its success gives back.
    let quota = Mutex::new(u64::MAX);
    let lock = || quota.lock().unwrap_or_else(PoisonError::into_inner);
    measure("the same, mutex", 100_000, &|calls| {
        repeat(calls, async |number| {
            let failed = Cell::new(!number.is_multiple_of(10));
            let first = flaky(number, &failed).await;
            if first.is_ok() {
                return first;
            }
            *lock() -= 14;
            let second = flaky(number, &failed).await;
            *lock() += 14;
            second
        });
    });
    let concurrency = ConcurrencyRetryStrategy::new();
    measure("concurrency", 30_000, &|calls| {
        repeat(calls, async |number| by_token(&concurrency, number, &TokioTimer).await);
    });
    let paced = PacedRetryStrategy::new().ramp(false);
    let call = |calls| repeat(calls, async |number| by_token(&paced, number, &TokioTimer).await);
    measure("paced, idle", 20_000, &call);
    // The ramp doubles its rate until no call waits.
    let paced = PacedRetryStrategy::new();
    let call = |calls| repeat(calls, async |number| by_token(&paced, number, &TokioTimer).await);
    while paced.send_rate().is_none_or(|rate| rate < 1e7) {
        call(10_000);
    }
    call(1_000_000);
    measure("paced, limiting", 10_000, &call);
    let adaptive = AdaptiveRetryStrategy::new();
    let call = |calls| repeat(calls, async |number| by_token(&adaptive, number, &TokioTimer).await);
    measure("adaptive, idle", 10_000, &call);
    // The limit follows the measured rate. Here that is the rate of a thread that does nothing else, so the limit
    // delays no call afterwards.
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(2) {
        call(50_000);
    }
    throttle(&adaptive, &TokioTimer);
    measure("adaptive, limiting", 10_000, &call);
}

/// The nanoseconds per call with one thread, then with two.
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

    /// Returns the throughput of two threads as a multiple of that of one.
    fn throughput(&self) -> f64 {
        2.0 * self.alone / self.together
    }
}

/// Runs the same code on all cores at the same time and returns the time of the slowest thread. A run in which the
/// threads were at work at different times does not count, and is repeated.
///
/// # Panics
///
/// Panics if no run of many counts, because the machine has too much else to do.
fn longest(run: &(dyn Fn() + Sync), cores: &[CoreId]) -> Duration {
    let run = || {
        let spans = spans(run, cores);
        let [first_begin, last_begin] =
            [spans.iter().map(|span| span.0).min()?, spans.iter().map(|span| span.0).max()?];
        let [first_end, last_end] = [spans.iter().map(|span| span.1).min()?, spans.iter().map(|span| span.1).max()?];
        let together = first_end.saturating_duration_since(last_begin);
        let is_valid = together >= last_end.saturating_duration_since(first_begin).mul_f64(0.8);
        is_valid.then(|| last_end.saturating_duration_since(first_begin))
    };
    (0..1_000).find_map(|_| run()).expect("the threads run at the same time once in a while")
}

/// Runs the same code on all cores at the same time and returns when each thread began and ended.
fn spans(run: &(dyn Fn() + Sync), cores: &[CoreId]) -> Vec<(Instant, Instant)> {
    let start = Barrier::new(cores.len());
    thread::scope(|scope| {
        let threads: Vec<_> = cores
            .iter()
            .map(|&core| {
                let start = &start;
                scope.spawn(move || {
                    assert!(core_affinity::set_for_current(core), "the thread could not be pinned");
                    // The first run fills the caches, and the threads leave it at about the same time.
                    run();
                    start.wait();
                    let began = Instant::now();
                    run();
                    (began, Instant::now())
                })
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}
