//! Many downloads in one thread, without async: an event loop drives an operation for each.
//!
//! The loop has one queue. Answers of the server, wakes of operations and the ends of their waits are events of it. Here a thread
//! plays the server, which is down for the first second.

use retry_core::drive::{Cut, Ended, Next, Operation, Settled};
use retry_core::{PatientRetryStrategy, RetryInfo, RetryPolicy, StandardRetryPolicy, TimedOut};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::task::{Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

static STORE: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(100), Duration::from_secs(1));

#[derive(Debug, RetryInfo)]
enum StoreError {
    Answer(#[retry(http_status)] u16),
    #[retry(transparent)]
    TimedOut(TimedOut),
}

type Outcome = Result<String, StoreError>;

/// The number of a download.
type Id = usize;

/// What happens to a download.
enum Event {
    /// Its operation may go on.
    Wake(Id),
    /// The server has answered this attempt of it.
    Answer(Id, u32, Outcome),
}

struct WakeDownload(Id, Sender<Event>);

impl Wake for WakeDownload {
    fn wake(self: Arc<Self>) {
        // The queue is gone at the end of the program.
        let _ = self.1.send(Event::Wake(self.0));
    }
}

struct Download {
    operation: Operation<&'static PatientRetryStrategy>,
    waker: Waker,
    /// When the loop looks at it again: at the end of a wait, or of the time for an attempt.
    due: Option<Instant>,
    is_running: bool,
    last: Option<Outcome>,
}

impl Download {
    fn new(id: Id, queue: Sender<Event>) -> Self {
        let builder = Operation::builder(&STORE, "download").attempt_timeout(Duration::from_millis(500));
        let operation = builder.max_time(Duration::from_secs(20)).begin();
        let waker = Waker::from(Arc::new(WakeDownload(id, queue)));
        Self { operation, waker, due: None, is_running: false, last: None }
    }

    /// Does what is due. Returns the outcome and the report once the download has ended.
    fn step(&mut self, id: Id, queue: &Sender<Event>) -> Option<(Outcome, Ended)> {
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

    fn settle(&mut self, id: Id, queue: &Sender<Event>, outcome: Outcome) -> Option<(Outcome, Ended)> {
        self.is_running = false;
        match self.operation.settle(StandardRetryPolicy::new().evaluate(&outcome)) {
            Settled::Done(ended) => Some((outcome, ended)),
            Settled::Retry => {
                self.last = Some(outcome);
                self.step(id, queue)
            }
        }
    }

    fn last(&mut self, ended: Ended) -> Option<(Outcome, Ended)> {
        let timed_out = || ended.timed_out.map(|timed_out| Err(StoreError::TimedOut(timed_out)));
        self.last.take().or_else(timed_out).map(|outcome| (outcome, ended))
    }
}

fn main() {
    let began = Instant::now();
    let (sender, queue) = mpsc::channel();
    let mut downloads: BTreeMap<Id, Download> = (0..20).map(|id| (id, Download::new(id, sender.clone()))).collect();
    let mut attempts = 0;
    let mut events: Vec<Event> = downloads.keys().map(|id| Event::Wake(*id)).collect();
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
                downloads.remove(&id);
                println!("{:4} ms: download {id}: {outcome:?}", began.elapsed().as_millis());
            }
        }
        let due = downloads.values().filter_map(|download| download.due).min();
        let left = due.map_or(Duration::from_secs(1), |due| due.saturating_duration_since(Instant::now()));
        match queue.recv_timeout(left) {
            Ok(event) => events.push(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("the loop has a sender"),
        }
        let is_due = |download: &Download| download.due.is_some_and(|due| due <= Instant::now());
        events.extend(downloads.iter().filter(|(_, each)| is_due(each)).map(|(id, _)| Event::Wake(*id)));
    }
    println!("20 downloads, {attempts} attempts");
}

/// Sends a request. The server is down for a second, and does not answer each tenth download before its sixth
/// request.
fn request(id: Id, attempt: u32, queue: Sender<Event>) {
    static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let is_down = BEGAN.elapsed() < Duration::from_secs(1);
    if !is_down && id.is_multiple_of(10) && attempt < 6 {
        return;
    }
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        let outcome = if is_down { Err(StoreError::Answer(503)) } else { Ok(format!("the content of {id}")) };
        // The loop has ended if the attempt was cut.
        let _ = queue.send(Event::Answer(id, attempt, outcome));
    });
}
