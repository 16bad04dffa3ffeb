//! The paced strategy: the estimate, the rate, and what it does with throttled attempts. What it has in common with the
//! adaptive strategy is in `limiters`.

use crate::support::{ByHand, Failed, millis, secs};
use retry_core::classify::http::RateLimit;
use retry_core::strategy::GoodputEstimator;
use retry_core::time::Timestamp;
use retry_core::{
    Failure, Jitter, PacedRetryStrategy, RetryDirective, RetryError, RetryErrorType, RetryQuota, RetryStrategy,
    RetryToken, StandardRetryStrategy, Success, retry,
};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

fn at(millis: u64) -> Timestamp {
    Timestamp::START.saturating_add(Duration::from_millis(millis))
}

fn assert_close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1e-6 * expected.abs().max(1.0), "{actual} instead of {expected}");
}

/// Returns an estimator that tracks a limit of 100 per second since `at(2000)`.
fn tracking() -> GoodputEstimator {
    let mut estimator = GoodputEstimator::new(at(0));
    estimator.accept(at(500), 100);
    estimator.reject(at(1000));
    assert_eq!((estimator.estimate(), estimator.rate(at(1000))), (Some(100.0), 80.0));
    estimator.accept(at(1900), 100);
    estimator.reject(at(2000));
    estimator
}

// Rule L1.
#[test]
fn the_ramp_doubles_as_long_as_what_is_sent_is_accepted() {
    let mut estimator = GoodputEstimator::new(at(0));
    assert_eq!(estimator.estimate(), None);
    assert_close(estimator.rate(at(0)), 50.0);
    assert_close(estimator.rate(at(400)), 50.0);
    estimator.accept(at(400), 15);
    assert_close(estimator.rate(at(400)), 100.0);
    // 20 accepted in a quarter of a second are 80 per second, and the rate is at most twice that.
    estimator.accept(at(450), 5);
    assert_close(estimator.rate(at(600)), 50.0 * 1.5_f64.exp2());
    assert_close(estimator.rate(at(740)), 160.0);
    assert_close(estimator.rate(at(1200)), 50.0);
}

// Rule L2.
#[test]
fn the_estimate_is_what_was_accepted_between_two_rejections() {
    assert_eq!(tracking().estimate(), Some(100.0));
    let mut estimator = tracking();
    estimator.accept(at(5000), 130);
    estimator.reject(at(4000 + 2000));
    // 130 in four seconds, and the former estimate weighs as much as four requests, but at most twice the measurement.
    assert_close(estimator.estimate().unwrap(), (130.0 * 32.5 + 4.0 * 65.0) / 134.0);
}

// Rule L2.
#[test]
fn a_rejection_before_there_is_a_measurement_cuts_the_rate_and_the_measurement_goes_on() {
    let mut estimator = tracking();
    estimator.accept(at(2100), 10);
    estimator.reject(at(2100));
    assert_close(estimator.rate(at(2100)), 70.0);
    assert_eq!(estimator.estimate(), Some(100.0));
    // Sixteen accepted requests are enough, and so is half a second.
    estimator.accept(at(2200), 6);
    estimator.reject(at(2200));
    assert_close(estimator.estimate().unwrap(), (16.0 * 80.0 + 4.0 * 100.0) / 20.0);
    let mut estimator = tracking();
    estimator.accept(at(2500), 1);
    estimator.reject(at(2500));
    assert_close(estimator.estimate().unwrap(), (2.0 + 4.0 * 4.0) / 5.0);

    let mut estimator = GoodputEstimator::new(at(0));
    estimator.accept(at(500), 100);
    estimator.reject(at(1000));
    estimator.accept(at(1010), 1);
    estimator.reject(at(1010));
    assert_close(estimator.rate(at(1010)), 0.5 * 80.0);
    // The next one in a row, as when a server's window is closed, does not halve it again.
    estimator.reject(at(1011));
    assert_close(estimator.rate(at(1011)), 0.5 * 80.0);
}

