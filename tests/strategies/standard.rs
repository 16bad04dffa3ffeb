//! The numbers of the standard strategy.

use crate::support::{ByHand, Failed, Flaky, by_evidence, millis, secs};
use retry_core::backoff::{ConstantBackoff, LinearBackoff, NoBackoff};
use retry_core::limit::Ready;
use retry_core::quota::{EvidenceQuota, NoQuota};
use retry_core::strategy::{ForeignToken, HintJitter, HintLimit, Refund, RetryCosts, StandardRetrySettings};
use retry_core::{
    BackoffStrategy, Clock, ErrorFault, ErrorInfo, ExponentialBackoff, Failure, Jitter, RetryError, RetryErrorType,
    RetryInfo, RetryQuota, RetrySafety, RetryStrategy, RetryToken, StandardRetryStrategy, Success, TokenBucket,
    TokioTimer, retry,
};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

const CLOCK: &dyn Clock = &TokioTimer;

const fn longest() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

/// Returns the delay before the first retry after this error, or the reason to stop.
fn first_delay(strategy: &StandardRetryStrategy, error: Failed) -> Result<Duration, RetryError> {
    let token = strategy.acquire_initial_token(CLOCK)?;
    let mut token = strategy.refresh_retry_token(token, &Failure::of(&error), CLOCK)?;
    let delay = token.delay();
    assert_eq!(strategy.ready(&mut token, CLOCK, None), Ready::Now, "the standard strategy does not limit sends");
    Ok(delay)
}

// Rules B4, N13.
#[test]
fn a_hint_is_a_minimum() {
    static STRATEGY: StandardRetryStrategy = longest();
    assert_eq!(first_delay(&STRATEGY, Failed::SAFE.after(Duration::ZERO)), Ok(secs(1)));
    assert_eq!(
        first_delay(&STRATEGY, Failed::SAFE.after(Duration::from_nanos(1_000_000_001))),
        Ok(Duration::new(1, 1))
    );
    assert_eq!(
        first_delay(&STRATEGY, Failed::SAFE.after(secs(90))),
        Ok(secs(90)),
        "a hint may exceed the cap of the backoff"
    );
}

// Rules B5, N12.
#[test]
fn a_hint_above_the_limit_ends_the_operation() {
    static STRATEGY: StandardRetryStrategy = longest();
    static PATIENT: StandardRetryStrategy = longest().max_retry_after(None);
    static BUSY: StandardRetryStrategy = longest().max_retry_after(Some(secs(2)));
    let five_minutes = secs(300);
    let more = five_minutes + Duration::from_nanos(1);
    assert_eq!(first_delay(&STRATEGY, Failed::SAFE.after(five_minutes)), Ok(five_minutes));
    assert_eq!(first_delay(&STRATEGY, Failed::SAFE.after(more)), Err(RetryError::RetryAfterTooLong));
    assert_eq!(first_delay(&STRATEGY, Failed::SAFE.after(Duration::MAX)), Err(RetryError::RetryAfterTooLong));
    assert_eq!(first_delay(&PATIENT, Failed::SAFE.after(more)), Ok(more));
    assert_eq!(first_delay(&BUSY, Failed::SAFE.after(secs(3))), Err(RetryError::RetryAfterTooLong));
}

// Rule B6.
#[test]
fn the_maximum_hint_is_not_truncated() {
    static PATIENT: StandardRetryStrategy = longest().max_retry_after(None);
    assert_eq!(first_delay(&PATIENT, Failed::SAFE.after(Duration::MAX)), Ok(Duration::MAX));
}

// Rules R7, R14.
#[test]
fn switched_off_retries_are_refused_before_attempts_and_quota_are_checked() {
    let strategy = longest().max_attempts(1);
    let refused = |error: &Failed| {
        let token = strategy.acquire_initial_token(CLOCK).unwrap();
        let failure = Failure::of(error).with_refusal(Some(RetryError::Disabled));
        strategy.refresh_retry_token(token, &failure, CLOCK).map(drop).unwrap_err()
    };
    assert_eq!(refused(&Failed::SAFE), RetryError::Disabled);
    assert_eq!(refused(&Failed::FATAL), RetryError::NotRetryable, "a final failure is checked first");
    assert_eq!(strategy.quota().available(), 500);
    assert_eq!(Failure::of(&Failed::SAFE).refusal(), None);
    assert_eq!(
        (RetryError::Disabled.as_str(), RetryError::Disabled.to_string().as_str()),
        ("disabled", "retries are switched off")
    );
}

