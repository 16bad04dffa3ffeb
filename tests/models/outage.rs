//! Operations that wait for a service that is down, slow and up in turns: each of them ends in time, nothing is lost, and no more is
//! sent than the evidence allows.

use crate::program::check;
use crate::support::{Failed, millis, secs};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use retry_core::{
    ExponentialBackoff, Jitter, PatientRetryStrategy, Report, RetryError, RetryStrategy, StandardRetryStrategy, Stop,
    TokenBucket, TokioTimer, retry,
};
use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep, timeout};

type Outcome = Result<u32, Failed>;

const MAX_ATTEMPTS: u32 = 4;
/// Attempts take this long while the service is fast, and are cut after a second while it is not.
const FAST: u64 = 10;
const SECOND: u64 = 1_000;
const MAX_WAIT: u64 = 15 * SECOND;
/// The time after which the service is always up.
const UP_FROM: u64 = 30 * SECOND;
/// How long it then takes until all are sent: the first attempts of others alone send ten each second.
const CATCH_UP: u64 = 6 * SECOND;

/// An operation. Times are in milliseconds, and counted from its start, except the start.
#[derive(Clone, Copy, Debug)]
struct Operation {
    starts: u64,
    max_time: Option<u64>,
    stopped: Option<u64>,
    dropped: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Up,
    Down,
    /// It answers after the time limit.
    Slow,
}

/// How the service is, from each time on.
type Service = Vec<(u64, State)>;

fn operation() -> impl Strategy<Value = Operation> {
    let time = || 1..20 * SECOND;
    let limits = (option::weighted(0.3, time()), option::weighted(0.1, time()), option::weighted(0.1, time()));
    (0..UP_FROM, limits).prop_map(|(starts, (max_time, stopped, dropped))| Operation {
        starts,
        max_time,
        stopped,
        dropped,
    })
}

fn service() -> impl Strategy<Value = Service> {
    let state = prop_oneof![2 => Just(State::Up), 3 => Just(State::Down), 1 => Just(State::Slow)];
    vec((0..UP_FROM, state), 1..6).prop_map(|mut states| {
        states.sort_by_key(|(from, _)| *from);
        states
    })
}

struct World {
    began: Instant,
    strategy: PatientRetryStrategy<ExponentialBackoff, TokenBucket>,
    service: Service,
    firsts: Cell<u32>,
    retries: Cell<u32>,
    successes: Cell<u32>,
}

impl World {
    fn new(service: Service) -> Rc<Self> {
        let standard = StandardRetryStrategy::new().max_attempts(MAX_ATTEMPTS).quota_capacity(0);
        let strategy = PatientRetryStrategy::over(standard.jitter(Jitter::Fixed(0.0)));
        let count = || Cell::new(0);
        let (firsts, retries, successes) = (count(), count(), count());
        Rc::new(Self { began: Instant::now(), strategy, service, firsts, retries, successes })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap()
    }

    fn state(&self) -> State {
        let now = self.now();
        let is = self.service.iter().rev().find(|(from, _)| *from <= now).map_or(State::Up, |(_, state)| *state);
        if now < UP_FROM { is } else { State::Up }
    }

    async fn attempt(&self, calls: &Cell<u32>) -> Outcome {
        let of = if calls.replace(calls.get() + 1) == 0 { &self.firsts } else { &self.retries };
        of.set(of.get() + 1);
        match self.state() {
            State::Up => sleep(millis(FAST)).await,
            State::Down => return Err(Failed::SAFE),
            State::Slow => sleep(secs(60)).await,
        }
        self.successes.set(self.successes.get() + 1);
        Ok(1)
    }

