//! Random numbers and processes for the tests.

use retry_core::time::{ManualTimer, Timestamp};
use retry_core::{Clock, RetryQuota};
use retry_fleet::protocol::Reply;
use retry_fleet::{FleetQuota, Member};
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

/// A process of a fleet.
pub(crate) struct Process {
    pub(crate) quota: Arc<FleetQuota>,
    pub(crate) member: Member,
}

impl Process {
    pub(crate) fn new(id: &str, quota: FleetQuota, now: u64) -> Self {
        let quota = Arc::new(quota);
        let member = Member::new("orders", id, at(now)).quota(Arc::clone(&quota));
        Self { quota, member }
    }

    pub(crate) fn answered(&mut self, now: u64, reply: &Reply) {
        self.member.answered(at(now), reply);
    }

    pub(crate) fn unanswered(&mut self, now: u64) {
        self.member.unanswered(at(now), &"no answer");
    }

    pub(crate) fn pay(&self, cost: u32) -> bool {
        self.quota.try_acquire(cost, &ManualTimer::new() as &dyn Clock)
    }

    /// Refunds an amount, and returns what was accepted.
    pub(crate) fn refund(&self, amount: u32) -> u32 {
        let before = self.quota.available();
        self.quota.refund(amount);
        self.quota.available() - before
    }
}

/// Returns a time of the process, in milliseconds.
pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::START.saturating_add(Duration::from_millis(millis))
}