// Rules B4, N13.
#[test]
fn aws_2_0_limits_a_hint_to_the_cap() {
    static AWS: StandardRetryStrategy = StandardRetryStrategy::aws_2_0().jitter(Jitter::Fixed(1.0));
    static SHORT: StandardRetryStrategy =
        StandardRetryStrategy::aws_2_0().jitter(Jitter::Fixed(1.0)).backoff(secs(1), secs(4));
    assert_eq!(first_delay(&AWS, Failed::SAFE.after(secs(7))), Ok(secs(7)));
    assert_eq!(first_delay(&AWS, Failed::SAFE.after(Duration::MAX)), Ok(secs(20)));
    assert_eq!(first_delay(&SHORT, Failed::SAFE.after(secs(7))), Ok(secs(4)));
}

// Rules N7, P3.
#[test]
fn the_cost_of_a_retry_depends_on_the_class_of_the_failure() {
    let strategy = longest();
    let cost = |error: Failed| {
        let before = strategy.quota().available();
        first_delay(&strategy, error).unwrap();
        before - strategy.quota().available()
    };
    assert_eq!([cost(Failed::THROTTLED), cost(Failed::TIMEOUT), cost(Failed::SAFE)], [5, 10, 5]);
    let all = Failed { timeout: true, conflict: true, ..Failed::THROTTLED };
    assert_eq!(cost(all), 5, "throttling comes before timeout and conflict");
    assert_eq!(cost(Failed { conflict: true, ..Failed::TIMEOUT }), 10, "timeout comes before conflict");
}

// Rules N8, N9, Q4.
#[tokio::test(start_paused = true)]
async fn the_refund_of_a_success_depends_on_the_preset() {
    let refund = |strategy: StandardRetryStrategy, failures| async move {
        assert!(strategy.quota().try_acquire(100, CLOCK));
        let flaky = Flaky::new(failures, Failed::TIMEOUT);
        retry(&strategy, || async { flaky.call() }).run().await.unwrap();
        strategy.quota().available() - (400 - 10 * failures)
    };
    assert_eq!(refund(StandardRetryStrategy::new(), 0).await, 1);
    assert_eq!(refund(StandardRetryStrategy::new(), 2).await, 1);
    assert_eq!(refund(StandardRetryStrategy::aws_2_0(), 0).await, 1);
    assert_eq!(refund(StandardRetryStrategy::aws_2_0(), 2).await, 10, "the cost of the last retry");
}

// Rules N1, R1.
#[tokio::test(start_paused = true)]
async fn the_presets_differ_in_max_attempts() {
    let attempts = |strategy: StandardRetryStrategy| async move {
        let flaky = Flaky::new(u32::MAX, Failed::SAFE);
        retry(&strategy, || async { flaky.call() }).run().await.unwrap_err();
        flaky.calls()
    };
    assert_eq!(
        [attempts(StandardRetryStrategy::new()).await, attempts(StandardRetryStrategy::default()).await],
        [5, 5]
    );
    assert_eq!(attempts(StandardRetryStrategy::aws_2_0()).await, 3);
}

// Rules B7, B8.
#[test]
fn full_jitter_stays_below_the_delay_and_differs_each_time() {
    let delays = |strategy: &StandardRetryStrategy| -> Vec<Duration> {
        (0..50).map(|_| first_delay(strategy, Failed::SAFE).unwrap()).collect()
    };
    let strategy = StandardRetryStrategy::new();
    let drawn = delays(&strategy);
    assert!(drawn.iter().all(|delay| *delay < secs(1)));
    assert!(drawn.iter().any(|delay| *delay < Duration::from_millis(500)));
    assert!(drawn.iter().any(|delay| *delay >= Duration::from_millis(500)));
    let mut distinct = drawn.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 50);
    assert_ne!(delays(&StandardRetryStrategy::new()), drawn, "each strategy has its own random numbers");

    assert_eq!(delays(&StandardRetryStrategy::new().seed(7)), delays(&StandardRetryStrategy::new().seed(7)));
    assert_ne!(delays(&StandardRetryStrategy::new().seed(7)), delays(&StandardRetryStrategy::new().seed(8)));
}

