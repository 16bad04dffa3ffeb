//! One process of a fleet, without I/O: what it tells the store, when, and what it makes of the answers.

use crate::events;
use crate::limit::LimitPart;
use crate::protocol::{Call, QuotaCall, QuotaReply, Reply};
use crate::quota::FleetQuota;
use crate::random::Random;
use crate::switch::FleetSwitch;
use retry_core::PacedRetryStrategy;
use retry_core::time::Timestamp;
use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::task::{Context, Poll};
use std::time::Duration;

/// The time between two calls, on average.
const INTERVAL: Duration = Duration::from_secs(1);
/// The time between two calls with a limit, on average.
const LIMIT_INTERVAL: Duration = Duration::from_millis(250);
/// The part by which an interval is longer or shorter, by chance.
const SPREAD: f64 = 0.25;
/// The number of calls per second that all processes together make at most, on average.
const CALLS_PER_SECOND: f64 = 2_000.0;
/// The time from being woken to the call, so that what happens in one moment needs one call.
const EARLY: Duration = Duration::from_millis(20);
/// The number of early calls per second that all processes together make at most.
const EARLY_CALLS_PER_SECOND: f64 = 10_000.0;
/// The time without an answer after which the store counts as lost.
const PATIENCE: Duration = Duration::from_secs(3);

/// A part of a fleet that a program holds: a reference to a static, or an `Arc`.
pub(crate) type Held<T> = Box<dyn Deref<Target = T> + Send + Sync>;

/// One process of a fleet, without I/O. A [`Fleet`](crate::Fleet) runs it; use it directly for a runtime of your own, or
/// in simulations.
///
/// Make the [`call`](Member::call) at [`next_call_at`](Member::next_call_at), hand the reply to
/// [`answered`](Member::answered), and report a call without a reply by [`unanswered`](Member::unanswered). Make one call
/// at a time.
pub struct Member {
    fleet: String,
    id: String,
    random: Random,
    epoch: Option<String>,
    /// The number of calls.
    calls: u64,
    called_at: Timestamp,
    answered_at: Timestamp,
    next_call_at: Timestamp,
    members: u32,
    is_lost: bool,
    quota: Option<QuotaPart>,
    limit: Option<LimitPart>,
    switch: Option<Held<FleetSwitch>>,
    /// What to turn the switch to with the next call.
    turn: Option<Duration>,
    /// Whether the next call is an early one.
    is_early: bool,
    has_left: bool,
}

/// What the process knows about the quota.
struct QuotaPart {
    quota: Held<FleetQuota>,
    /// What it has been given in all, the pocket included.
    seen: u64,
    /// What it has given back in all.
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

/// What a process knows about its fleet.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FleetStatus {
    /// Whether the store answers. `None` before the first answer.
    pub is_connected: Option<bool>,
    /// The number of processes, as far as is known.
    pub members: u32,
    /// What the store can still give, or 0 if that is unknown.
    pub balance: i64,
    /// What this process holds.
    pub held: u32,
    /// The limit on sends of the whole fleet, in sends per second, if it has one.
    pub rate: Option<f64>,
    /// The share of this process, in sends per second, if its sends are limited.
    pub share: Option<f64>,
    /// Whether the retries of the fleet are on.
    pub retries_enabled: bool,
}

impl Member {
    /// Creates a process with a unique name, for the named fleet. It calls at once.
    pub fn new(fleet: impl Into<String>, id: impl Into<String>, now: Timestamp) -> Self {
        let id = id.into();
        Self {
            fleet: fleet.into(),
            random: Random::from_name(&id),
            id,
            epoch: None,
            calls: 0,
            called_at: now,
            answered_at: now,
            next_call_at: now,
            members: 1,
            is_lost: false,
            quota: None,
            limit: None,
            switch: None,
            turn: None,
            is_early: false,
            has_left: false,
        }
    }

    /// Sets the quota. A quota belongs to one member.
    #[must_use]
    pub fn quota(mut self, quota: impl Deref<Target = FleetQuota> + Send + Sync + 'static) -> Self {
        let (seen, capacity) = (quota.pocket_setting().into(), quota.capacity());
        self.quota = Some(QuotaPart {
            quota: Box::new(quota),
            seen,
            back: 0,
            recent: 0.0,
            balance: 0,
            capacity,
            told: None,
            has_told_share: false,
        });
        self
    }

    /// Sets the strategy whose sends are limited together with those of the other processes.
    #[must_use]
    pub fn limit<B: 'static, Q: 'static>(
        mut self,
        strategy: impl Deref<Target = PacedRetryStrategy<B, Q>> + Send + Sync + 'static,
    ) -> Self {
        self.limit = Some(LimitPart::new(strategy, self.called_at));
        self
    }

