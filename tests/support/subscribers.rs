//! Subscribers of `tracing` that see all events of their thread while other tests run.

use std::sync::OnceLock;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Subscriber};

/// Makes this the subscriber of the thread until the guard is dropped.
///
/// While a process has only one subscriber, `tracing` asks that of the thread which reaches an event first whether anybody
/// is interested in the event, and remembers the answer. So a test without a subscriber could silence an event for the test
/// next to it. A second subscriber, which is not interested in anything, prevents this.
pub fn subscribe(subscriber: impl Subscriber + Send + Sync + 'static) -> DefaultGuard {
    static SECOND: OnceLock<Dispatch> = OnceLock::new();

    SECOND.get_or_init(|| Dispatch::new(NoSubscriber::default()));
    tracing::subscriber::set_default(subscriber)
}
