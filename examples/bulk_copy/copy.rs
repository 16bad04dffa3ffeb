//! The job: many tasks at once, each of which copies one object after another.

use crate::client::{Client, StoreError};
use crate::progress::Progress;
use crate::service::{DESTINATION, SOURCE};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// What became of the job.
#[derive(Debug)]
pub(crate) struct Copied {
    /// How many objects the client believes to have copied.
    pub(crate) objects: u32,
    /// The objects whose copy failed, with the last error.
    pub(crate) failures: Vec<(String, StoreError)>,
    /// How many objects were not done with when the deadline came.
    pub(crate) unfinished: usize,
    /// The time from the first request to the last answer.
    pub(crate) elapsed: Duration,
}

/// What the tasks share.
#[derive(Debug)]
struct Job {
    keys: Vec<String>,
    next: AtomicUsize,
    failures: Mutex<Vec<(String, StoreError)>>,
}

/// Copies the objects of these keys with so many tasks. What is not done by the deadline is given up.
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

/// One task: takes the next key until there is none.
async fn work(client: Arc<Client>, job: Arc<Job>, progress: Arc<Progress>) {
    while let Some(key) = job.keys.get(job.next.fetch_add(1, Ordering::Relaxed)) {
        match copy(&client, key).await {
            Ok(()) => progress.add_copied(),
            Err(error) => {
                progress.add_failed();
                job.failures.lock().unwrap_or_else(PoisonError::into_inner).push((key.clone(), error));
            }
        }
    }
}

/// Copies one object. The two calls are retried by themselves: a failed write does not repeat the read.
async fn copy(client: &Client, key: &str) -> Result<(), StoreError> {
    let content = client.get(SOURCE, key).await?;
    client.put(DESTINATION, key, &content).await
}
