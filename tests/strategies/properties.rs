//! Properties for random inputs: formulas, and whole operations compared with a model of the quota.

use crate::support::{ByHand, Failed, millis, poll_once, secs};
use proptest::prelude::*;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use retry_core::backoff::{ConstantBackoff, LinearBackoff};
use retry_core::limit::Ready;
use retry_core::strategy::{HintLimit, Refund, RetryCosts};
use retry_core::{
    AdaptiveRetryStrategy, BackoffStrategy, ExponentialBackoff, Failure, Jitter, RetryError, RetryErrorType,
    RetryQuota, RetryStrategy, RetryToken, StandardRetryStrategy, Success, TokenBucket, TokioTimer, retry,
};
use std::cell::Cell;
use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::MAX),
        (0..1_000_000_u64).prop_map(Duration::from_micros),
        (0..u64::MAX, 0..1_000_000_000_u32).prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
    ]
}

fn errors() -> impl Strategy<Value = Failed> {
    let hint = prop_oneof![3 => Just(None), 1 => (0..400_u64).prop_map(|hint| Some(secs(hint)))];
    (prop_oneof![Just(Failed::SAFE), Just(Failed::THROTTLED), Just(Failed::TIMEOUT), Just(Failed::FATAL)], hint)
        .prop_map(|(error, retry_after)| Failed { retry_after, ..error })
}

