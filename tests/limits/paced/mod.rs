//! The paced strategy: its sends, and what it does with throttled attempts. What it has in common with the adaptive
//! strategy is in `limiters`.

mod edges;
mod estimator;
mod in_time;
mod own;
mod probes;
mod reports;
mod told;

use crate::support::{ByHand, Failed, millis, secs};
use retry_core::time::{Clock, Timestamp};
use retry_core::{
    Failure, Jitter, RetryDirective, RetryError, RetryErrorType, RetryQuota, RetryStrategy, RetryToken,
    StandardRetryStrategy, Success, retry,
};
use retry_limits::{PacedRetryStrategy, PacedRetryToken, Rejections};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
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

// Rules L1, L21.
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
    assert_eq!((granted, strategy.send_rate()), (0, Some(100.0)));
}

// Rule L65.
#[test]
fn a_ramp_for_which_many_operations_wait_hurries_until_the_first_rejection() {
    // With 100 waiters, the queue takes one second.
    for (waiters, answered_after, rate) in
        [(101, millis(20), 750.0), (100, millis(20), 100.0), (101, millis(60), 100.0)]
    {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::new();
        let begin = || strategy.acquire_initial_token(&clock).unwrap();
        let mut tokens: Vec<_> = (0..waiters).map(|_| begin()).collect();
        for token in &mut tokens {
            assert!(strategy.ready(token, &clock, None).wait().is_some());
        }
        let mut send = || {
            let mut token = tokens.remove(0);
            assert_eq!(strategy.ready(&mut token, &clock, None).wait(), None);
            token
        };
        clock.advance(millis(10));
        let first = send();
        clock.advance(answered_after);
        strategy.record_success(first, &Success::default(), &clock).unwrap();
        let second = send();
        assert_eq!(strategy.send_rate(), Some(rate), "{waiters} waiters, {answered_after:?}");
        let _ = strategy.refresh_retry_token(second, &throttled(None), &clock);
        assert_eq!(strategy.send_rate(), Some(100.0));
    }
}

// Rule L66.
#[test]
fn a_new_client_whose_limit_others_have_used_up_soon_sends_little() {
    for (accepted, rejections) in [(0, 5), (2, 6)] {
        let rates_of = |strategy: PacedRetryStrategy| {
            let clock = ByHand::at(secs(1000));
            let send = || {
                let mut token = strategy.acquire_initial_token(&clock).unwrap();
                while strategy.ready(&mut token, &clock, None).wait().is_some() {
                    clock.advance(millis(10));
                }
                token
            };
            for _ in 0..accepted {
                strategy.record_success(send(), &Success::default(), &clock).unwrap();
            }
            let mut rates = (0..rejections).map(|_| {
                // The former operation is gone, so that none has a limit of its own.
                drop(strategy.refresh_retry_token(send(), &throttled(None), &clock));
                strategy.send_rate().unwrap()
            });
            let before = rates.by_ref().take(rejections - 1).last();
            (before.unwrap(), rates.last().unwrap())
        };
        let (before, after) = rates_of(PacedRetryStrategy::new());
        assert!(before >= 20.0 && after < 4.0, "{accepted} accepted: {before}, then {after}");
        let (before, after) = rates_of(PacedRetryStrategy::new().max_rate(1_000.0));
        assert!(before >= 20.0 && after >= 20.0, "told, {accepted} accepted: {before}, then {after}");
    }
}