// Rule B1.
#[test]
fn jitter_is_applied_after_the_cap() {
    let backoff = ExponentialBackoff::new(secs(16), secs(20)).jitter(Jitter::Fixed(0.5));
    assert_eq!(backoff.compute_next_backoff_delay(9, RetryErrorType::Other), secs(10));
    let backoff = backoff.jitter(Jitter::None);
    assert_eq!(backoff.compute_next_backoff_delay(9, RetryErrorType::Other), secs(20));
}

// Rule B6.
#[test]
fn extreme_settings_do_not_overflow() {
    let delay = |backoff: ExponentialBackoff, index| {
        backoff.jitter(Jitter::None).compute_next_backoff_delay(index, RetryErrorType::Other)
    };
    let longest = Duration::from_nanos(u64::MAX);
    assert_eq!(delay(ExponentialBackoff::new(secs(1), Duration::MAX), u32::MAX), longest);
    assert_eq!(delay(ExponentialBackoff::new(Duration::MAX, Duration::MAX), 1), longest);
    assert_eq!(delay(ExponentialBackoff::new(Duration::ZERO, secs(20)), u32::MAX), Duration::ZERO);
    assert_eq!(
        delay(ExponentialBackoff::new(Duration::from_nanos(1), Duration::MAX), 40),
        Duration::from_nanos(1 << 40)
    );
    let backoff = ExponentialBackoff::new(Duration::MAX, Duration::MAX);
    assert!(backoff.compute_next_backoff_delay(0, RetryErrorType::Other) <= Duration::MAX);
}

// Rule B6.
#[test]
fn all_attempts_are_made_if_retries_cost_nothing() {
    let strategy = longest().max_attempts(2_000_000).quota_capacity(0).retry_costs(RetryCosts::new(0));
    let mut token = strategy.acquire_initial_token(CLOCK).unwrap();
    let (reason, attempts) = loop {
        let attempt = token.attempt();
        match strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK) {
            Ok(next) => token = next,
            Err(reason) => break (reason, attempt),
        }
    };
    assert_eq!((reason, attempts), (RetryError::MaxAttempts, 2_000_000));
    assert_eq!(longest().max_attempts(u32::MAX).settings().max_attempts, u32::MAX);
}

// Rules C1, N1, N2, N3, N4, N5, N6, N7, N8, N9, N12, N13, N14.
#[test]
fn all_settings_can_be_set_and_read_back() {
    let read = |strategy: StandardRetryStrategy| {
        let settings = strategy.settings();
        let classes = [RetryErrorType::Throttling, RetryErrorType::Timeout, RetryErrorType::Conflict];
        let costs = classes.map(|error_type| settings.costs.of(error_type));
        let costs = (costs, settings.costs.of(RetryErrorType::Other));
        let backoff = strategy.backoff_strategy();
        let bases = [RetryErrorType::Throttling, RetryErrorType::Conflict, RetryErrorType::Other]
            .map(|error_type| backoff.base(error_type));
        let refunds = (settings.first_refund, settings.retry_refund);
        let hints = (settings.hint_limit, settings.max_retry_after, settings.hint_jitter);
        (settings.max_attempts, bases, backoff.cap(), strategy.quota().capacity(), costs, refunds, hints)
    };
    let (one, twenty, cap) = (secs(1), millis(20), secs(20));
    assert_eq!(
        read(StandardRetryStrategy::new()),
        (
            5,
            [one, twenty, one],
            cap,
            500,
            ([5, 10, 0], 5),
            (1, Refund::Amount(1)),
            (HintLimit::Unlimited, Some(secs(300)), HintJitter::new(10, secs(5)))
        )
    );
    assert_eq!(
        read(StandardRetryStrategy::aws_2_0()),
        (
            3,
            [one, twenty, one],
            cap,
            500,
            ([5, 10, 0], 5),
            (1, Refund::LastCost),
            (HintLimit::MaxBackoff, None, HintJitter::NONE)
        )
    );
    let beyond = HintLimit::BeyondBackoff(secs(5));
    let fifty = Duration::from_millis(50);
    assert_eq!(
        read(StandardRetryStrategy::aws_2_1()),
        (3, [one, twenty, fifty], cap, 500, ([5, 14, 0], 14), (1, Refund::LastCost), (beyond, None, HintJitter::NONE))
    );
    let own = StandardRetryStrategy::new()
        .max_attempts(7)
        .backoff(secs(2), secs(9))
        .throttling_base(secs(3))
        .conflict_base(millis(5))
        .quota_capacity(70)
        .retry_costs(RetryCosts::new(1).throttling(2).timeout(3).conflict(4))
        .refunds(4, Refund::Amount(6))
        .hint_limit(HintLimit::MaxBackoff)
        .max_retry_after(Some(secs(8)))
        .hint_jitter(HintJitter::new(30, secs(2)))
        .jitter(Jitter::Equal);
    assert_eq!(own.backoff_strategy().jitter_setting(), Jitter::Equal);
    assert_eq!(
        read(own),
        (
            7,
            [secs(3), millis(5), secs(2)],
            secs(9),
            70,
            ([2, 3, 4], 1),
            (4, Refund::Amount(6)),
            (HintLimit::MaxBackoff, Some(secs(8)), HintJitter::new(30, secs(2)))
        )
    );
}

