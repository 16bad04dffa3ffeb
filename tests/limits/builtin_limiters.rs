//! What every strategy with a limiter promises, whatever its rate is: the order of waiters, what is taken and given back,
//! and clocks that misbehave. Each test runs with the adaptive and with the paced strategy.

use crate::support::{ByHand, Failed, Flaky, millis, poll_once, secs};
use retry_core::limit::Ready;
use retry_core::strategy::ForeignToken;
use retry_core::time::Timestamp;
use retry_core::{
    AdaptiveRetryStrategy, Clock, Failure, Jitter, RetryError, RetryQuota, RetrySafety, RetryStrategy,
    StandardRetryStrategy, Success, TokioTimer, retry,
};
use retry_limits::PacedRetryStrategy;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// A strategy with a limiter that is not limiting yet, and whose quota is large.
trait Limiter: RetryStrategy + Sync {
    fn new() -> Self;
    fn quota(&self) -> u32;
}

fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).quota_capacity(1_000_000)
}

impl Limiter for AdaptiveRetryStrategy {
    fn new() -> Self {
        Self::over(standard())
    }

    fn quota(&self) -> u32 {
        self.standard().quota().available()
    }
}

impl Limiter for PacedRetryStrategy {
    fn new() -> Self {
        Self::over(standard()).ramp(false)
    }

    fn quota(&self) -> u32 {
        self.standard().quota().available()
    }
}

macro_rules! for_both {
    ($($(#[$attribute:meta])* $test:ident;)+) => {
        mod adaptive {
            use retry_core::AdaptiveRetryStrategy;

            $($(#[$attribute])* fn $test() {
                super::$test::<AdaptiveRetryStrategy>();
            })+
        }

        mod paced {
            use retry_limits::PacedRetryStrategy;

            $($(#[$attribute])* fn $test() {
                super::$test::<PacedRetryStrategy>();
            })+
        }
    };
}

for_both! {
    #[test] first_attempts_are_limited_too;
    #[test] only_throttling_limits_sends;
    #[test] a_final_throttling_is_learned_from;
    #[test] waiters_are_served_in_the_order_in_which_they_came;
    #[test] a_new_operation_does_not_overtake_waiters;
    #[test] waiters_that_leave_are_not_charged;
    #[test] a_waiter_that_is_not_polled_is_passed_over_and_keeps_its_place;
    #[test] an_operation_that_ends_while_it_waits_leaves_the_queue;
    #[test] a_granted_send_that_is_not_made_is_given_back;
    #[test] a_clock_that_goes_backwards_neither_refills_nor_freezes;
    #[test] a_foreign_token_is_refused_and_nothing_is_learned;
    #[test] the_limiter_learns_while_retries_are_off;
    #[test] threads_together_keep_to_the_rate_and_every_operation_is_sent;
    #[test] an_operation_that_is_dropped_while_it_waits_is_refunded_and_leaves_the_queue;
}

const FINAL: Failed = Failed { safety: RetrySafety::No, ..Failed::THROTTLED };

fn respond<L: Limiter>(limiter: &L, clock: &impl Clock, error: Option<Failed>) {
    let mut token = limiter.acquire_initial_token(clock).unwrap();
    let _ = limiter.ready(&mut token, clock, None);
    match error {
        None => limiter.record_success(token, &Success::default(), clock).unwrap(),
        Some(error) => drop(limiter.refresh_retry_token(token, &Failure::of(&error), clock)),
    }
}

/// Returns a limiter that limits sends to a few per second and has none available. It measured 10 responses per second.
fn limiting<L: Limiter>(clock: &ByHand) -> L {
    let limiter = L::new();
    for _ in 0..200 {
        respond(&limiter, clock, None);
        clock.advance(millis(100));
    }
    respond(&limiter, clock, Some(FINAL));
    let rate = limiter.send_rate().unwrap();
    assert!((6.0..=10.0).contains(&rate), "{rate}");
    // Use up what is available.
    loop {
        let mut token = limiter.acquire_initial_token(clock).unwrap();
        if ask(&limiter, clock, &mut token).is_some() {
            limiter.release(token);
            return limiter;
        }
    }
}

fn token<L: Limiter>(limiter: &L, clock: &impl Clock) -> L::Token {
    limiter.acquire_initial_token(clock).unwrap()
}

fn ask<L: Limiter>(limiter: &L, clock: &impl Clock, token: &mut L::Token) -> Option<Duration> {
    limiter.ready(token, clock, None).wait()
}

/// Asks again after each wait until the send is granted. Returns the total wait.
fn wait_for<L: Limiter>(limiter: &L, clock: &ByHand, token: &mut L::Token) -> Duration {
    let started = clock.time();
    while let Some(wait) = ask(limiter, clock, token) {
        assert!(wait <= millis(100), "{wait:?}");
        clock.advance(wait);
    }
    clock.time().saturating_sub(started)
}

// Rule L9.
fn first_attempts_are_limited_too<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let limiter: L = limiting(&clock);
    assert!(ask(&limiter, &clock, &mut token(&limiter, &clock)).is_some());
}

// Rules A6, L1, L21.
fn only_throttling_limits_sends<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let limiter = L::new();
    for error in [Failed::TIMEOUT, Failed::SAFE, Failed::FATAL, Failed::CONFLICT] {
        for _ in 0..100 {
            respond(&limiter, &clock, Some(error));
            clock.advance(millis(1));
        }
    }
    assert_eq!(limiter.send_rate(), None);
    assert_eq!(ask(&limiter, &clock, &mut token(&limiter, &clock)), None);
}

