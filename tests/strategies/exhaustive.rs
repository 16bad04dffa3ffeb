//! The arithmetic of quotas, delays and times: all short sequences with small numbers, and the borders of the real ones.

use crate::support::{ByHand, Failed, millis, secs};
use retry_core::backoff::{ConstantBackoff, LinearBackoff};
use retry_core::strategy::{HintJitter, Refund, RetryCosts};
use retry_core::time::Timestamp;
use retry_core::{
    BackoffStrategy, ExponentialBackoff, Failure, Jitter, RetryErrorType, RetryQuota, RetrySafety, RetryStrategy,
    RetryToken, StandardRetryStrategy, Success, TokenBucket,
};
use std::time::Duration;

/// Returns all sequences of this length of the numbers below `choices`.
fn sequences<const LENGTH: usize>(choices: usize) -> impl Iterator<Item = [usize; LENGTH]> {
    (0..choices.pow(u32::try_from(LENGTH).unwrap())).map(move |number| {
        let mut rest = number;
        std::array::from_fn(|_| {
            let choice = rest % choices;
            rest /= choices;
            choice
        })
    })
}

// Rules Q1, Q3, Q7, K2.
#[test]
fn all_short_sequences_of_payments_refunds_and_periods_agree_with_a_plain_balance() {
    const PERIOD: u64 = 1_000;
    for (capacity, amount) in [(0, 1), (1, 1), (2, 1), (3, 2), (4, 3)] {
        for sequence in sequences::<5>(11) {
            let bucket = TokenBucket::new(capacity).refill(amount, millis(PERIOD));
            let clock = ByHand::at(secs(100));
            let (mut balance, mut latest, mut period) = (capacity, 0, None);
            for step in sequence {
                let number = u32::try_from(step % 4).unwrap();
                match step {
                    0..4 => {
                        latest = latest.max(u64::try_from(clock.time().as_millis()).unwrap());
                        let ended = latest / PERIOD - period.unwrap_or(latest / PERIOD);
                        period = Some(latest / PERIOD);
                        balance = (balance + u32::try_from(ended).unwrap() * amount).min(capacity);
                        let is_paid = number <= balance;
                        balance -= if is_paid { number } else { 0 };
                        assert_eq!(bucket.try_acquire(number, &clock), is_paid, "{capacity}, {sequence:?}");
                    }
                    4..8 => {
                        balance = (balance + number).min(capacity);
                        bucket.refund(number);
                    }
                    8 => clock.advance(millis(PERIOD / 2)),
                    9 => clock.advance(millis(3 * PERIOD)),
                    // Late readings, which together are not late by 250 ms.
                    _ => clock.set(clock.time().saturating_sub(millis(49))),
                }
                assert_eq!(bucket.available(), balance, "{capacity}, {sequence:?}");
                assert_eq!(bucket.is_full(), balance == capacity, "{capacity}, {sequence:?}");
                assert_eq!(bucket.is_low(), 2 * balance < capacity, "{capacity}, {sequence:?}");
            }
        }
    }
}

// Rules Q1, Q3.
#[test]
fn the_largest_buckets_agree_with_a_plain_balance() {
    let borders = [0, 1, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, u32::MAX - 1, u32::MAX];
    for capacity in borders {
        for [cost, refund, next] in sequences::<3>(borders.len()).map(|numbers| numbers.map(|index| borders[index])) {
            let (bucket, clock) = (TokenBucket::new(capacity), ByHand::at(secs(1)));
            let pay =
                |balance: u64, cost: u32| if u64::from(cost) <= balance { balance - u64::from(cost) } else { balance };
            let balance = pay(capacity.into(), cost);
            assert_eq!(bucket.try_acquire(cost, &clock), cost <= capacity);
            assert_eq!(u64::from(bucket.available()), balance);
            let balance = (balance + u64::from(refund)).min(capacity.into());
            bucket.refund(refund);
            assert_eq!(u64::from(bucket.available()), balance, "{capacity} - {cost} + {refund}");
            bucket.try_acquire(next, &clock);
            assert_eq!(u64::from(bucket.available()), pay(balance, next), "{capacity} - {cost} + {refund} - {next}");
        }
    }
}

