//! The warnings of a strategy whose operations wait for the service.

use super::dry_quota::Subscribed;
use crate::support::subscribers::subscribe;
use crate::support::{ByHand, Failed, millis, secs};
use retry_core::limit::Ready;
use retry_core::{
    ExponentialBackoff, Failure, Jitter, PatientRetryStrategy, RetryStrategy, ScopedRetryStrategy,
    StandardRetryStrategy, Success, TokenBucket,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Returns a strategy whose quota pays for nothing, and which sends no probes.
fn waits() -> PatientRetryStrategy<ExponentialBackoff, TokenBucket> {
    waits_with(2)
}

/// Returns a strategy whose quota pays for nothing, with this number of attempts for each operation.
fn waits_with(max_attempts: u32) -> PatientRetryStrategy<ExponentialBackoff, TokenBucket> {
    let standard = StandardRetryStrategy::new().name("store").max_attempts(max_attempts).jitter(Jitter::Fixed(0.0));
    PatientRetryStrategy::over(standard.quota_capacity(0))
}

struct Service<S> {
    strategy: S,
    clock: ByHand,
}

impl<S: RetryStrategy> Service<S> {
    fn new(strategy: S) -> Self {
        Self { strategy, clock: ByHand::at(secs(1_000)) }
    }

    /// A first attempt succeeds after 100 ms.
    fn answers(&self) {
        let token = self.strategy.acquire_initial_token(&self.clock).unwrap();
        self.clock.advance(millis(100));
        self.strategy.record_success(token, &Success::default(), &self.clock).unwrap();
    }

    /// Returns an operation whose first attempt fails, and which waits.
    fn joins(&self) -> S::Token {
        let token = self.strategy.acquire_initial_token(&self.clock).unwrap();
        let failure = Failure::of(&Failed::SAFE);
        let mut token = self.strategy.refresh_retry_token(token, &failure, &self.clock).expect("it waits");
        assert!(matches!(self.ask(&mut token), Ready::After(_)));
        token
    }

    fn ask(&self, token: &mut S::Token) -> Ready {
        self.strategy.ready(token, &self.clock, None)
    }
}

// Rules O19, U19.
#[test]
fn one_warning_begins_an_outage_and_one_with_its_numbers_ends_it() {
    let (subscribed, service) = (Subscribed::new(), Service::new(waits()));
    for _ in 0..2 {
        service.answers();
        assert_eq!(subscribed.take(), [""; 0]);
        let [mut first, mut second, mut third] = [(); 3].map(|()| service.joins());
        assert_eq!(subscribed.take(), ["service_unavailable strategy=\"store\""]);
        service.clock.advance(secs(14));
        (0..4).for_each(|_| service.answers());
        assert_eq!([&mut first, &mut second].map(|token| service.ask(token)), [Ready::Now; 2]);
        service.clock.advance(millis(600));
        assert_eq!(service.ask(&mut third), Ready::Stop);
        for token in [first, second] {
            service.strategy.record_success(token, &Success::default(), &service.clock).unwrap();
        }
        (0..15).for_each(|_| service.answers());
        assert_eq!(subscribed.take(), [""; 0]);
        service.answers();
        let over = "service_recovered strategy=\"store\" lasted_ms=15000 waits=3 in_vain=1";
        assert_eq!(subscribed.take(), [over]);
    }
}

// Rule O19.
#[test]
fn an_outage_lasts_until_the_latest_operation_is_sent() {
    let subscribed = Subscribed::new();
    for (probes, wait) in [(false, 2_000), (true, 1_000)] {
        let service = Service::new(waits_with(if probes { 3 } else { 2 }));
        service.answers();
        let mut token = service.joins();
        service.clock.advance(millis(wait - 200));
        if probes {
            service.clock.advance(millis(200));
        } else {
            (0..2).for_each(|_| service.answers());
        }
        assert_eq!(service.ask(&mut token), Ready::Now);
        service.strategy.release(token);
        (0..16).for_each(|_| service.answers());
        let over = format!("service_recovered strategy=\"store\" lasted_ms={wait} waits=1 in_vain=0");
        assert_eq!(subscribed.take(), ["service_unavailable strategy=\"store\"", &over]);
    }
}

// Rule O19.
#[test]
fn another_wait_soon_after_belongs_to_the_same_outage() {
    let (subscribed, service) = (Subscribed::new(), Service::new(waits()));
    for waits in [1, 3] {
        // The first attempt of the next one is the fifteenth.
        for _ in 1..waits {
            service.strategy.release(service.joins());
            (0..14).for_each(|_| service.answers());
        }
        service.strategy.release(service.joins());
        (0..15).for_each(|_| service.answers());
        assert_eq!(subscribed.take(), ["service_unavailable strategy=\"store\""]);
        service.answers();
        let [over] = &*subscribed.take() else { panic!("one warning") };
        assert!(over.ends_with(&format!("waits={waits} in_vain={waits}")), "dropped: {over}");
    }
}

// Rule O19.
#[test]
fn an_outage_is_not_over_while_an_operation_waits_as_long_as_the_server_asked() {
    let (subscribed, service) = (Subscribed::new(), Service::new(waits()));
    let token = service.strategy.acquire_initial_token(&service.clock).unwrap();
    let failure = Failure::of(&Failed::SAFE.after(secs(10)));
    let token = service.strategy.refresh_retry_token(token, &failure, &service.clock).unwrap();
    (0..50).for_each(|_| service.answers());
    assert_eq!(subscribed.take(), ["service_unavailable strategy=\"store\""]);
    service.strategy.release(token);
    (0..15).for_each(|_| service.answers());
    assert_eq!(subscribed.take(), [""; 0]);
    service.answers();
    let over = "service_recovered strategy=\"store\" lasted_ms=5000 waits=1 in_vain=1";
    assert_eq!(subscribed.take(), [over]);
}

// Rule O19.
#[test]
fn the_wait_of_a_dropped_operation_lasts_until_the_next_call() {
    let (subscribed, service) = (Subscribed::new(), Service::new(waits()));
    let token = service.joins();
    service.clock.advance(secs(3));
    service.strategy.release(token);
    service.clock.advance(secs(2));
    (0..16).for_each(|_| service.answers());
    let over = "service_recovered strategy=\"store\" lasted_ms=5000 waits=1 in_vain=1";
    assert_eq!(subscribed.take(), ["service_unavailable strategy=\"store\"", over]);
}

// Rules O19, U17.
#[test]
fn a_subscriber_that_panics_leaves_nobody_in_line() {
    struct Panics;
    impl<S: Subscriber> Layer<S> for Panics {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            assert_ne!(event.metadata().name(), "service_unavailable", "a subscriber that panics");
        }
    }

    let service = Service::new(waits());
    {
        let _subscribed = subscribe(tracing_subscriber::registry().with(Panics));
        assert!(catch_unwind(AssertUnwindSafe(|| service.joins())).is_err());
    }
    assert_eq!(service.strategy.waiting_operations(), Some(0));
    service.joins();
    assert_eq!(service.strategy.waiting_operations(), Some(1));
}

