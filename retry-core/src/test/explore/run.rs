//! One run of a test, on its own thread.

use super::super::{Operation, record};
use super::place::{Abandoned, Case, Makers, Missing, Passed, Place, Run, Site, Unmade};
use super::point::take_invariants;
use crate::support::session::{Exploration, Session, lock};
use crate::support::sync::Mutex;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once, mpsc};
use std::thread;
use std::time::Duration;

/// A test that can run many times.
pub(super) type Test<T> = Arc<dyn Fn() -> T + Send + Sync>;

/// How a run ended.
#[derive(Debug)]
pub(super) enum End<T> {
    Returned(T),
    /// With the message of the panic and its place.
    Panicked(String),
    Hung,
    /// It passed more places than a run that ends.
    RanAway,
    /// Its failure can't be made, for this reason.
    Unmade(Unmade),
}

/// An operation that was running when a point failed.
#[derive(Clone, Debug)]
pub(super) struct Running {
    /// The session of the operation, and its index there.
    pub(super) id: (usize, usize),
    /// The attempt that was running.
    pub(super) attempt: u32,
    /// The record of the operation at the end of the run.
    pub(super) end: Operation,
}

/// What happened in a run.
#[derive(Debug)]
pub(super) struct Observed<T> {
    pub(super) end: End<T>,
    /// The places that were passed, except for attempts within which points were passed.
    pub(super) places: Vec<Place>,
    /// The places at which attempts that awaited something lose their answers, in place of being cut.
    pub(super) lost: Vec<Place>,
    /// The number of operations that passed a place.
    pub(super) operations: usize,
    /// The number of all places that were passed.
    pub(super) passes: usize,
    /// The names of calls with a hedge whose attempts passed no point.
    pub(super) hedged: Vec<&'static str>,
    /// What can't be made.
    pub(super) missing: HashMap<Site, Missing>,
    /// The operation that repeated a request although it is not idempotent.
    pub(super) repeated: Option<&'static str>,
    /// The operations that were running at each failure, the outermost one first.
    pub(super) failures: Vec<Vec<Running>>,
    /// The messages of the invariants that do not hold.
    pub(super) violations: Vec<String>,
}

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the messages of panics on the threads of runs, instead of printing them. Other threads keep the hook that was set.
fn keep_messages() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if IS_QUIET.try_with(Cell::get) == Ok(true) {
                let text = info.to_string();
                let _ = MESSAGE.try_with(|message| message.replace(Some(text)));
            } else {
                before(info);
            }
        }));
    });
}

/// Returns the message of the latest panic of this thread. `payload` has it if another hook was set since.
fn message(payload: &(dyn Any + Send)) -> String {
    let of_payload = || match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "a panic without a text".to_owned(),
    };
    MESSAGE.take().unwrap_or_else(of_payload)
}

/// Runs a test once, for at most `time_limit` of real time.
pub(super) fn run<T: Send + 'static>(
    test: &Test<T>,
    case: Option<Case>,
    makers: &Makers,
    limit: usize,
    time_limit: Duration,
) -> Observed<T> {
    keep_messages();
    let run = Arc::new(Run { case, limit, makers: makers.clone(), passed: Mutex::new(Passed::default()) });
    let exploration =
        Exploration { run: AssertUnwindSafe(Arc::clone(&run) as _), refuses_retries: AtomicBool::new(false) };
    let session = Session::in_exploration(Some(Arc::new(exploration)));
    let (send, receive) = mpsc::channel();
    {
        let (test, run, session) = (Arc::clone(test), Arc::clone(&run), Arc::clone(&session));
        thread::spawn(move || {
            IS_QUIET.set(true);
            session.enter();
            let end = match catch_unwind(AssertUnwindSafe(|| test())) {
                Ok(value) => End::Returned(value),
                Err(payload) if payload.is::<Abandoned>() => End::RanAway,
                Err(payload) => End::Panicked(message(&*payload)),
            };
            lock(&run.passed).has_ended = true;
            let violations: Vec<_> = take_invariants()
                .into_iter()
                .filter_map(|check| catch_unwind(AssertUnwindSafe(check)).err())
                .map(|payload| message(&*payload))
                .collect();
            session.leave();
            // Nobody receives it if the exploration has stopped waiting.
            let _ = send.send((end, violations));
        });
    }
    let (end, violations) = receive.recv_timeout(time_limit).unwrap_or_else(|_| (End::Hung, Vec::new()));
    let Passed { places, attempts, awaited, operations, hedged, failures, unmade, missing, repeated, ran_away, .. } = {
        let mut passed = lock(&run.passed);
        let abandoned = Passed { is_abandoned: matches!(end, End::Hung), has_ended: true, ..Passed::default() };
        std::mem::replace(&mut *passed, abandoned)
    };
    let passes = places.len();
    let is_whole = |attempt: Option<usize>| attempt.is_none_or(|attempt| attempts.get(attempt) == Some(&false));
    let hedged = hedged.into_iter().filter(|(attempt, _)| is_whole(Some(*attempt))).map(|(_, name)| name).collect();
    let whole = places.into_iter().filter(|(_, attempt)| is_whole(*attempt));
    let (lost, places): (Vec<_>, Vec<_>) = whole.partition(|(place, attempt)| {
        place.loses_an_answer() && attempt.is_some_and(|attempt| awaited.contains(&attempt))
    });
    let [lost, places] = [lost, places].map(|places| places.into_iter().map(|(place, _)| place).collect());
    let failures = failures.into_iter().map(|failure| {
        let ends = record::operations(&failure.session);
        let session = Arc::as_ptr(&failure.session) as usize;
        let running = failure.running.into_iter().filter_map(|(index, attempt)| {
            Some(Running { id: (session, index), attempt, end: ends.get(index)?.clone() })
        });
        running.collect()
    });
    let end = match end {
        End::Hung => End::Hung,
        _ if ran_away => End::RanAway,
        end => unmade.map_or(end, End::Unmade),
    };
    let operations = operations.len();
    Observed {
        end,
        places,
        lost,
        operations,
        passes,
        hedged,
        missing,
        repeated,
        failures: failures.collect(),
        violations,
    }
}