    /// Sets the switch.
    #[must_use]
    pub fn switch(mut self, switch: impl Deref<Target = FleetSwitch> + Send + Sync + 'static) -> Self {
        self.switch = Some(Box::new(switch));
        self
    }

    /// Turns the retries of the fleet off for so long, or on if the time is zero, with the next call, which is now.
    pub fn turn_retries_off(&mut self, off_for: Duration, now: Timestamp) {
        self.turn = Some(off_for);
        self.next_call_at = now;
    }

    /// Returns the name of the fleet.
    pub fn fleet(&self) -> &str {
        &self.fleet
    }

    /// Returns the time of the next call.
    pub const fn next_call_at(&self) -> Timestamp {
        self.next_call_at
    }

    /// Waits until the process holds too little. Then [`next_call_at`](Member::next_call_at) is soon.
    ///
    /// It is ready at most once before each call. Only the waker of the last context is kept.
    pub fn poll_woken(&mut self, context: &Context<'_>, now: Timestamp) -> Poll<()> {
        let Some(part) = self.quota.as_ref().filter(|_| !self.is_early) else { return Poll::Pending };
        if !part.quota.wake.is_woken(context.waker()) {
            return Poll::Pending;
        }
        self.is_early = true;
        let early = EARLY.max(Duration::from_secs_f64(f64::from(self.members) / EARLY_CALLS_PER_SECOND));
        self.next_call_at = self.next_call_at.min(now.saturating_add(early));
        Poll::Ready(())
    }

    /// Returns the call to make now. A process that `is_leaving` gives back all that it holds, and makes no other call.
    pub fn call(&mut self, now: Timestamp, is_leaving: bool) -> Call {
        let (elapsed, is_joined) = (now.saturating_since(self.called_at), self.epoch.is_some());
        (self.called_at, self.is_early, self.has_left) = (now, false, is_leaving);
        self.calls += 1;
        let mut call = Call::new(self.id.clone(), format!("{}.{}", self.id, self.calls));
        call.epoch.clone_from(&self.epoch);
        call.is_leaving = is_leaving;
        call.off_for = self.turn.take();
        call.limit = self.limit.as_mut().map(|part| {
            if !is_joined && self.calls == 1 {
                part.join(now);
            }
            part.call(now)
        });
        let (members, is_lost) = (self.members, self.is_lost);
        call.quota = self
            .quota
            .as_mut()
            .map(|part| if is_leaving { part.leave() } else { part.call(elapsed, members, is_lost) });
        call
    }

    /// Takes the reply to the last call.
    pub fn answered(&mut self, now: Timestamp, reply: &Reply) {
        self.answered_at = now;
        self.members = reply.members.max(1);
        let has_joined = self.epoch.is_none();
        match &self.epoch {
            Some(epoch) if *epoch == reply.epoch => {}
            Some(_) => {
                events::store_emptied(&self.fleet);
                self.epoch = Some(reply.epoch.clone());
            }
            None => self.epoch = Some(reply.epoch.clone()),
        }
        if std::mem::take(&mut self.is_lost) {
            events::store_back(&self.fleet);
        }
        if let Some((part, reply)) = self.quota.as_mut().zip(reply.quota.as_ref()) {
            part.answered(reply, self.members, &self.fleet);
            if has_joined {
                part.pay_debt(reply.balance);
            }
        }
        if let Some(switch) = &self.switch {
            switch.set(reply.retries_enabled);
        }
        self.schedule(now);
        if let Some((part, reply)) = self.limit.as_mut().zip(reply.limit.as_ref())
            && part.answered(reply, self.members, now)
        {
            self.next_call_at = now;
        }
    }

    /// Notes that a call was not answered, for this reason. After 3 s without an answer, the process goes on alone: with
    /// what it holds, up to its fair share.
    pub fn unanswered(&mut self, now: Timestamp, reason: &dyn fmt::Display) {
        if !self.is_lost && (now.saturating_since(self.answered_at) >= PATIENCE) {
            self.is_lost = true;
            events::store_lost(&self.fleet, &reason.to_string());
        }
        if self.is_lost {
            self.go_alone(now);
        } else if let Some(part) = self.limit.as_mut().filter(|_| self.epoch.is_some()) {
            // The rate of the moment may be far above the estimate, and nobody corrects it now.
            part.go_alone(true, now);
        }
        self.schedule(now);
    }

    /// Goes on without the store, because it is lost or nobody will ask it any more.
    pub(crate) fn go_alone(&mut self, now: Timestamp) {
        let members = self.epoch.as_ref().filter(|_| !self.has_left).map(|_| self.members);
        if let Some(part) = &mut self.quota {
            part.go_alone(members);
        }
        if let Some(part) = &mut self.limit {
            part.go_alone(members.is_some(), now);
        }
    }