// Rule L72.
#[test]
fn a_ramp_ends_at_what_was_accepted_if_a_server_rejects_requests_between_others() {
    let rate_after = |outcomes: &str, strategy: PacedRetryStrategy| {
        let clock = ByHand::at(secs(1000));
        let begun = clock.now();
        let age = || clock.now().saturating_since(begun);
        for outcome in outcomes.chars() {
            let mut token = strategy.acquire_initial_token(&clock).unwrap();
            while strategy.ready(&mut token, &clock, None).wait().is_some() {
                clock.advance(millis(5));
            }
            if outcome == 'a' {
                strategy.record_success(token, &Success::default(), &clock).unwrap();
            } else {
                clock.advance(millis(150).saturating_sub(age()));
                drop(strategy.refresh_retry_token(token, &throttled(None), &clock));
            }
        }
        (strategy.send_rate().unwrap(), age().as_secs_f64())
    };
    // The answers to the requests of the last 0.05 s are not known.
    let (rate, age) = rate_after("aaaararar", PacedRetryStrategy::new());
    assert!((rate - 0.7 * 6.0 / (age - 0.05)).abs() < 1e-6, "{rate} after {age} s");
    let (told, _) = rate_after("aaaararar", PacedRetryStrategy::new().max_rate(1_000.0));
    assert!((told - rate).abs() > 1.0, "a limit that is told has a burst: {told}");
    // The third of three in a row says nothing of requests between them: a quarter of the rate is sent until more is known.
    let (rate, _) = rate_after("aaaaarrr", PacedRetryStrategy::new());
    assert!((rate - 25.0).abs() < 1e-6, "{rate}");
}

// Rule L72.
#[test]
fn a_client_that_sends_little_learns_no_limit_from_a_rejection_now_and_then() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new();
    for request in 1..=600 {
        clock.advance(secs(10));
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        // The first one waits for the first send of the ramp.
        while strategy.ready(&mut token, &clock, None).wait().is_some() {
            clock.advance(millis(10));
        }
        if request % 100 == 0 {
            drop(strategy.refresh_retry_token(token, &throttled(None), &clock));
        } else {
            strategy.record_success(token, &Success::default(), &clock).unwrap();
        }
    }
    assert!(strategy.send_rate().unwrap() > 20.0, "{:?}", strategy.send_rate());
}

// Rules L67, L68.
#[test]
fn a_client_that_is_banned_again_and_again_for_what_it_sends_sends_less_and_looks_for_the_end() {
    ban_again_and_again(false);
}

// Rules L67, L71.
#[test]
fn a_client_learns_from_bans_that_say_how_long_they_last() {
    ban_again_and_again(true);
}