    /// Runs an operation. Returns its report, unless it was dropped.
    async fn run(&self, operation: Operation) -> Option<Report<Outcome>> {
        sleep(millis(operation.starts)).await;
        let (stop, calls) = (Stop::new(), Cell::new(0));
        let call = retry(&self.strategy, || self.attempt(&calls)).timer(TokioTimer).idempotent(true);
        let call = call.attempt_timeout(secs(1)).stop(&stop);
        let stops = async {
            sleep(millis(operation.stopped.unwrap_or(1_000 * SECOND))).await;
            stop.stop();
            pending::<()>().await;
        };
        let reports = async {
            match operation.max_time {
                Some(time) => call.max_time(millis(time)).report().await,
                None => call.report().await,
            }
        };
        let ends = async {
            tokio::select! { biased; report = reports => report, () = stops => unreachable!("it is pending") }
        };
        timeout(millis(operation.dropped.unwrap_or(1_000 * SECOND)), ends).await.ok()
    }
}

/// Checks how an operation has ended.
fn check_end(operation: Operation, report: &Report<Outcome>) {
    let elapsed = u64::try_from(report.elapsed.as_millis()).unwrap();
    assert!((1..=MAX_ATTEMPTS).contains(&report.attempts), "{} attempts", report.attempts);
    let bound = match operation.max_time {
        Some(time) => time,
        None => MAX_WAIT + u64::from(MAX_ATTEMPTS) * SECOND,
    };
    let bound = operation.stopped.map_or(bound, |stopped| bound.min(stopped + SECOND));
    assert!(elapsed <= bound, "it ends after {elapsed} ms, not after {bound}");
    assert_eq!(report.reason.is_none(), report.outcome.is_ok());
    match report.reason {
        None => {}
        Some(RetryError::MaxAttempts) => assert_eq!(report.attempts, MAX_ATTEMPTS),
        Some(RetryError::Stopped) => assert!(operation.stopped.is_some_and(|stopped| elapsed >= stopped)),
        Some(RetryError::MaxTime) => assert_eq!(operation.max_time, Some(elapsed)),
        Some(RetryError::NoRecovery) => match operation.max_time {
            Some(time) => assert_eq!(elapsed, time),
            None => assert!(elapsed >= MAX_WAIT),
        },
        reason => panic!("{reason:?}"),
    }
}

async fn life(operations: Vec<Operation>, service: Service) {
    let world = World::new(service);
    let tasks = LocalSet::new();
    let spawn = |operation: Operation| {
        let world = Rc::clone(&world);
        (operation, tasks.spawn_local(async move { world.run(operation).await }))
    };
    let all: Vec<_> = operations.into_iter().map(spawn).collect();
    // The others, whose calls are the evidence once the service is up for good.
    for number in 0..200 {
        spawn(Operation { starts: UP_FROM + 50 * number, max_time: None, stopped: None, dropped: None });
    }
    tasks.await;
    for (operation, task) in all {
        let report = task.await.unwrap();
        assert!(report.is_some() || operation.dropped.is_some());
        if let Some(report) = report {
            check_end(operation, &report);
            let ended = operation.starts + u64::try_from(report.elapsed.as_millis()).unwrap();
            assert!(ended <= UP_FROM + CATCH_UP, "{operation:?} is forgotten until {ended}: {report:?}");
        }
    }
    assert_eq!(world.strategy.waiting_operations(), Some(0));
    assert!(world.strategy.starts_empty(), "nothing is measured any longer");
    // Two probes are at least half a second apart, and the last one is not later than the last wait.
    let seconds = u32::try_from((UP_FROM + 2 * MAX_WAIT) / SECOND).unwrap();
    let most = world.successes.get() / 2 + 2 * seconds;
    assert!(world.retries.get() <= most, "{} retries after {} attempts", world.retries.get(), world.firsts.get());
}

// Rules U2, U3, U7, U11, U17, U18.
#[test]
fn each_operation_ends_in_time_and_nobody_is_forgotten() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    check(file!(), 100, (vec(operation(), 1..60), service()), |(operations, service)| {
        runtime.block_on(life(operations, service));
    });
}