// Rule L3.
#[test]
fn a_rejection_cuts_the_rate_which_returns_along_a_cubic_and_then_climbs() {
    let mut estimator = tracking();
    for (millis, rate) in [(2000, 70.0), (3000, 100.0 - 30.0 / 8.0), (4000, 100.0)] {
        assert_close(estimator.rate(at(millis)), rate);
    }
    // The rate climbs only if it is used, so 80 of 100 are accepted here.
    estimator.accept(at(4900), 40);
    assert_close(estimator.rate(at(5000)), 116.0 + 1.3);
    assert_close(estimator.rate(at(20_000)), 100.0);
}

// Rule L4.
#[test]
fn what_is_accepted_beyond_the_estimate_proves_a_higher_limit() {
    let mut estimator = tracking();
    // 1.05 * 100 * 2 + 2.5
    estimator.accept(at(4000), 212);
    assert_close(estimator.rate(at(4000)), 100.0);
    estimator.accept(at(4000), 1);
    assert_close(estimator.rate(at(4000)), 100.0);
    estimator.accept(at(4400), 100);
    assert_close(estimator.rate(at(4400)), 200.0);
    estimator.reject(at(4500));
    assert_close(estimator.estimate().unwrap(), (313.0 * 125.2 + 4.0 * 100.0) / 317.0);
}

// Rule L5.
#[test]
fn rejections_in_a_row_leave_single_probes_and_the_estimate_as_it_is() {
    let mut estimator = tracking();
    // The first one is the one that the estimate comes from.
    for rate in [70.0, 35.0, 17.5, 8.75, 4.375, 4.0, 4.0, 4.0] {
        estimator.reject(at(2000));
        assert_close(estimator.rate(at(2000)), rate);
        assert_eq!(estimator.estimate(), Some(100.0));
    }
    estimator.accept(at(2500), 1);
    assert!(estimator.rate(at(2500)) > 70.0);
}

const THROTTLED: RetryDirective = RetryDirective::retry(RetryErrorType::Throttling);

fn throttled(hint: Option<Duration>) -> Failure {
    Failure::from_directive(THROTTLED.after(hint))
}

/// A strategy that limits sends since it was throttled.
fn pacing(clock: &ByHand) -> PacedRetryStrategy {
    let strategy = PacedRetryStrategy::over(standard().quota_capacity(100)).ramp(false).seed(1);
    let token = strategy.acquire_initial_token(clock).unwrap();
    strategy
        .refresh_retry_token(
            token,
            &Failure::from_directive(RetryDirective::fail(Some(RetryErrorType::Throttling))),
            clock,
        )
        .unwrap_err();
    strategy
}

// Rule L1.
#[test]
fn without_the_ramp_nothing_is_limited_before_the_first_throttling() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new().ramp(false);
    for _ in 0..10_000 {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        assert_eq!(strategy.ready(&mut token, &clock, None).wait(), None);
        strategy.record_success(token, &Success::default(), &clock).unwrap();
    }
    assert_eq!(strategy.send_rate(), None);

    let strategy = PacedRetryStrategy::new();
    let granted = (0..100)
        .filter(|_| {
            let mut token = strategy.acquire_initial_token(&clock).unwrap();
            strategy.ready(&mut token, &clock, None).wait().is_none()
        })
        .count();
    assert_eq!((granted, strategy.send_rate()), (0, Some(50.0)));
}

// Rule L6.
#[test]
fn only_the_rejection_of_a_request_that_was_sent_after_the_last_one_was_known_counts() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::over(standard()).ramp(false);
    let sent: Vec<_> = (0..100)
        .map(|_| {
            let mut token = strategy.acquire_initial_token(&clock).unwrap();
            assert_eq!(strategy.ready(&mut token, &clock, None).wait(), None);
            token
        })
        .collect();
    clock.advance(millis(20));
    let mut rates = Vec::new();
    for token in sent {
        let _ = strategy.refresh_retry_token(token, &throttled(None), &clock);
        rates.push(strategy.send_rate());
    }
    assert!(rates.iter().all(|rate| *rate == rates[0]), "{rates:?}");
}

