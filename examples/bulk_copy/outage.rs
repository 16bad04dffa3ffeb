//! An outage of the service, in which every request fails.

use crate::count::Counter;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// When an outage happens.
#[derive(Clone, Debug)]
pub(crate) struct OutagePlan {
    /// The number of completed writes at which it begins.
    pub(crate) after_writes: u32,
    /// How long it lasts.
    pub(crate) length: Duration,
}

/// An outage and what is received meanwhile.
#[derive(Debug)]
pub(crate) struct Outage {
    plan: OutagePlan,
    began: OnceLock<Instant>,
    /// The requests received.
    pub(crate) received: Counter,
    /// The retries among them. Those of throttled requests do not count, because throttling is not a sign of an outage.
    pub(crate) retries: Counter,
}

impl Outage {
    /// Creates an outage to come.
    pub(crate) fn new(plan: OutagePlan) -> Self {
        Self { plan, began: OnceLock::new(), received: Counter::default(), retries: Counter::default() }
    }

    /// Returns true if a request fails now, after this number of writes, and counts it. `retry` is the class of the failure
    /// before the request, if the request is a retry.
    pub(crate) fn strike(&self, writes: u32, retry: Option<&[u8]>) -> bool {
        if writes >= self.plan.after_writes {
            self.began.get_or_init(Instant::now);
        }
        if self.elapsed().is_none_or(|elapsed| elapsed >= self.plan.length) {
            return false;
        }
        self.received.add();
        if retry.is_some_and(|class| class != b"throttling") {
            self.retries.add();
        }
        true
    }

    /// Returns the time since its beginning. `None` before it.
    pub(crate) fn elapsed(&self) -> Option<Duration> {
        self.began.get().map(Instant::elapsed)
    }
}