// Rules O10, O19.
#[test]
fn the_warnings_of_a_scope_have_its_name() {
    let subscribed = Subscribed::new();
    let scopes = ScopedRetryStrategy::new(waits).named_by(|key: &String| format!("tenant {key}"));
    let service = Service::new(scopes.scope("a"));
    let token = service.joins();
    service.strategy.release(token);
    assert_eq!(subscribed.take(), ["service_unavailable strategy=\"tenant a\""]);
    (0..16).for_each(|_| service.answers());
    let over = "service_recovered strategy=\"tenant a\" lasted_ms=0 waits=1 in_vain=1";
    assert_eq!(subscribed.take(), [over]);
}

// Rules Q10, U5.
#[test]
fn the_quota_warns_only_where_no_operation_ever_waits() {
    let subscribed = Subscribed::new();
    let refused = |strategy: &PatientRetryStrategy<_, _>, failed: Failed| {
        let clock = ByHand::at(secs(1_000));
        let token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.refresh_retry_token(token, &Failure::of(&failed), &clock).is_err()
    };
    for strategy in [waits().max_waiting(0), waits().max_wait_for_service(secs(0))] {
        assert!(refused(&strategy, Failed::FATAL));
        assert_eq!(subscribed.take(), [""; 0]);
        assert!(refused(&strategy, Failed::SAFE));
        assert_eq!(subscribed.take(), ["quota_exhausted strategy=\"store\" capacity=0"]);
    }
    let strategy = waits().max_waiting(1);
    assert!(!refused(&strategy, Failed::SAFE));
    assert!(refused(&strategy, Failed::SAFE));
    assert_eq!(subscribed.take(), ["service_unavailable strategy=\"store\""]);
}