    fn schedule(&mut self, now: Timestamp) {
        let interval = if self.limit.is_some() { LIMIT_INTERVAL } else { INTERVAL };
        let interval = interval.as_secs_f64().max(f64::from(self.members) / CALLS_PER_SECOND);
        let factor = 1.0 + SPREAD * (2.0 * self.random.uniform() - 1.0);
        self.next_call_at = now.saturating_add(Duration::from_secs_f64(interval * factor));
    }

    /// Returns what the process knows about its fleet.
    pub fn status(&self) -> FleetStatus {
        FleetStatus {
            is_connected: self.epoch.as_ref().map(|_| !self.is_lost),
            members: self.members,
            balance: self.quota.as_ref().map_or(0, |part| part.balance),
            held: self.quota.as_ref().map_or(0, |part| part.quota.stock().level().available),
            rate: self.limit.as_ref().and_then(LimitPart::fleet_rate),
            share: self.limit.as_ref().and_then(LimitPart::rate),
            retries_enabled: self.switch.as_ref().is_none_or(|switch| switch.is_on()),
        }
    }

    /// Returns the quota.
    #[cfg(feature = "tokio")]
    pub(crate) fn quota_of(&self) -> Option<&FleetQuota> {
        self.quota.as_ref().map(|part| &**part.quota)
    }
}

impl Debug for Member {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("fleet", &self.fleet).field("status", &self.status()).finish_non_exhaustive()
    }
}

impl QuotaPart {
    /// Returns what the process would like to hold: a whole number of retries.
    ///
    /// In quiet times these are two retries, if the fair share is that large. A process that retries holds what it needs
    /// for more than a second.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the float saturates")]
    fn target(&self, members: u32) -> u32 {
        let cost = self.quota.cost_setting();
        let share = self.capacity / members;
        let recent = ((self.recent / f64::from(cost)).round() as u32).saturating_mul(cost);
        recent.max(share / cost * cost).min((2 * cost).max(recent)).min(self.capacity)
    }

    fn call(&mut self, elapsed: Duration, members: u32, is_lost: bool) -> QuotaCall {
        let cost = self.quota.cost_setting();
        self.recent = self.recent * (-elapsed.as_secs_f64()).exp2() + f64::from(self.quota.take_asked());
        self.quota.wake.reset();
        let target = self.target(members);
        let mut want = 0;
        if !is_lost {
            // What is less than half a retry is not worth the trouble.
            if self.quota.stock().level().available > target.saturating_add(cost / 2) {
                self.back += u64::from(self.quota.stock().take_above(target));
            }
            want = target.saturating_sub(self.quota.stock().level().available);
        }
        self.quota_call(want)
    }

    /// Gives everything back.
    fn leave(&mut self) -> QuotaCall {
        self.quota.set_low(0);
        self.quota.stock().grant(0, 0);
        self.back += u64::from(self.quota.stock().take_above(0));
        self.quota_call(0)
    }

    fn quota_call(&self, want: u32) -> QuotaCall {
        QuotaCall {
            capacity: self.quota.capacity(),
            cost: self.quota.cost_setting(),
            seen: self.seen,
            back: self.back,
            want,
            held: self.quota.stock().level().available,
            hint: u32::try_from(self.balance.max(0)).unwrap_or(u32::MAX),
        }
    }

    fn answered(&mut self, reply: &QuotaReply, members: u32, fleet: &str) {
        let cost = self.quota.cost_setting();
        // The fleet's room is shared, or else the refunds of all processes together would fill it many times.
        let share = u32::try_from(2 * u64::from(reply.room) / u64::from(members)).unwrap_or(u32::MAX);
        let room = reply.room.min(share.max(cost));
        let granted = u32::try_from(reply.given.saturating_sub(self.seen)).unwrap_or(u32::MAX);
        self.quota.stock().grant(granted, room);
        self.seen += u64::from(granted);
        (self.balance, self.capacity) = (reply.balance, reply.capacity);
        // Without a balance, an early call would be in vain.
        let low = if reply.balance > 0 { (self.target(members) / 2).max(cost) } else { 0 };
        self.quota.set_low(low);
        self.quota.note_balance(reply.balance, reply.capacity);

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
    fn pay_debt(&mut self, balance: i64) {
        let debt = u32::try_from(balance.min(0).unsigned_abs()).unwrap_or(u32::MAX);
        let keep = self.quota.stock().level().available.saturating_sub(debt);
        self.back += u64::from(self.quota.stock().take_above(keep));
    }

    /// Lets refunds fill the fair share, or the pocket of a process that is not in the fleet.
    fn go_alone(&mut self, members: Option<u32>) {
        self.quota.set_low(0);
        let share = members.map_or(self.quota.pocket_setting(), |members| self.capacity / members);
        self.quota.stock().fill_up_to(share);
    }
}
