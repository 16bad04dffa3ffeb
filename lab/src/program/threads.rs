//! Jobs on threads, with progress on stderr.

use super::text::counted;
use lab::study::Workers;
use std::io::{IsTerminal, stderr};
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};
use std::time::{Duration, Instant};

/// Runs jobs on a number of threads.
#[derive(Debug)]
pub(super) struct Threads(usize);

impl Threads {
    /// Creates workers: `threads`, or one for each core.
    pub(super) fn new(threads: Option<usize>) -> Self {
        Self(threads.unwrap_or_else(|| available_parallelism().map_or(1, NonZero::get)).max(1))
    }
}

impl Workers for Threads {
    fn run(&self, name: &str, count: usize, job: &(dyn Fn(usize) + Sync)) {
        let (next, done, progress) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Progress::new(name, count)));
        scope(|scope| {
            for _ in 0..self.0.min(count) {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return;
                        }
                        job(number);
                        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                        if let Ok(mut progress) = progress.lock() {
                            progress.show(done);
                        }
                    }
                });
            }
        });
        if let Ok(progress) = progress.into_inner() {
            progress.finish();
        }
    }
}

/// The progress of one group of jobs: a line that is rewritten on a terminal, and a line now and then elsewhere.
struct Progress<'a> {
    name: &'a str,
    count: usize,
    started: Instant,
    shown: Instant,
    every: Duration,
    is_terminal: bool,
}

impl<'a> Progress<'a> {
    fn new(name: &'a str, count: usize) -> Self {
        let (is_terminal, now) = (stderr().is_terminal(), Instant::now());
        let every = if is_terminal { Duration::from_millis(200) } else { Duration::from_secs(15) };
        Self { name, count, started: now, shown: now, every, is_terminal }
    }

    fn show(&mut self, done: usize) {
        if self.shown.elapsed() < self.every {
            return;
        }
        self.shown = Instant::now();
        let seconds = self.started.elapsed().as_secs();
        let text = format!("{}: {done} of {}, {seconds} s", self.name, counted(self.count as u64, "run"));
        if self.is_terminal {
            eprint!("\r\x1b[K{text}");
        } else {
            eprintln!("{text}");
        }
    }

    fn finish(self) {
        let text = format!(
            "{}: {} in {:.1} s",
            self.name,
            counted(self.count as u64, "run"),
            self.started.elapsed().as_secs_f64()
        );
        eprintln!("{}{text}", if self.is_terminal { "\r\x1b[K" } else { "" });
    }
}
