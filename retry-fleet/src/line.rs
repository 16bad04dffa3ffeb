//! The operations of a process that wait for the service. Successes of the whole fleet send them.

use crate::clock::At;
use crate::protocol::{LineCall, LineReply};
use retry_core::PatientRetryStrategy;
use retry_core::quota::EvidenceQuota;
use retry_core::time::Timestamp;
use std::borrow::Borrow;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// A reference to a static strategy, or an `Arc`.
struct Handle<P>(P);

/// A strategy with any backoff.
trait Strategy {
    /// Returns the number of operations that wait and may be sent, and how long the first of them has waited.
    fn wanted(&self, now: Timestamp) -> (u32, Duration);
    /// Takes the sends that the process does not use itself, in halves.
    fn take_spare(&self, now: Timestamp) -> u32;
    fn grant(&self, reply: LineReply, now: Timestamp);
}

impl<B, Q, P: Deref<Target = PatientRetryStrategy<B, Q>>> Strategy for Handle<P> {
    fn wanted(&self, now: Timestamp) -> (u32, Duration) {
        self.0.wanted_sends(&At(now))
    }

    fn take_spare(&self, now: Timestamp) -> u32 {
        self.0.take_spare_halves(&At(now))
    }

    fn grant(&self, reply: LineReply, now: Timestamp) {
        self.0.grant(reply.granted, reply.is_waiting.then_some(reply.least_wait), &At(now));
    }
}

/// The quota of a strategy.
struct QuotaOf<P>(Arc<Handle<P>>);

impl<B: 'static, Q: Borrow<EvidenceQuota> + 'static, P: Deref<Target = PatientRetryStrategy<B, Q>>> Deref
    for QuotaOf<P>
{
    type Target = EvidenceQuota;

    fn deref(&self) -> &EvidenceQuota {
        self.0.0.quota().borrow()
    }
}

/// The line of a process.
pub(crate) struct LinePart {
    strategy: Arc<dyn Strategy + Send + Sync>,
    /// The total number of sends that it has given to others, in halves.
    spare: u64,
}

impl LinePart {
    /// Also returns the quota of the strategy.
    pub(crate) fn new<B, Q, P>(strategy: P) -> (Self, impl Deref<Target = EvidenceQuota> + Send + Sync + 'static)
    where
        B: 'static,
        Q: Borrow<EvidenceQuota> + 'static,
        P: Deref<Target = PatientRetryStrategy<B, Q>> + Send + Sync + 'static,
    {
        let handle = Arc::new(Handle(strategy));
        (Self { strategy: Arc::<Handle<P>>::clone(&handle), spare: 0 }, QuotaOf(handle))
    }

    /// Returns what waits, and the sends that the process does not use itself.
    pub(crate) fn call(&mut self, now: Timestamp) -> LineCall {
        let (waiting, longest_wait) = self.strategy.wanted(now);
        self.spare += u64::from(self.strategy.take_spare(now));
        LineCall { waiting, longest_wait, spare: self.spare }
    }

    /// Takes the sends that the fleet grants.
    pub(crate) fn answered(&self, reply: LineReply, now: Timestamp) {
        self.strategy.grant(reply, now);
    }

    /// Continues without the others.
    pub(crate) fn go_alone(&self, now: Timestamp) {
        self.strategy.grant(LineReply::default(), now);
    }
}
