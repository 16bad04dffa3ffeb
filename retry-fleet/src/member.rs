//! One process of a fleet, without I/O: when it calls the store, what it reports, and what it does with the replies.

use crate::events;
use crate::limit::LimitPart;
use crate::line::LinePart;
use crate::protocol::{Call, LineCall, Reply, Turn};
use crate::quota::QuotaPart;
use crate::random::Random;
use crate::status::FleetStatus;
use crate::switch::{FleetSwitch, SwitchedOff, cut};
use retry_core::PatientRetryStrategy;
use retry_core::quota::EvidenceQuota;
use retry_core::time::Timestamp;
use retry_limits::PacedStrategy;
use std::borrow::Borrow;
use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::time::Duration;

/// The time between two calls, on average.
const INTERVAL: Duration = Duration::from_secs(1);
/// The time between two calls with a limit, on average.
const LIMIT_INTERVAL: Duration = Duration::from_millis(250);
/// The time between two calls with a quota, on average. With a second, a thousand processes behind three services in a row make
/// 1.11 attempts for each arrival instead of 1.08, because in each second without knowledge all of them retry.
const QUOTA_INTERVAL: Duration = Duration::from_millis(500);
/// The largest part by which an interval is longer or shorter, at random.
const SPREAD: f64 = 0.25;
/// The number of calls per second that all processes together make at most, on average.
const CALLS_PER_SECOND: f64 = 2_000.0;
/// The longest time between two calls, on average, whatever the number of processes. It is far below the time after which the
/// store forgets a process.
const LONGEST_INTERVAL: Duration = Duration::from_secs(10);
/// The time without a call after which the store removes a process, and the least number of intervals. A removed process joins
/// again with its next call.
const SILENCE: Duration = Duration::from_secs(3);
const SILENCE_INTERVALS: f64 = 1.75;
/// The time without an answer after which the other processes may have been cut off, too, and may not be back yet.
const AWAY: Duration = Duration::from_millis(1_500);
/// The time without an answer after which the store is treated as lost, and the least number of intervals.
const PATIENCE: Duration = Duration::from_secs(3);
const PATIENCE_INTERVALS: f64 = 2.5;

/// The time after which a process that has seen no other process reports it.
const ALONE: Duration = Duration::from_secs(60);

/// One process of a fleet, without I/O. A [`Fleet`](crate::Fleet) runs it; use it directly for another runtime, or
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
    answered_at: Timestamp,
    next_call_at: Timestamp,
    members: u32,
    is_lost: bool,
    quota: Option<QuotaPart>,
    line: Option<LinePart>,
    limit: Option<LimitPart>,
    switch: Option<Box<dyn Deref<Target = FleetSwitch> + Send + Sync>>,
    /// How to turn the switch with the next call.
    turn: Option<Turn>,
    /// The last turn that the process knows, and when its time is over.
    known_turn: Option<(Turn, Timestamp)>,
    has_left: bool,
    program: Option<String>,
    /// The other program that the store knows.
    other_program: Option<String>,
    /// The time of the first answer, as long as no other process was seen.
    alone_since: Option<Timestamp>,
}

impl Member {
    /// Creates a process with a unique name, for the named fleet. Its first call is due immediately.
    pub fn new(fleet: impl Into<String>, id: impl Into<String>, now: Timestamp) -> Self {
        let id = id.into();
        Self {
            fleet: fleet.into(),
            random: Random::from_name(&id),
            id,
            epoch: None,
            calls: 0,
            answered_at: now,
            next_call_at: now,
            members: 1,
            is_lost: false,
            quota: None,
            line: None,
            limit: None,
            switch: None,
            turn: None,
            known_turn: None,
            has_left: false,
            program: None,
            other_program: None,
            alone_since: None,
        }
    }

    /// Sets the quota that shares what it knows. A quota belongs to one member. It replaces [`patient`](Member::patient).
    #[must_use]
    pub fn quota(mut self, quota: impl Deref<Target = EvidenceQuota> + Send + Sync + 'static) -> Self {
        (self.quota, self.line) = (Some(QuotaPart::new(quota)), None);
        self
    }

    /// Sets the strategy whose quota shares what it knows, and whose operations that wait for the service are sent as the successes of
    /// all processes allow. It replaces [`quota`](Member::quota).
    #[must_use]
    pub fn patient<B: 'static, Q: Borrow<EvidenceQuota> + 'static>(
        self,
        strategy: impl Deref<Target = PatientRetryStrategy<B, Q>> + Send + Sync + 'static,
    ) -> Self {
        let (line, quota) = LinePart::new(strategy);
        Self { line: Some(line), ..self.quota(quota) }
    }

    /// Sets the strategy whose sends are limited together with those of the other processes.
    #[must_use]
    pub fn limit(mut self, strategy: impl Deref<Target: PacedStrategy> + Send + Sync + 'static) -> Self {
        let random = Random::from_name(&format!("share of {}", self.id));
        self.limit = Some(LimitPart::new(strategy, random, self.answered_at));
        self
    }

