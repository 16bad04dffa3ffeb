//! The adaptive strategy: when it limits, whom it serves first, and the traps on the way.

use crate::support::{ByHand, Failed, Flaky, millis, poll_once, secs};
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErrorFault, Failure, ForeignToken, Jitter, Ready, RetryError, RetryQuota,
    RetryStrategy, RetryToken, StandardRetryStrategy, Timestamp, TokioTimer, retry, retryable,
};
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

type Token = <AdaptiveRetryStrategy as RetryStrategy>::Token;

const fn eager() -> AdaptiveRetryStrategy {
    AdaptiveRetryStrategy::over(StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).quota_capacity(1_000_000))
}

/// One operation that is sent at once and answered.
fn respond(strategy: &AdaptiveRetryStrategy, clock: &ByHand, error: Option<Failed>) {
    let token = strategy.acquire_initial_token(clock).unwrap();
    match error {
        None => strategy.record_success(token, clock).unwrap(),
        Some(error) => drop(strategy.refresh_retry_token(token, &Failure::of(&error), clock)),
    }
}

/// A strategy that limits sends to 7 per second, with nothing saved up: it measured 10 per second for a while, and was
/// throttled just now.
fn limiting(clock: &ByHand) -> AdaptiveRetryStrategy {
    let strategy = eager();
    for _ in 0..200 {
        respond(&strategy, clock, None);
        clock.advance(millis(100));
    }
    respond(&strategy, clock, Some(Failed { safety: retry_core::RetrySafety::No, ..Failed::THROTTLED }));
    let rate = strategy.send_rate().unwrap();
    assert!((6.5..=7.5).contains(&rate), "{rate}");
    // What was saved up before goes first.
    loop {
        let mut token = new_token(&strategy, clock);
        if ask(&strategy, clock, &mut token).is_some() {
            strategy.release(token);
            return strategy;
        }
    }
}

fn new_token(strategy: &AdaptiveRetryStrategy, clock: &ByHand) -> Token {
    strategy.acquire_initial_token(clock).unwrap()
}

fn ask(strategy: &AdaptiveRetryStrategy, clock: &ByHand, token: &mut Token) -> Option<Duration> {
    match strategy.ready(token, clock) {
        Ready::After(wait) => Some(wait),
        _ => None,
    }
}

/// Asks as often as it is told to, until the send is granted. Returns the time that it took.
fn wait_for(strategy: &AdaptiveRetryStrategy, clock: &ByHand, token: &mut Token) -> Duration {
    let started = clock.time();
    while let Some(wait) = ask(strategy, clock, token) {
        assert!(wait > Duration::ZERO && wait <= millis(100), "{wait:?}");
        clock.advance(wait);
    }
    clock.time().abs_diff(started)
}

#[tokio::test(start_paused = true)]
async fn without_throttling_it_is_the_standard_strategy() {
    #[derive(serde::Deserialize)]
    struct Vectors {
        integration: Vec<Case>,
    }
    #[derive(serde::Deserialize)]
    struct Case {
        given: Given,
        operations: Vec<Vec<String>>,
        expect_cumulative_sleep_s: Vec<f64>,
    }
    #[derive(serde::Deserialize)]
    struct Given {
        jitter: f64,
        max_attempts: u32,
        #[serde(alias = "base_non_throttling_s")]
        base_s: f64,
    }

    let vectors: Vectors = serde_json::from_str(include_str!("../vectors/adaptive.json")).unwrap();
    for Case { given, operations, expect_cumulative_sleep_s } in &vectors.integration {
        let strategy = AdaptiveRetryStrategy::over(
            StandardRetryStrategy::aws_2_1()
                .max_attempts(given.max_attempts)
                .backoff(Duration::from_secs_f64(given.base_s), secs(20))
                .jitter(Jitter::Fixed(given.jitter)),
        );
        let started = Instant::now();
        assert_eq!(operations.len(), expect_cumulative_sleep_s.len());
        for (responses, expected) in operations.iter().zip(expect_cumulative_sleep_s) {
            let failures = responses.iter().filter(|response| *response == "error").count();
            let flaky = Flaky::new(u32::try_from(failures).unwrap(), Failed::SAFE);
            let _ = retry(&strategy, || async { flaky.call() }).run().await;
            assert_eq!(started.elapsed(), Duration::from_secs_f64(*expected));
        }
        assert_eq!(strategy.send_rate(), None);
    }
    assert_eq!(vectors.integration.len(), 2);
}

