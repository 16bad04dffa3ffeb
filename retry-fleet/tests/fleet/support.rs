//! Random numbers and processes for the tests.

use retry_core::quota::EvidenceQuota;
use retry_core::time::Timestamp;
use retry_core::{Clock, RetryErrorType, RetryQuota};
use retry_fleet::Member;
use retry_fleet::protocol::Reply;
use retry_fleet::store::MemoryStore;
use std::sync::Arc;
use std::time::Duration;

/// A small generator, so that a failing run can be repeated by its seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        u32::try_from((high * u64::from(bound)) >> 32).unwrap()
    }

    pub(crate) fn one_in(&mut self, number: u32) -> bool {
        self.below(number) == 0
    }
}

/// A clock that shows one time, in milliseconds.
#[derive(Debug)]
struct At(u64);

impl Clock for At {
    fn now(&self) -> Timestamp {
        at(self.0)
    }
}

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

/// Returns a time of the process, in milliseconds.
pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::START.saturating_add(Duration::from_millis(millis))
}