// Rule L7.
#[test]
fn a_throttled_attempt_is_repeated_without_backoff_and_cost_up_to_a_limit_of_its_own() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::over(standard().quota_capacity(20).max_attempts(3)).max_throttled(4);
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    for attempt in 2..=4 {
        token = strategy.refresh_retry_token(token, &throttled(None), &clock).unwrap();
        assert_eq!((token.attempt(), token.delay()), (attempt, Duration::ZERO));
    }
    assert_eq!(strategy.standard().quota().available(), 20);
    // Other failures have their own attempts, backoff and cost, as if there had been no throttling.
    let failure = Failure::of(&Failed::SAFE);
    for (retry, quota) in [(1, 15), (2, 10)] {
        token = strategy.refresh_retry_token(token, &failure, &clock).unwrap();
        assert_eq!((token.delay(), strategy.standard().quota().available()), (secs(retry), quota));
    }
    let refused = strategy.refresh_retry_token(token, &failure, &clock);
    assert_eq!(refused.err(), Some(RetryError::MaxAttempts));

    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    for _ in 1..4 {
        token = strategy.refresh_retry_token(token, &throttled(None), &clock).unwrap();
    }
    assert_eq!(strategy.refresh_retry_token(token, &throttled(None), &clock).err(), Some(RetryError::MaxAttempts));
}

// Rule L8.
#[test]
fn a_wait_that_the_server_asks_for_is_a_floor_and_stretched_by_at_most_a_tenth() {
    let clock = ByHand::at(secs(1000));
    let strategy = pacing(&clock);
    let mut delays = Vec::new();
    for _ in 0..100 {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        let token = strategy.refresh_retry_token(token, &throttled(Some(secs(1))), &clock).unwrap();
        assert!(token.delay() >= secs(1) && token.delay() <= millis(1100), "{:?}", token.delay());
        delays.push(token.delay());
    }
    delays.sort();
    assert!(delays[90] > millis(1070) && delays[10] < millis(1030), "{delays:?}");
    let refused = |hint| {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.refresh_retry_token(token, &throttled(Some(hint)), &clock).err()
    };
    assert_eq!(refused(Duration::MAX), Some(RetryError::RetryAfterTooLong));
    assert_eq!(refused(secs(301)), Some(RetryError::RetryAfterTooLong));

    // Without a limit on the wait, nothing overflows.
    let strategy = PacedRetryStrategy::over(standard().max_retry_after(None));
    let token = strategy.acquire_initial_token(&clock).unwrap();
    let token = strategy.refresh_retry_token(token, &throttled(Some(Duration::MAX)), &clock).unwrap();
    assert_eq!(token.delay(), Duration::MAX);
}

// Rule L8.
#[test]
fn a_long_wait_holds_back_all_operations_and_a_short_one_does_not() {
    for (hint, is_held) in [(millis(1500) * 10 / 11, false), (secs(2), true), (secs(301), false)] {
        let clock = ByHand::at(secs(1000));
        let strategy = pacing(&clock);
        let token = strategy.acquire_initial_token(&clock).unwrap();
        let _ = strategy.refresh_retry_token(token, &throttled(Some(hint)), &clock);
        let mut other = strategy.acquire_initial_token(&clock).unwrap();
        let mut waited = Duration::ZERO;
        while let Some(wait) = strategy.ready(&mut other, &clock, None).wait() {
            clock.advance(wait);
            waited += wait;
        }
        assert_eq!(waited >= hint, is_held, "{hint:?}: {waited:?}");
    }
}

/// A service that accepts `rate` requests per second, and as many at once. It tells throttled clients to wait for a second.
struct Limited {
    rate: f64,
    state: RefCell<(f64, Instant)>,
    rejected: Cell<u32>,
}

impl Limited {
    fn new(rate: f64) -> Self {
        Self { rate, state: RefCell::new((rate, Instant::now())), rejected: Cell::new(0) }
    }

    fn call(&self) -> Result<(), Failed> {
        let (tokens, last) = &mut *self.state.borrow_mut();
        *tokens = self.rate.min(*tokens + self.rate * last.elapsed().as_secs_f64());
        *last = Instant::now();
        if *tokens >= 1.0 {
            *tokens -= 1.0;
            return Ok(());
        }
        self.rejected.set(self.rejected.get() + 1);
        Err(Failed::THROTTLED.after(secs(1)))
    }
}