#[test]
fn timeouts_and_server_errors_never_limit_sends() {
    let (clock, strategy) = (ByHand::at(secs(100_000)), eager());
    for _ in 0..100 {
        respond(&strategy, &clock, Some(Failed::TIMEOUT));
        respond(&strategy, &clock, Some(Failed { fault: ErrorFault::Server, ..Failed::SAFE }));
        clock.advance(millis(50));
    }
    assert_eq!(strategy.send_rate(), None);
    assert_eq!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)), None);
    respond(&strategy, &clock, Some(Failed::THROTTLED));
    assert!(strategy.send_rate().is_some());
}

#[test]
fn a_final_throttling_is_learned_from_as_well() {
    let (clock, strategy) = (ByHand::at(secs(100_000)), eager());
    respond(&strategy, &clock, Some(Failed { throttle: true, ..Failed::FATAL }));
    assert_eq!(strategy.send_rate(), Some(0.5), "the lowest rate, as nothing was measured yet");
}

#[test]
fn first_attempts_are_limited_too() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    let interval = Duration::from_secs_f64(1.0 / strategy.send_rate().unwrap());
    for _ in 0..10 {
        let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
        assert!(waited.abs_diff(interval) < millis(1), "{waited:?} instead of {interval:?}");
    }
}

#[test]
fn the_permission_comes_after_the_backoff_directly_before_the_attempt() {
    let clock = ByHand::at(secs(100_000));
    let strategy = AdaptiveRetryStrategy::over(StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)));
    let token = strategy.acquire_initial_token(&clock).unwrap();
    let mut token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
    assert_eq!(ask(&strategy, &clock, &mut token), Some(secs(1)), "the backoff");
    clock.advance(secs(1));
    // At half a send per second, one second filled half a send.
    assert!(wait_for(&strategy, &clock, &mut token).abs_diff(secs(1)) < millis(1));
    assert_eq!(ask(&strategy, &clock, &mut token), None, "what was granted is not charged again");
    assert_eq!(token.attempt(), 2);
    assert_eq!(token.delay(), secs(1));
}

#[test]
fn a_clock_is_read_once_before_there_is_a_limit_and_twice_after() {
    let (clock, strategy) = (ByHand::at(secs(100_000)), eager());
    let call = || {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        assert_eq!(strategy.ready(&mut token, &clock), Ready::Now);
        strategy.record_success(token, &clock).unwrap();
    };
    assert_eq!(clock.readings_of(call), 2, "the very first one anchors the limiter");
    assert_eq!(clock.readings_of(call), 1);
    respond(&strategy, &clock, Some(Failed::THROTTLED));
    clock.advance(secs(10));
    assert_eq!(clock.readings_of(call), 2);
}

#[test]
fn waiters_are_served_in_the_order_in_which_they_came() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    let mut waiters: Vec<(usize, Token)> = (0..20).map(|index| (index, new_token(&strategy, &clock))).collect();
    for (_, token) in &mut waiters {
        assert!(ask(&strategy, &clock, token).is_some());
    }
    let mut served = Vec::new();
    while !waiters.is_empty() {
        clock.advance(millis(5));
        // The last ones ask first.
        waiters.reverse();
        waiters.retain_mut(|(index, token)| {
            let granted = ask(&strategy, &clock, token).is_none();
            if granted {
                served.push(*index);
            }
            !granted
        });
        waiters.sort_by_key(|(index, _)| *index);
    }
    assert_eq!(served, (0..20).collect::<Vec<_>>());
}

#[test]
fn a_newcomer_does_not_overtake_those_who_wait() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    let mut first = new_token(&strategy, &clock);
    let wait = ask(&strategy, &clock, &mut first).unwrap();
    clock.advance(wait);
    let second = ask(&strategy, &clock, &mut first).unwrap();
    clock.advance(second);
    // A send is due now, but it is not for the newcomer.
    let mut newcomer = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut newcomer).is_some());
    assert_eq!(ask(&strategy, &clock, &mut first), None);
}

#[test]
fn a_waiter_that_goes_away_leaves_its_place_and_nothing_else() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    for _ in 0..1000 {
        let mut token = new_token(&strategy, &clock);
        assert!(ask(&strategy, &clock, &mut token).is_some());
        strategy.release(token);
    }
    let interval = Duration::from_secs_f64(1.0 / strategy.send_rate().unwrap());
    let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    assert!(waited <= interval + millis(1), "nothing was charged for those who left: {waited:?}");
}

