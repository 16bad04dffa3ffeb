//! The cost of many operations that wait for one limiter.
//!
//! The table is in virtual time: clients ask, wait and send by a clock that the program sets, so the number of questions
//! is the same in each run. The time is the CPU time of the limiter's calls for each virtual second, as a share of a
//! core: the CPU time of a run, minus that of a repetition with the same waits and without the limiter.
//!
//! The last row is in real time, and is the share of whole operations on tokio, with their timers and tasks.

use benches::waiters::{Crowd, LEARNING, Virtual, limited_to};
use retry_core::time::Timestamp;
use retry_core::{AdaptiveRetryStrategy, Clock, RetryInfo, RetryStrategy, TokioTimer, retryable};
use std::cell::Cell;
use std::fs;
use std::rc::Rc;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("skipped: run `cargo bench` to measure");
        return;
    }
    println!("strategy  waiters  sends/s  asks for each send  ns for each ask  share of a core");
    for (clients, rate) in [(1, 200.0), (100, 200.0), (10_000, 200.0), (1, 2e4), (100, 2e4), (10_000, 2e4)] {
        row("adaptive", clients, Crowd::new(clients, rate));
        row("paced", clients, Crowd::paced(clients, rate));
    }
    operations(10_000, 2e4);
}

fn row<S: RetryStrategy>(name: &str, clients: usize, mut crowd: Crowd<S>) {
    let time = Duration::from_secs(4);
    let (answers, whole) = measured(|| crowd.run(time));
    let ((), rest) = measured(|| answers.repeat(clients));
    let (busy, asks) = (whole.saturating_sub(rest).as_secs_f64(), f64::from(answers.asks()));
    println!(
        "{name:>8} {clients:>8} {:>8.0} {:>19.2} {:>16.0} {:>14.2} %",
        f64::from(answers.sends()) / time.as_secs_f64(),
        asks / f64::from(answers.sends()),
        1e9 * busy / asks,
        100.0 * busy / time.as_secs_f64(),
    );
}

/// Returns the result and the CPU time of an action.
fn measured<T>(action: impl FnOnce() -> T) -> (T, Duration) {
    let started = cpu_time();
    let result = action();
    (result, cpu_time().saturating_sub(started))
}

/// Returns the CPU time of this thread. Where the system does not tell it, it is the time since the first call, which is
/// the same on an idle machine, because the program never sleeps in virtual time.
fn cpu_time() -> Duration {
    static STARTED: OnceLock<Instant> = OnceLock::new();

    let started = STARTED.get_or_init(Instant::now);
    // The system brings its count up to date when a thread yields.
    thread::yield_now();
    let known = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = known.and_then(|stat| stat.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| started.elapsed(), Duration::from_nanos)
}

/// The error of [`send`], which never fails.
#[derive(Debug, RetryInfo)]
enum Never {}

#[retryable(strategy = strategy)]
async fn send(strategy: &AdaptiveRetryStrategy) -> Result<(), Never> {
    Ok(())
}

/// Measures whole operations in real time, on a runtime with one thread.
fn operations(tasks: usize, rate: f64) {
    let clock = Virtual::at(Timestamp::from_origin(TokioTimer.now().since_origin().saturating_sub(LEARNING)));
    let strategy: &'static AdaptiveRetryStrategy = Box::leak(Box::new(limited_to(rate, &clock)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime without I/O needs nothing that could fail").block_on(async {
        let sends = Rc::new(Cell::new(0_u32));
        let local = tokio::task::LocalSet::new();
        for _ in 0..tasks {
            let sends = Rc::clone(&sends);
            local.spawn_local(async move {
                while send(strategy).await.is_ok() {
                    sends.set(sends.get() + 1);
                }
            });
        }
        local
            .run_until(async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                let (started, busy, before) = (Instant::now(), cpu_time(), sends.get());
                tokio::time::sleep(Duration::from_secs(4)).await;
                let (time, busy) = (started.elapsed().as_secs_f64(), cpu_time().saturating_sub(busy).as_secs_f64());
                let rate = f64::from(sends.get() - before) / time;
                println!(
                    "{tasks} whole operations in real time: {rate:.0} sends/s, {:.1} % of a core",
                    100.0 * busy / time
                );
            })
            .await;
    });
}
