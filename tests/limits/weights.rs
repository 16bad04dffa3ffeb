//! Limits on the sum of the weights of operations.

use crate::support::{ByHand, Failed, millis, secs};
use proptest::prelude::*;
use retry_core::classify::http::RateLimit;
use retry_core::limit::SendLimiter;
use retry_core::policy::Usage;
use retry_core::strategy::{LimitedRetryStrategy, LimitedRetryToken, Weighted};
use retry_core::{Clock, Failure, RetryDirective, RetryErrorType, RetryStrategy, StandardRetryStrategy, Success};
use retry_limits::{PacedLimiter, PacedRetryStrategy, PacedSettings, Pair, SendRate, Weights};
use std::time::Duration;

type Weighing = LimitedRetryStrategy<PacedLimiter<Weights>>;
type Token = LimitedRetryToken<PacedLimiter<Weights>>;

const THROTTLED: RetryDirective = RetryDirective::fail(Some(RetryErrorType::Throttling));
const RETRIED: RetryDirective = RetryDirective::retry(RetryErrorType::Throttling);

/// Sends are spaced 3 % further apart than the limit says (rule L19), so this is 100 per second.
const HUNDRED: f64 = 103.0;

fn told() -> Weighing {
    LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new(), PacedLimiter::of_weights().max_rate(HUNDRED))
}

fn untold() -> Weighing {
    LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new(), PacedLimiter::of_weights())
}

fn begin(strategy: &Weighing, clock: &ByHand, weight: u32) -> Token {
    let mut token = strategy.acquire_initial_token(clock).unwrap();
    strategy.weigh(&mut token, weight);
    token
}

/// Waits until the attempt may be sent. Returns the time that it took.
fn wait(strategy: &impl RetryStrategy<Token = Token>, clock: &ByHand, token: &mut Token) -> Duration {
    let begun = clock.now();
    while let Some(wait) = strategy.ready(token, clock, None).wait() {
        clock.advance(wait);
    }
    clock.now().saturating_since(begun)
}

/// Sends operations of these weights, one after the other. Returns how long each one waited, in milliseconds.
fn send(strategy: &Weighing, clock: &ByHand, weights: &[u32]) -> Vec<u128> {
    let sent = weights.iter().map(|weight| {
        let mut token = begin(strategy, clock, *weight);
        let waited = wait(strategy, clock, &mut token);
        strategy.record_success(token, &Success::default(), clock).unwrap();
        waited.as_millis()
    });
    sent.collect()
}

// Rules L45, L46.
#[test]
fn an_operation_waits_for_its_weight() {
    let (strategy, clock) = (told(), ByHand::at(secs(100)));
    assert_eq!(send(&strategy, &clock, &[100, 50, 1, 0, 250, 10]), [1000, 500, 10, 0, 2500, 100]);
    // One send is a request of the mean weight.
    assert!(strategy.send_rate().is_some_and(|rate| (0.5..4.0).contains(&rate)), "{:?}", strategy.send_rate());
}

// Rules L18, L46.
#[test]
fn applied_settings_are_sums_of_weights_whatever_the_weights_so_far() {
    let (strategy, clock) = (told(), ByHand::at(secs(100)));
    send(&strategy, &clock, &[100; 20]);
    let mut settings = strategy.limiter().settings();
    strategy.limiter().apply(settings, clock.now());
    assert_eq!(send(&strategy, &clock, &[100; 3]), [1000; 3]);
    settings.max_rate = SendRate::new(2.0 * HUNDRED);
    strategy.limiter().apply(settings, clock.now());
    assert_eq!(send(&strategy, &clock, &[100; 3]), [500; 3]);
    assert_eq!(send(&strategy, &clock, &[10; 200])[199], 50);
    strategy.limiter().apply(settings, clock.now());
    assert_eq!(send(&strategy, &clock, &[10; 3]), [50; 3]);
}

// Rule L45.
#[test]
fn an_operation_without_a_weight_weighs_1() {
    let (strategy, clock) = (told(), ByHand::at(secs(100)));
    send(&strategy, &clock, &[50]);
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    assert_eq!(wait(&strategy, &clock, &mut token).as_millis(), 10);
}

// Rule L45.
#[test]
fn those_behind_wait_for_the_weights_ahead() {
    let (strategy, clock) = (told(), ByHand::at(secs(100)));
    let mut waiting: Vec<_> =
        [100, 1, 30].into_iter().map(|weight| (weight, begin(&strategy, &clock, weight))).collect();
    let mut sent = Vec::new();
    for milli in 0..2000_u64 {
        waiting.retain_mut(|(weight, token)| {
            let is_sent = strategy.ready(token, &clock, None).wait().is_none();
            if is_sent {
                sent.push((*weight, milli));
            }
            !is_sent
        });
        clock.advance(millis(1));
    }
    let [(100, first), (1, second), (30, third)] = sent[..] else { panic!("{sent:?}") };
    assert!((1000..1003).contains(&first) && (1009..1013).contains(&second), "{sent:?}");
    assert!((1309..1314).contains(&third), "{sent:?}");
}

