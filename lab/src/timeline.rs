//! One operation of a shipped strategy, recorded: its attempts, its waits, and the level of its quota.

use crate::World;
use crate::call::{CallError, Outcome};
use retry_core::strategy::DelaySource;
use retry_core::time::{Timer as _, Timestamp};
use retry_core::{
    Event, EventKind, ExponentialBackoff, Jitter, Observer, RetryError, RetryErrorType, RetryStrategy,
    StandardRetryStrategy, retry,
};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// An attempt as it is to end.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    /// The time that it takes.
    pub takes: Duration,
    /// How it ends.
    pub outcome: Outcome,
}

/// An operation that is over. All times count from its start.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The attempts, in order.
    pub attempts: Vec<Attempt>,
    /// The level of the quota before the operation, and after each change.
    pub levels: Vec<(Duration, u32)>,
    /// The reason why there was no further attempt; `None` after a success.
    pub reason: Option<RetryError>,
    /// The limit on the time of the operation.
    pub max_time: Option<Duration>,
    /// The end of the outage of the service, which began with the operation.
    pub outage: Option<Duration>,
}

/// An attempt, and the wait after it.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// From its start to its end.
    pub time: Range<Duration>,
    /// The class of its failure; `None` after a success, or if `max_time` cut it.
    pub failure: Option<RetryErrorType>,
    /// The wait after it: whether it was begun, and what jitter makes of it. `None` if no retry was possible.
    pub wait: Option<Wait>,
    /// The time after it in which the operation waited for the service.
    pub in_line: Option<Range<Duration>>,
}

/// A wait before a retry.
#[derive(Clone, Debug)]
pub struct Wait {
    /// The length that the strategy chose; `None` if the operation stopped instead.
    pub drawn: Option<Duration>,
    /// The shortest and the longest wait that the settings allow.
    pub range: Range<Duration>,
}

/// Runs an operation whose attempts end as planned; after the last planned one, all others end as it did. Without a plan, the
/// first attempt succeeds immediately.
pub fn record(strategy: StandardRetryStrategy, planned: Vec<Planned>, max_time: Option<Duration>) -> Timeline {
    let (world, recorder, strategy) = (World::new(), Recorder::default(), Arc::new(strategy));
    let mut planned = planned.into_iter();
    let mut last = Planned { takes: Duration::ZERO, outcome: Ok(()) };
    let clock = world.clone();
    let attempt = move || {
        last = planned.next().unwrap_or(last);
        let (clock, Planned { takes, outcome }) = (clock.clone(), last);
        async move {
            clock.sleep(takes).await;
            outcome
        }
    };
    world.spawn(operate(Arc::clone(&strategy), attempt, world.clone(), max_time, recorder.clone()));
    world.run();
    recorder.timeline(strategy.backoff_strategy(), max_time)
}

/// A service that fails for some time, and the calls of one process.
#[derive(Clone, Copy, Debug)]
pub struct Outage {
    /// How long all attempts fail.
    pub length: Duration,
    /// The operations that the process begins in a second, at equal intervals.
    pub calls_per_second: f64,
    /// The limit on the time of each operation.
    pub max_time: Duration,
}

/// The healthy time before an outage.
const HEALTHY: Duration = Duration::from_secs(5);
/// The time of an attempt at a service with outages.
const ATTEMPT: Duration = Duration::from_millis(50);

/// Runs an operation that begins with an outage of its service, among other operations of the same strategy.
pub fn record_in_outage<S: RetryStrategy + 'static>(
    strategy: S,
    backoff: &ExponentialBackoff,
    outage: Outage,
) -> Timeline {
    let Outage { length, calls_per_second, max_time } = outage;
    let (world, recorder, strategy) = (World::new(), Recorder::default(), Arc::new(strategy));
    let clock = world.clone();
    let attempt = move || {
        let clock = clock.clone();
        async move {
            clock.sleep(ATTEMPT).await;
            let is_down = (HEALTHY..HEALTHY + length).contains(&clock.elapsed());
            if is_down { Err(CallError::Failed) } else { Ok(()) }
        }
    };
    let (others, called, others_attempt) = (world.clone(), Arc::clone(&strategy), attempt.clone());
    world.spawn(async move {
        loop {
            let call = retry(Arc::clone(&called), others_attempt.clone()).max_time(max_time).timer(others.clone());
            others.spawn(async move { _ = call.run().await });
            others.sleep(Duration::from_secs_f64(calls_per_second.recip())).await;
        }
    });
    let (timer, observer) = (world.clone(), recorder.clone());
    world.spawn(async move {
        timer.sleep(HEALTHY).await;
        operate(strategy, attempt, timer, Some(max_time), observer).await;
    });
    world.run_until(Timestamp::START.saturating_add(HEALTHY + max_time));
    Timeline { outage: Some(length), ..recorder.timeline(backoff, Some(max_time)) }
}

/// Makes an operation that is recorded.
async fn operate<S: RetryStrategy, F: Future<Output = Outcome>>(
    strategy: Arc<S>,
    attempt: impl FnMut() -> F,
    timer: World,
    max_time: Option<Duration>,
    recorder: Recorder,
) {
    recorder.level_before.set(strategy.quota_level());
    let call = retry(strategy, attempt).observer(recorder).timer(timer);
    let _ = match max_time {
        Some(time) => call.max_time(time).run().await,
        None => call.run().await,
    };
}

