//! A limiter that notes weights.

use retry_core::limit::{FailedSend, LazyWaker, Ready, SendLimiter, Unpaid};
use retry_core::policy::Usage;
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::{Clock, Jitter, StandardRetryStrategy, Success};
use std::sync::Mutex;

/// A limiter that notes the weights that it is told, and what attempts used.
#[derive(Debug, Default)]
pub struct Scales(Mutex<Vec<String>>);

impl Scales {
    /// Creates a strategy with such a limiter, whose retries have no delay.
    pub const fn strategy() -> LimitedRetryStrategy<Self> {
        let standard = StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0));
        LimitedRetryStrategy::with_limiter(standard, Self(Mutex::new(Vec::new())))
    }

    /// Returns the notes since the last call.
    ///
    /// # Panics
    ///
    /// If a thread panicked while it noted.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn note(&self, note: String) {
        self.0.lock().unwrap().push(note);
    }
}

impl SendLimiter for Scales {
    type Place = ();

    fn begin(&self, _: &dyn Clock) {}

    fn weigh(&self, (): &mut (), weight: u32) {
        self.note(format!("weighs {weight}"));
    }

    fn ask(&self, (): &mut (), _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        Ready::Now
    }

    fn used(&self, (): &mut (), usage: Usage) {
        self.note(format!("used {:?}", usage.used()));
    }

    fn succeeded(&self, (): &mut (), _: &Success, _: &dyn Clock) {
        self.note("succeeded".to_owned());
    }

    fn failed(&self, (): &mut (), failure: FailedSend, _: &dyn Clock) -> Option<Unpaid> {
        assert!(matches!(failure, FailedSend::Otherwise { .. }), "{failure:?}");
        self.note("failed".to_owned());
        None
    }
}