    /// Sets the switch.
    #[must_use]
    pub fn switch(mut self, switch: impl Deref<Target = FleetSwitch> + Send + Sync + 'static) -> Self {
        self.switch = Some(Box::new(switch));
        self
    }

    /// Sets the name of the program, as [`Fleet::program`](crate::Fleet::program) does. Without a name, no other program is reported.
    #[must_use]
    pub fn program(mut self, name: impl Into<String>) -> Self {
        self.program = Some(cut(&name.into()).to_owned()).filter(|name| !name.is_empty());
        self
    }

    /// Turns the retries of the fleet off for this time, or on if it is zero, with the next call, which is due immediately. The reason
    /// says who turned them off, and why, or who turned them on.
    pub fn turn_retries_off(&mut self, off_for: Duration, reason: impl Into<String>, now: Timestamp) {
        self.turn = Some(Turn { number: 0, off_for, reason: reason.into() });
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

    /// Returns the call to make now. A process that `is_leaving` makes no other call.
    pub fn call(&mut self, now: Timestamp, is_leaving: bool) -> Call {
        let is_first = self.calls == 0;
        self.has_left = is_leaving;
        self.calls += 1;
        let mut call = Call::new(self.id.clone(), format!("{}.{}", self.id, self.calls));
        call.epoch.clone_from(&self.epoch);
        call.ttl = SILENCE.max(self.interval().mul_f64(SILENCE_INTERVALS));
        call.is_leaving = is_leaving;
        call.turn = self.turn.take();
        call.known_turn = self.known_turn.as_ref().map(|(turn, until)| Turn {
            number: turn.number,
            off_for: until.saturating_since(now),
            reason: self.reason(now).to_owned(),
        });
        call.program.clone_from(&self.program);
        call.limit = self.limit.as_mut().filter(|_| !is_under_test()).map(|part| {
            if is_first {
                part.join(now);
            }
            part.call(now)
        });
        call.quota = self.quota.as_ref().filter(|_| !is_under_test()).map(|part| part.call(now));
        call.line = self.line.as_mut().filter(|_| !is_under_test()).map(|part| {
            let line = part.call(now);
            if is_leaving {
                part.go_alone(now);
                // Nobody would take what is granted.
                return LineCall { waiting: 0, ..line };
            }
            line
        });
        call
    }

    /// Notes the reply to the last call.
    pub fn answered(&mut self, now: Timestamp, reply: &Reply) {
        let was_away = now.saturating_since(self.answered_at) >= AWAY.max(self.interval().mul_f64(1.5));
        self.answered_at = now;
        if let Some(part) = self.limit.as_mut().filter(|_| was_away) {
            part.store_was_away(now);
        }
        self.members = reply.members.max(1);
        let has_joined = self.epoch.is_none();
        match &self.epoch {
            Some(epoch) if *epoch == reply.epoch => {}
            Some(_) => {
                events::store_emptied(&self.fleet);
                if let Some(part) = &mut self.limit {
                    part.store_emptied(now);
                }
                self.epoch = Some(reply.epoch.clone());
            }
            None => self.epoch = Some(reply.epoch.clone()),
        }
        if has_joined {
            self.alone_since = Some(now);
        }
        self.alone_since.take_if(|_| self.members > 1);
        if self.alone_since.take_if(|since| now.saturating_since(*since) >= ALONE).is_some() {
            events::stays_alone(&self.fleet);
        }
        if std::mem::take(&mut self.is_lost) {
            events::store_back(&self.fleet);
        }
        if let Some((program, other)) = self.program.as_ref().zip(reply.other_program.as_ref())
            && self.other_program.as_ref() != Some(other)
        {
            events::other_program(&self.fleet, program, other);
        }
        self.other_program.clone_from(&reply.other_program);
        if self.has_left {
            return;
        }
        if let Some((part, others)) = self.quota.as_ref().filter(|_| !is_under_test()).zip(reply.quota) {
            part.answered(others, now);
        }
        if let Some((part, reply)) = self.line.as_ref().filter(|_| !is_under_test()).zip(reply.line) {
            part.answered(reply, now);
        }
        if let Some(turn) = &reply.turn {
            self.known_turn = Some((turn.clone(), now.saturating_add(turn.off_for)));
        }
        self.apply_switch(now);
        self.schedule(now);
        let limit = self.limit.as_mut().filter(|_| !is_under_test());
        if let Some((part, reply)) = limit.zip(reply.limit.as_ref())
            && part.answered(reply, self.members, now)
        {
            self.next_call_at = now;
        }
    }

    /// Notes that a call was not answered, for this reason. If there was no answer for 3 s, the process continues alone.
    pub fn unanswered(&mut self, now: Timestamp, reason: &dyn fmt::Display) {
        let patience = PATIENCE.max(self.interval().mul_f64(PATIENCE_INTERVALS));
        if !self.is_lost && now.saturating_since(self.answered_at) >= patience {
            self.is_lost = true;
            events::store_lost(&self.fleet, &reason.to_string());
        }
        self.apply_switch(now);
        self.leave_line(now);
        if self.is_lost {
            self.go_alone(now);
        } else if let Some(part) = self.limit.as_mut().filter(|_| self.epoch.is_some() && !is_under_test()) {
            // The current rate may be far above the estimate, and is not corrected now.
            part.go_alone(true, now);
        }
        self.schedule(now);
    }

    /// Returns how the retries of the fleet were turned off, unless that is over.
    pub fn switched_off(&self, now: Timestamp) -> Option<SwitchedOff> {
        self.known_turn.as_ref().and_then(|(turn, until)| SwitchedOff::new(turn, *until, now))
    }

    /// Returns the name of another program whose processes use the same fleet, if there is one.
    pub fn other_program(&self) -> Option<&str> {
        self.other_program.as_deref()
    }

    #[cfg(feature = "tokio")]
    pub(crate) const fn known_turn(&self) -> Option<&(Turn, Timestamp)> {
        self.known_turn.as_ref()
    }

    /// Sets the switch of this process to the last known value, whose time may be over.
    fn apply_switch(&self, now: Timestamp) {
        if let Some(switch) = &self.switch {
            switch.set(&self.fleet, self.switched_off(now).is_none(), self.reason(now));
        }
    }

    /// Returns the reason of the last known turn. If its time is over, nobody has turned the retries on.
    fn reason(&self, now: Timestamp) -> &str {
        let is_over = |turn: &Turn, until: &Timestamp| !turn.off_for.is_zero() && *until <= now;
        self.known_turn.as_ref().filter(|(turn, until)| !is_over(turn, until)).map_or("", |(turn, _)| &turn.reason)
    }

    /// Lets operations that wait be sent by the successes of this process only, until the next answer.
    fn leave_line(&self, now: Timestamp) {
        if let Some(part) = self.line.as_ref().filter(|_| !is_under_test()) {
            part.go_alone(now);
        }
    }

    /// Continues without the store, because it is lost, or because no more calls will be made.
    pub(crate) fn go_alone(&mut self, now: Timestamp) {
        let is_member = self.epoch.is_some() && !self.has_left;
        if let Some(part) = self.limit.as_mut().filter(|_| !is_under_test()) {
            part.go_alone(is_member, now);
        }
    }

    /// Ends the membership without a call.
    #[cfg(feature = "tokio")]
    pub(crate) fn end(&mut self, now: Timestamp) {
        self.is_lost = true;
        self.leave_line(now);
        self.go_alone(now);
    }

    /// Returns the time between two calls, on average.
    fn interval(&self) -> Duration {
        let interval = match (&self.limit, &self.quota) {
            (Some(_), _) => LIMIT_INTERVAL,
            (None, Some(_)) => QUOTA_INTERVAL,
            (None, None) => INTERVAL,
        };
        let many = Duration::from_secs_f64(f64::from(self.members) / CALLS_PER_SECOND);
        interval.max(many).min(LONGEST_INTERVAL)
    }

    fn schedule(&mut self, now: Timestamp) {
        let factor = 1.0 + SPREAD * (2.0 * self.random.uniform() - 1.0);
        self.next_call_at = now.saturating_add(self.interval().mul_f64(factor));
    }

    /// Returns what the process knows about its fleet.
    pub fn status(&self) -> FleetStatus {
        FleetStatus {
            is_connected: self.epoch.as_ref().map(|_| !self.is_lost),
            members: self.members,
            rate: self.limit.as_ref().and_then(LimitPart::fleet_rate),
            share: self.limit.as_ref().and_then(LimitPart::rate),
            retries_enabled: self.switch.as_ref().is_none_or(|switch| switch.is_on()),
        }
    }

    /// Returns where the parts of this process are, which no other member may have.
    #[cfg(feature = "tokio")]
    pub(crate) fn parts(&self) -> Vec<usize> {
        let quota = self.quota.as_ref().map(QuotaPart::address);
        let limit = self.limit.as_ref().map(LimitPart::address);
        let switch = self.switch.as_ref().map(|switch| std::ptr::from_ref(&***switch).addr());
        [quota, limit, switch].into_iter().flatten().collect()
    }

    /// Returns whether there is a quota, a limit and a switch.
    #[cfg(feature = "tokio")]
    pub(crate) const fn has(&self) -> [bool; 3] {
        [self.quota.is_some(), self.limit.is_some(), self.switch.is_some()]
    }
}

/// Returns whether this thread is under a test guard, whose separate state the fleet must not change.
fn is_under_test() -> bool {
    #[cfg(feature = "test")]
    return retry_core::test::is_active();
    #[cfg(not(feature = "test"))]
    false
}

impl Debug for Member {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("fleet", &self.fleet).field("status", &self.status()).finish_non_exhaustive()
    }
}