// Rule Q7.
#[test]
fn a_refill_of_the_largest_amount_or_after_the_longest_time_fills_the_bucket() {
    for capacity in [1, 1 << 31, u32::MAX] {
        for amount in [1, u32::MAX] {
            for every in [Duration::from_nanos(1), secs(1), Duration::from_secs(u64::MAX), Duration::MAX] {
                let (bucket, clock) = (TokenBucket::new(capacity).refill(amount, every), ByHand::at(Duration::ZERO));
                assert!(bucket.try_acquire(capacity, &clock));
                clock.set(Duration::MAX);
                assert!(bucket.try_acquire(0, &clock));
                let periods = Duration::MAX.as_nanos() / every.as_nanos();
                let refilled = periods.saturating_mul(amount.into()).min(capacity.into());
                assert_eq!(u128::from(bucket.available()), refilled, "{capacity}, {amount}, {every:?}");
            }
        }
    }
}

// Rules N8, N9, Q1, Q3, Q4.
#[test]
fn all_short_sequences_of_two_operations_give_back_what_each_has_paid() {
    let timeout = Failed { safety: RetrySafety::Yes, ..Failed::TIMEOUT };
    let failures = [(Failed::SAFE, 2), (timeout, 3), (Failed::CONFLICT, 0)];
    for (capacity, first) in [(0, 1), (1, 0), (3, 1), (5, 2), (6, 9)] {
        let costs = RetryCosts::new(2).timeout(3);
        for sequence in sequences::<4>(10) {
            let strategy = StandardRetryStrategy::new().jitter(Jitter::None).max_attempts(u32::MAX);
            let strategy = strategy.quota_capacity(capacity).retry_costs(costs).refunds(first, Refund::LastCost);
            let clock = ByHand::at(secs(1));
            let begin = || strategy.acquire_initial_token(&clock).unwrap();
            let (mut tokens, mut paid) = ([(); 2].map(|()| Some(begin())), [None; 2]);
            let mut balance = capacity;
            for step in sequence {
                let operation = step % 2;
                let token = tokens[operation].take().unwrap();
                match step / 2 {
                    // It ends.
                    3 => {
                        balance = (balance + paid[operation].unwrap_or(first)).min(capacity);
                        paid[operation] = None;
                        strategy.record_success(token, &Success::default(), &clock).unwrap();
                    }
                    // It is dropped before its next attempt.
                    4 => {
                        balance = (balance + paid[operation].unwrap_or(0)).min(capacity);
                        paid[operation] = None;
                        strategy.release(token);
                    }
                    kind => {
                        let (failed, cost) = failures[kind];
                        let is_paid = cost <= balance;
                        balance -= if is_paid { cost } else { 0 };
                        paid[operation] = is_paid.then_some(cost);
                        tokens[operation] = strategy.refresh_retry_token(token, &Failure::of(&failed), &clock).ok();
                        assert_eq!(tokens[operation].is_some(), is_paid, "{capacity}, {sequence:?}");
                    }
                }
                tokens[operation].get_or_insert_with(begin);
                assert_eq!(strategy.quota().available(), balance, "{capacity}, {first}, {sequence:?}");
            }
        }
    }
}

/// Durations at the borders of seconds, nanoseconds and the times of the presets.
fn durations() -> Vec<Duration> {
    let seconds = [
        0,
        1,
        20,
        (1 << 32) - 1,
        1 << 32,
        u64::MAX / 1_000_000_000,
        u64::MAX / 1_000_000_000 + 1,
        u64::MAX - 1,
        u64::MAX,
    ];
    let durations = seconds
        .into_iter()
        .flat_map(|seconds| [0, 1, 249_999_999, 250_000_000, 999_999_999].map(|nanos| Duration::new(seconds, nanos)));
    durations.chain([Duration::from_nanos(u64::MAX), Duration::from_nanos(u64::MAX - 1)]).collect()
}