/// A strategy that was throttled before it measured anything: half a send per second, and none is there.
fn slowest(clock: &ByHand) -> AdaptiveRetryStrategy {
    let strategy = eager();
    respond(&strategy, clock, Some(Failed { throttle: true, ..Failed::FATAL }));
    assert_eq!(strategy.send_rate(), Some(0.5));
    strategy
}

#[test]
fn the_send_of_a_waiter_that_is_late_is_kept_for_it_and_those_behind_go_on() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let mut sleeper = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut sleeper).is_some());
    // The first send is the sleeper's, the next ones are for those behind: nothing is lost, and they wait for it once.
    for seconds in [4, 2, 2] {
        let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
        assert!(waited.abs_diff(secs(seconds)) <= millis(1), "{waited:?}");
    }
    assert_eq!(ask(&strategy, &clock, &mut sleeper), None, "whenever it asks");
    let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    assert!(waited.abs_diff(secs(2)) <= millis(1), "and it is charged once: {waited:?}");
}

#[test]
fn a_kept_send_comes_back_when_its_waiter_leaves_or_is_gone_for_long() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let mut leaving = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut leaving).is_some());
    clock.advance(millis(2050));
    let mut behind = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut behind).is_some(), "kept for the one ahead");
    strategy.release(leaving);
    assert_eq!(ask(&strategy, &clock, &mut behind), None);

    let mut dead = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut dead).is_some());
    clock.advance(millis(2050));
    let mut behind = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut behind).is_some());
    clock.advance(secs(11));
    // Two seconds fill one send, which is as much as the bucket holds at this rate.
    assert_eq!(ask(&strategy, &clock, &mut behind), None);
    let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    assert!(waited.abs_diff(secs(2)) <= millis(1), "the dead one is in nobody's way any more: {waited:?}");
    let waited = wait_for(&strategy, &clock, &mut dead);
    assert!(waited <= secs(2), "and has kept its place: {waited:?}");
}

#[test]
fn a_waiter_that_is_late_beyond_the_grace_is_passed_over() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let mut sleepers = [(); 3].map(|()| new_token(&strategy, &clock));
    for sleeper in &mut sleepers {
        assert!(ask(&strategy, &clock, sleeper).is_some());
    }
    // Nobody asks until they are all late by more than an interval, which is the grace at this rate.
    clock.advance(millis(2150));
    assert_eq!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)), None);
    // Within the grace, none of them would have been passed over.
    let strategy = slowest(&clock);
    let mut sleeper = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut sleeper).is_some());
    clock.advance(millis(2090));
    assert!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)).is_some());

    // It keeps its place: whoever asks later comes later.
    let mut newcomer = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut newcomer).is_some());
    assert_eq!(ask(&strategy, &clock, &mut sleeper), None);
}

#[test]
fn however_late_a_waiter_always_is_it_is_served_and_costs_the_others_nothing() {
    for (rate, lateness) in [(0.5, 2500), (0.5, 1500), (7.0, 150), (7.0, 400)] {
        let clock = ByHand::at(secs(100_000));
        let strategy = if rate < 1.0 { slowest(&clock) } else { limiting(&clock) };
        let started = clock.time();
        // Each waiter, and when it asks next. The first one is always late.
        let mut waiters: Vec<(Duration, Token)> = (0..6).map(|_| (started, new_token(&strategy, &clock))).collect();
        let (mut sent, mut served) = (0.0, 0);
        while clock.time() < started + secs(120) {
            clock.advance(millis(1));
            for (index, (asks_at, token)) in waiters.iter_mut().enumerate() {
                if *asks_at > clock.time() {
                    continue;
                }
                let wait = ask(&strategy, &clock, token);
                *asks_at = clock.time() + wait.unwrap_or_default();
                if wait.is_none() {
                    sent += 1.0;
                    served += u32::from(index == 0);
                    *token = new_token(&strategy, &clock);
                }
                if index == 0 {
                    *asks_at += millis(lateness);
                }
            }
        }
        let expected = strategy.send_rate().unwrap() * 120.0;
        assert!(
            sent > 0.93 * expected && sent < 1.07 * expected + 1.0,
            "{sent} of {expected} at {rate}, late {lateness}"
        );
        assert!(served >= 3, "served {served} times at {rate}, late {lateness}");
    }
}

