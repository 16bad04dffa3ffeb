//! What `tracing` is told of an operation.

use crate::support::{Failed, Flaky, Recorder, secs};
use retry_core::{Jitter, RetryError, StandardRetryStrategy, retry, retryable};
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Writes each event as a line: level, message and fields.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Lines {
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

        assert_eq!(event.metadata().target(), "retry_core");
        let mut line = Line(format!("{}:", event.metadata().name()));
        event.record(&mut line);
        let level = if *event.metadata().level() == Level::WARN { "WARN" } else { "DEBUG" };
        self.0.lock().unwrap().push(format!("{level} {}", line.0));
    }
}

async fn lines(operation: impl Future) -> Vec<String> {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::registry().with(lines.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    operation.await;
    std::mem::take(&mut lines.0.lock().unwrap())
}

static STRATEGY: StandardRetryStrategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0));

#[retryable(strategy = STRATEGY)]
async fn get(flaky: &Flaky) -> Result<u32, Failed> {
    flaky.call()
}

#[tokio::test(start_paused = true)]
async fn a_success_at_the_first_attempt_is_no_event() {
    assert!(lines(get(&Flaky::new(0, Failed::SAFE))).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn retries_and_late_successes_are_events() {
    let operation = r#"operation="behaviour::events::get""#;
    assert_eq!(
        lines(get(&Flaky::new(2, Failed::THROTTLED))).await,
        [
            format!(r#"DEBUG retry_scheduled: {operation} attempt=1 error_type="throttling" delay_ms=1000"#),
            format!(r#"DEBUG retry_scheduled: {operation} attempt=2 error_type="throttling" delay_ms=2000"#),
            format!("DEBUG succeeded: {operation} attempts=3"),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_reason_to_stop_is_an_event() {
    let operation = r#"operation="behaviour::events::get""#;
    assert_eq!(
        lines(get(&Flaky::new(1, Failed::FATAL))).await,
        [format!(r#"DEBUG stopped: {operation} attempts=1 error_type="client_side" reason="not_retryable""#)]
    );
    assert_eq!(
        lines(get(&Flaky::new(1, Failed::SAFE.after(secs(999))))).await,
        [format!(r#"WARN stopped: {operation} attempts=1 error_type="other" reason="retry_after_too_long""#)]
    );
    let all = lines(get(&Flaky::new(9, Failed::TIMEOUT))).await;
    assert_eq!(
        all.last().unwrap(),
        &format!(r#"WARN stopped: {operation} attempts=5 error_type="timeout" reason="max_attempts""#)
    );
    assert_eq!(all.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_success_that_nobody_recorded_is_an_event() {
    let forgetful = Recorder::new().forgetting();
    let all = lines(async { retry(&forgetful, || async { Ok::<_, Failed>(()) }).run().await }).await;
    assert_eq!(all.len(), 1);
    assert!(all[0].starts_with("WARN not_recorded: operation="), "{}", all[0]);
    assert!(all[0].ends_with(r#"attempts=1 reason="foreign_token""#), "{}", all[0]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_initial_token_is_an_event_even_if_the_attempt_succeeds() {
    let refusing = Recorder::new().refusing_initial_token(RetryError::Refused);
    let all = lines(async { retry(&refusing, || async { Ok::<_, Failed>(()) }).run().await }).await;
    assert_eq!(all.len(), 1);
    assert!(all[0].starts_with("WARN refused: operation="), "{}", all[0]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_initial_token_is_an_event() {
    let refusing = Recorder::new().refusing_initial_token(RetryError::QuotaExhausted);
    let all = lines(async { retry(&refusing, || async { Flaky::new(1, Failed::SAFE).call() }).run().await }).await;
    assert_eq!(all.len(), 2);
    assert!(all[0].starts_with("WARN refused: operation=\"behaviour::events"), "{}", all[0]);
    assert!(all[0].ends_with(r#"reason="quota_exhausted""#), "{}", all[0]);
    assert!(all[1].ends_with(r#"attempts=1 error_type="other" reason="refused""#), "{}", all[1]);
}