// Rules B2, B3.
#[test]
fn a_separate_base_is_kept_when_the_ordinary_base_is_set() {
    let bases = |strategy: StandardRetryStrategy| {
        let backoff = strategy.backoff_strategy();
        [RetryErrorType::Throttling, RetryErrorType::Conflict, RetryErrorType::Other].map(|class| backoff.base(class))
    };
    let (fast, cap) = (millis(25), secs(20));
    assert_eq!(bases(StandardRetryStrategy::aws_2_1().backoff(fast, cap)), [secs(1), millis(20), fast]);
    let throttling_first = StandardRetryStrategy::new().throttling_base(secs(3)).backoff(fast, cap);
    assert_eq!(bases(throttling_first), [secs(3), millis(20), fast]);
    for follows in [StandardRetryStrategy::new(), StandardRetryStrategy::aws_2_0()] {
        assert_eq!(bases(follows.backoff(fast, cap)), [fast, millis(20), fast]);
    }
    let slow = StandardRetryStrategy::new().conflict_base(millis(300));
    assert_eq!(bases(slow.backoff(fast, cap)), [fast; 3], "the base after a conflict is never above the ordinary one");
}

// Rule B2.
#[test]
fn a_cap_below_a_base_limits_the_base() {
    static CAPPED: StandardRetryStrategy = StandardRetryStrategy::aws_2_1()
        .backoff(Duration::from_millis(25), Duration::from_millis(10))
        .jitter(Jitter::None);
    for (class, error) in [
        (RetryErrorType::Throttling, Failed::THROTTLED),
        (RetryErrorType::Conflict, Failed::CONFLICT),
        (RetryErrorType::Other, Failed::SAFE),
    ] {
        assert_eq!(CAPPED.backoff_strategy().base(class), millis(10));
        assert_eq!(first_delay(&CAPPED, error), Ok(millis(10)));
    }
}

// Rules N3, N7, Q5.
#[test]
fn a_retry_after_a_conflict_is_free_and_soon() {
    for strategy in [StandardRetryStrategy::new(), StandardRetryStrategy::aws_2_0(), StandardRetryStrategy::aws_2_1()] {
        let strategy = strategy.jitter(Jitter::Fixed(1.0)).quota_capacity(3);
        assert_eq!(first_delay(&strategy, Failed::CONFLICT), Ok(millis(20)));
        assert_eq!(first_delay(&strategy, Failed::SAFE), Err(RetryError::QuotaExhausted));
        assert_eq!(first_delay(&strategy, Failed::CONFLICT), Ok(millis(20)), "an exhausted quota does not matter");
        assert_eq!(strategy.quota().available(), 3);
    }
    let counted = longest().retry_costs(RetryCosts::new(5).conflict(7));
    assert_eq!(first_delay(&counted, Failed::CONFLICT), Ok(millis(20)));
    assert_eq!(counted.quota().available(), 493);
}