#[test]
fn an_operation_that_does_not_wait_to_the_end_leaves_no_place_behind() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let fatal = Failure::of(&Failed::FATAL);
    for _ in 0..2 {
        let [mut fails, mut succeeds] = [(); 2].map(|()| new_token(&strategy, &clock));
        assert!(ask(&strategy, &clock, &mut fails).is_some());
        assert!(ask(&strategy, &clock, &mut succeeds).is_some());
        strategy.refresh_retry_token(fails, &fatal, &clock).unwrap_err();
        strategy.record_success(succeeds, &clock).unwrap();
    }
    let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    assert!(waited <= secs(2), "{waited:?}");
}

#[test]
fn a_send_that_was_granted_and_is_not_made_comes_back() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    clock.advance(secs(2));
    let mut token = new_token(&strategy, &clock);
    assert_eq!(ask(&strategy, &clock, &mut token), None);
    strategy.release(token);
    assert_eq!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)), None);
    assert!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)).is_some());
}

/// The trap: whoever keeps a wait that was computed at an old rate waits for far too long.
#[test]
fn a_waiter_learns_of_a_new_rate() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    // Half a send per second, and fifty waiters: the last one would have to wait for 100 seconds. Each sleeps as told.
    let started = clock.time();
    let mut waiters: Vec<(Duration, Token)> = (0..50).map(|_| (started, new_token(&strategy, &clock))).collect();
    while !waiters.is_empty() {
        clock.advance(millis(5));
        let mut granted = 0;
        waiters.retain_mut(|(asks_at, token)| {
            if *asks_at > clock.time() {
                return true;
            }
            let wait = ask(&strategy, &clock, token);
            *asks_at = clock.time() + wait.unwrap_or_default();
            granted += u32::from(wait.is_none());
            wait.is_some()
        });
        // Each that goes is answered, so that the rate grows.
        for _ in 0..granted {
            respond(&strategy, &clock, None);
        }
    }
    let took = clock.time().abs_diff(started);
    assert!(took < secs(30), "{took:?}");
}

#[test]
fn a_clock_that_goes_backwards_neither_refills_nor_freezes() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    let interval = Duration::from_secs_f64(1.0 / strategy.send_rate().unwrap());
    let mut unasked = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut unasked).is_some());
    clock.set(clock.time().saturating_sub(secs(3600)));
    let mut token = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut token).is_some(), "no time has passed");
    let waited = wait_for(&strategy, &clock, &mut token);
    assert!(waited <= 2 * interval + millis(300), "{waited:?}");
    let started = clock.time();
    for _ in 0..20 {
        wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    }
    let took = clock.time().abs_diff(started);
    assert!(took.abs_diff(20 * interval) < 2 * interval, "20 sends in {took:?}");

    // The rate is measured in the time that is now: 20 per second, of which twice as many may be sent.
    for _ in 0..400 {
        respond(&strategy, &clock, None);
        clock.advance(millis(50));
    }
    let rate = strategy.send_rate().unwrap();
    assert!((39.0..=41.0).contains(&rate), "{rate}");
}

#[test]
fn a_foreign_token_is_refused_and_nothing_is_learned() {
    let clock = ByHand::at(secs(100_000));
    let (ours, theirs) = (eager(), eager());
    respond(&ours, &clock, None);
    let throttled = Failure::of(&Failed::THROTTLED);
    let refused = ours.refresh_retry_token(new_token(&theirs, &clock), &throttled, &clock);
    assert_eq!(refused.unwrap_err(), RetryError::ForeignToken);
    assert_eq!(ours.send_rate(), None);
    let foreign = new_token(&theirs, &clock);
    let readings = clock.readings_of(|| assert_eq!(ours.record_success(foreign, &clock), Err(ForeignToken)));
    assert_eq!(readings, 0, "nothing is learned of its success either");

    let ours = limiting(&clock);
    let mut foreign = new_token(&theirs, &clock);
    assert_eq!(ours.ready(&mut foreign, &clock), Ready::Now);
    ours.release(foreign);
    assert_eq!(ours.standard().quota().available(), 1_000_000);
}

