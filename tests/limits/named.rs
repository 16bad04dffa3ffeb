//! The strategies that are a name for a limited strategy, and the settings of a paced limiter as one value.

use crate::support::{ByHand, Failed, secs};
use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::parts::RandomNumbers;
use retry_core::quota::NoQuota;
use retry_core::strategy::{LimitedRetryStrategy, RetryToken};
use retry_core::{
    AdaptiveRetryStrategy, Clock, ExponentialBackoff, Failure, RetryError, RetryQuota, RetryStrategy,
    StandardRetryStrategy,
};
use retry_limits::{
    ConcurrencyLimiter, ConcurrencyRetryStrategy, PacedLimiter, PacedPlace, PacedRetryStrategy, PacedSettings,
    Rejections, SendRate, Weights,
};
use std::fmt::Debug;
use std::time::Duration;

const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().name("table").max_attempts(7).quota_capacity(40)
}

/// What a strategy says about itself.
fn said(strategy: &impl RetryStrategy) -> impl PartialEq + Debug {
    (
        strategy.name(),
        strategy.max_attempts(),
        strategy.quota_level(),
        strategy.quota_mode(),
        strategy.waiting_operations(),
        strategy.send_rate(),
    )
}

// Rule R16.
#[test]
fn a_strategy_that_names_a_limiter_is_a_limited_strategy() {
    static PACED: PacedRetryStrategy = PacedRetryStrategy::over(standard()).max_rate(9.0);
    static CONCURRENCY: ConcurrencyRetryStrategy =
        ConcurrencyRetryStrategy::with_limiter(standard(), ConcurrencyLimiter::new().max_in_flight(3));

    let clock = ByHand::at(secs(100));
    for strategy in [PACED.as_limited(), &PacedRetryStrategy::over(standard()).max_rate(9.0).into_limited()] {
        let _: &LimitedRetryStrategy<PacedLimiter> = strategy;
        let token = strategy.acquire_initial_token(&clock).unwrap();
        assert!(strategy.send_rate().is_some_and(|rate| rate < 9.0));
        strategy.release(token);
    }
    assert_eq!(format!("{:?}", said(&PACED)), format!("{:?}", said(PACED.as_limited())));
    assert_eq!(PACED.send_rate(), PACED.limiter().send_rate());
    assert_eq!(PACED.standard().quota().available(), 40);

    let token = CONCURRENCY.acquire_initial_token(&clock).unwrap();
    let retried = CONCURRENCY.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock).unwrap();
    assert_eq!((retried.attempt(), CONCURRENCY.standard().quota().available()), (2, 35));
    assert_eq!(format!("{:?}", said(&CONCURRENCY)), format!("{:?}", said(CONCURRENCY.as_limited())));
    let limited = ConcurrencyRetryStrategy::over(standard()).into_limited();
    assert_eq!(format!("{limited:?}").matches("max_in_flight").count(), 1);
}

#[test]
fn every_strategy_with_a_limiter_can_set_its_name_and_its_attempts() {
    static PACED: PacedRetryStrategy = PacedRetryStrategy::new().name("table").max_attempts(7).max_rate(9.0);
    static CONCURRENCY: ConcurrencyRetryStrategy = ConcurrencyRetryStrategy::new().name("table").max_attempts(7);
    static ADAPTIVE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new().max_attempts(7).name("table");
    static NO_QUOTA: LimitedRetryStrategy<PacedLimiter, ExponentialBackoff, NoQuota> =
        LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new().with_quota(NoQuota), PacedLimiter::new())
            .name("table")
            .max_attempts(7);

    fn set(strategy: &impl RetryStrategy) -> (Option<String>, Option<u32>) {
        (strategy.name().map(|name| name.as_str().to_owned()), strategy.max_attempts())
    }
    for found in [set(&PACED), set(&CONCURRENCY), set(&ADAPTIVE), set(&NO_QUOTA)] {
        assert_eq!(found, (Some("table".to_owned()), Some(7)));
    }
    assert!(PACED.limiter().initial_settings().max_rate.is_some(), "other settings stay");
}

#[test]
#[should_panic(expected = "max_attempts")]
fn no_attempts_are_refused() {
    let _ = PacedRetryStrategy::new().max_attempts(0);
}

#[test]
fn the_switch_of_a_named_strategy_is_that_of_its_standard_strategy() {
    let (paced, concurrency) = (PacedRetryStrategy::new(), ConcurrencyRetryStrategy::new());
    paced.set_enabled(false);
    concurrency.set_enabled(false);
    assert_eq!((paced.is_enabled(), paced.standard().is_enabled()), (false, false));
    assert_eq!((concurrency.is_enabled(), concurrency.standard().is_enabled()), (false, false));
    paced.set_enabled(true);
    concurrency.set_enabled(true);
    assert!(paced.is_enabled() && concurrency.is_enabled());
}

