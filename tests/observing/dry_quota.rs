//! The warnings of a quota that ran dry.

use crate::support::subscribers::subscribe;
use crate::support::{ByHand, Failed, by_evidence, poll_once, run_in_a_process, secs};
use retry_config::{QuotaKind, RetryConfig, RetryMode};
use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::quota::EvidenceQuota;
use retry_core::strategy::{LimitedRetryStrategy, RetryCosts};
use retry_core::{
    AdaptiveRetryStrategy, Clock, Failure, Jitter, RetryQuota, RetryStrategy, ScopedRetryStrategy,
    StandardRetryStrategy, Success, TokenBucket, TokioTimer, retry,
};
use retry_limits::{ConcurrencyLimiter, PacedLimiter, PacedRetryStrategy, Pair};
use std::cell::Cell;
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

const CLOCK: &dyn Clock = &TokioTimer;

/// A layer that formats each warning as a line: name and fields.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        struct Line(String);
        impl Visit for Line {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                match field.name() {
                    "message" => {}
                    name => write!(self.0, " {name}={value:?}").unwrap(),
                }
            }
        }

        if *event.metadata().level() == Level::WARN {
            assert_eq!(event.metadata().target(), "retry_core");
            let mut line = Line(event.metadata().name().to_owned());
            event.record(&mut line);
            self.0.lock().unwrap().push(line.0);
        }
    }
}

/// The warnings while it lives.
pub(crate) struct Subscribed(
    Warnings,
    #[expect(dead_code, reason = "it subscribes until it is dropped")] tracing::subscriber::DefaultGuard,
);

impl Subscribed {
    pub(crate) fn new() -> Self {
        let warnings = Warnings::default();
        let subscriber = tracing_subscriber::registry().with(warnings.clone());
        Self(warnings, subscribe(subscriber))
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.0.lock().unwrap())
    }
}

/// Fails an operation for the first time, so that its retry is asked for.
fn fail<S: RetryStrategy>(strategy: &S) -> Option<S::Token> {
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).ok()
}

