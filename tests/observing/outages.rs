//! The warnings of a strategy whose operations wait for the service.

use super::dry_quota::Subscribed;
use crate::support::{ByHand, Failed, millis, secs};
use retry_core::strategy::Ready;
use retry_core::{
    ExponentialBackoff, Failure, Jitter, PatientRetryStrategy, RetryStrategy, ScopedRetryStrategy,
    StandardRetryStrategy, Success, TokenBucket,
};

/// Returns a strategy whose quota pays for nothing, and which sends no probes.
fn waits() -> PatientRetryStrategy<ExponentialBackoff, TokenBucket> {
    let standard = StandardRetryStrategy::new().name("store").max_attempts(2).jitter(Jitter::Fixed(0.0));
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
fn another_wait_soon_after_belongs_to_the_same_outage() {
    let (subscribed, service) = (Subscribed::new(), Service::new(waits()));
    for _ in 0..3 {
        let mut token = service.joins();
        while service.ask(&mut token) != Ready::Now {
            service.answers();
        }
        service.strategy.release(token);
        (0..10).for_each(|_| service.answers());
    }
    assert_eq!(subscribed.take(), ["service_unavailable strategy=\"store\""]);
    (0..16).for_each(|_| service.answers());
    let [over] = &*subscribed.take() else { panic!("one warning") };
    assert!(over.ends_with("waits=3 in_vain=0"), "{over}");
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
    while !service.strategy.starts_empty() {
        service.answers();
    }
    let over = "service_recovered strategy=\"tenant a\" lasted_ms=0 waits=1 in_vain=0";
    assert_eq!(subscribed.take(), [over]);
}

// Rules Q10, U5.
#[test]
fn where_no_operation_waits_the_quota_warns() {
    let subscribed = Subscribed::new();
    for strategy in [waits().max_waiting(0), waits().max_wait_for_service(secs(0))] {
        let clock = ByHand::at(secs(1_000));
        let token = strategy.acquire_initial_token(&clock).unwrap();
        assert!(strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock).is_err());
        assert_eq!(subscribed.take(), ["quota_exhausted strategy=\"store\" capacity=0"]);
    }
}