/// Returns the attempts of the published picture.
fn example_attempts() -> Vec<Planned> {
    let planned = [
        (800, CallError::Failed),
        (1000, CallError::TimedOut),
        (200, CallError::Throttled { retry_after: None }),
        (500, CallError::Failed),
    ];
    planned.map(|(ms, error)| Planned { takes: Duration::from_millis(ms), outcome: Err(error) }).into()
}

/// Records the operation of the published picture, with the settings that [`EXAMPLE`] names: its fourth wait would be too long.
pub fn example() -> Timeline {
    record(StandardRetryStrategy::new().seed(EXAMPLE_SEED), example_attempts(), Some(EXAMPLE_MAX_TIME))
}

/// The settings of [`example`].
pub const EXAMPLE: &str =
    "StandardRetryStrategy::new() with a max_time of 8 s and an attempt_timeout of 1 s; one run (simulation)";

/// The limit on the time of [`example`].
const EXAMPLE_MAX_TIME: Duration = Duration::from_secs(8);

/// The seed of [`example`]: its waits are neither very short nor too long for a fourth attempt.
const EXAMPLE_SEED: u64 = 1;

impl Timeline {
    /// Returns the time at which the operation returned.
    pub fn end(&self) -> Duration {
        self.attempts.last().map_or(Duration::ZERO, |attempt| match &attempt.in_line {
            Some(in_line) => in_line.end,
            None => attempt.time.end,
        })
    }

    fn add(&mut self, event: &Event, backoff: &ExponentialBackoff) {
        let now = event.elapsed;
        if matches!(event.kind, EventKind::AttemptStarted) {
            self.attempts.push(Attempt { time: now..now, failure: None, wait: None, in_line: None });
        }
        let Some(attempt) = self.attempts.last_mut() else { return };
        let retry = event.attempt.saturating_sub(1);
        let level = match event.kind {
            EventKind::AttemptFailed { failure, .. } => {
                attempt.time.end = now;
                attempt.failure = failure.error_type();
                None
            }
            EventKind::RetryScheduled { error_type, delay, delay_source, quota, .. } => {
                let range = match delay_source {
                    DelaySource::Backoff => range(backoff, retry, error_type),
                    _ => delay..delay,
                };
                attempt.wait = Some(Wait { drawn: Some(delay), range });
                quota
            }
            EventKind::WaitingForService { quota, .. } => {
                attempt.in_line = Some(now..now);
                quota
            }
            EventKind::Released { .. } => {
                attempt.in_line.iter_mut().for_each(|in_line| in_line.end = now);
                None
            }
            EventKind::Stopped { reason, error_type, quota, .. } => {
                self.reason = Some(reason);
                if let Some(in_line) = &mut attempt.in_line {
                    in_line.end = now;
                    return;
                }
                attempt.time.end = now;
                if matches!(reason, RetryError::MaxTime | RetryError::QuotaExhausted) && attempt.failure.is_some() {
                    attempt.wait = Some(Wait { drawn: None, range: range(backoff, retry, error_type) });
                }
                quota
            }
            EventKind::Succeeded { quota, .. } => {
                attempt.time.end = now;
                quota
            }
            _ => None,
        };
        if let Some(level) = level
            && self.levels.last().is_none_or(|&(_, last)| last != level)
        {
            self.levels.push((now, level));
        }
    }
}

/// Returns the shortest and the longest backoff before a retry, counted from 0.
fn range(backoff: &ExponentialBackoff, retry: u32, class: Option<RetryErrorType>) -> Range<Duration> {
    let doubled = 1_u32.checked_shl(retry).unwrap_or(u32::MAX);
    let base = class.map_or(Duration::ZERO, |class| backoff.base(class));
    let longest = base.saturating_mul(doubled).min(backoff.cap());
    match backoff.jitter_setting() {
        Jitter::Full => Duration::ZERO..longest,
        Jitter::Equal => longest / 2..longest,
        Jitter::Fixed(factor) => longest.mul_f64(factor)..longest.mul_f64(factor),
        _ => longest..longest,
    }
}

/// Keeps the events of an operation, and the level of the quota before it.
#[derive(Clone, Default)]
struct Recorder {
    level_before: Rc<Cell<Option<u32>>>,
    events: Rc<RefCell<Vec<Event>>>,
}

impl Recorder {
    /// Returns the operation, whose world has ended.
    fn timeline(&self, backoff: &ExponentialBackoff, max_time: Option<Duration>) -> Timeline {
        let levels = self.level_before.get().map(|level| (Duration::ZERO, level)).into_iter().collect();
        let mut timeline = Timeline { levels, max_time, ..Timeline::default() };
        for event in self.events.take() {
            timeline.add(&event, backoff);
        }
        timeline
    }
}

impl Observer for Recorder {
    fn observe(&self, event: &Event) {
        self.events.borrow_mut().push(event.clone());
    }
}
