//! Counts the retry events of the library.
//!
//! The library emits a `tracing` event for each retry and for each operation that gave up. Programs that already
//! collect events get these numbers without extra code.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// A count for each name.
pub(crate) type Counts = BTreeMap<String, u32>;

/// Counts retries by cause, and operations that gave up by reason. Clones share the counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    counts: Arc<Mutex<Counted>>,
}

/// The counts of a [`Tally`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    /// The number of retries, by the class of the error before them.
    pub(crate) retries: Counts,
    /// The number of operations that gave up, by reason and by the class of the last error.
    pub(crate) stops: BTreeMap<String, Counts>,
}

impl Tally {
    /// Returns the counts so far.
    pub(crate) fn counted(&self) -> Counted {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<S: Subscriber> Layer<S> for Tally {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // Events of successful operations have a lower level.
        let matters = metadata.target() == "retry_core" && *metadata.level() <= Level::DEBUG;
        if matters { Interest::always() } else { Interest::never() }
    }

    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let Fields { error_type, reason } = fields;
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = match event.metadata().name() {
            "retry_scheduled" => counts.retries.entry(error_type),
            "stopped" => counts.stops.entry(reason).or_default().entry(error_type),
            _ => return,
        };
        *count.or_default() += 1;
    }
}

/// The fields of an event that are counted.
#[derive(Debug, Default)]
struct Fields {
    error_type: String,
    reason: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "error_type" => value.clone_into(&mut self.error_type),
            "reason" => value.clone_into(&mut self.reason),
            _ => {}
        }
    }

    fn record_debug(&mut self, _field: &Field, _value: &dyn fmt::Debug) {}
}