// Rules O6, Q10.
#[tokio::test(start_paused = true)]
async fn a_quota_warns_once_when_it_runs_dry_and_not_for_each_call() {
    let subscribed = Subscribed::new();
    let strategy = StandardRetryStrategy::new().name("store").quota_capacity(10).jitter(Jitter::None);
    let call = || retry(&strategy, || async { Err::<(), _>(Failed::SAFE) }).run();
    let mut calls: Vec<_> = (0..2).map(|_| Box::pin(call())).collect();
    for call in &mut calls {
        poll_once(call.as_mut());
    }
    assert_eq!(subscribed.take(), [""; 0], "both retries are paid for");
    for _ in 0..50 {
        call().await.unwrap_err();
    }
    let warnings = subscribed.take();
    let [dry, stopped] = &warnings[..] else { panic!("{warnings:#?}") };
    assert_eq!(dry, r#"quota_exhausted strategy="store" capacity=10"#);
    assert!(stopped.starts_with("stopped ") && stopped.contains("also_refused=0"), "{stopped}");
}

// Rule Q10.
#[test]
fn it_warns_again_when_it_is_back_at_half_of_its_capacity_and_then_anew() {
    let subscribed = Subscribed::new();
    let strategy = StandardRetryStrategy::new().name("store").quota_capacity(31);
    for _ in 0..3 {
        while fail(&strategy).is_some() {}
        assert_eq!(strategy.quota().available(), 1);
        assert!(fail(&strategy).is_none());
        assert_eq!(subscribed.take(), [r#"quota_exhausted strategy="store" capacity=31"#]);
        strategy.quota().refund(14);
        assert_eq!(subscribed.take(), [""; 0], "15 are less than half");
        strategy.quota().refund(1);
        assert_eq!(subscribed.take(), [r#"quota_recovered strategy="store" capacity=31"#]);
        strategy.quota().refund(15);
        strategy.quota().refund(1);
        assert_eq!(subscribed.take(), [""; 0]);
    }
}

// Rule Q10.
#[test]
fn a_quota_that_recovered_can_pay_what_it_refused() {
    let subscribed = Subscribed::new();
    let bucket = TokenBucket::new(10);
    let pay = |cost| {
        let paid = bucket.try_acquire(cost, CLOCK);
        if !paid {
            bucket.note_refusal(cost, None);
        }
        paid
    };
    assert!(pay(4));
    assert!(!pay(9));
    assert_eq!(subscribed.take(), ["quota_exhausted capacity=10"]);
    bucket.refund(2);
    assert!(!pay(9));
    assert_eq!(subscribed.take(), [""; 0], "8 of 10 are not enough for what it refused");
    bucket.refund(1);
    assert_eq!(subscribed.take(), ["quota_recovered capacity=10"]);

    // What it can never pay, it refuses with one warning.
    for _ in 0..3 {
        assert!(!pay(11));
        bucket.refund(1);
        assert!(pay(1));
        bucket.refund(1);
    }
    assert_eq!(subscribed.take(), ["quota_exhausted capacity=10"]);
    let empty = StandardRetryStrategy::new().quota_capacity(0);
    for _ in 0..3 {
        assert!(fail(&empty).is_none());
        empty.quota().refund(1);
    }
    assert_eq!(subscribed.take(), ["quota_exhausted capacity=0"]);
}

// Rules Q10, R16.
#[test]
fn every_strategy_and_every_pointer_to_a_quota_warns() {
    static QUOTA: TokenBucket = TokenBucket::new(7);
    fn check<S: RetryStrategy>(subscribed: &Subscribed, strategy: S, name: &str) {
        assert!(fail(&strategy).is_some());
        assert!(fail(&strategy).is_none());
        let quota = QUOTA.capacity();
        assert_eq!(subscribed.take(), [format!("quota_exhausted{name} capacity={quota}")]);
    }

    let subscribed = Subscribed::new();
    let standard = || StandardRetryStrategy::new().quota_capacity(7);
    let named = || standard().name("store");
    let name = r#" strategy="store""#;
    check(&subscribed, standard(), "");
    check(&subscribed, AdaptiveRetryStrategy::over(named()), name);
    for mode in [RetryMode::Standard, RetryMode::Adaptive] {
        check(&subscribed, RetryConfig::new().mode(mode).build_on(named()).unwrap(), name);
    }
    check(&subscribed, StandardRetryStrategy::new().with_quota(&QUOTA), "");
    check(&subscribed, StandardRetryStrategy::new().with_quota(Arc::new(TokenBucket::new(7))), "");
    check(&subscribed, StandardRetryStrategy::new().with_quota(Box::new(TokenBucket::new(7))), "");
}

// Rules C11, Q10.
#[test]
fn so_does_a_larger_capacity_that_is_applied_while_it_runs() {
    let subscribed = Subscribed::new();
    let strategy = RetryConfig::new().quota_capacity(4).build_on(StandardRetryStrategy::new().name("store")).unwrap();
    for _ in 0..2 {
        assert!(fail(&strategy).is_none(), "a retry costs more than 4");
        assert_eq!(subscribed.take(), [r#"quota_exhausted strategy="store" capacity=4"#]);
        strategy.apply(&RetryConfig::new().quota_capacity(20), CLOCK).unwrap();
        assert_eq!(subscribed.take(), [r#"quota_recovered strategy="store" capacity=20"#]);
        strategy.apply(&RetryConfig::new().quota_capacity(4), CLOCK).unwrap();
        assert_eq!(subscribed.take(), [""; 0]);
    }
}

// Rules C20, Q10.
#[test]
fn a_change_of_the_capacity_or_of_the_costs_ends_the_refusal_of_what_can_never_be_paid() {
    let costs = |cost| RetryConfig::new().quota_capacity(4).retry_costs(RetryCosts::new(cost));
    let subscribed = Subscribed::new();
    let strategy = costs(5).build_on(StandardRetryStrategy::new()).unwrap();
    let exhausted = |capacity| format!("quota_exhausted capacity={capacity}");
    let recovered = |capacity| format!("quota_recovered capacity={capacity}");
    assert!(fail(&strategy).is_none());
    assert_eq!(subscribed.take(), [exhausted(4)]);
    // The same settings change nothing.
    strategy.apply(&costs(5), CLOCK).unwrap();
    assert!(fail(&strategy).is_none());
    assert_eq!(subscribed.take(), [""; 0]);
    // A smaller quota is full, and warns of the next refusal.
    strategy.apply(&costs(5).quota_capacity(3), CLOCK).unwrap();
    assert_eq!(subscribed.take(), [recovered(3)]);
    assert!(fail(&strategy).is_none());
    assert!(fail(&strategy).is_none());
    assert_eq!(subscribed.take(), [exhausted(3)]);
    // Lower costs, which it can pay once.
    strategy.apply(&costs(2).quota_capacity(3), CLOCK).unwrap();
    assert_eq!(subscribed.take(), [recovered(3)]);
    assert!(fail(&strategy).is_some());
    assert!(fail(&strategy).is_none());
    assert_eq!(subscribed.take(), [exhausted(3)]);
    // A bucket that is not full has not recovered.
    strategy.apply(&costs(9).quota_capacity(6), CLOCK).unwrap();
    assert_eq!(subscribed.take(), [""; 0]);
    strategy.apply(&costs(9).quota_capacity(0), CLOCK).unwrap();
    assert_eq!(subscribed.take(), [""; 0]);
    // It is still dry, so a refusal is not news.
    assert!(fail(&strategy).is_none());
    assert_eq!(subscribed.take(), [""; 0]);
    // One token is all that a bucket of this capacity can pay.
    strategy.apply(&costs(9).quota_capacity(1), CLOCK).unwrap();
    assert_eq!(subscribed.take(), [""; 0]);
    strategy.quota().refund(1);
    assert_eq!(subscribed.take(), [recovered(1)]);
}

// Rules C20, Q10.
#[test]
fn a_bucket_whose_capacity_changes_recovers_when_it_can_pay_what_it_refused() {
    let subscribed = Subscribed::new();
    let settings = |capacity| RetryConfig::new().quota_capacity(capacity).retry_costs(RetryCosts::new(9));
    let strategy = settings(20).build_on(StandardRetryStrategy::new()).unwrap();
    while fail(&strategy).is_some() {}
    assert_eq!(strategy.quota().available(), 2);
    assert_eq!(subscribed.take(), ["quota_exhausted capacity=20"]);
    strategy.apply(&settings(10), CLOCK).unwrap();
    strategy.quota().refund(7);
    assert_eq!(subscribed.take(), [""; 0], "8 of 10 do not pay for what it refused");
    strategy.quota().refund(1);
    assert_eq!(subscribed.take(), ["quota_recovered capacity=10"]);
}

// Rules C20, Q10.
#[test]
fn a_configuration_of_a_strategy_that_is_built_on_a_dry_bucket_is_a_change_too() {
    let subscribed = Subscribed::new();
    let bucket = Arc::new(TokenBucket::new(4));
    let build =
        |config: RetryConfig| config.build_on(StandardRetryStrategy::new().with_quota(Arc::clone(&bucket))).unwrap();
    let first = build(RetryConfig::new());
    assert!(fail(&first).is_none(), "a retry costs more than 4");
    assert_eq!(subscribed.take(), ["quota_exhausted capacity=4"]);
    // The costs of another strategy may be lower, so a full bucket has recovered.
    let refilled = || RetryConfig::new().try_quota_refill(1, secs(1)).unwrap();
    let second = build(refilled().retry_costs(RetryCosts::new(2)));
    assert_eq!(subscribed.take(), ["quota_recovered capacity=4"]);
    assert!(fail(&second).is_some());
    assert!(fail(&second).is_some());
    assert!(fail(&second).is_none());
    assert_eq!(subscribed.take(), ["quota_exhausted capacity=4"]);
}

// Rules Q7, Q10.
#[test]
fn a_refill_ends_the_drought_too() {
    let subscribed = Subscribed::new();
    let clock = ByHand::at(secs(100));
    let bucket = TokenBucket::new(10).refill(5, secs(1));
    assert!(bucket.try_acquire(10, &clock));
    assert!(!bucket.try_acquire(1, &clock));
    bucket.note_refusal(1, Some("store"));
    clock.advance(secs(1));
    assert!(bucket.try_acquire(1, &clock));
    assert_eq!(
        subscribed.take(),
        [r#"quota_exhausted strategy="store" capacity=10"#, r#"quota_recovered strategy="store" capacity=10"#]
    );
}

// Rule Q10.
#[test]
fn without_a_subscriber_for_warnings_nothing_is_noted() {
    let strategy = StandardRetryStrategy::new().quota_capacity(0);
    {
        let errors = Warnings::default();
        let layer = errors.clone().with_filter(LevelFilter::ERROR);
        let _guard = subscribe(tracing_subscriber::registry().with(layer));
        assert!(fail(&strategy).is_none());
        assert!(errors.0.lock().unwrap().is_empty());
    }
    assert_eq!(strategy.quota().available(), 0);
}

// Rule Q10.
#[test]
#[ignore = "runs in its own process, in which no other test subscribes"]
fn child() {
    let (bucket, evidence) = (TokenBucket::new(0), EvidenceQuota::new());
    let quotas: [&dyn RetryQuota; 2] = [&bucket, &evidence];
    for quota in quotas {
        quota.note_refusal(1, Some("unheard"));
    }
    let subscribed = Subscribed::new();
    for quota in quotas {
        quota.note_refusal(1, Some("heard"));
        quota.note_refusal(1, Some("not the first one"));
    }
    let capacities = [0, 2].map(|capacity| format!(r#"quota_exhausted strategy="heard" capacity={capacity}"#));
    assert_eq!(subscribed.take(), capacities);
}

// Rules Q10, Q17.
#[test]
fn a_refusal_before_there_is_a_subscriber_is_not_the_first_one() {
    run_in_a_process("dry_quota::child", |_| ());
}

// Rules Q10, Q17.
#[test]
fn a_quota_that_recovers_before_its_refusal_is_noted_warns_of_both() {
    let subscribed = Subscribed::new();
    let (bucket, evidence) = (TokenBucket::new(10), EvidenceQuota::new());
    evidence.first_succeeded(0);
    let quotas: [(&dyn RetryQuota, u32); 2] = [(&bucket, 10), (&evidence, 2)];
    for (quota, capacity) in quotas {
        for _ in 0..2 {
            quota.note_refusal(5, Some("store"));
            let warnings = ["exhausted", "recovered"];
            assert_eq!(
                subscribed.take(),
                warnings.map(|what| format!("quota_{what} strategy=\"store\" capacity={capacity}"))
            );
        }
    }
}

// Rule Q9.
#[test]
fn a_quota_of_the_users_own_is_told_of_a_refusal() {
    #[derive(Default)]
    struct Empty(Mutex<Vec<(u32, Option<String>)>>);
    impl RetryQuota for Empty {
        fn try_acquire(&self, _: u32, _: &dyn Clock) -> bool {
            false
        }
        fn refund(&self, _: u32) {}
        fn available(&self) -> u32 {
            0
        }
        fn note_refusal(&self, cost: u32, strategy: Option<&str>) {
            self.0.lock().unwrap().push((cost, strategy.map(str::to_owned)));
        }
    }
    let strategy = StandardRetryStrategy::new().name("store").with_quota(Empty::default());
    assert!(fail(&strategy).is_none());
    assert_eq!(*strategy.quota().0.lock().unwrap(), [(5, Some("store".to_owned()))]);
}

// Rules O6, Q10.
#[test]
fn the_quota_of_a_scope_warns_with_the_name_of_the_scope() {
    static TENANTS: ScopedRetryStrategy<u32, StandardRetryStrategy> =
        ScopedRetryStrategy::new(|| StandardRetryStrategy::new().quota_capacity(9)).named_by(|_| "tenant".to_owned());

    let subscribed = Subscribed::new();
    let store = || StandardRetryStrategy::new().name("store").quota_capacity(9);
    let tenants = ScopedRetryStrategy::new(store).named_by(|tenant: &u32| format!("store-{tenant}"));
    let (first, second) = (tenants.scope(&1), tenants.scope(&2));
    for scope in [&first, &second] {
        while fail(scope).is_some() {}
    }
    let exhausted = |name: &str| format!("quota_exhausted strategy={name:?} capacity=9");
    assert_eq!(subscribed.take(), [exhausted("store-1"), exhausted("store-2")]);
    for scope in [&second, &first] {
        for _ in 0..9 {
            let token = scope.acquire_initial_token(CLOCK).unwrap();
            scope.record_success(token, &Success::default(), CLOCK).unwrap();
        }
    }
    let recovered = |name: &str| format!("quota_recovered strategy={name:?} capacity=9");
    assert_eq!(subscribed.take(), [recovered("store-2"), recovered("store-1")]);

    // Of nested scopes, the outer one gives the name, as in events.
    let regions = ScopedRetryStrategy::new(|| TENANTS.scope(&1)).named_by(|region: &u32| format!("region-{region}"));
    while fail(&regions.scope(&7)).is_some() {}
    assert_eq!(subscribed.take(), [exhausted("region-7")]);

    // A scope without a name, and a strategy in no scope, have the name of the strategy.
    let (plain, single) = (ScopedRetryStrategy::new(store).scope(&1), store());
    while fail(&plain).is_some() {}
    while fail(&single).is_some() {}
    assert_eq!(subscribed.take(), [exhausted("store"), exhausted("store")]);
}

// Rules L8, L31.
#[test]
fn a_strategy_warns_once_when_its_operations_wait_longer_than_it_allows() {
    let subscribed = Subscribed::new();
    let clock = ByHand::at(secs(1000));
    let standard = StandardRetryStrategy::new().name("store").max_retry_after(Some(secs(60)));
    let strategy = PacedRetryStrategy::over(standard);
    let throttle = |wait| {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        drop(strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED.after(secs(wait))), &clock));
    };
    throttle(59);
    assert_eq!(subscribed.take(), [""; 0]);
    throttle(3600);
    assert_eq!(subscribed.take(), ["held strategy=\"store\" wait_ms=3600000"]);
    throttle(3600);
    assert_eq!(subscribed.take(), [""; 0]);
}

/// Runs 14 operations, two at a time, against a limit of 10 in an hour, whose rejections ask for a wait until the next hour. Returns
/// after which times operations failed, and the texts of their reasons.
async fn fourteen_at_ten_per_hour(longest_wait: Duration) -> Vec<(Duration, String)> {
    let standard = StandardRetryStrategy::new().name("store").max_retry_after(Some(longest_wait));
    let strategy = PacedRetryStrategy::over(standard).seed(1);
    let (started, accepted) = (Instant::now(), Cell::new(0));
    let request = async || {
        let hour = started.elapsed().as_secs() / 3600;
        if accepted.get() < 10 * (hour + 1) {
            accepted.set(accepted.get() + 1);
            return Ok(());
        }
        Err(Failed::THROTTLED.after(secs(3600 * (hour + 1)).saturating_sub(started.elapsed())))
    };
    let worker = async || {
        let mut failed = Vec::new();
        for _ in 0..7 {
            let report = retry(&strategy, request).report().await;
            failed.extend(report.reason.map(|reason| (started.elapsed(), reason.to_string())));
        }
        failed
    };
    let (first, second) = tokio::join!(worker(), worker());
    [first, second].concat()
}

// Rules L31, B5, O6.
#[tokio::test(start_paused = true)]
async fn a_limit_whose_waits_are_too_long_is_reported_at_once_with_the_setting_to_raise() {
    let subscribed = Subscribed::new();
    let failed = fourteen_at_ten_per_hour(secs(300)).await;
    assert!(failed.iter().any(|(after, _)| *after < secs(1)), "{failed:?}");
    for (_, reason) in &failed {
        assert_eq!(reason, "the server asked for a longer wait than `max_retry_after` allows");
    }
    let warnings = subscribed.take();
    assert!(warnings[0].starts_with("held strategy=\"store\" wait_ms=3599"), "{warnings:?}");
    let stopped = |line: &&String| line.starts_with("stopped ") && line.contains("reason=\"retry_after_too_long\"");
    assert_eq!(warnings.iter().filter(stopped).count(), failed.len(), "{warnings:?}");

    assert_eq!(fourteen_at_ten_per_hour(secs(7200)).await, []);
    assert_eq!(subscribed.take(), [""; 0]);
}

/// A limiter that limits nothing, and repeats each attempt immediately.
#[derive(Debug)]
struct Repeating;

impl SendLimiter for Repeating {
    type Place = ();

    fn begin(&self, _: &dyn Clock) {}

    fn ask(&self, (): &mut (), _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        Ready::Now
    }

    fn failed(&self, (): &mut (), _: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
        Some(Unpaid::after(Duration::ZERO))
    }
}

// Rules L31, I4.
#[test]
fn a_limiter_that_holds_nothing_back_does_not_warn_and_one_of_a_pair_that_does_is_enough() {
    fn throttle<L: SendLimiter>(limiter: L, clock: &ByHand) {
        let standard = StandardRetryStrategy::new().name("store").max_retry_after(Some(secs(60)));
        let strategy = LimitedRetryStrategy::with_limiter(standard, limiter);
        let token = strategy.acquire_initial_token(clock).unwrap();
        drop(strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED.after(secs(3600))), clock));
    }

    let subscribed = Subscribed::new();
    let clock = ByHand::at(secs(1000));
    throttle(Repeating, &clock);
    throttle(ConcurrencyLimiter::new(), &clock);
    assert_eq!(subscribed.take(), [""; 0]);
    throttle(Pair(ConcurrencyLimiter::new(), PacedLimiter::new()), &clock);
    throttle(Pair(PacedLimiter::new(), ConcurrencyLimiter::new()), &clock);
    assert_eq!(subscribed.take(), ["held strategy=\"store\" wait_ms=3600000"; 2]);
}

// Rule Q17.
#[test]
fn a_quota_by_evidence_warns_when_it_refuses_and_once_it_has_forgotten_the_failures() {
    fn check(strategy: impl RetryStrategy) {
        let subscribed = Subscribed::new();
        let clock = ByHand::at(secs(100));
        let succeed = || {
            let token = strategy.acquire_initial_token(&clock).unwrap();
            strategy.record_success(token, &Success::default(), &clock).unwrap();
        };
        let fail = || {
            clock.advance(secs(1));
            let token = strategy.acquire_initial_token(&clock).unwrap();
            strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock)
        };
        for _ in 0..2 {
            succeed();
            while fail().is_ok() {}
            assert!(fail().is_err());
            assert_eq!(subscribed.take(), ["quota_exhausted strategy=\"store\" capacity=2"]);
            for _ in 0..1_000 {
                succeed();
            }
            assert_eq!(subscribed.take(), ["quota_recovered strategy=\"store\" capacity=2"]);
        }
    }

    check(by_evidence().name("store"));
    let chosen = RetryConfig::new().quota_kind(QuotaKind::Evidence);
    check(chosen.build_on(StandardRetryStrategy::new().name("store")).unwrap());
}

// Rule Q17.
#[test]
fn a_quota_by_evidence_recovers_by_a_retry_that_was_not_sent() {
    let subscribed = Subscribed::new();
    let strategy = by_evidence();
    let succeed = || {
        let token = strategy.acquire_initial_token(CLOCK).unwrap();
        strategy.record_success(token, &Success::default(), CLOCK).unwrap();
    };
    let clock = ByHand::at(secs(100));
    let fail = || {
        clock.advance(secs(1));
        let token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock)
    };
    succeed();
    let unsent = fail().unwrap();
    while fail().is_ok() {}
    assert_eq!(subscribed.take(), ["quota_exhausted capacity=2"]);
    // Half a retry is missing after them.
    for _ in 0..32 {
        succeed();
    }
    assert_eq!(subscribed.take(), [""; 0]);
    strategy.release(unsent);
    assert_eq!(subscribed.take(), ["quota_recovered capacity=2"]);
}