// Rules B1, B6, B7, B9.
#[test]
fn delays_at_the_borders_agree_with_wider_numbers() {
    let longest = u128::from(u64::MAX);
    let retries = [0, 1, 2, 31, 32, 62, 63, 64, 65, 127, 128, 1 << 31, u32::MAX - 1, u32::MAX];
    for (base, cap) in durations().into_iter().flat_map(|base| durations().into_iter().map(move |cap| (base, cap))) {
        for retry in retries {
            let power = 1_u128.checked_shl(retry).unwrap_or(u128::MAX);
            let capped = |nanos: u128| nanos.min(cap.as_nanos()).min(longest);
            let (doubled, linear) = (
                capped(base.as_nanos().saturating_mul(power)),
                capped(base.as_nanos().saturating_mul(u128::from(retry) + 1)),
            );
            let delay = |backoff: &dyn BackoffStrategy| {
                backoff.compute_next_backoff_delay(retry, RetryErrorType::Other).as_nanos()
            };
            let with = |jitter| {
                let exponential = ExponentialBackoff::new(base, cap).jitter(jitter);
                let (linear, constant) =
                    (LinearBackoff::new(base, cap).jitter(jitter), ConstantBackoff::new(base).jitter(jitter));
                [delay(&exponential), delay(&linear), delay(&constant)]
            };
            let full = [doubled, linear, base.as_nanos().min(longest)];
            assert_eq!(with(Jitter::None), full, "{base:?}, {cap:?}, {retry}");
            assert_eq!(with(Jitter::Fixed(1.0)), full, "{base:?}, {cap:?}, {retry}");
            assert_eq!(with(Jitter::Fixed(0.0)), [0; 3], "{base:?}, {cap:?}, {retry}");
            assert_eq!(with(Jitter::Fixed(0.5)), full.map(|nanos| nanos.div_ceil(2)), "{base:?}, {cap:?}, {retry}");
            for (random, full) in with(Jitter::Full).into_iter().zip(full) {
                assert!(random < full.max(1), "{base:?}, {cap:?}, {retry}");
            }
            for (random, full) in with(Jitter::Equal).into_iter().zip(full) {
                assert!(full / 2 <= random && random < full.max(1), "{base:?}, {cap:?}, {retry}");
            }
        }
    }
}

// Rules B4, B6, B10.
#[test]
fn the_random_part_of_a_wait_stays_within_its_percentage_and_its_time() {
    for percent in [0, 1, 10, 99, 100, 101, 1_000, u32::MAX] {
        for at_most in durations() {
            let jitter = HintJitter::new(percent, at_most);
            let strategy = StandardRetryStrategy::new().backoff(Duration::ZERO, Duration::ZERO).max_retry_after(None);
            let strategy = strategy.seed(7).hint_jitter(jitter);
            for wait in durations() {
                let exact = wait.as_nanos() * u128::from(percent) / 100;
                let most = exact.min(at_most.as_nanos());
                // The most is rounded down by less than a nanosecond for each percent.
                let rounded = jitter.most(wait).as_nanos();
                assert!(rounded <= most && most - rounded <= u128::from(percent), "{percent}, {at_most:?}, {wait:?}");
                let token = strategy.acquire_initial_token(&ByHand::at(secs(1))).unwrap();
                let failure = Failed { retry_after: Some(wait), ..Failed::SAFE };
                let token = strategy.refresh_retry_token(token, &Failure::of(&failure), &ByHand::at(secs(1))).unwrap();
                let delay = token.delay();
                assert!(
                    delay.checked_sub(wait).is_some_and(|added| added.as_nanos() <= most),
                    "{percent}, {at_most:?}, {wait:?}"
                );
                strategy.release(token);
            }
        }
    }
}

// Rule K2.
#[test]
fn times_saturate_at_both_ends() {
    let most = Duration::MAX.as_nanos();
    for (left, right) in
        durations().into_iter().flat_map(|left| durations().into_iter().map(move |right| (left, right)))
    {
        let (at, other) = (Timestamp::from_origin(left), Timestamp::from_origin(right));
        let (wide, by) = (left.as_nanos(), right.as_nanos());
        assert_eq!(at.saturating_add(right).since_origin().as_nanos(), (wide + by).min(most));
        assert_eq!(at.saturating_sub(right).since_origin().as_nanos(), wide.saturating_sub(by));
        assert_eq!(at.saturating_since(other).as_nanos(), wide.saturating_sub(by));
        assert_eq!(at.cmp(&other), wide.cmp(&by));
    }
}