#[tokio::test(start_paused = true)]
async fn an_operation_dropped_while_it_waits_for_its_send_gives_everything_back() {
    #[retryable(strategy = strategy)]
    async fn call(strategy: &AdaptiveRetryStrategy, flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    let strategy = eager();
    let flaky = Flaky::new(u32::MAX, Failed::THROTTLED);
    {
        // The first attempt enables the limiter; the retry waits for its permission.
        let mut retried = pin!(call(&strategy, &flaky));
        poll_once(retried.as_mut());
        let mut first = pin!(call(&strategy, &flaky));
        poll_once(first.as_mut());
        assert_eq!((flaky.calls(), strategy.standard().quota().available()), (1, 999_995));
    }
    assert_eq!(strategy.standard().quota().available(), 1_000_000);
    // Nobody is ahead.
    let mut token = strategy.acquire_initial_token(&TokioTimer).unwrap();
    tokio::time::advance(secs(2)).await;
    assert_eq!(strategy.ready(&mut token, &TokioTimer), Ready::Now);
}

/// A clock for threads, which their waits move.
#[derive(Default)]
struct Shared(AtomicU64);

impl Clock for Shared {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(secs(1000) + Duration::from_nanos(self.0.load(Ordering::SeqCst)))
    }
}

#[test]
fn threads_together_keep_to_the_rate_and_nobody_is_left_behind() {
    let (clock, strategy) = (Shared::default(), eager());
    let fatal = Failure::of(&Failed { throttle: true, ..Failed::FATAL });
    let token = strategy.acquire_initial_token(&clock).unwrap();
    strategy.refresh_retry_token(token, &fatal, &clock).unwrap_err();
    let sent = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (clock, strategy, sent) = (&clock, &strategy, &sent);
            scope.spawn(move || {
                for operation in 0..50 {
                    let mut token = strategy.acquire_initial_token(clock).unwrap();
                    while let Ready::After(wait) = strategy.ready(&mut token, clock) {
                        if (operation + thread) % 5 == 0 {
                            break;
                        }
                        clock.0.fetch_add(u64::try_from(wait.as_nanos()).unwrap(), Ordering::SeqCst);
                    }
                    if (operation + thread) % 5 == 0 {
                        // A fifth goes away, whether it was its turn or not.
                        strategy.release(token);
                    } else {
                        // It was sent, and nothing was learned of its answer.
                        sent.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    // Half a send per second, as nothing was answered since.
    let allowed = 0.5 * clock.now().saturating_since(Timestamp::from_origin(secs(1000))).as_secs_f64();
    assert_eq!(sent.load(Ordering::SeqCst), 160);
    assert!(f64::from(sent.into_inner()) <= allowed + 1.0, "160 in the time of {allowed}");
    assert_eq!(strategy.send_rate(), Some(0.5));
}

/// A service that takes so many requests per second, and as many at once.
struct Limited {
    rate: f64,
    state: RefCell<(f64, Instant)>,
    turned_away: RefCell<Vec<Duration>>,
    started: Instant,
}

impl Limited {
    fn new(rate: f64) -> Self {
        let now = Instant::now();
        Self { rate, state: RefCell::new((rate, now)), turned_away: RefCell::default(), started: now }
    }

    fn call(&self) -> Result<(), Failed> {
        let (tokens, last) = &mut *self.state.borrow_mut();
        *tokens = self.rate.min(*tokens + self.rate * last.elapsed().as_secs_f64());
        *last = Instant::now();
        if *tokens >= 1.0 {
            *tokens -= 1.0;
            return Ok(());
        }
        self.turned_away.borrow_mut().push(self.started.elapsed());
        Err(Failed::THROTTLED)
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_beyond_the_limit_of_a_service_loses_nothing() {
    static STRATEGY: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();

    #[retryable(strategy = STRATEGY)]
    async fn send(service: &Limited) -> Result<(), Failed> {
        tokio::time::sleep(millis(10)).await;
        service.call()
    }

    let service = Rc::new(Limited::new(100.0));
    let left = Rc::new(Cell::new(2000));
    let started = Instant::now();
    let tasks = tokio::task::LocalSet::new();
    for _ in 0..64 {
        let (service, left) = (Rc::clone(&service), Rc::clone(&left));
        tasks.spawn_local(async move {
            while left.get() > 0 {
                left.set(left.get() - 1);
                send(&service).await.expect("nothing is lost");
            }
        });
    }
    tasks.await;
    // 2000 sends at 100 per second, of which 100 came at once.
    let took = started.elapsed();
    assert!(took >= secs(18) && took < secs(40), "{took:?}");
}