/// Bans a client for 60 s after more than 100 requests in 10 s, and checks what it learns. `hints` says whether rejections ask for the
/// rest of the ban as a wait.
#[track_caller]
fn ban_again_and_again(hints: bool) {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new();
    let (mut sent, mut banned_until, mut bans, mut accepted) = (VecDeque::new(), clock.now(), 0, 0);
    // The longest time between two probes in the last 15 s of a ban, once the length of one is known.
    let mut gap = Duration::ZERO;
    let mut previous = clock.now();
    let end = clock.now().saturating_add(secs(600));
    while clock.now() < end {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        while strategy.ready(&mut token, &clock, None).wait().is_some() {
            clock.advance(millis(10));
        }
        let now = clock.now();
        sent.push_back(now);
        while sent.front().is_some_and(|first: &Timestamp| now.saturating_since(*first) > secs(10)) {
            sent.pop_front();
        }
        if now >= banned_until && sent.len() > 100 {
            banned_until = now.saturating_add(secs(60));
            bans += 1;
        }
        let left = banned_until.saturating_since(previous);
        if bans >= 3 && Duration::ZERO < left && left <= secs(15) {
            gap = gap.max(now.saturating_since(previous));
        }
        previous = now;
        if now < banned_until {
            let wait = hints.then(|| banned_until.saturating_since(now));
            drop(strategy.refresh_retry_token(token, &throttled(wait), &clock));
        } else {
            accepted += 1;
            strategy.record_success(token, &Success::default(), &clock).unwrap();
        }
        clock.advance(millis(1));
    }
    assert!(bans <= 5 && accepted >= 2_500, "{bans} bans, {accepted} accepted");
    // 16 in a minute.
    assert!(hints || Duration::ZERO < gap && gap <= secs(5), "{gap:?} between two probes");
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

// Rules L7, L30.
#[test]
fn a_throttled_attempt_is_repeated_without_backoff_and_cost_for_a_time_of_its_own() {
    let clock = ByHand::at(secs(1000));
    let strategy =
        PacedRetryStrategy::over(standard().quota_capacity(20).max_attempts(3)).max_throttled_time(secs(100));
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    for attempt in 2..=100 {
        token = strategy.refresh_retry_token(token, &throttled(None), &clock).unwrap();
        assert_eq!((token.attempt(), token.delay()), (attempt, Duration::ZERO));
        clock.advance(secs(1));
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

    let first = |strategy: &PacedRetryStrategy, hint| {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.refresh_retry_token(token, &throttled(hint), &clock)
    };
    let token = first(&strategy, None).unwrap();
    clock.advance(secs(100));
    assert_eq!(strategy.refresh_retry_token(token, &throttled(None), &clock).err(), Some(RetryError::MaxTime));
    let at_once = PacedRetryStrategy::new().max_throttled_time(Duration::ZERO);
    assert_eq!(first(&at_once, None).err(), Some(RetryError::MaxTime));

    // An operation that waits as the server tells it is not blamed for that time. The longest wait counts once.
    let token = first(&strategy, Some(secs(290))).unwrap();
    clock.advance(secs(300));
    let token = strategy.refresh_retry_token(token, &throttled(Some(secs(290))), &clock).unwrap();
    clock.advance(secs(100));
    assert_eq!(strategy.refresh_retry_token(token, &throttled(None), &clock).err(), Some(RetryError::MaxTime));
}

// Rule L17.
#[test]
fn the_user_says_which_failures_are_rejections() {
    let clock = ByHand::at(secs(1000));
    let classes =
        [RetryErrorType::Throttling, RetryErrorType::ServerSide, RetryErrorType::Timeout, RetryErrorType::Other];
    let rejected_of = |rejections: Rejections| {
        classes.map(|class| {
            let strategy = PacedRetryStrategy::over(standard()).ramp(false).rejections(rejections);
            let token = strategy.acquire_initial_token(&clock).unwrap();
            let token = strategy
                .refresh_retry_token(token, &Failure::from_directive(RetryDirective::retry(class)), &clock)
                .unwrap();
            let (is_limited, quota) = (strategy.send_rate().is_some(), strategy.standard().quota().available());
            assert_eq!((token.delay().is_zero(), quota == 500), (is_limited, is_limited), "{class:?}: {rejections:?}");
            is_limited
        })
    };
    assert_eq!(rejected_of(Rejections::default()), [true, false, false, false]);
    assert_eq!(rejected_of(Rejections::ServerErrors), [true, true, false, false]);
    assert_eq!(rejected_of(Rejections::Timeouts), [true, true, true, false]);

    // A rejection that must not be repeated is learnt from, and ends its operation.
    let strategy = PacedRetryStrategy::over(standard()).ramp(false).rejections(Rejections::ServerErrors);
    let token = strategy.acquire_initial_token(&clock).unwrap();
    let unsafe_to_repeat = RetryDirective::fail(Some(RetryErrorType::ServerSide));
    let ended = strategy.refresh_retry_token(token, &Failure::from_directive(unsafe_to_repeat), &clock);
    assert_eq!((ended.err(), strategy.send_rate().is_some()), (Some(RetryError::NotRetryable), true));
}

// Rules L5, L7.
#[tokio::test(start_paused = true)]
async fn operations_ride_out_two_minutes_of_nothing_but_rejections_with_few_requests() {
    let (strategy, started) = (PacedRetryStrategy::new().seed(1), Instant::now());
    let rejected = Cell::new(0);
    let work = async || {
        for _ in 0..20 {
            let call = retry(&strategy, async || {
                sleep(millis(20)).await;
                if (millis(200)..secs(120)).contains(&started.elapsed()) {
                    rejected.set(rejected.get() + 1);
                    return Err(Failed::THROTTLED);
                }
                Ok(())
            });
            call.run().await.expect("every operation succeeds");
        }
    };
    tokio::join!(work(), work(), work(), work());
    // Four in each second would be 480.
    assert!((10..40).contains(&rejected.get()), "{} rejected", rejected.get());
    assert!(started.elapsed() < secs(160), "{:?}", started.elapsed());
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
    // A tenth of 200 s would be 20 s.
    let (hint, longest) = (secs(200), secs(205));
    let delays = (0..100).map(|_| {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.refresh_retry_token(token, &throttled(Some(hint)), &clock).unwrap().delay()
    });
    let (cut, shorter): (Vec<_>, Vec<_>) = delays.partition(|&delay| delay == longest);
    assert!(shorter.iter().all(|delay| (hint..longest).contains(delay)), "{shorter:?}");
    assert!((60..=90).contains(&cut.len()), "{} of 100 are cut to {longest:?}", cut.len());
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
    let (longest, token) = (secs(u64::MAX - 10), strategy.acquire_initial_token(&clock).unwrap());
    let token = strategy.refresh_retry_token(token, &throttled(Some(longest)), &clock).unwrap();
    assert_eq!(token.delay(), longest + secs(5));
}

// Rules L8, L31.
#[test]
fn a_long_wait_holds_back_all_operations_and_a_short_one_does_not() {
    for (hint, is_held) in [(millis(1500) * 10 / 11, false), (secs(2), true), (secs(301), true)] {
        let clock = ByHand::at(secs(1000));
        let strategy = at_a_hundred(&clock);
        let token = strategy.acquire_initial_token(&clock).unwrap();
        let _ = strategy.refresh_retry_token(token, &throttled(Some(hint)), &clock);
        let mut other = strategy.acquire_initial_token(&clock).unwrap();
        let mut waited = Duration::ZERO;
        while let Some(wait) = strategy.ready(&mut other, &clock, None).wait() {
            clock.advance(wait);
            waited += wait;
        }
        assert_eq!(waited >= secs(1), is_held, "{hint:?}: {waited:?}");
    }
}

/// A strategy that was throttled half a second ago, after 100 accepted requests in a second.
fn at_a_hundred(clock: &ByHand) -> PacedRetryStrategy {
    at_a_hundred_over(standard().quota_capacity(100), clock)
}

fn at_a_hundred_over(standard: StandardRetryStrategy, clock: &ByHand) -> PacedRetryStrategy {
    let strategy = PacedRetryStrategy::over(standard).ramp(false).seed(1);
    let send = || strategy.acquire_initial_token(clock).unwrap();
    for _ in 0..100 {
        strategy.record_success(send(), &Success::default(), clock).unwrap();
        clock.advance(millis(10));
    }
    drop(strategy.refresh_retry_token(send(), &throttled(None), clock));
    clock.advance(millis(500));
    strategy
}

/// Returns when operations were sent in this time after now, by seconds, rounded down. Each of them is answered by `answer`.
fn sends_within(
    strategy: &PacedRetryStrategy,
    clock: &ByHand,
    time: Duration,
    answer: impl Fn(PacedRetryToken),
) -> Vec<u64> {
    let (mut sends, started) = (Vec::new(), clock.time());
    let mut token = strategy.acquire_initial_token(clock).unwrap();
    while clock.time() < started + time {
        if let Some(wait) = strategy.ready(&mut token, clock, None).wait() {
            clock.advance(wait);
        } else {
            sends.push(clock.time().saturating_sub(started).as_secs());
            answer(std::mem::replace(&mut token, strategy.acquire_initial_token(clock).unwrap()));
        }
    }
    strategy.release(token);
    sends
}

// Rules L8, L33.
#[test]
fn rare_probes_check_a_hold() {
    let clock = ByHand::at(secs(1000));
    let strategy = at_a_hundred(&clock);
    let reject = |token| drop(strategy.refresh_retry_token(token, &throttled(None), &clock));
    let token = strategy.acquire_initial_token(&clock).unwrap();
    let _ = strategy.refresh_retry_token(token, &throttled(Some(secs(40))), &clock);
    assert_eq!(sends_within(&strategy, &clock, secs(40), reject), [1, 3, 7, 15, 31]);
    // Then the hold is over, and the estimate as it was: the first request that is accepted ends the probes.
    let accept = |token| strategy.record_success(token, &Success::default(), &clock).unwrap();
    assert!(sends_within(&strategy, &clock, secs(15), accept).len() > 20);
}

// Rules L8, L34.
#[test]
fn a_wait_that_a_probe_proves_too_long_ends_and_the_next_ones_hold_nothing_back() {
    let clock = ByHand::at(secs(1000));
    let strategy = at_a_hundred(&clock);
    let (sent, accept) = (
        || {
            let mut token = strategy.acquire_initial_token(&clock).unwrap();
            while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
                clock.advance(wait);
            }
            token
        },
        |token| strategy.record_success(token, &Success::default(), &clock).unwrap(),
    );
    let always = throttled(Some(secs(60)));
    let token = strategy.refresh_retry_token(sent(), &always, &clock).unwrap();
    assert!(token.delay() >= secs(60), "its own operation waits as it was told");
    let held = clock.time();
    accept(sent());
    assert_eq!(clock.time().saturating_sub(held).as_secs(), 1);
    let _ = sent();
    // What was rejected is no reason to hold all back, until three in a row are.
    for (rejections, held) in [(1, false), (3, true)] {
        (0..20).for_each(|_| accept(sent()));
        (0..rejections).for_each(|_| drop(strategy.refresh_retry_token(sent(), &always, &clock)));
        let started = clock.time();
        accept(sent());
        assert_eq!(clock.time() >= started + secs(1), held, "{rejections} in a row");
    }
}

// Rules L8, B5, L31, L32.
#[test]
fn a_wait_beyond_the_longest_one_ends_retries_at_once_and_first_attempts_wait() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::over(standard().max_retry_after(Some(secs(60)))).seed(1);
    let end = |token| {
        let refused = strategy.refresh_retry_token(token, &throttled(Some(secs(3600))), &clock);
        assert_eq!(refused.err(), Some(RetryError::RetryAfterTooLong));
    };
    end(strategy.acquire_initial_token(&clock).unwrap());
    let sends = sends_within(&strategy, &clock, secs(3500), end);
    assert_eq!(sends, [1, 3, 7, 15, 31, 63, 127, 255, 511, 811, 1111, 1411, 1711, 2011, 2311, 2611, 2911, 3211]);
}

