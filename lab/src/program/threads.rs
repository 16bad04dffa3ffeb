//! Jobs on threads, with progress on stderr.

use super::progress::Progress;
use lab::study::Workers;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{available_parallelism, scope};

/// Runs jobs on a number of threads.
pub(super) struct Threads {
    count: usize,
    progress: Mutex<Progress>,
}

/// Returns the number of threads: `threads`, or one for each core.
pub(super) fn threads(threads: Option<usize>) -> usize {
    threads.unwrap_or_else(|| available_parallelism().map_or(1, NonZero::get)).max(1)
}

impl Threads {
    /// Creates workers on this number of threads.
    pub(super) fn new(count: usize, progress: Progress) -> Self {
        Self { count, progress: Mutex::new(progress) }
    }

    /// Changes or shows the progress.
    pub(super) fn progress(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.progress.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Workers for Threads {
    fn run(&self, name: &str, count: usize, job: &(dyn Fn(usize) + Sync)) {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        self.progress(|progress| progress.begin_group(name, count));
        scope(|scope| {
            for _ in 0..self.count.min(count) {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return;
                        }
                        job(number);
                        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                        self.progress(|progress| progress.show(done));
                    }
                });
            }
        });
        self.progress(Progress::finish_group);
    }
}