// Rule C19.
#[test]
fn settings_of_a_limiter_can_be_set_at_once_and_while_it_is_in_use() {
    let mut settings = PacedSettings::new();
    settings.max_rate = SendRate::new(20.0);
    settings.rejections = Rejections::Timeouts;
    settings.max_throttled_time = secs(7);
    let limiter = PacedLimiter::new().with_settings(settings);
    let by_setters = PacedLimiter::new().max_rate(20.0).rejections(Rejections::Timeouts).max_throttled_time(secs(7));
    assert_eq!(format!("{limiter:?}"), format!("{by_setters:?}"));
    let clock = ByHand::at(secs(100));
    let _ = limiter.begin(&clock);
    let before = limiter.send_rate().unwrap();

    settings.max_rate = SendRate::new(2.0);
    limiter.apply(settings, clock.now());
    assert_eq!((limiter.settings(), limiter.initial_settings().max_rate), (settings, SendRate::new(20.0)));
    assert!(before > 10.0 && limiter.send_rate().unwrap() < 2.0);
    assert_eq!(PacedSettings::default(), PacedLimiter::new().initial_settings());
    assert_eq!(PacedSettings::default(), PacedLimiter::<Weights>::of_weights().settings());
}

#[test]
fn a_rate_is_a_finite_number_of_at_least_a_thousandth() {
    assert_eq!(SendRate::new(0.001).map(SendRate::get), Some(0.001));
    for invalid in [0.000_999, 0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(SendRate::new(invalid), None, "{invalid}");
    }
}

#[test]
fn rejections_are_found_by_their_names() {
    for rejections in [Rejections::Throttling, Rejections::ServerErrors, Rejections::Timeouts] {
        assert_eq!(Rejections::named(rejections.as_str()), Some(rejections));
    }
    assert_eq!(Rejections::named("Throttling"), None);
}

/// A limiter that moves each operation from one limiter to another one after a failure.
#[derive(Debug)]
struct Moving([PacedLimiter; 2]);

impl SendLimiter for Moving {
    type Place = (usize, PacedPlace);

    fn begin(&self, clock: &dyn Clock) -> Self::Place {
        (0, self.0[0].begin(clock))
    }

    fn ask(&self, (at, place): &mut Self::Place, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let ready = self.0[*at].ask(place, clock, waker);
        assert_eq!(place.is_granted(), ready == Ready::Now);
        ready
    }

    fn failed(&self, (at, place): &mut Self::Place, failure: FailedSend, clock: &dyn Clock) -> Option<Unpaid> {
        let terms = self.0[*at].failed(place, failure, clock);
        *at = 1 - *at;
        *place = self.0[*at].begin_after(place.throttled(), clock);
        terms
    }

    fn uncounted(&self, (at, place): &Self::Place) -> u32 {
        assert_eq!(place.throttled().attempts(), self.0[*at].uncounted(place));
        place.throttled().attempts()
    }
}

// Rules L7, I5.
#[test]
fn an_operation_takes_its_throttled_attempts_to_another_limiter() {
    let limiter = Moving([PacedLimiter::new(), PacedLimiter::new()]);
    let strategy = LimitedRetryStrategy::with_limiter(standard().max_attempts(2), limiter);
    let clock = ByHand::at(secs(100));
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    for _ in 0..5 {
        while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
            clock.advance(wait);
        }
        token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
    }
    // None of the five counts against the maximum.
    let token = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock).unwrap();
    let refused = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock);
    assert_eq!(refused.unwrap_err(), RetryError::MaxAttempts);
}

#[test]
fn waits_that_are_stretched_by_a_seed_are_the_same_in_every_run() {
    let delays = |limiter| {
        let strategy = PacedRetryStrategy::with_limiter(standard(), limiter);
        let (clock, failure) = (ByHand::at(secs(100)), Failure::of(&Failed::THROTTLED.after(secs(1))));
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        [(); 3].map(|()| {
            let failed = std::mem::replace(&mut token, strategy.acquire_initial_token(&clock).unwrap());
            token = strategy.refresh_retry_token(failed, &failure, &clock).unwrap();
            token.delay()
        })
    };
    let seeded: [Duration; 3] = delays(PacedLimiter::new().seed(7));
    assert_eq!(seeded, delays(PacedLimiter::new().random_numbers(RandomNumbers::seeded(7))));
    assert_eq!(seeded, delays(PacedLimiter::new().seed(3).seed(7)));
    assert_ne!(seeded, delays(PacedLimiter::new().seed(8)));
    assert!(seeded.iter().all(|delay| (secs(1)..=Duration::from_millis(1100)).contains(delay)));
}