/// A service that accepts `rate` requests per second, and as many together. It tells throttled clients to wait for a second.
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

// Rules L2, L23.
#[test]
fn the_few_requests_of_an_idle_client_are_no_measurement() {
    let clock = ByHand::at(secs(1000));
    let strategy = at_a_hundred(&clock);
    let send = || {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        assert_eq!(strategy.ready(&mut token, &clock, None).wait(), None);
        token
    };
    clock.advance(secs(1));
    for _ in 0..60 {
        strategy.record_success(send(), &Success::default(), &clock).unwrap();
        clock.advance(secs(1));
    }
    drop(strategy.refresh_retry_token(send(), &throttled(None), &clock));
    let rate = strategy.send_rate().unwrap();
    // A cut of what was known before. What was sent in the minute would be one per second.
    assert!(rate > 30.0, "{rate}");
}

// Rules L8, K3, L32.
#[test]
fn a_hold_is_over_when_the_clock_is_set_back() {
    let clock = ByHand::at(secs(10_000));
    let strategy = at_a_hundred(&clock);
    let token = strategy.acquire_initial_token(&clock).unwrap();
    drop(strategy.refresh_retry_token(token, &throttled(Some(secs(200))), &clock));
    clock.set(secs(1000));
    let accept = |token| strategy.record_success(token, &Success::default(), &clock).unwrap();
    // How much of the hold is left is unknown. The first question after the step finds it over.
    assert!(sends_within(&strategy, &clock, secs(2), accept).len() > 20);
}

// Rules L2, L23.
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
