//! Limits from a configuration that may have none: an `Option` in which `None` means no limit.

use crate::script::{Error, Script, time_was_up};
use crate::support::timers::since_start;
use crate::support::{kept, secs};
use ::tower::{Layer, ServiceExt, service_fn};
use retry_core::drive::{Next, Operation};
use retry_core::time::ManualTimer;
use retry_core::{Clock, Hedge, Jitter, StandardRetryStrategy, TimeLimit, retry, retry_blocking, retryable};
use retry_tower::RetryLayer;
use std::task::Waker;
use std::time::Duration;
use tokio::time::Instant;

/// A configuration, in which each limit may be missing.
#[derive(Clone, Copy)]
struct Config {
    max_time: Option<Duration>,
    attempt_timeout: Option<Duration>,
    /// From the start of a call.
    deadline: Option<Duration>,
}

impl Config {
    fn deadline(&self) -> Option<Instant> {
        self.deadline.map(|time| Instant::now() + time)
    }
}

const NONE: Config = Config { max_time: None, attempt_timeout: None, deadline: None };

const CONFIGS: [(Config, Option<(TimeLimit, Duration)>); 4] = [
    (NONE, None),
    (Config { max_time: Some(secs(3)), ..NONE }, Some((TimeLimit::Operation, secs(3)))),
    (Config { attempt_timeout: Some(secs(2)), ..NONE }, Some((TimeLimit::Attempt, secs(2)))),
    (Config { deadline: Some(secs(4)), ..NONE }, Some((TimeLimit::Deadline, secs(4)))),
];

fn once() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).max_attempts(1)
}

/// An attempt that takes 60 seconds.
fn slow() -> Script {
    Script::new([(secs(60), Ok(1))])
}

#[retryable(
    strategy = strategy,
    max_time = config.max_time,
    attempt_timeout = config.attempt_timeout,
    deadline = config.deadline()
)]
async fn annotated(strategy: &StandardRetryStrategy, config: &Config) -> Result<u32, Error> {
    slow().attempt().await
}

#[retryable(
    strategy = strategy,
    idempotent,
    hedge = "1s",
    max_time = config.max_time,
    attempt_timeout = config.attempt_timeout,
    deadline = config.deadline()
)]
async fn hedged(strategy: &StandardRetryStrategy, config: &Config) -> Result<u32, Error> {
    slow().attempt().await
}

// Rule T12.
#[tokio::test(start_paused = true)]
async fn none_means_no_limit_in_each_form() {
    for (config, cut) in CONFIGS {
        for form in ["closure", "hedged closure", "attribute", "hedged attribute", "tower"] {
            let (strategy, began, Config { max_time, attempt_timeout, .. }) = (once(), Instant::now(), config);
            let script = slow();
            let call = retry(&strategy, || script.attempt()).max_time(max_time).attempt_timeout(attempt_timeout);
            let call = call.deadline(config.deadline());
            let outcome = match form {
                "closure" => call.run().await,
                "hedged closure" => call.idempotent(true).hedge(kept(Hedge::after(secs(1)))).run().await,
                "attribute" => annotated(&strategy, &config).await,
                "hedged attribute" => hedged(&strategy, &config).await,
                // A layer has no deadline.
                _ if config.deadline.is_some() => continue,
                _ => {
                    let layer = RetryLayer::with_handle(&strategy).max_time(max_time).attempt_timeout(attempt_timeout);
                    layer.layer(service_fn(|()| script.attempt())).oneshot(()).await
                }
            };
            assert_eq!(time_was_up(&outcome), cut, "{form}");
            let time = cut.map_or(secs(60), |(_, time)| time);
            assert_eq!((outcome.is_ok(), began.elapsed()), (cut.is_none(), time), "{form}");
        }
    }
}

#[retryable(strategy = strategy, timer = timer, max_time = max_time, blocking)]
fn blocking(
    strategy: &StandardRetryStrategy,
    timer: &ManualTimer,
    max_time: impl Into<Option<Duration>>,
) -> Result<u32, Error> {
    crate::script::SAFE
}

// Rules T11, T12.
#[test]
fn none_means_no_limit_if_attempts_block() {
    for (max_time, attempts) in [(None, 3), (Some(secs(2)), 2)] {
        let strategy = || StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).max_attempts(3);
        let [closure, attribute] = [strategy(), strategy()];
        let timer = ManualTimer::new();
        let call = retry_blocking(&closure, || crate::script::SAFE).timer(&timer).max_time(max_time);
        assert_eq!(call.report().attempts, attempts);
        let timer = ManualTimer::new();
        let deadline = max_time.map(|time| timer.now().saturating_add(time));
        let call = retry_blocking(&closure, || crate::script::SAFE).timer(&timer).deadline(deadline);
        assert_eq!(call.report().attempts, attempts);
        let timer = ManualTimer::new();
        assert_eq!(blocking(&attribute, &timer, max_time), crate::script::SAFE);
        assert_eq!(since_start(&timer), [secs(1), secs(3)][attempts as usize - 2]);
    }
}

// Rule T12.
#[tokio::test(start_paused = true)]
async fn none_removes_a_limit_that_was_set_before() {
    let (strategy, script) = (once(), slow());
    let call = retry(&strategy, || script.attempt()).max_time(secs(1)).attempt_timeout(secs(1));
    let call = call.deadline(Instant::now() + secs(1)).max_time(None).attempt_timeout(None);
    assert_eq!(call.deadline(None::<Instant>).run().await, Ok(1));
}

// Rules T12, R24.
#[test]
fn the_builder_of_an_operation_that_is_driven_by_hand_takes_an_option() {
    let (strategy, clock) = (once(), ManualTimer::new());
    for (Config { max_time, attempt_timeout, deadline }, cut) in CONFIGS {
        let deadline = deadline.map(|time| clock.now().saturating_add(time));
        let operation = Operation::builder(&strategy, "get").clock(&clock).deadline(deadline);
        let mut operation = operation.max_time(max_time).attempt_timeout(attempt_timeout).begin();
        let Next::Attempt { time_left, .. } = operation.next(Waker::noop()) else { panic!("an attempt is due") };
        assert_eq!(time_left, cut.map(|(_, time)| time));
    }
}