// Rule P4.
#[test]
fn a_conflict_is_safe_to_retry_by_default() {
    struct Lost;
    impl ErrorInfo for Lost {
        fn fault(&self) -> ErrorFault {
            ErrorFault::Client
        }
    }
    impl RetryInfo for Lost {
        fn is_conflict(&self) -> bool {
            true
        }
    }
    assert_eq!(Lost.is_retry_safe(), RetrySafety::Yes);
    assert_eq!(RetryErrorType::of(&Lost), RetryErrorType::Conflict);
    assert_eq!(RetryErrorType::Conflict.as_str(), "conflict");
}

// Rule Q7.
#[test]
fn a_period_is_refilled_once_although_readings_are_late() {
    let bucket = TokenBucket::new(1000).refill(10, secs(1));
    let clock = ByHand::at(secs(1000));
    assert!(bucket.try_acquire(1000, &clock));
    for _ in 0..5 {
        clock.set(secs(1001));
        let _ = bucket.try_acquire(1000, &clock);
        clock.set(Duration::new(1000, 999_999_999));
        let _ = bucket.try_acquire(1000, &clock);
    }
    assert_eq!(bucket.available(), 10);
}

#[test]
fn settings_are_kept_when_a_part_is_replaced() {
    static QUOTA: TokenBucket = TokenBucket::new(20);
    let shared = StandardRetryStrategy::aws_2_1().max_attempts(9).with_quota(&QUOTA);
    let steady = StandardRetryStrategy::aws_2_1().max_attempts(9).with_backoff(LinearBackoff::new(secs(3), secs(9)));
    let own = StandardRetryStrategy::aws_2_1().max_attempts(9).settings();
    assert_eq!((shared.settings(), steady.settings()), (own, own));
    assert_eq!((shared.quota().available(), steady.quota().available()), (20, 500));
    assert_eq!((steady.backoff_strategy().step(), shared.backoff_strategy().cap()), (secs(3), secs(20)));

    let refilled = StandardRetryStrategy::new().quota_refill(10, secs(1)).quota_capacity(7);
    assert_eq!((refilled.quota().refill_setting(), refilled.quota().capacity()), (Some((10, secs(1))), 7));
}

/// A backoff that is not `Copy`.
#[derive(Debug)]
struct Own(Cell<u32>);

impl BackoffStrategy for Own {
    fn compute_next_backoff_delay(&self, _: u32, _: RetryErrorType) -> Duration {
        secs(self.0.get().into())
    }
}

#[test]
fn the_backoff_and_the_quota_are_replaced_in_either_order() {
    static QUOTA: TokenBucket = TokenBucket::new(20);
    static BACKOFF_FIRST: StandardRetryStrategy<LinearBackoff, &TokenBucket> =
        StandardRetryStrategy::new().with_backoff(LinearBackoff::new(secs(3), secs(9))).with_quota(&QUOTA);
    static QUOTA_FIRST: StandardRetryStrategy<LinearBackoff, &TokenBucket> =
        StandardRetryStrategy::new().with_quota(&QUOTA).with_backoff(LinearBackoff::new(secs(3), secs(9)));
    static STEADY: StandardRetryStrategy<ConstantBackoff, EvidenceQuota> =
        StandardRetryStrategy::new().with_backoff(ConstantBackoff::new(secs(1))).with_quota(EvidenceQuota::new());
    static BY_EVIDENCE: StandardRetryStrategy<NoBackoff, EvidenceQuota> =
        by_evidence().max_attempts(9).name("store").with_backoff(NoBackoff);
    static UNLIMITED: StandardRetryStrategy<NoBackoff, NoQuota> =
        StandardRetryStrategy::new().with_quota(NoQuota).with_backoff(NoBackoff);

    for strategy in [&BACKOFF_FIRST, &QUOTA_FIRST] {
        assert_eq!((strategy.quota().capacity(), strategy.backoff_strategy().step()), (20, secs(3)));
    }
    assert_eq!((STEADY.backoff_strategy().delay(), UNLIMITED.is_enabled()), (secs(1), true));
    assert_eq!((BY_EVIDENCE.settings().max_attempts, BY_EVIDENCE.name_setting()), (9, Some("store")));

    // Types of a user's own, and pointers.
    let own = || Own(Cell::new(7));
    let backoff = StandardRetryStrategy::new().with_quota(NoQuota).with_backoff(own());
    assert_eq!(backoff.backoff_strategy().0.get(), 7);
    let bucket = Arc::new(TokenBucket::new(5));
    let shared = StandardRetryStrategy::new().with_quota(Arc::clone(&bucket)).with_backoff(own());
    let boxed: Box<dyn RetryQuota> = Box::new(TokenBucket::new(6));
    let boxed = StandardRetryStrategy::new().with_quota(boxed).with_backoff(NoBackoff);
    let other = StandardRetryStrategy::new().with_backoff(NoBackoff).with_quota(own());
    assert_eq!((shared.quota().available(), boxed.quota().available(), other.quota().0.get()), (5, 6, 7));
}

