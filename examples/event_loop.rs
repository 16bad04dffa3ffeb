//! Many downloads in one thread, without async: an event loop drives an operation for each.
//!
//! The loop has one queue for answers of the server and wakes of operations, and a heap of the times at which it looks at a download
//! again. Here threads play the server, which is down for the first second, and then asks some clients to wait.

use retry_core::drive::{Cut, Ended, Next, Operation, Outcome, Settled};
use retry_core::time::StdTimer;
use retry_core::{
    Event as RetryEvent, EventKind, Observer, PatientRetryStrategy, RetryInfo, StandardRetryPolicy, TimedOut,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::task::{Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// The backoff is short, to keep the example fast.
static STORE: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(100), Duration::from_secs(1));

#[derive(Debug, RetryInfo)]
enum StoreError {
    Answer(#[retry(http_status)] u16, #[retry(retry_after)] Option<Duration>),
    #[retry(transparent)]
    TimedOut(TimedOut),
}

/// Counts the retries of all downloads.
#[derive(Debug)]
struct Retries(AtomicU32);

impl Observer for Retries {
    fn observe(&self, event: &RetryEvent) {
        if let EventKind::RetryScheduled { .. } | EventKind::Released { .. } = event.kind {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

static RETRIES: Retries = Retries(AtomicU32::new(0));

type DownloadResult = Result<String, StoreError>;

/// The number of a download.
type Id = usize;

/// What happens to a download.
enum Event {
    /// Its operation may go on.
    Wake(Id),
    /// The server has answered this attempt of it.
    Answer(Id, u32, DownloadResult),
}

struct WakeDownload(Id, Sender<Event>);

impl Wake for WakeDownload {
    fn wake(self: Arc<Self>) {
        // The queue is gone at the end of the program.
        let _ = self.1.send(Event::Wake(self.0));
    }
}

struct Download {
    operation: Operation<&'static PatientRetryStrategy, StdTimer, &'static Retries>,
    waker: Waker,
    /// When the loop looks at it again: at the end of a wait, or of the time for an attempt.
    due: Option<Instant>,
    is_running: bool,
    last: Option<DownloadResult>,
}

impl Download {
    fn new(id: Id, queue: Sender<Event>) -> Self {
        let builder = Operation::builder(&STORE, "download").observer(&RETRIES);
        let builder = builder.attempt_timeout(Duration::from_millis(500)).max_time(Duration::from_secs(30));
        let waker = Waker::from(Arc::new(WakeDownload(id, queue)));
        Self { operation: builder.begin(), waker, due: None, is_running: false, last: None }
    }

    /// Does what is due. Returns the outcome and the report once the download has ended.
    fn step(&mut self, id: Id, queue: &Sender<Event>) -> Option<(DownloadResult, Ended)> {
        if self.is_running && self.due.is_some_and(|due| due <= Instant::now()) {
            match self.operation.cut() {
                Cut::Attempt(timed_out) => return self.settle(id, queue, Err(StoreError::TimedOut(timed_out))),
                Cut::Operation(ended) => return self.last(ended),
            }
        }
        if self.is_running {
            return None;
        }
        match self.operation.next(&self.waker) {
            Next::Wait(time) => self.due = Some(Instant::now() + time),
            Next::Attempt { time_left, .. } => {
                self.due = time_left.map(|time| Instant::now() + time);
                self.is_running = true;
                self.operation.sent();
                request(id, self.operation.context().attempt(), queue.clone());
            }
            Next::Stop(ended) => return self.last(ended),
        }
        None
    }

    fn settle(&mut self, id: Id, queue: &Sender<Event>, result: DownloadResult) -> Option<(DownloadResult, Ended)> {
        self.is_running = false;
        let outcome = Outcome::new(result);
        let directive = self.operation.evaluate(&StandardRetryPolicy::new(), &outcome);
        match self.operation.settle(directive) {
            Settled::Done(ended) => Some((outcome.last(), ended)),
            Settled::Retry => {
                self.last = outcome.kept();
                self.step(id, queue)
            }
        }
    }

    fn last(&mut self, ended: Ended) -> Option<(DownloadResult, Ended)> {
        let timed_out = |timed_out| Some(Err(StoreError::TimedOut(timed_out)));
        ended.last_or(self.last.take(), timed_out).map(|outcome| (outcome, ended))
    }
}

const DOWNLOADS: usize = 200;

fn main() {
    let began = Instant::now();
    let (sender, queue) = mpsc::channel();
    let mut downloads: BTreeMap<Id, Download> =
        (0..DOWNLOADS).map(|id| (id, Download::new(id, sender.clone()))).collect();
    let mut parked = BinaryHeap::new();
    let mut events: Vec<Event> = downloads.keys().map(|id| Event::Wake(*id)).collect();
    let (mut attempts, mut failed) = (0, 0);
    while !downloads.is_empty() {
        for event in events.drain(..) {
            let (Event::Wake(id) | Event::Answer(id, ..)) = event;
            let Some(download) = downloads.get_mut(&id) else { continue };
            let ended = match event {
                Event::Wake(_) => download.step(id, &sender),
                // An answer of an attempt that was cut is too late.
                Event::Answer(_, attempt, outcome)
                    if download.is_running && attempt == download.operation.context().attempt() =>
                {
                    download.settle(id, &sender, outcome)
                }
                Event::Answer(..) => None,
            };
            if let Some((outcome, ended)) = ended {
                attempts += ended.attempts;
                failed += u32::from(outcome.is_err());
                downloads.remove(&id);
            } else if let Some(due) = download.due {
                parked.push(Reverse((due, id)));
            }
        }
        let next = parked.peek().map(|Reverse((due, _))| *due);
        let left = next.map_or(Duration::from_secs(1), |due| due.saturating_duration_since(Instant::now()));
        match queue.recv_timeout(left) {
            Ok(event) => events.push(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the loop has a sender"),
        }
        events.extend(queue.try_iter());
        while let Some(Reverse((due, id))) = parked.peek().copied()
            && due <= Instant::now()
        {
            parked.pop();
            // Otherwise it was parked again meanwhile, or does not wait any more.
            if downloads.get(&id).is_some_and(|download| download.due == Some(due)) {
                events.push(Event::Wake(id));
            }
        }
    }
    let (time, retries) = (began.elapsed(), RETRIES.0.load(Ordering::Relaxed));
    println!("{DOWNLOADS} downloads in {time:.1?}: {failed} failed, {attempts} attempts, {retries} of them retries");
}

/// Sends a request. The server is down for a second. Then it does not answer each fiftieth download before its sixth request, and
/// asks each seventh to wait before its fifth.
fn request(id: Id, attempt: u32, queue: Sender<Event>) {
    static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let is_down = BEGAN.elapsed() < Duration::from_secs(1);
    if !is_down && id.is_multiple_of(50) && attempt < 6 {
        return;
    }
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        let outcome = if is_down {
            Err(StoreError::Answer(503, None))
        } else if id.is_multiple_of(7) && attempt < 5 {
            Err(StoreError::Answer(429, Some(Duration::from_millis(300))))
        } else {
            Ok(format!("the content of {id}"))
        };
        // The loop has ended if the attempt was cut.
        let _ = queue.send(Event::Answer(id, attempt, outcome));
    });
}