// Rule L47.
#[test]
fn what_was_used_is_settled_with_the_next_operations() {
    let (strategy, clock) = (told(), ByHand::at(secs(100)));
    send(&strategy, &clock, &[100, 10]);
    let mut token = begin(&strategy, &clock, 10);
    wait(&strategy, &clock, &mut token);
    strategy.used(&mut token, Usage::new(110));
    strategy.record_success(token, &Success::default(), &clock).unwrap();
    assert_eq!(send(&strategy, &clock, &[10, 10]), [1100, 100]);

    let mut token = begin(&strategy, &clock, 90);
    wait(&strategy, &clock, &mut token);
    strategy.used(&mut token, Usage::new(40));
    strategy.record_success(token, &Success::default(), &clock).unwrap();
    assert_eq!(send(&strategy, &clock, &[10, 30, 20]), [0, 0, 100]);

    // A failure that was no rejection used something, too, and only the attempt before it did.
    let mut token = begin(&strategy, &clock, 10);
    wait(&strategy, &clock, &mut token);
    strategy.used(&mut token, Usage::new(60));
    let failed = Failure::from_directive(RetryDirective::retry(RetryErrorType::ServerSide));
    let mut token = strategy.refresh_retry_token(token, &failed, &clock).unwrap();
    assert_eq!(wait(&strategy, &clock, &mut token).as_millis(), 600);
    strategy.record_success(token, &Success::default(), &clock).unwrap();
    assert_eq!(send(&strategy, &clock, &[10]), [100]);
}

// Rule L47.
#[test]
fn a_rejection_used_nothing_more_than_its_weight() {
    let (strategy, clock) = (told(), ByHand::at(secs(100)));
    send(&strategy, &clock, &[10]);
    let mut token = begin(&strategy, &clock, 10);
    wait(&strategy, &clock, &mut token);
    strategy.used(&mut token, Usage::new(1_000_000));
    strategy.refresh_retry_token(token, &Failure::from_directive(THROTTLED), &clock).unwrap_err();
    assert!(send(&strategy, &clock, &[10])[0] < 150);
}

// Rule L48.
#[test]
fn a_weight_that_is_told_too_late_or_to_another_strategy_is_ignored() {
    let (strategy, other, clock) = (told(), told(), ByHand::at(secs(100)));
    let mut token = begin(&strategy, &clock, 20);
    other.weigh(&mut token, 500);
    assert!(strategy.ready(&mut token, &clock, None).wait().is_some());
    strategy.weigh(&mut token, 500);
    assert_eq!(wait(&strategy, &clock, &mut token).as_millis(), 200);
    strategy.weigh(&mut token, 500);
    strategy.release(token);
    // What was taken is given back, and not more.
    assert_eq!(send(&strategy, &clock, &[20, 20]), [0, 200]);
}

// Rule L45.
#[test]
fn an_operation_that_is_not_sent_gives_its_weight_back() {
    let (strategy, clock) = (told(), ByHand::at(secs(100)));
    send(&strategy, &clock, &[10; 20]);
    let mut token = begin(&strategy, &clock, 50);
    assert_eq!(wait(&strategy, &clock, &mut token).as_millis(), 500);
    strategy.release(token);
    assert_eq!(send(&strategy, &clock, &[20, 30, 10]), [0, 0, 100]);
}

// Rule L49.
#[test]
fn an_idle_client_saves_up_the_heaviest_weight_so_far() {
    let (strategy, clock) = (told(), ByHand::at(secs(100)));
    send(&strategy, &clock, &[60, 20]);
    clock.advance(secs(3600));
    assert_eq!(send(&strategy, &clock, &[20, 20, 20, 20]), [0, 0, 0, 200]);
}

// Rule L50.
#[test]
fn a_report_is_for_the_limits_of_its_unit() {
    let slows_down = |of_requests: bool, of_weights: bool| {
        let (weighing, counting, clock) = (untold(), PacedRetryStrategy::new(), ByHand::at(secs(100)));
        for left in [1000, 1] {
            let left = Some(RateLimit::new(left));
            let success = Success::default().with_rate_limit(left.filter(|_| of_requests));
            let usage = Usage::default().with_limit(left.filter(|_| of_weights));
            for _ in 0..50 {
                let mut token = begin(&weighing, &clock, 7);
                wait(&weighing, &clock, &mut token);
                weighing.used(&mut token, usage);
                weighing.record_success(token, &success, &clock).unwrap();
                let mut token = counting.acquire_initial_token(&clock).unwrap();
                while let Some(wait) = counting.ready(&mut token, &clock, None).wait() {
                    clock.advance(wait);
                }
                counting.used(&mut token, usage);
                counting.record_success(token, &success, &clock).unwrap();
            }
        }
        [weighing.send_rate(), counting.send_rate()].map(|rate| rate.is_some_and(|rate| rate < 100.0))
    };
    assert_eq!(slows_down(false, false), [false, false]);
    assert_eq!(slows_down(false, true), [true, false]);
    assert_eq!(slows_down(true, false), [false, true]);
}