// Rules L1, L2, L3, L9.
#[tokio::test(start_paused = true)]
async fn a_job_takes_little_longer_than_the_limit_of_the_service_allows_and_loses_nothing() {
    for workers in [16, 64, 256] {
        let strategy = Rc::new(PacedRetryStrategy::new().seed(1));
        let (service, left) = (Rc::new(Limited::new(100.0)), Rc::new(Cell::new(4000)));
        let started = Instant::now();
        let tasks = tokio::task::LocalSet::new();
        for _ in 0..workers {
            let (strategy, service, left) = (Rc::clone(&strategy), Rc::clone(&service), Rc::clone(&left));
            tasks.spawn_local(async move {
                while left.get() > 0 {
                    left.set(left.get() - 1);
                    let call = retry(&*strategy, async || {
                        sleep(millis(10)).await;
                        let outcome = service.call();
                        sleep(millis(10)).await;
                        outcome
                    });
                    call.run().await.expect("every operation succeeds");
                }
            });
        }
        tasks.await;
        // 4,000 requests at 100 per second after a burst of 100 take 39 seconds.
        let took = started.elapsed().as_secs_f64() / 39.0;
        assert!(took < 1.05, "{workers} workers: {took}");
        assert!(service.rejected.get() < 40, "{workers} workers: {} rejected", service.rejected.get());
    }
}

/// Lets the server ask for a wait, and returns how long another operation then waits for its send.
fn held_by(strategy: &PacedRetryStrategy, clock: &ByHand, hint: Duration) -> Duration {
    let token = strategy.acquire_initial_token(clock).unwrap();
    let _ = strategy.refresh_retry_token(token, &throttled(Some(hint)), clock);
    let (mut other, started) = (strategy.acquire_initial_token(clock).unwrap(), clock.time());
    while let Some(wait) = strategy.ready(&mut other, clock, None).wait() {
        clock.advance(wait);
    }
    clock.time().saturating_sub(started)
}

// Rule L8.
#[test]
fn a_wait_that_a_preset_cuts_holds_back_no_longer_than_it_is_cut_to() {
    for (standard, most) in [
        (StandardRetryStrategy::aws_2_0(), secs(23)),
        (StandardRetryStrategy::aws_2_1(), secs(6)),
        (StandardRetryStrategy::new().max_retry_after(None), secs(301)),
    ] {
        for hint in [secs(86_400), Duration::MAX] {
            let clock = ByHand::at(secs(1000));
            let strategy = PacedRetryStrategy::over(standard_copy(&standard)).ramp(false);
            let held = held_by(&strategy, &clock, hint);
            assert!(held <= most, "{held:?} for {hint:?}");
        }
    }
}

/// Returns a strategy with the same hint limits.
fn standard_copy(standard: &StandardRetryStrategy) -> StandardRetryStrategy {
    let settings = standard.settings();
    StandardRetryStrategy::new().hint_limit(settings.hint_limit).max_retry_after(settings.max_retry_after)
}

// Rule L2.
#[test]
fn a_pause_is_not_measured_and_what_the_server_saved_up_in_it_does_not_raise_the_estimate() {
    let mut estimator = tracking();
    estimator.accept(at(2500), 50);
    // An hour without a send that had to wait, and then a burst that the server had saved up.
    estimator.pause(at(3_602_500));
    estimator.accept(at(3_603_000), 150);
    estimator.reject(at(3_603_500));
    assert_eq!(estimator.estimate(), Some(100.0));
    // If it accepts less than before, the estimate follows at once.
    estimator.pause(at(3_604_000));
    estimator.accept(at(3_605_000), 60);
    estimator.reject(at(3_606_000));
    assert_eq!(estimator.estimate(), Some(30.0));
}

