//! The warning that hedges do little.

use crate::support::subscribers::subscribe;
use crate::support::{Failed, kept, millis};
use retry_core::quota::NoQuota;
use retry_core::{Hedge, RetryStrategy, StandardRetryStrategy, retry};
use std::cell::Cell;
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tokio::time::sleep;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// A layer that keeps the numbers in warnings.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        struct Line(String);
        impl Visit for Line {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                if let name @ ("operation" | "helped" | "calls") = field.name() {
                    write!(self.0, " {name}={value:?}").unwrap();
                }
            }
        }

        if event.metadata().name() == "hedges_do_little" {
            let mut line = Line(format!("{} {}", event.metadata().target(), event.metadata().level()));
            event.record(&mut line);
            self.0.lock().unwrap().push(line.0);
        }
    }
}

/// Makes calls one after the other. The first attempt of a call takes as long as `first` says, and its hedge 8 to
/// 12 ms. Returns the warnings.
async fn warnings(
    strategy: &impl RetryStrategy,
    name: &'static str,
    (hedge, calls): (Hedge, u64),
    first: impl Fn(u64) -> u64,
) -> Vec<String> {
    let warnings = Warnings::default();
    let _guard = subscribe(tracing_subscriber::registry().with(warnings.clone()));
    let hedge = kept(hedge);
    for call in 0..calls {
        let attempts = Cell::new(0);
        let attempt = || {
            let is_first = attempts.replace(1) == 0;
            let time = if is_first { first(call) } else { usual(call + 1) };
            async move {
                sleep(millis(time)).await;
                Ok::<_, Failed>(())
            }
        };
        retry(strategy, attempt).name(name).idempotent(true).hedge(hedge).run().await.unwrap();
    }
    std::mem::take(&mut warnings.0.lock().unwrap())
}

/// A usual time, from 8 to 12 ms.
const fn usual(call: u64) -> u64 {
    8 + call * 7 % 5
}

// Rule V14.
#[tokio::test(start_paused = true)]
async fn where_more_than_5_percent_of_the_answers_are_slow_one_warning_says_that_hedges_do_little() {
    let strategy = StandardRetryStrategy::new().with_quota(NoQuota);
    let slow = |call| if call % 10 == 0 { 300 } else { usual(call) };
    let told = warnings(&strategy, "one of ten", (Hedge::p95(), 45_000), slow).await;
    let [warning] = &told[..] else { panic!("{told:#?}") };
    assert!(warning.starts_with(r#"retry_core WARN operation="one of ten" helped="#), "{warning}");
    assert!(warning.ends_with(" calls=1000"), "{warning}");
}

// Rules V14, V15.
#[tokio::test(start_paused = true)]
async fn calls_that_end_before_hedges_that_rarely_win_are_such_a_warning() {
    let strategy = StandardRetryStrategy::new().with_quota(NoQuota);
    let slow = |call| if call % 20 == 0 { 17 } else { usual(call) };
    let told = warnings(&strategy, "soon", (Hedge::p95(), 25_000), slow).await;
    assert_eq!(told, [r#"retry_core WARN operation="soon" helped=0 calls=1000"#]);
}

// Rule V14.
#[tokio::test(start_paused = true)]
async fn a_quota_that_sells_no_hedges_is_such_a_warning() {
    let strategy = StandardRetryStrategy::new().quota_capacity(4);
    let told = warnings(&strategy, "poor", (Hedge::after(millis(1)), 5_000), |_| 20).await;
    assert_eq!(told, [r#"retry_core WARN operation="poor" helped=0 calls=1000"#]);
}

// Rule V14.
#[tokio::test(start_paused = true)]
async fn where_few_answers_are_slow_there_is_no_such_warning() {
    let strategy = StandardRetryStrategy::new().with_quota(NoQuota);
    let slow = |call| if call % 250 == 0 { 200 } else { usual(call) };
    assert_eq!(warnings(&strategy, "one of 250", (Hedge::p95(), 25_000), slow).await, [""; 0]);
}