proptest! {
    // Rules B1, B6.
    #[test]
    fn a_backoff_lies_between_zero_and_the_value_of_its_formula(
        base in durations(), cap in durations(), index in any::<u32>(), factor in 0.0..=1.0_f64, seed in any::<u64>(),
    ) {
        // A backoff saturates at 584 years.
        let longest = u128::from(u64::MAX);
        let power = 1_u128.checked_shl(index).unwrap_or(u128::MAX);
        let exponential = cap.as_nanos().min(base.as_nanos().saturating_mul(power)).min(longest);
        let linear = cap.as_nanos().min(base.as_nanos().saturating_mul(u128::from(index) + 1)).min(longest);
        let delay = |backoff: &dyn BackoffStrategy| backoff.compute_next_backoff_delay(index, RetryErrorType::Other);

        prop_assert_eq!(delay(&ExponentialBackoff::new(base, cap).jitter(Jitter::None)).as_nanos(), exponential);
        prop_assert!(delay(&ExponentialBackoff::new(base, cap).seed(seed)).as_nanos() <= exponential);
        let fixed = delay(&ExponentialBackoff::new(base, cap).jitter(Jitter::Fixed(factor)));
        prop_assert!(fixed.as_nanos() <= exponential);
        let equal = delay(&ConstantBackoff::new(base).jitter(Jitter::Equal).seed(seed));
        let full = base.as_nanos().min(longest);
        prop_assert!((full / 2..=full).contains(&equal.as_nanos()));
        prop_assert_eq!(delay(&LinearBackoff::new(base, cap).jitter(Jitter::None)).as_nanos(), linear);
    }

    // Rules B4, B5, N12, N13.
    #[test]
    fn a_hint_is_a_minimum_and_stays_within_its_limit(
        factor in 0.0..=1.0_f64, retries in 0..10_u32, hint in durations(), excess in durations(),
    ) {
        let backoff = || StandardRetryStrategy::new().jitter(Jitter::Fixed(factor)).max_attempts(u32::MAX);
        let wait = |strategy: StandardRetryStrategy, hint: Option<Duration>| {
            let mut token = strategy.acquire_initial_token(&TokioTimer).unwrap();
            for _ in 0..retries {
                token = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &TokioTimer).unwrap();
            }
            let failure = Failure::of(&Failed { retry_after: hint, ..Failed::SAFE });
            strategy.refresh_retry_token(token, &failure, &TokioTimer).map(|token| token.delay())
        };
        let plain = wait(backoff(), None).unwrap();
        let limited = wait(backoff(), Some(hint));
        prop_assert_eq!(limited.is_err(), hint > secs(300));
        if let Ok(wait) = limited {
            prop_assert_eq!(wait, plain.max(hint));
        }
        let unlimited = wait(backoff().max_retry_after(None), Some(hint)).unwrap();
        prop_assert_eq!(unlimited, plain.max(hint));
        let capped = wait(backoff().max_retry_after(None).hint_limit(HintLimit::MaxBackoff), Some(hint)).unwrap();
        prop_assert_eq!(capped, plain.max(hint.min(secs(20))));
        let beyond = backoff().max_retry_after(None).hint_limit(HintLimit::BeyondBackoff(excess));
        prop_assert_eq!(wait(beyond, Some(hint)).unwrap(), plain.max(hint.min(plain.saturating_add(excess))));
    }

    // Rules Q1, Q3.
    #[test]
    fn a_token_bucket_stays_within_its_bounds(capacity in 0..50_u32, steps in prop::collection::vec((any::<bool>(), 0..20_u32), 0..100)) {
        let bucket = TokenBucket::new(capacity);
        let mut expected = capacity;
        for (acquire, amount) in steps {
            if acquire {
                let granted = bucket.try_acquire(amount, &TokioTimer);
                prop_assert_eq!(granted, amount <= expected);
                expected -= if granted { amount } else { 0 };
            } else {
                bucket.refund(amount);
                expected = capacity.min(expected + amount);
            }
            prop_assert_eq!(bucket.available(), expected);
        }
    }

    // Rules D1, Q3, Q4.
    /// Any sequence of operations, each with any sequence of outcomes. Some operations are dropped while they wait.
    #[test]
    fn the_quota_is_that_of_the_model_after_any_operations(
        max_attempts in 1..6_u32,
        capacity in 0..60_u32,
        last_cost in any::<bool>(),
        operations in prop::collection::vec((prop::collection::vec(errors(), 0..6), prop::option::of(0..5_usize)), 0..12),
    ) {
        let refund = if last_cost { Refund::LastCost } else { Refund::Amount(1) };
        let strategy = StandardRetryStrategy::new()
            .max_attempts(max_attempts)
            .quota_capacity(capacity)
            .retry_costs(RetryCosts::new(5).throttling(3).timeout(10))
            .refunds(1, refund)
            .jitter(Jitter::Fixed(1.0));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let mut expected = Model { balance: capacity, capacity };
        for (errors, drop_at) in operations {
            runtime.block_on(async {
                let attempts = Cell::new(0_usize);
                let call = retry(&strategy, || {
                    let outcome = errors.get(attempts.replace(attempts.get() + 1)).copied().map_or(Ok(()), Err);
                    async move { outcome }
                });
                let mut report = pin!(call.report());
                // Advance one wait at a time, so that the operation can be dropped during any of them.
                let ended = loop {
                    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
                    if let std::task::Poll::Ready(report) = report.as_mut().poll(&mut context) {
                        break Some(report);
                    }
                    if drop_at.is_some_and(|at| attempts.get() > at) {
                        break None;
                    }
                    tokio::time::advance(secs(400)).await;
                };
                let (made, reason) = expected.run(&errors, max_attempts, last_cost, drop_at);
                assert_eq!(attempts.get(), made);
                assert!(made <= max_attempts as usize);
                match ended {
                    Some(report) => assert_eq!((report.reason, report.attempts as usize), (reason, made)),
                    None => assert!(drop_at.is_some()),
                }
            });
            prop_assert_eq!(strategy.quota().available(), expected.balance);
        }
    }

    // Rule A9.
    /// The sends of any number of operations, in any order, never exceed the rate.
    #[test]
    fn sends_never_exceed_the_rate(steps in prop::collection::vec((0..4_u8, 1..400_u64), 1..200)) {
        let clock = ByHand::at(secs(1000));
        let strategy = AdaptiveRetryStrategy::new();
        let throttled = Failure::of(&Failed { safety: retry_core::RetrySafety::No, ..Failed::THROTTLED });
        let token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.refresh_retry_token(token, &throttled, &clock).unwrap_err();
        // The limit is half a send per second, without any capacity yet.
        let (started, mut sent) = (clock.time(), 0.0);
        let mut waiting = VecDeque::new();
        for (action, time) in steps {
            clock.advance(millis(time));
            match action {
                0 | 1 => waiting.push_back(strategy.acquire_initial_token(&clock).unwrap()),
                2 => {
                    if let Some(token) = waiting.pop_back() {
                        strategy.release(token);
                    }
                }
                _ => {}
            }
            waiting.retain_mut(|token| {
                let granted = strategy.ready(token, &clock, None) == Ready::Now;
                sent += f64::from(u8::from(granted));
                !granted
            });
            let allowed = 0.5 * (clock.time().abs_diff(started)).as_secs_f64();
            prop_assert!(sent <= allowed + 1e-6, "{} sends where {} are allowed", sent, allowed);
        }
    }
}