// Rules R6, L2.
fn a_final_throttling_is_learned_from<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let limiter = L::new();
    respond(&limiter, &clock, Some(FINAL));
    assert!(limiter.send_rate().is_some());
}

// Rules A10, L9.
fn waiters_are_served_in_the_order_in_which_they_came<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let limiter: L = limiting(&clock);
    let mut waiters: Vec<(usize, L::Token)> = (0..20).map(|index| (index, token(&limiter, &clock))).collect();
    for (_, token) in &mut waiters {
        assert!(ask(&limiter, &clock, token).is_some());
    }
    let mut served = Vec::new();
    while !waiters.is_empty() {
        clock.advance(millis(5));
        // The last waiters ask first.
        waiters.reverse();
        waiters.retain_mut(|(index, token)| {
            let is_granted = ask(&limiter, &clock, token).is_none();
            if is_granted {
                served.push(*index);
            }
            !is_granted
        });
        waiters.sort_by_key(|(index, _)| *index);
    }
    assert_eq!(served, (0..20).collect::<Vec<_>>());
}

// Rules A10, L9.
fn a_new_operation_does_not_overtake_waiters<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let limiter: L = limiting(&clock);
    let mut first = token(&limiter, &clock);
    assert!(ask(&limiter, &clock, &mut first).is_some());
    // Advances until a send is due, while nobody takes it.
    let mut probe = token(&limiter, &clock);
    while ask(&limiter, &clock, &mut probe).is_some() {
        clock.advance(millis(1));
        if ask(&limiter, &clock, &mut first).is_none() {
            return assert!(ask(&limiter, &clock, &mut probe).is_some(), "one send was due, and it is used");
        }
    }
    panic!("the newcomer overtook the waiter");
}

// Rules A9, A13, L9.
fn waiters_that_leave_are_not_charged<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let limiter: L = limiting(&clock);
    for _ in 0..1000 {
        let mut leaving = token(&limiter, &clock);
        assert!(ask(&limiter, &clock, &mut leaving).is_some());
        limiter.release(leaving);
    }
    let interval = Duration::from_secs_f64(1.0 / limiter.send_rate().unwrap());
    let waited = wait_for(&limiter, &clock, &mut token(&limiter, &clock));
    assert!(waited <= interval + millis(1), "nothing was charged for the waiters that left: {waited:?}");
}

// Rules A12, L9.
fn a_waiter_that_is_not_polled_is_passed_over_and_keeps_its_place<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let limiter: L = limiting(&clock);
    let mut sleeper = token(&limiter, &clock);
    assert!(ask(&limiter, &clock, &mut sleeper).is_some());
    // Those behind it continue, and wait for it only once.
    let interval = Duration::from_secs_f64(1.0 / limiter.send_rate().unwrap());
    for waits_for in [2, 1, 1] {
        let waited = wait_for(&limiter, &clock, &mut token(&limiter, &clock));
        assert!(waited <= waits_for * interval + millis(60), "{waited:?}, {interval:?}");
    }
    // It gets the next send, or the one that was kept for it, before those that came later.
    let mut newcomer = token(&limiter, &clock);
    while ask(&limiter, &clock, &mut sleeper).is_some() {
        assert!(ask(&limiter, &clock, &mut newcomer).is_some(), "the newcomer overtook the sleeper");
        clock.advance(millis(1));
    }
}

// Rules A13, L9.
fn an_operation_that_ends_while_it_waits_leaves_the_queue<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let limiter: L = limiting(&clock);
    for _ in 0..50 {
        let [mut fails, mut succeeds] = [(); 2].map(|()| token(&limiter, &clock));
        assert!(ask(&limiter, &clock, &mut fails).is_some());
        assert!(ask(&limiter, &clock, &mut succeeds).is_some());
        assert!(limiter.refresh_retry_token(fails, &Failure::of(&Failed::FATAL), &clock).is_err());
        limiter.record_success(succeeds, &Success::default(), &clock).unwrap();
    }
    let waited = wait_for(&limiter, &clock, &mut token(&limiter, &clock));
    assert!(waited <= secs(1), "{waited:?}");
}