// Rule C2.
#[test]
fn an_invalid_setting_is_a_typed_error() {
    let error = StandardRetryStrategy::new().try_max_attempts(0).unwrap_err();
    assert_eq!((error.setting(), error.value()), ("max_attempts", "0"));
    assert!(error.expected().starts_with("a whole number from 1 to "));
    let text = r#"invalid max_attempts "0": expected a whole number from 1 to 4294967295, since it counts the first attempt too"#;
    assert_eq!(error.to_string(), text);
    assert_eq!(StandardRetryStrategy::new().try_max_attempts(1).unwrap().settings().max_attempts, 1);

    let error = TokenBucket::new(1).try_refill(1, Duration::ZERO).unwrap_err();
    assert_eq!(error.to_string(), r#"invalid refill period "0s": expected a duration longer than zero"#);
    assert!(TokenBucket::new(1).try_refill(1, secs(1)).is_ok());

    let error = StandardRetryStrategy::new().try_jitter(Jitter::Fixed(1.5)).unwrap_err();
    assert_eq!(error.to_string(), r#"invalid jitter "1.5": expected a fixed factor from 0 to 1"#);
    for jitter in
        [Jitter::Full, Jitter::Equal, Jitter::None, Jitter::Fixed(0.0), Jitter::Fixed(0.5), Jitter::Fixed(1.0)]
    {
        let strategy = StandardRetryStrategy::new().try_jitter(jitter).unwrap();
        assert_eq!(strategy.backoff_strategy().jitter_setting(), jitter);
    }
    for factor in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(StandardRetryStrategy::new().try_jitter(Jitter::Fixed(factor)).is_err(), "{factor}");
        assert!(LinearBackoff::new(secs(1), secs(2)).try_jitter(Jitter::Fixed(factor)).is_err(), "{factor}");
    }
}

// Rule B9.
#[test]
fn backoffs_follow_their_formulas() {
    let delays = |backoff: &dyn BackoffStrategy| {
        [0, 1, 2, 3, u32::MAX].map(|i| backoff.compute_next_backoff_delay(i, RetryErrorType::Throttling).as_secs())
    };
    assert_eq!(delays(&ExponentialBackoff::new(secs(1), secs(20)).jitter(Jitter::None)), [1, 2, 4, 8, 20]);
    assert_eq!(
        delays(&ExponentialBackoff::new(secs(1), secs(20)).throttling_base(secs(3)).jitter(Jitter::None)),
        [3, 6, 12, 20, 20]
    );
    assert_eq!(delays(&LinearBackoff::new(secs(2), secs(7)).jitter(Jitter::None)), [2, 4, 6, 7, 7]);
    let uncapped = LinearBackoff::new(secs(2), Duration::MAX).jitter(Jitter::None);
    assert_eq!(delays(&uncapped), [2, 4, 6, 8, 2 << 32], "the last delay is exact, too");
    assert_eq!(delays(&ConstantBackoff::new(secs(4))), [4, 4, 4, 4, 4]);
    assert_eq!(delays(&NoBackoff), [0, 0, 0, 0, 0]);
    let max = [
        ExponentialBackoff::new(secs(1), secs(20)).max_backoff(),
        LinearBackoff::new(secs(2), secs(7)).max_backoff(),
        ConstantBackoff::new(secs(4)).max_backoff(),
        NoBackoff.max_backoff(),
    ];
    assert_eq!(max, [secs(20), secs(7), secs(4), secs(0)]);
}

// Rule B7.
#[test]
fn equal_jitter_keeps_half_of_the_delay() {
    let backoff = ConstantBackoff::new(secs(10)).jitter(Jitter::Equal).seed(1);
    let drawn: Vec<Duration> = (0..50).map(|i| backoff.compute_next_backoff_delay(i, RetryErrorType::Other)).collect();
    assert!(drawn.iter().all(|delay| *delay >= secs(5) && *delay < secs(10)));
    assert!(drawn.iter().any(|delay| *delay < secs(7)) && drawn.iter().any(|delay| *delay > secs(8)));
}

// Rule B8.
#[test]
fn short_lived_strategies_draw_different_delays() {
    let first = |_| {
        let strategy = Box::new(StandardRetryStrategy::new());
        first_delay(&strategy, Failed::SAFE).unwrap()
    };
    let mut drawn = [0; 20].map(first);
    drawn.sort();
    assert!(drawn.windows(2).all(|pair| pair[0] != pair[1]));
}

// Rules K3, Q7.
#[test]
fn a_quota_can_refill_over_time() {
    static BUCKET: TokenBucket = TokenBucket::new(100).refill(10, secs(1));
    assert_eq!(BUCKET.refill_setting(), Some((10, secs(1))));
    assert_eq!(TokenBucket::new(1).refill_setting(), None);

    let clock = ByHand::at(secs(1000));
    assert!(BUCKET.try_acquire(95, &clock));
    assert!(!BUCKET.try_acquire(6, &clock));
    clock.set(Duration::from_millis(1_000_999));
    assert!(!BUCKET.try_acquire(6, &clock), "the period has not ended");
    clock.set(secs(1001));
    assert!(BUCKET.try_acquire(15, &clock));
    assert!(!BUCKET.try_acquire(1, &clock), "each period is refilled once");
    clock.set(secs(10));
    assert!(!BUCKET.try_acquire(1, &clock), "a clock that went backwards refills nothing");
    clock.set(secs(13));
    assert!(BUCKET.try_acquire(30, &clock) && !BUCKET.try_acquire(1, &clock), "the refill continues from the new time");
    clock.set(secs(1_000_000));
    assert!(BUCKET.try_acquire(100, &clock) && !BUCKET.try_acquire(1, &clock), "never above the capacity");
}

// Rule N11.
#[test]
fn the_presets_refill_nothing_over_time() {
    for strategy in [StandardRetryStrategy::new(), StandardRetryStrategy::aws_2_0(), StandardRetryStrategy::aws_2_1()] {
        let clock = ByHand::at(secs(1000));
        assert!(strategy.quota().try_acquire(500, &clock));
        clock.set(secs(1_000_000));
        assert!(!strategy.quota().try_acquire(1, &clock));
        assert_eq!(strategy.quota().refill_setting(), None);
    }
}

#[test]
fn a_token_has_its_attempt_and_its_delay() {
    let strategy = longest();
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    assert_eq!((token.attempt(), token.retry_count(), token.delay()), (1, 0, Duration::ZERO));
    let token = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap();
    assert_eq!((token.attempt(), token.retry_count(), token.delay()), (2, 1, secs(1)));
}

// Rule R13.
#[test]
fn a_foreign_token_is_refused_and_the_quota_is_unchanged() {
    let (ours, theirs) = (longest(), longest());
    assert!(ours.quota().try_acquire(100, CLOCK));
    let foreign = || {
        let token = theirs.acquire_initial_token(CLOCK).unwrap();
        theirs.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap()
    };
    let refused = ours.refresh_retry_token(foreign(), &Failure::of(&Failed::SAFE), CLOCK);
    assert_eq!(refused.unwrap_err(), RetryError::ForeignToken);
    assert_eq!(ours.record_success(foreign(), &Success::default(), CLOCK), Err(ForeignToken));
    assert_eq!(RetryError::from(ForeignToken), RetryError::ForeignToken);
    assert_eq!(ours.ready(&mut foreign(), CLOCK, None), Ready::Now);
    ours.release(foreign());
    assert_eq!(ours.quota().available(), 400);
}

// Rule R13.
#[test]
fn a_token_is_foreign_after_its_strategy_moved() {
    let here = longest();
    let token = here.acquire_initial_token(CLOCK).unwrap();
    let there = Box::new(here);
    assert_eq!(there.record_success(token, &Success::default(), CLOCK), Err(ForeignToken));
}

// Rule Q6.
#[test]
fn strategies_may_share_a_quota_and_have_a_custom_backoff() {
    struct Steady;
    impl BackoffStrategy for Steady {
        fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration {
            assert_eq!((retry_attempt, error_type), (0, RetryErrorType::Throttling));
            secs(3)
        }
    }

    static QUOTA: TokenBucket = TokenBucket::new(10);
    static ONE: StandardRetryStrategy<Steady, &TokenBucket> =
        StandardRetryStrategy::from_parts(StandardRetrySettings::new(), Steady, &QUOTA);
    static OTHER: StandardRetryStrategy<Steady, &TokenBucket> =
        StandardRetryStrategy::from_parts(StandardRetrySettings::new(), Steady, &QUOTA);
    for (strategy, left) in [(&ONE, 5), (&OTHER, 0)] {
        let token = strategy.acquire_initial_token(CLOCK).unwrap();
        let token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), CLOCK).unwrap();
        assert_eq!((token.delay(), QUOTA.available()), (secs(3), left));
    }
    assert_eq!(QUOTA.capacity(), 10);
}