// Rule L2.
#[test]
fn an_idle_strategy_keeps_its_estimate_and_does_not_come_back_with_a_burst() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::over(standard().quota_capacity(1_000_000)).ramp(false);
    let begin = |wait: bool| {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        while let Some(time) = strategy.ready(&mut token, &clock, None).wait() {
            assert!(wait);
            clock.advance(time);
        }
        token
    };
    // 100 are accepted in a second, and then one is throttled.
    for _ in 0..100 {
        strategy.record_success(begin(true), &Success::default(), &clock).unwrap();
        clock.advance(millis(10));
    }
    let _ = strategy.refresh_retry_token(begin(true), &throttled(None), &clock);
    let outstanding: Vec<_> = (0..100).map(|_| begin(true)).collect();
    for token in outstanding {
        strategy.record_success(token, &Success::default(), &clock).unwrap();
    }
    clock.advance(secs(3600));
    let mut sent = 0;
    let started = clock.time();
    while clock.time() < started + millis(250) {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        if strategy.ready(&mut token, &clock, None).wait().is_none() {
            sent += 1;
        } else {
            strategy.release(token);
            clock.advance(millis(1));
        }
    }
    assert!(sent <= 40, "{sent} sends in a quarter of a second, at a limit of 100 per second");
    assert!(strategy.send_rate().unwrap() > 50.0, "the pause was measured");
}

// Rule L12.
#[test]
fn a_warning_cuts_the_rate_as_a_rejection_does_unless_the_rate_returns_from_a_cut() {
    let mut estimator = tracking();
    estimator.accept(at(3900), 180);
    assert!(!estimator.warn(at(3900)), "the rate returns from the cut at 2000");
    assert_close(estimator.rate(at(3900)), 100.0 - 30.0 * 0.05_f64.powi(3));
    estimator.accept(at(4000), 10);
    assert!(estimator.warn(at(4000)));
    // 190 in two seconds.
    assert_close(estimator.estimate().unwrap(), (190.0 * 95.0 + 4.0 * 100.0) / 194.0);
    assert_close(estimator.rate(at(4000)), 0.7 * estimator.estimate().unwrap());

    // A warning ends the ramp and cuts a search, too.
    let mut estimator = GoodputEstimator::new(at(0));
    estimator.accept(at(500), 100);
    assert!(estimator.warn(at(1000)));
    assert_eq!((estimator.estimate(), estimator.rate(at(1000))), (Some(100.0), 80.0));
    estimator.accept(at(1010), 1);
    assert!(estimator.warn(at(1010)));
    assert_close(estimator.rate(at(1010)), 0.5 * 80.0);
    // Warnings in a row do not close the door.
    for millis in [4000, 7000, 10_000, 13_000] {
        estimator.accept(at(millis), 100);
        assert!(estimator.warn(at(millis)));
        assert!(estimator.rate(at(millis)) > 20.0);
    }
}

// Rule L13.
#[test]
fn for_five_seconds_after_a_warning_the_rate_gains_the_same_for_all_clients() {
    let mut estimator = tracking();
    estimator.accept(at(4000), 200);
    assert!(estimator.warn(at(4000)));
    estimator.accept(at(6900), 100);
    let estimate = estimator.estimate().unwrap();
    assert_close(estimator.rate(at(7000)), estimate + 1.3);
    // Nothing proves a higher limit.
    estimator.accept(at(8900), 10_000);
    assert_close(estimator.rate(at(8999)), estimate + 1.3 * 2.999);
    estimator.accept(at(9000), 1);
    estimator.accept(at(9300), 1000);
    assert!(estimator.rate(at(9400)) > 1.9 * estimate, "after that, it does");
}

/// Sends requests for some seconds as fast as the strategy permits, but at most one in a millisecond. Each takes 20 ms. The server reports what remains at the
/// second. Returns the number of requests.
fn send_with_reports(
    strategy: &PacedRetryStrategy,
    clock: &ByHand,
    seconds: u64,
    mut report: impl FnMut(u64) -> Option<RateLimit>,
) -> u32 {
    let mut sent = Vec::new();
    let mut waiting = strategy.acquire_initial_token(clock).unwrap();
    let mut requests = 0;
    for milli in 0..seconds * 1000 {
        if strategy.ready(&mut waiting, clock, None).wait().is_none() {
            requests += 1;
            sent.push((milli + 20, std::mem::replace(&mut waiting, strategy.acquire_initial_token(clock).unwrap())));
        }
        let (answered, rest): (Vec<_>, Vec<_>) = sent.into_iter().partition(|(at, _)| *at <= milli);
        sent = rest;
        for (_, token) in answered {
            let success = Success::default().with_rate_limit(report(milli / 1000));
            strategy.record_success(token, &success, clock).unwrap();
        }
        clock.advance(millis(1));
    }
    strategy.release(waiting);
    requests
}