// Rules A13, L9.
fn a_granted_send_that_is_not_made_is_given_back<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let limiter: L = limiting(&clock);
    let mut unsent = token(&limiter, &clock);
    wait_for(&limiter, &clock, &mut unsent);
    limiter.release(unsent);
    assert_eq!(ask(&limiter, &clock, &mut token(&limiter, &clock)), None);
    assert!(ask(&limiter, &clock, &mut token(&limiter, &clock)).is_some());
}

// Rule K3.
fn a_clock_that_goes_backwards_neither_refills_nor_freezes<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let limiter: L = limiting(&clock);
    clock.set(clock.time().saturating_sub(secs(3600)));
    let mut first = token(&limiter, &clock);
    assert!(ask(&limiter, &clock, &mut first).is_some(), "no time has passed");
    let waited = wait_for(&limiter, &clock, &mut first);
    assert!(waited <= secs(1), "{waited:?}");
    let started = clock.time();
    for _ in 0..20 {
        wait_for(&limiter, &clock, &mut token(&limiter, &clock));
    }
    let took = clock.time().saturating_sub(started);
    assert!(took > secs(1) && took < secs(5), "20 sends in {took:?}");
}

// Rule R13.
fn a_foreign_token_is_refused_and_nothing_is_learned<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let (ours, theirs) = (L::new(), L::new());
    respond(&ours, &clock, None);
    let refused = ours.refresh_retry_token(token(&theirs, &clock), &Failure::of(&Failed::THROTTLED), &clock);
    assert_eq!(refused.err(), Some(RetryError::ForeignToken));
    assert_eq!(ours.send_rate(), None);
    let foreign = token(&theirs, &clock);
    assert_eq!(ours.record_success(foreign, &Success::default(), &clock), Err(ForeignToken));

    let ours: L = limiting(&clock);
    let mut foreign = token(&theirs, &clock);
    assert_eq!(ours.ready(&mut foreign, &clock, None), Ready::Now);
    ours.release(foreign);
    assert_eq!(ours.quota(), 1_000_000);
}

// Rules R14, L7.
fn the_limiter_learns_while_retries_are_off<L: Limiter>() {
    let clock = ByHand::at(secs(100_000));
    let limiter = L::new();
    let failure = Failure::of(&Failed::THROTTLED).with_refusal(Some(RetryError::Disabled));
    let refused = limiter.refresh_retry_token(token(&limiter, &clock), &failure, &clock);
    assert_eq!(refused.err(), Some(RetryError::Disabled));
    assert!(limiter.send_rate().is_some());
    assert_eq!(limiter.quota(), 1_000_000);
}

/// A clock shared by threads, which their waits advance.
#[derive(Default)]
struct Shared(AtomicU64);

impl Clock for Shared {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(secs(1000) + Duration::from_nanos(self.0.load(Ordering::SeqCst)))
    }
}

// Rules A9, L9.
fn threads_together_keep_to_the_rate_and_every_operation_is_sent<L: Limiter>() {
    let (clock, limiter) = (Shared::default(), L::new());
    respond(&limiter, &clock, Some(FINAL));
    let sent = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (clock, limiter, sent) = (&clock, &limiter, &sent);
            scope.spawn(move || {
                for operation in 0..50 {
                    let mut token = limiter.acquire_initial_token(clock).unwrap();
                    let leaves = (operation + thread) % 5 == 0;
                    while let Some(wait) = limiter.ready(&mut token, clock, None).wait() {
                        if leaves {
                            break;
                        }
                        clock.0.fetch_add(u64::try_from(wait.as_nanos()).unwrap(), Ordering::SeqCst);
                    }
                    if leaves {
                        // A fifth of the operations leaves, whether its send was granted or not.
                        limiter.release(token);
                    } else {
                        // It was sent, and its response is not reported.
                        sent.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    assert_eq!(sent.load(Ordering::SeqCst), 160);
    // Neither strategy goes above two sends per second here: no response was reported since the throttling.
    let allowed = 2.0 * clock.now().saturating_since(Timestamp::from_origin(secs(1000))).as_secs_f64();
    assert!(f64::from(sent.into_inner()) <= allowed + 1.0, "160 sends in a time that allows {allowed}");
}

// Rules D1, D3.
fn an_operation_that_is_dropped_while_it_waits_is_refunded_and_leaves_the_queue<L: Limiter>() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let limiter = L::new();
        let flaky = Flaky::new(u32::MAX, Failed::THROTTLED);
        {
            // The first attempt begins the limit; the retry waits for its send.
            let mut retried = pin!(retry(&limiter, async || flaky.call()).run());
            poll_once(retried.as_mut());
            let mut first = pin!(retry(&limiter, async || flaky.call()).run());
            poll_once(first.as_mut());
            assert_eq!(flaky.calls(), 1);
        }
        assert_eq!(limiter.quota(), 1_000_000);
        // No waiter is ahead.
        let mut next = limiter.acquire_initial_token(&TokioTimer).unwrap();
        tokio::time::advance(secs(5)).await;
        assert_eq!(limiter.ready(&mut next, &TokioTimer, None), Ready::Now);
    });
}
