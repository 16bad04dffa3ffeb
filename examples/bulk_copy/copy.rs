//! The job: concurrent tasks, each of which copies one object after another.

use crate::client::{Client, StoreError};
use crate::progress::Progress;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The result of the job.
#[derive(Debug)]
pub(crate) struct Copied {
    /// The number of objects copied without an error, as seen by the client.
    pub(crate) objects: u32,
    /// The objects whose copy failed, with the last error.
    pub(crate) failures: Vec<(String, StoreError)>,
    /// The number of objects neither copied nor failed at the deadline.
    pub(crate) unfinished: usize,
    /// The time from the first request to the last answer.
    pub(crate) elapsed: Duration,
}

/// State shared by the tasks.
#[derive(Debug)]
struct Job {
    keys: Vec<String>,
    next: AtomicUsize,
    failures: Mutex<Vec<(String, StoreError)>>,
}

/// Copies the objects of these keys with this number of tasks. Stops at the deadline, even if objects are left.
pub(crate) async fn run(
    client: &Arc<Client>,
    keys: Vec<String>,
    tasks: usize,
    deadline: Duration,
    progress: &Arc<Progress>,
) -> Copied {
    let started = Instant::now();
    let job = Arc::new(Job { keys, next: AtomicUsize::new(0), failures: Mutex::default() });
    let mut workers = JoinSet::new();
    for _ in 0..tasks {
        workers.spawn(work(Arc::clone(client), Arc::clone(&job), Arc::clone(progress)));
    }
    let all = async { while workers.join_next().await.is_some() {} };
    tokio::select! {
        () = all => {}
        () = tokio::time::sleep(deadline) => {}
        never = progress.show() => match never {},
    }
    workers.shutdown().await;
    progress.finish();

    let mut failures = std::mem::take(&mut *job.failures.lock().unwrap_or_else(PoisonError::into_inner));
    failures.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let objects = progress.copied();
    let unfinished = job.keys.len().saturating_sub(failures.len()).saturating_sub(objects as usize);
    Copied { objects, failures, unfinished, elapsed: started.elapsed() }
}

/// Runs one task, which copies the next object until none is left.
async fn work(client: Arc<Client>, job: Arc<Job>, progress: Arc<Progress>) {
    while let Some(key) = job.keys.get(job.next.fetch_add(1, Ordering::Relaxed)) {
        match client.copy(key).await {
            Ok(()) => progress.add_copied(),
            Err(error) => {
                progress.add_failed();
                job.failures.lock().unwrap_or_else(PoisonError::into_inner).push((key.clone(), error));
            }
        }
    }
}
