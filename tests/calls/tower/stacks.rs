//! Stacks of layers in spawned blocks, where rustc forgets that a lifetime is `'static`. That each of them compiles is
//! most of the test.

use super::standard;
use ::tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};
use retry_core::strategy::{ErasedStrategy, Scope};
use retry_core::{
    AttemptContext, Event, Observer, RetryDirective, RetryErrorType, RetryPolicy, ScopedRetryStrategy,
    StandardRetryStrategy, policy_fn,
};
use retry_tower::RetryLayer;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Retries every error.
fn judge(outcome: &Result<u32, BoxError>) -> RetryDirective {
    match outcome {
        Ok(_) => RetryDirective::succeed(),
        Err(_) => RetryDirective::retry(RetryErrorType::Other),
    }
}

/// Fails once for each request, and then returns the number of attempts.
async fn fails_once(attempts: Arc<AtomicU32>) -> Result<u32, BoxError> {
    match attempts.fetch_add(1, Ordering::Relaxed) {
        0 => Err("down".into()),
        before => Ok(before + 1),
    }
}

const LIMIT: Duration = Duration::from_secs(60);

/// Spawns a block that builds a stack around this layer and sends a request, for several stacks.
macro_rules! in_spawned_blocks {
    ($layer:expr) => {
        in_spawned_blocks!($layer;
            // Nothing above, and below each of the layers with a future of its own.
            (), (.buffer(2).concurrency_limit(1).timeout(LIMIT));
            // The same above.
            (.buffer(2)), ();
            (.buffer(2).timeout(LIMIT).concurrency_limit(1)), ();
            (.timeout(LIMIT).concurrency_limit(1).buffer(2)), ();
            (.concurrency_limit(1).timeout(LIMIT)), ();
            // And on both sides.
            (.timeout(LIMIT).buffer(2)), (.buffer(2).concurrency_limit(1).timeout(LIMIT))
        );
    };
    ($layer:expr; $(($($above:tt)*), ($($below:tt)*));+) => {$(
        let answer = tokio::spawn(async {
            let stack = ServiceBuilder::new()$($above)*
                .layer($layer)$($below)*
                .service(service_fn(fails_once));
            stack.oneshot(Arc::default()).await
        });
        assert_eq!(answer.await.unwrap().unwrap(), 2);
        let answer = tokio::spawn(async {
            let mut stack = ServiceBuilder::new()$($above)*
                .layer($layer)$($below)*
                .service(service_fn(fails_once));
            stack.ready().await.unwrap().call(Arc::default()).await
        });
        assert_eq!(answer.await.unwrap().unwrap(), 2);
    )+};
}

// Rule W6.
#[tokio::test(start_paused = true)]
async fn a_stack_over_a_static_is_built_and_used_in_a_spawned_block() {
    static STORE: StandardRetryStrategy = standard();
    static LAZY: LazyLock<StandardRetryStrategy> = LazyLock::new(standard);

    in_spawned_blocks!(RetryLayer::new(&STORE).policy(policy_fn(judge)));
    in_spawned_blocks!(RetryLayer::new(&LAZY).max_time(LIMIT).attempt_timeout(LIMIT).policy(policy_fn(judge)));
}

// Rule W6.
#[tokio::test(start_paused = true)]
async fn a_stack_over_an_arc_is_built_and_used_in_a_spawned_block() {
    in_spawned_blocks!(RetryLayer::new(Arc::new(standard())).policy(policy_fn(judge)));
}

// Rule W6.
#[tokio::test(start_paused = true)]
async fn a_stack_over_a_scope_or_an_erased_strategy_is_built_and_used_in_a_spawned_block() {
    static SHARDS: LazyLock<ScopedRetryStrategy<u32>> = LazyLock::new(|| ScopedRetryStrategy::new(standard));
    fn shard() -> Scope<StandardRetryStrategy> {
        SHARDS.scope(&1)
    }
    in_spawned_blocks!(RetryLayer::new(shard()).policy(policy_fn(judge)));
    in_spawned_blocks!(RetryLayer::new(ErasedStrategy::new(standard())).policy(policy_fn(judge)));
}

// Rules W6, W7.
#[tokio::test(start_paused = true)]
async fn a_stack_with_a_policy_for_each_request_is_built_and_used_in_a_spawned_block() {
    static STORE: StandardRetryStrategy = standard();
    fn policy_of(_: &Arc<AtomicU32>) -> impl RetryPolicy<Result<u32, BoxError>> + use<> {
        policy_fn(judge)
    }

    in_spawned_blocks!(RetryLayer::new(&STORE).policy_with(|_: &Arc<AtomicU32>| policy_fn(judge)));
    in_spawned_blocks!(RetryLayer::new(&STORE).policy_with(policy_of).max_time(LIMIT).attempt_timeout(LIMIT));
}

// Rules W6, W8.
#[tokio::test(start_paused = true)]
async fn a_stack_that_changes_requests_is_built_and_used_in_a_spawned_block() {
    static STORE: StandardRetryStrategy = standard();
    static CHANGES: AtomicU32 = AtomicU32::new(0);
    fn change(_: &mut Arc<AtomicU32>, context: AttemptContext) {
        CHANGES.fetch_add(context.attempt(), Ordering::Relaxed);
    }

    in_spawned_blocks!(RetryLayer::new(&STORE).policy(policy_fn(judge)).before_attempt(change));
    assert_eq!(CHANGES.load(Ordering::Relaxed) % (1 + 2), 0);
    in_spawned_blocks!(
        RetryLayer::new(&STORE)
            .policy_with(|_: &Arc<AtomicU32>| policy_fn(judge))
            .before_attempt(|request: &mut Arc<AtomicU32>, _| *request = Arc::clone(request))
    );
}

// Rule W6.
#[tokio::test(start_paused = true)]
async fn a_stack_that_was_built_elsewhere_is_used_in_spawned_blocks() {
    static STORE: StandardRetryStrategy = standard();
    let stack = ServiceBuilder::new()
        .buffer(2)
        .timeout(LIMIT)
        .layer(RetryLayer::new(&STORE).policy(policy_fn(judge)))
        .service(service_fn(fails_once));
    for _ in 0..2 {
        let stack = stack.clone();
        assert_eq!(tokio::spawn(async move { stack.oneshot(Arc::default()).await }).await.unwrap().unwrap(), 2);
    }
}

/// An observer that counts events.
#[derive(Default)]
struct Count(AtomicU32);

impl Observer for Count {
    fn observe(&self, _: &Event) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

// The cures of the module's documentation, for what rustc can't prove of a reference elsewhere in the stack.
// Rule W6.
#[tokio::test(start_paused = true)]
async fn an_arc_or_a_function_that_hides_the_types_makes_up_for_a_reference_in_a_stack() {
    static STORE: StandardRetryStrategy = standard();
    static COUNT: Count = Count(AtomicU32::new(0));
    fn stack() -> impl Service<Arc<AtomicU32>, Response = u32, Error = BoxError, Future: Send> + Clone {
        let judge = |outcome: &Result<u32, BoxError>| judge(outcome);
        let layer = RetryLayer::new(&STORE).observer(&COUNT).policy(policy_fn(judge));
        ServiceBuilder::new().buffer(2).layer(layer).service(service_fn(fails_once))
    }

    in_spawned_blocks!(RetryLayer::new(&STORE).observer(Arc::new(Count::default())).policy(policy_fn(judge)));
    assert_eq!(tokio::spawn(async { stack().oneshot(Arc::default()).await }).await.unwrap().unwrap(), 2);
    assert!(COUNT.0.load(Ordering::Relaxed) > 0);
}