// Rules L45, L51.
#[test]
fn each_limiter_of_a_pair_counts_its_own_unit() {
    // At 20 requests per second and 100 weights per second.
    let limiters = Pair(PacedLimiter::new().max_rate(20.6), PacedLimiter::of_weights().max_rate(HUNDRED));
    let strategy = LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new(), limiters);
    let clock = ByHand::at(secs(100));
    let mut waits = Vec::new();
    for weight in [100, 1, 1, 1, 40, 1] {
        let mut token = Weighted::new(&strategy, weight).acquire_initial_token(&clock).unwrap();
        let begun = clock.now();
        while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
            clock.advance(wait);
        }
        strategy.record_success(token, &Success::default(), &clock).unwrap();
        waits.push(clock.now().saturating_since(begun).as_millis());
    }
    // Light ones wait for the limit on requests, and heavy ones for that on weights.
    assert!(waits[0] >= 1000 && (250..=400).contains(&waits[4]), "{waits:?}");
    assert!([1, 2, 3, 5].iter().all(|light| (45..=60).contains(&waits[*light])), "{waits:?}");
}

proptest! {
    #![proptest_config(tests::program::cases(200))]

    // Rules L45, L47, L48.
    #[test]
    fn no_program_sends_more_than_the_limit_and_the_heaviest_weight(
        steps in prop::collection::vec((0_u32..200, 0_u32..200, 0_u8..4, 0_u64..3000), 1..60),
    ) {
        let (strategy, clock) = (told(), ByHand::at(secs(100)));
        let (mut used, mut heaviest, begun) = (0.0, 1.0_f64, clock.now());
        for (weight, really, end, pause) in steps {
            clock.advance(millis(pause));
            let mut token = begin(&strategy, &clock, weight);
            wait(&strategy, &clock, &mut token);
            heaviest = heaviest.max(f64::from(weight));
            let elapsed = clock.now().saturating_since(begun).as_secs_f64();
            used += f64::from(match end {
                0 => { strategy.release(token); 0 }
                1 => {
                    strategy.used(&mut token, Usage::new(really));
                    strategy.record_success(token, &Success::default(), &clock).unwrap();
                    really
                }
                2 => {
                    let failure = Failure::of(&Failed::FATAL);
                    strategy.refresh_retry_token(token, &failure, &clock).unwrap_err();
                    weight
                }
                _ => { strategy.record_success(token, &Success::default(), &clock).unwrap(); weight }
            });
            // What the last one used beyond its weight is owed by the next one.
            let owed = f64::from(if end == 1 { really.saturating_sub(weight) } else { 0 });
            prop_assert!(used - owed <= 100.0 * elapsed + heaviest + 1.0, "{used} in {elapsed} s");
        }
    }
}

// Rules L45, L46.
#[test]
fn the_mean_weight_counts_each_operation_once_however_often_it_asks() {
    let (strategy, clock) = (told(), ByHand::at(secs(100)));
    send(&strategy, &clock, &[1; 100]);
    let mut heavy = begin(&strategy, &clock, 1000);
    assert!(strategy.ready(&mut heavy, &clock, None).wait().is_some());
    let rate = strategy.send_rate().unwrap();
    assert!(rate < 20.0, "{rate}: the mean weight is about 11");
    for _ in 0..100 {
        assert!(strategy.ready(&mut heavy, &clock, None).wait().is_some());
        assert_eq!(strategy.send_rate().map(f64::to_bits), Some(rate.to_bits()));
    }
}

/// Accepts so many requests of this weight within a second, rejects one, and returns the rate after another one has asked.
fn rate_after_a_rejection<L: SendLimiter>(limiter: L, accepted: u32, weight: u32) -> f64 {
    let strategy = LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new(), limiter);
    let clock = ByHand::at(secs(100));
    let begin = || {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.weigh(&mut token, weight);
        assert!(strategy.ready(&mut token, &clock, None).wait().is_none());
        token
    };
    for _ in 0..accepted {
        strategy.record_success(begin(), &Success::default(), &clock).unwrap();
        clock.advance(secs(1) / accepted);
    }
    let mut token = strategy.refresh_retry_token(begin(), &Failure::from_directive(RETRIED), &clock).unwrap();
    assert!(strategy.ready(&mut token, &clock, None).wait().is_some());
    strategy.send_rate().unwrap()
}

// Rules L21, L24, L46.
#[test]
fn without_the_ramp_a_search_of_weights_begins_at_what_was_accepted() {
    let mut settings = PacedSettings::new();
    settings.has_ramp = false;
    for (accepted, expected) in [(100, 80.0), (0, 0.16)] {
        let requests = rate_after_a_rejection(PacedLimiter::new().with_settings(settings), accepted, 1);
        assert!((requests / expected - 1.0).abs() < 0.05, "{requests}");
        for weight in [1, 1_000, 1_000_000] {
            let rate = rate_after_a_rejection(PacedLimiter::of_weights().with_settings(settings), accepted, weight);
            assert!((rate / expected - 1.0).abs() < 0.05, "{rate} with {accepted} of {weight}");
        }
    }
}