// Rule L12.
#[test]
fn few_requests_are_less_than_a_third_of_the_most_of_the_last_seconds() {
    let cut_by = |first: RateLimit, then: RateLimit| {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::new();
        send_with_reports(&strategy, &clock, 1, |_| Some(first));
        let before = strategy.send_rate().unwrap();
        send_with_reports(&strategy, &clock, 1, |_| Some(then));
        strategy.send_rate().unwrap() < before
    };
    let limit = |remaining, reset: u64| RateLimit::new(remaining).with_reset(Some(secs(reset)));
    assert!(cut_by(RateLimit::new(300), RateLimit::new(99)));
    assert!(!cut_by(RateLimit::new(300), RateLimit::new(100)));
    assert!(!cut_by(RateLimit::new(0), RateLimit::new(0)), "nothing to compare with");
    // At the half of a window of 20 seconds, less than a sixth is few, and in the last second nothing is.
    assert!(cut_by(limit(600, 20), limit(99, 11)));
    assert!(!cut_by(limit(600, 20), limit(101, 11)));
    assert!(!cut_by(limit(600, 20), limit(1, 1)));
    assert!(!cut_by(limit(100, 1), limit(1, 1)));

    // What remained half a minute ago does not count any more: 100 of 3000 are few, but 100 of 200 are not.
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new();
    let with_history = send_with_reports(&strategy, &clock, 33, |second| {
        Some(RateLimit::new(if second == 0 {
            3000
        } else if second < 30 {
            1100 - second
        } else {
            1000
        }))
    });
    let rate = strategy.send_rate().unwrap();
    send_with_reports(&strategy, &clock, 1, |_| Some(RateLimit::new(400)));
    assert!(strategy.send_rate().unwrap() >= rate, "{with_history}");
}

// Rules L6, L12.
#[test]
fn only_the_warning_about_a_request_that_was_sent_after_the_last_cut_counts() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new();
    send_with_reports(&strategy, &clock, 2, |_| Some(RateLimit::new(1000)));
    let mut sent = Vec::new();
    for _ in 0..100 {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
            clock.advance(wait);
        }
        sent.push(token);
    }
    let success = Success::default().with_rate_limit(Some(RateLimit::new(0)));
    let mut rates = Vec::new();
    for token in sent {
        strategy.record_success(token, &success, &clock).unwrap();
        rates.push(strategy.send_rate().unwrap());
    }
    rates.dedup();
    assert_eq!(rates.len(), 1, "{rates:?}");
}

// Rule L12.
#[test]
fn reports_keep_a_client_from_being_rejected() {
    // A bucket of 100 with 100 requests per second.
    let run = |reports: bool| {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::new();
        let (mut left, mut filled, mut sent, mut served, mut rejected) = (100.0, clock.time(), Vec::new(), 0, 0);
        let mut waiting = strategy.acquire_initial_token(&clock).unwrap();
        for milli in 0..60_000_u64 {
            if strategy.ready(&mut waiting, &clock, None).wait().is_none() {
                let token = std::mem::replace(&mut waiting, strategy.acquire_initial_token(&clock).unwrap());
                left = f64::min(100.0, left + 100.0 * clock.time().saturating_sub(filled).as_secs_f64());
                filled = clock.time();
                let is_served = left >= 1.0;
                left -= f64::from(u8::from(is_served));
                sent.push((milli + 20, token, is_served.then_some(left)));
            }
            let (answered, rest): (Vec<_>, Vec<_>) = sent.into_iter().partition(|(at, ..)| *at <= milli);
            sent = rest;
            for (_, token, left) in answered {
                let Some(left) = left else {
                    rejected += 1;
                    drop(strategy.refresh_retry_token(token, &throttled(None), &clock));
                    continue;
                };
                served += 1;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 100")]
                let limit = reports.then(|| RateLimit::new(left as u64));
                strategy.record_success(token, &Success::default().with_rate_limit(limit), &clock).unwrap();
            }
            clock.advance(millis(1));
        }
        (served, rejected)
    };
    let (served, rejected) = run(true);
    assert_eq!(rejected, 0);
    assert!(served > 5950, "{served} of 6,100");
    assert!(run(false).1 > 0);
}
