//! The limit of a fleet, in memory.

use super::{Member, up_to_most};
use crate::protocol::{LimitCall, LimitReply, Step};

/// The shortest time between two steps of a limit, in milliseconds.
const STEP: u64 = 250;
/// The time for which a step is reserved for one process, in milliseconds. After that, another process gets it.
const STEP_PATIENCE: u64 = 1_000;
/// The number of steps, which take ten seconds, in which a limit can take over the rate and the estimate of a state that was lost.
const FIRST_STEPS: u64 = 40;
/// Larger rates are treated as missing: 2^53.
const MOST_RATE: f64 = 9_007_199_254_740_992.0;

/// What the store knows of the limit.
#[derive(Clone, Debug, Default)]
pub(super) struct Limit {
    rate: Option<(f64, f64)>,
    state: Option<String>,
    version: u64,
    cut: u64,
    stepped: u64,
    offered_until: u64,
    accepted: u64,
    rejected: u64,
    /// Whether it has taken over the rate and the estimate of a state that was lost.
    is_restored: bool,
}

impl Limit {
    pub(super) fn new(now: u64) -> Self {
        Self { stepped: now, ..Self::default() }
    }

    /// Makes a call, and returns the step that it is asked for, if there is one.
    pub(super) fn call(&mut self, now: u64, asked: &LimitCall, member: &mut Member, is_leaving: bool) -> Option<Step> {
        self.accepted = up_to_most(self.accepted + asked.accepted.saturating_sub(member.accepted));
        // A process that does not know of the last cut yet has sent at the rate before it.
        if asked.version >= self.cut {
            self.rejected = up_to_most(self.rejected + asked.rejected.saturating_sub(member.rejected));
        }
        member.accepted = member.accepted.max(asked.accepted);
        member.rejected = member.rejected.max(asked.rejected);
        member.demand = asked.demand;
        if let Some(known) = asked.known.filter(|_| !self.is_restored && self.version < FIRST_STEPS) {
            (self.rate, self.state, self.is_restored) = (Some(known), None, true);
            (self.accepted, self.rejected) = (0, 0);
            self.next_version(now);
        }
        if let Some(posted) = asked.posted.as_ref().filter(|posted| posted.version == self.version) {
            self.accepted = self.accepted.saturating_sub(posted.accepted);
            self.rejected = self.rejected.saturating_sub(posted.rejected);
            self.rate = Some((posted.rate, posted.estimate)).filter(are_rates);
            self.state = Some(posted.state.clone()).filter(|state| !state.is_empty());
            self.next_version(now);
            if posted.is_cut {
                self.cut = self.version;
            }
        }
        let is_due = now >= self.offered_until && (self.version == 0 || now >= self.stepped.saturating_add(STEP));
        (is_due && !is_leaving).then(|| {
            self.offered_until = now.saturating_add(STEP_PATIENCE);
            let (accepted, rejected) = (self.accepted, self.rejected);
            let elapsed = now - self.stepped;
            Step { version: self.version, now, elapsed, accepted, rejected, state: self.state.clone() }
        })
    }

    /// Returns the reply to a call, with the sums over all members.
    pub(super) fn reply(&self, satisfied: u64, waiting: u32, step: Option<Step>) -> LimitReply {
        let Self { version, cut, rate, .. } = *self;
        LimitReply { version, cut, rate, satisfied, waiting, step }
    }

    /// Begins the next step, which is not offered yet.
    fn next_version(&mut self, now: u64) {
        (self.version, self.stepped, self.offered_until) = (self.version + 1, now, now);
    }
}

impl LimitCall {
    /// The versions of a process that knows only a lost state are ignored. Its rate and estimate are used only in this case.
    pub(super) fn cleaned(mut self, is_of_another_state: bool) -> Self {
        self.version = if is_of_another_state { 0 } else { up_to_most(self.version) };
        self.known = self.known.filter(|known| is_of_another_state && are_rates(known));
        (self.accepted, self.rejected) = (up_to_most(self.accepted), up_to_most(self.rejected));
        self.posted = self.posted.filter(|_| !is_of_another_state);
        self
    }
}

fn are_rates((rate, estimate): &(f64, f64)) -> bool {
    [rate, estimate].into_iter().all(|rate| (0.0..=MOST_RATE).contains(rate))
}