// Rule Q9.
#[test]
fn a_backoff_that_names_no_longest_delay_cuts_no_hint() {
    struct Unbounded;
    impl BackoffStrategy for Unbounded {
        fn compute_next_backoff_delay(&self, _: u32, _: RetryErrorType) -> Duration {
            secs(3)
        }
    }

    let settings = StandardRetrySettings::new().max_retry_after(None);
    let settings = settings.hint_limit(HintLimit::MaxBackoff).hint_jitter(HintJitter::NONE);
    let strategy = StandardRetryStrategy::from_parts(settings, Unbounded, TokenBucket::new(10));
    for (hint, delay) in [(secs(2), secs(3)), (secs(4), secs(4)), (Duration::MAX, Duration::MAX)] {
        let token = strategy.acquire_initial_token(CLOCK).unwrap();
        let failure = Failure::of(&Failed::CONFLICT.after(hint));
        let token = strategy.refresh_retry_token(token, &failure, CLOCK).unwrap();
        assert_eq!(token.delay(), delay);
    }
}

#[test]
fn a_custom_quota_replaces_the_token_bucket() {
    /// A quota that grants every other retry.
    #[derive(Default)]
    struct EveryOther {
        asked: Cell<u32>,
        refunded: Cell<u32>,
    }
    impl RetryQuota for EveryOther {
        fn try_acquire(&self, cost: u32, _: &dyn Clock) -> bool {
            assert_eq!(cost, 5);
            self.asked.set(self.asked.get() + 1);
            self.asked.get() % 2 == 1
        }
        fn refund(&self, amount: u32) {
            self.refunded.set(self.refunded.get() + amount);
        }
        fn available(&self) -> u32 {
            0
        }
    }

    let strategy = StandardRetryStrategy::from_parts(StandardRetrySettings::new(), NoBackoff, EveryOther::default());
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    let token = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap();
    let refused = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK);
    assert_eq!(refused.unwrap_err(), RetryError::QuotaExhausted);
    strategy.record_success(strategy.acquire_initial_token(CLOCK).unwrap(), &Success::default(), CLOCK).unwrap();
    assert_eq!(strategy.quota().refunded.get(), 1);
}

// Rule B7.
#[test]
fn an_invalid_jitter_factor_is_refused() {
    for factor in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let built = std::panic::catch_unwind(|| StandardRetryStrategy::new().jitter(Jitter::Fixed(factor)));
        assert!(built.is_err(), "{factor}");
    }
}

// Rule Q2.
#[test]
fn concurrent_payments_and_refunds_are_not_lost() {
    static BUCKET: TokenBucket = TokenBucket::new(40);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    if BUCKET.try_acquire(7, CLOCK) {
                        assert!(BUCKET.available() <= 33);
                        BUCKET.refund(7);
                    }
                    assert!(BUCKET.available() <= 40);
                }
            });
        }
    });
    assert_eq!(BUCKET.available(), 40);
}
