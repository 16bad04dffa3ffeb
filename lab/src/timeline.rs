//! One operation of a shipped strategy, recorded: its attempts, its waits, and the level of its quota.

use crate::World;
use crate::call::{CallError, Outcome};
use retry_core::config::ConfiguredStrategy;
use retry_core::strategy::DelaySource;
use retry_core::time::Timer as _;
use retry_core::{
    Event, EventKind, ExponentialBackoff, Jitter, Observer, RetryError, RetryErrorType, RetryStrategy,
    StandardRetryStrategy, retry,
};
use std::cell::RefCell;
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
    let strategy = Arc::new(strategy);
    recorded(&strategy, strategy.backoff_strategy(), planned, max_time)
}

/// Runs an operation like [`record`], of a strategy with settings from outside, in any mode.
pub fn record_configured(strategy: ConfiguredStrategy, planned: Vec<Planned>, max_time: Option<Duration>) -> Timeline {
    let backoff = strategy.backoff_strategy();
    recorded(&Arc::new(strategy), &backoff, planned, max_time)
}

fn recorded<S: RetryStrategy + 'static>(
    strategy: &Arc<S>,
    backoff: &ExponentialBackoff,
    planned: Vec<Planned>,
    max_time: Option<Duration>,
) -> Timeline {
    let recorder = Recorder::default();
    let world = World::new();
    let (called, observer, timer) = (Arc::clone(strategy), recorder.clone(), world.clone());
    let before = strategy.quota_level();
    world.spawn(async move {
        let clock = timer.clone();
        let mut planned = planned.into_iter();
        let mut last = Planned { takes: Duration::ZERO, outcome: Ok(()) };
        let attempt = move || {
            last = planned.next().unwrap_or(last);
            let (clock, Planned { takes, outcome }) = (clock.clone(), last);
            async move {
                clock.sleep(takes).await;
                outcome
            }
        };
        let call = retry(called, attempt).observer(observer).timer(timer);
        let _ = match max_time {
            Some(time) => call.max_time(time).run().await,
            None => call.run().await,
        };
    });
    world.run();
    let levels = before.map(|level| (Duration::ZERO, level)).into_iter().collect();
    let mut timeline = Timeline { levels, max_time, ..Timeline::default() };
    for event in recorder.0.take() {
        timeline.add(&event, backoff);
    }
    timeline
}

/// Returns the attempts of the published picture.
pub fn example_attempts() -> Vec<Planned> {
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
pub const EXAMPLE_MAX_TIME: Duration = Duration::from_secs(8);

/// The seed of [`example`]: its waits are neither very short nor too long for a fourth attempt.
pub const EXAMPLE_SEED: u64 = 1;

impl Timeline {
    /// Returns the time at which the operation returned.
    pub fn end(&self) -> Duration {
        self.attempts.last().map_or(Duration::ZERO, |attempt| attempt.time.end)
    }

    fn add(&mut self, event: &Event, backoff: &ExponentialBackoff) {
        let now = event.elapsed;
        if matches!(event.kind, EventKind::AttemptStarted) {
            self.attempts.push(Attempt { time: now..now, failure: None, wait: None });
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
            EventKind::Stopped { reason, error_type, quota, .. } => {
                attempt.time.end = now;
                self.reason = Some(reason);
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

/// Keeps the events of an operation.
#[derive(Clone, Default)]
struct Recorder(Rc<RefCell<Vec<Event>>>);

impl Observer for Recorder {
    fn observe(&self, event: &Event) {
        self.0.borrow_mut().push(event.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::{Planned, record};
    use crate::call::CallError;
    use retry_core::{Jitter, RetryError, StandardRetryStrategy};
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);

    fn failing() -> Vec<Planned> {
        vec![
            Planned { takes: SECOND, outcome: Err(CallError::TimedOut) },
            Planned { takes: SECOND / 2, outcome: Err(CallError::Failed) },
        ]
    }

    #[test]
    fn attempts_waits_and_levels_have_their_times() {
        let strategy = StandardRetryStrategy::new().max_attempts(3).jitter(Jitter::Fixed(0.5));
        let mut planned = failing();
        planned.push(Planned { takes: SECOND, outcome: Ok(()) });
        let timeline = record(strategy, planned, None);
        let times: Vec<_> = timeline.attempts.iter().map(|attempt| attempt.time.clone()).collect();
        // The waits are half of 1 s and half of 2 s.
        assert_eq!(times, [Duration::ZERO..SECOND, SECOND * 3 / 2..SECOND * 2, SECOND * 3..SECOND * 4]);
        assert_eq!(timeline.levels, [(Duration::ZERO, 500), (SECOND, 490), (SECOND * 2, 485), (SECOND * 4, 486)]);
        assert_eq!((timeline.reason, timeline.end()), (None, SECOND * 4));
    }

    #[test]
    fn a_wait_has_the_range_of_its_jitter() {
        for (jitter, shortest) in [(Jitter::Full, Duration::ZERO), (Jitter::Equal, SECOND), (Jitter::None, SECOND * 2)]
        {
            let timeline = record(StandardRetryStrategy::new().jitter(jitter).seed(1), failing(), None);
            let wait = timeline.attempts[1].wait.clone().unwrap();
            assert_eq!(wait.range, shortest..SECOND * 2);
            assert!((wait.range.start..=wait.range.end).contains(&wait.drawn.unwrap()));
        }
    }

    #[test]
    fn an_operation_ends_with_its_reason() {
        let short = record(StandardRetryStrategy::new().jitter(Jitter::None), failing(), Some(SECOND * 3));
        assert_eq!((short.reason, short.attempts.len()), (Some(RetryError::MaxTime), 2));
        assert_eq!(short.end(), SECOND * 5 / 2, "a wait that ends too late is not begun");
        let last = short.attempts[1].wait.clone().unwrap();
        assert_eq!((last.drawn, last.range), (None, SECOND * 2..SECOND * 2));
        let empty = record(StandardRetryStrategy::new().quota_capacity(9), failing(), None);
        assert_eq!((empty.reason, empty.attempts.len()), (Some(RetryError::QuotaExhausted), 1));
        let all = record(StandardRetryStrategy::new(), failing(), None);
        assert_eq!((all.reason, all.attempts.len()), (Some(RetryError::MaxAttempts), 5));
        let cut = record(StandardRetryStrategy::new(), failing(), Some(SECOND / 2));
        assert_eq!((cut.reason, cut.end()), (Some(RetryError::MaxTime), SECOND / 2));
        assert!(cut.attempts[0].failure.is_none() && cut.attempts[0].wait.is_none());
    }
}
