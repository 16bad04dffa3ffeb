//! The quota of a process, which shares what it knows with its fleet.

use crate::clock::At;
use crate::protocol::Knowledge;
use retry_core::quota::EvidenceQuota;
use retry_core::time::Timestamp;
use std::ops::Deref;

/// The quota of a process: a reference to a static, or an `Arc`.
pub(crate) struct QuotaPart(Box<dyn Deref<Target = EvidenceQuota> + Send + Sync>);

impl QuotaPart {
    pub(crate) fn new(quota: impl Deref<Target = EvidenceQuota> + Send + Sync + 'static) -> Self {
        Self(Box::new(quota))
    }

    /// Returns the address of the quota.
    #[cfg(feature = "tokio")]
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref::<EvidenceQuota>(&**self.0).addr()
    }

    /// Returns what this process has learned itself.
    pub(crate) fn call(&self, now: Timestamp) -> Knowledge {
        self.0.knowledge(&At(now)).into()
    }

    /// Takes what the others know. Without answers, it fades by itself.
    pub(crate) fn answered(&self, others: Knowledge, now: Timestamp) {
        self.0.set_peers(others.into(), &At(now));
    }
}
