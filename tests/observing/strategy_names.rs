//! The names of strategies, which their events carry.

use crate::support::{Failed, Flaky};
use retry_config::{ConfiguredStrategy, RetryConfig, RetryMode};
use retry_core::strategy::StrategyName;
use retry_core::{
    AdaptiveRetryStrategy, ErasedStrategy, Event, ExponentialBackoff, Observer, RetryStrategy, ScopedRetryStrategy,
    StandardRetryStrategy, TokenBucket, retry, retryable,
};
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Mutex;
use std::time::Duration;

/// Collects the names of strategies.
#[derive(Default)]
struct Names(Mutex<Vec<Option<StrategyName>>>);

impl Observer for Names {
    fn observe(&self, event: &Event) {
        self.0.lock().unwrap().push(event.strategy.clone());
    }
}

/// Returns the name that the events of an operation with this strategy carry.
async fn name_in_events<S: RetryStrategy>(strategy: &S) -> Option<String> {
    let names = Names::default();
    assert!(retry(strategy, async || Ok::<_, Failed>(())).observer(&names).run().await.is_ok());
    let names = names.0.into_inner().unwrap();
    assert!(names.len() > 1 && names.iter().all(|name| *name == names[0]), "{names:?}");
    names[0].as_ref().map(ToString::to_string)
}

fn named() -> StandardRetryStrategy {
    StandardRetryStrategy::new().name("store")
}

// Rule O10.
#[tokio::test]
async fn events_carry_the_name_of_the_strategy() {
    static QUOTA: TokenBucket = TokenBucket::new(500);
    let shared: StandardRetryStrategy<ExponentialBackoff, &TokenBucket> = named().with_quota(&QUOTA);
    let store = Some("store".to_owned());
    assert_eq!(name_in_events(&StandardRetryStrategy::new()).await, None);
    assert_eq!(name_in_events(&named()).await, store);
    assert_eq!(name_in_events(&named().max_attempts(2)).await, store);
    assert_eq!(name_in_events(&shared).await, store);
    assert_eq!(name_in_events(&AdaptiveRetryStrategy::over(named())).await, store);
    assert_eq!(name_in_events(&ErasedStrategy::new(named())).await, store);
    for mode in [RetryMode::Standard, RetryMode::Adaptive] {
        let strategy: ConfiguredStrategy = RetryConfig::new().mode(mode).build_on(named()).unwrap();
        assert_eq!(name_in_events(&strategy).await, store);
        assert_eq!(
            name_in_events(
                &RetryConfig::new().mode(mode).build_on(StandardRetryStrategy::new()).unwrap().name("store")
            )
            .await,
            store
        );
    }
    assert_eq!(named().name_setting(), Some("store"));
}

// Rule O10.
#[tokio::test]
async fn a_scope_has_the_name_that_its_key_is_given_or_that_of_its_strategy() {
    static REGIONS: ScopedRetryStrategy<String> =
        ScopedRetryStrategy::new(StandardRetryStrategy::new).named_by(|region| format!("store-{region}"));
    assert_eq!(name_in_events(&REGIONS.scope("eu")).await.as_deref(), Some("store-eu"));
    assert_eq!(name_in_events(&ErasedStrategy::new(REGIONS.scope("us"))).await.as_deref(), Some("store-us"));
    let plain: ScopedRetryStrategy<u8> = ScopedRetryStrategy::new(named);
    assert_eq!(name_in_events(&plain.scope(&1)).await.as_deref(), Some("store"));
}

// Rule O10.
#[tokio::test(start_paused = true)]
async fn the_attribute_and_the_closure_that_is_told_of_failures_see_the_name_too() {
    static STORE: StandardRetryStrategy =
        StandardRetryStrategy::new().name("store").backoff(Duration::ZERO, Duration::ZERO);

    #[retryable(strategy = STORE, observer = names)]
    async fn get(names: &Names) -> Result<(), Failed> {
        Ok(())
    }

    let names = Names::default();
    assert!(get(&names).await.is_ok());
    assert_eq!(names.0.into_inner().unwrap(), vec![Some(StrategyName::new("store")); 2]);
    let (service, mut told) = (Flaky::new(1, Failed::SAFE), None);
    let call = retry(&STORE, async || service.call());
    assert!(call.on_retry(|_, event| told.clone_from(&event.strategy)).run().await.is_ok());
    assert_eq!(told, Some("store".into()));
}

#[test]
fn names_compare_by_their_text() {
    let (constant, owned) = (StrategyName::new("store"), StrategyName::from("store".to_owned()));
    assert_eq!(constant, owned);
    let hash = |name: &StrategyName| BuildHasherDefault::<DefaultHasher>::new().hash_one(name);
    assert_eq!(hash(&constant), hash(&owned));
    assert_ne!(hash(&constant), hash(&StrategyName::new("stores")));
    assert_eq!(HashSet::from([constant.clone(), owned]).len(), 1);
    assert_eq!(
        (constant.as_str(), format!("{constant:>7}"), format!("{constant:?}")),
        ("store", "  store".into(), "\"store\"".into())
    );
}
