//! Processes for the tests.

use crate::millis::{At, at};
use retry_core::quota::EvidenceQuota;
use retry_core::{RetryErrorType, RetryQuota};
use retry_fleet::Member;
use retry_fleet::protocol::Reply;
use retry_fleet::store::MemoryStore;
use std::sync::Arc;

/// A process of a fleet, whose first attempt has succeeded.
pub(crate) struct Process {
    pub(crate) quota: Arc<EvidenceQuota>,
    pub(crate) member: Member,
}

impl Process {
    pub(crate) fn new(id: &str, now: u64) -> Self {
        let quota = Arc::new(EvidenceQuota::new());
        quota.first_succeeded(0);
        Self { member: Member::new("orders", id, at(now)).quota(Arc::clone(&quota)), quota }
    }

    /// Notes a failed attempt, and returns whether its retry is paid for.
    pub(crate) fn pays(&self, error_type: RetryErrorType, now: u64) -> bool {
        self.quota.pay(14, error_type, &At(now)).is_some()
    }

    pub(crate) fn call(&mut self, now: u64, store: &mut MemoryStore) -> Reply {
        let call = self.member.call(at(now), false);
        let reply = store.call(now, &call);
        self.answered(now, &reply);
        reply
    }

    pub(crate) fn answered(&mut self, now: u64, reply: &Reply) {
        self.member.answered(at(now), reply);
    }

    pub(crate) fn unanswered(&mut self, now: u64) {
        self.member.unanswered(at(now), &"no answer");
    }
}
