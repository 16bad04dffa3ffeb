//! The part of a process in the quota of its fleet: what it tells the store, and what it makes of the answers.

use super::FleetQuota;
use crate::events;
use crate::protocol::{QuotaCall, QuotaReply};
use std::ops::Deref;
use std::time::Duration;

/// What the process knows about the quota.
pub(crate) struct QuotaPart {
    /// A reference to a static, or an `Arc`.
    quota: Box<dyn Deref<Target = FleetQuota> + Send + Sync>,
    /// The entry of the process in the store. 0 before the first answer.
    entry: u64,
    /// What it has been given in all since that entry was made, the pocket included.
    seen: u64,
    /// What it has given back in all since that entry was made.
    back: u64,
    /// The cost of the retries that were asked for recently; older ones count less.
    recent: f64,
    /// The last known balance and capacity of the fleet.
    balance: i64,
    capacity: u32,
    /// The capacity that was told to differ.
    told: Option<u32>,
    has_told_share: bool,
}

impl QuotaPart {
    pub(crate) fn new(quota: Box<dyn Deref<Target = FleetQuota> + Send + Sync>) -> Self {
        let capacity = quota.capacity();
        Self { quota, entry: 0, seen: 0, back: 0, recent: 0.0, balance: 0, capacity, told: None, has_told_share: false }
    }

    /// Begins the membership, with the first call. What the quota holds is charged as its pocket, and so is a pocket that it
    /// has spent. What it holds above a pocket, from an earlier membership, was given to another name, and counts as spent.
    pub(crate) fn join(&mut self) {
        let pocket = self.quota.pocket_setting();
        self.quota.stock().take_above(pocket);
        self.quota.stock().fill_up_to(0);
        let is_first = self.quota.take_first();
        self.seen = if is_first { pocket } else { self.held() }.into();
    }

    pub(crate) fn quota(&self) -> &FleetQuota {
        &self.quota
    }

    pub(crate) const fn balance(&self) -> i64 {
        self.balance
    }

    /// Returns what the process holds.
    pub(crate) fn held(&self) -> u32 {
        self.quota.stock().level().available
    }

    /// Returns what the process would like to hold: a whole number of retries.
    ///
    /// In quiet times these are two retries, if the fair share is that large. A process that retries holds what it needs
    /// for more than a second.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the float saturates")]
    fn target(&self, members: u32) -> u32 {
        let cost = self.quota.cost_setting();
        let share = self.capacity / members;
        // A retry may cost less than the usual one, so a part of it is rounded up.
        let recent = if self.recent < 1.0 { 0 } else { (self.recent / f64::from(cost)).ceil() as u32 };
        let recent = recent.saturating_mul(cost);
        recent.max(share / cost * cost).min(cost.saturating_mul(2).max(recent)).min(self.capacity)
    }

    pub(crate) fn call(&mut self, elapsed: Duration, members: u32, is_lost: bool) -> QuotaCall {
        let cost = self.quota.cost_setting();
        self.recent = self.recent * (-elapsed.as_secs_f64()).exp2() + f64::from(self.quota.take_asked());
        self.quota.wake.reset();
        let target = self.target(members);
        let mut want = 0;
        if !is_lost {
            // What is less than half a retry is not worth the trouble.
            if self.held() > target.saturating_add(cost / 2) {
                self.back += u64::from(self.quota.stock().take_above(target));
            }
            want = target.saturating_sub(self.held());
        }
        self.quota_call(want)
    }

    /// Gives everything back.
    pub(crate) fn leave(&mut self) -> QuotaCall {
        self.quota.set_low(0);
        self.quota.stock().grant(0, 0);
        self.back += u64::from(self.quota.stock().take_above(0));
        self.quota_call(0)
    }

    fn quota_call(&self, want: u32) -> QuotaCall {
        QuotaCall {
            entry: self.entry,
            capacity: self.quota.capacity(),
            cost: self.quota.cost_setting(),
            seen: self.seen,
            back: self.back,
            want,
            held: self.held(),
            hint: u32::try_from(self.balance.max(0)).unwrap_or(u32::MAX),
        }
    }

    pub(crate) fn answered(&mut self, reply: &QuotaReply, members: u32, fleet: &str) {
        let cost = self.quota.cost_setting();
        // The fleet's room is shared, or else the refunds of all processes together would fill it many times.
        let share = u32::try_from(2 * u64::from(reply.room) / u64::from(members)).unwrap_or(u32::MAX);
        let room = reply.room.min(share.max(cost));
        if self.entry != reply.entry {
            // The store had forgotten the process, and counts from 0 again. It knows of nothing that was given before.
            if self.entry != 0 {
                (self.seen, self.back) = (0, 0);
            }
            self.entry = reply.entry;
        }
        let granted = u32::try_from(reply.given.saturating_sub(self.seen)).unwrap_or(u32::MAX).min(reply.capacity);
        self.quota.stock().grant(granted, room);
        self.seen += u64::from(granted);
        (self.balance, self.capacity) = (reply.balance, reply.capacity);
        // Without a balance, an early call would be in vain.
        let low = if reply.balance > 0 { (self.target(members) / 2).max(cost) } else { 0 };
        self.quota.set_low(low);
        self.quota.note_spent(reply.room, reply.capacity);

        if reply.capacity != self.quota.capacity() && self.told != Some(reply.capacity) {
            self.told = Some(reply.capacity);
            events::capacity_differs(fleet, self.quota.capacity(), reply.capacity);
        }
        if reply.capacity / members < cost && !self.has_told_share {
            self.has_told_share = true;
            events::share_is_small(fleet, reply.capacity / members, cost);
        }
    }

    /// Gives back what is left of the pocket, as far as the fleet cannot pay for it. In an outage, processes that live for
    /// seconds would send a retry each.
    pub(crate) fn pay_debt(&mut self, balance: i64) {
        let debt = u32::try_from(balance.min(0).unsigned_abs()).unwrap_or(u32::MAX);
        let keep = self.held().saturating_sub(debt);
        self.back += u64::from(self.quota.stock().take_above(keep));
    }

    /// Lets nothing wake the task until the next answer, because an early call would fail, too.
    pub(crate) fn unanswered(&self) {
        self.quota.set_low(0);
    }

    /// Lets refunds fill the fair share, or the pocket of a process that is not in the fleet.
    pub(crate) fn go_alone(&mut self, members: Option<u32>) {
        self.quota.set_low(0);
        let share = members.map_or(self.quota.pocket_setting(), |members| self.capacity / members);
        self.quota.stock().fill_up_to(share);
    }
}