/// A model of the quota.
struct Model {
    balance: u32,
    capacity: u32,
}

impl Model {
    /// Runs one operation. Returns the number of attempts and the reason to stop.
    fn run(
        &mut self,
        errors: &[Failed],
        max_attempts: u32,
        last_cost: bool,
        drop_at: Option<usize>,
    ) -> (usize, Option<RetryError>) {
        let (mut attempts, mut paid) = (0, 0);
        loop {
            attempts += 1;
            let Some(error) = errors.get(attempts - 1) else {
                let refund = if attempts > 1 && last_cost { paid } else { 1 };
                self.balance = self.capacity.min(self.balance + refund);
                return (attempts, None);
            };
            let cost = match (error.throttle, error.timeout) {
                (true, _) => 3,
                (_, true) => 10,
                _ => 5,
            };
            if error.safety == retry_core::RetrySafety::No {
                return (attempts, Some(RetryError::NotRetryable));
            } else if attempts >= max_attempts as usize {
                return (attempts, Some(RetryError::MaxAttempts));
            } else if error.retry_after > Some(secs(300)) {
                return (attempts, Some(RetryError::RetryAfterTooLong));
            } else if cost > self.balance {
                return (attempts, Some(RetryError::QuotaExhausted));
            } else if drop_at.is_some_and(|at| attempts > at) {
                return (attempts, None);
            }
            self.balance -= cost;
            paid = cost;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_that_never_waited_costs_nothing() {
    let strategy = StandardRetryStrategy::new();
    poll_once(pin!(retry(&strategy, std::future::pending::<Result<(), Failed>>).run()));
    assert_eq!(strategy.quota().available(), 500);
}

// Rule Q8.
/// With independent failures of probability p, three attempts, and a refund of the last cost c, an operation changes
/// the quota by (1 - p) - c p^2 (1 + p) on average. The quota stays full below the zero of that formula and drains
/// above it.
#[test]
fn the_quota_drains_above_the_failure_probability_of_the_formula() {
    let drift = |p: f64, cost: f64| (1.0 - p) - cost * p * p * (1.0 + p);
    for (preset, cost, about) in
        [(StandardRetryStrategy::aws_2_0(), 5_u8, 0.32), (StandardRetryStrategy::aws_2_1(), 14, 0.22)]
    {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if drift(middle, f64::from(cost)) > 0.0 { low = middle } else { high = middle }
        }
        assert!((low - about).abs() < 0.01, "cost {cost}: the zero is at {low}");

        let mut random = SmallRng::seed_from_u64(1);
        let mut refused = |p: f64| {
            let mut refused = 0;
            for _ in 0..50_000 {
                let mut token = preset.acquire_initial_token(&TokioTimer).unwrap();
                loop {
                    if !random.random_bool(p) {
                        preset.record_success(token, &Success::default(), &TokioTimer).unwrap();
                        break;
                    }
                    match preset.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &TokioTimer) {
                        Ok(next) => token = next,
                        Err(reason) => {
                            refused += u32::from(reason == RetryError::QuotaExhausted);
                            break;
                        }
                    }
                }
            }
            refused
        };
        assert_eq!(refused(low - 0.05), 0, "cost {cost}");
        assert!(refused(low + 0.05) > 1000, "cost {cost}");
    }
}
