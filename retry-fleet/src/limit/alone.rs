//! The share of a process while the store is lost.

use super::LimitPart;
use retry_core::time::Timestamp;

/// The part of the estimate below which a rate is that of probes, because the server rejects all.
const PROBING: f64 = 0.8;
/// The part of the estimate that is used while the store is lost, because nothing is measured then.
const ALONE: f64 = 0.97;

/// What a process that waits for sends adds to its share while the store is lost: a part of it with each accepted request, and a part
/// in each second at most.
const PROBE: (f64, f64) = (0.001, 0.01);
/// As `PROBE`, for a process of a young fleet until its first rejection. Where a server saves up little, the first estimates of a fleet
/// of small shares are a third of the limit: of 100/s with a burst of 0.1 s, 50 processes use 99 % after 25 s, and 35 % without it.
const SEARCH: (f64, f64) = (0.1, 0.05);
/// The number of steps, ten seconds, before which a fleet is young.
pub(super) const YOUNG: u64 = 40;
/// The factor of the share after rejections. With that growth, 1 % of the requests are rejected in the long run.
const PROBE_CUT: f64 = 0.9;

impl LimitPart {
    /// Continues without the store: first with the share of the estimate, which changes slowly, and from there carefully by its
    /// own answers. A process outside the fleet uses its own estimate, and so does one that was rejected before the
    /// fleet had an estimate.
    pub(crate) fn go_alone(&mut self, is_member: bool, now: Timestamp) {
        let is_shared = is_member && (self.is_measured || self.answers.rejected == 0);
        let factor = self.probe(now);
        // Before the first rate, the process keeps the rate of a newcomer.
        let share = self.rate.map(|share| factor * self.fleet.map_or(share, |fleet| share * alone(fleet) / fleet.0));
        // The share stays if the store is lost for longer.
        self.fleet = self.fleet.map(|fleet| (alone(fleet), fleet.1));
        self.pace_at(share.filter(|_| is_shared), false, now);
    }

    /// Returns the factor by which the share changes by the answers since the last failed call.
    fn probe(&mut self, now: Timestamp) -> f64 {
        let Some((before, since)) = self.alone.replace((self.answers, now)) else {
            self.is_searching = !self.is_grown;
            return 1.0;
        };
        let (with_each, in_a_second) = if self.is_searching { SEARCH } else { PROBE };
        let accepted = u32::try_from(self.answers.accepted.saturating_sub(before.accepted)).unwrap_or(u32::MAX);
        if self.answers.rejected > before.rejected {
            self.is_searching = false;
            PROBE_CUT
        } else if self.demand.is_none() {
            1.0 + (with_each * f64::from(accepted)).min(in_a_second * now.saturating_since(since).as_secs_f64())
        } else {
            1.0
        }
    }
}

/// Returns the rate of a fleet while nothing is measured, from its last rate and the estimate.
pub(super) fn alone((rate, estimate): (f64, f64)) -> f64 {
    // After rejections in a row, the rate is far below the estimate, and stays there. After a cut it is a little below.
    if rate < PROBING * estimate { rate } else { ALONE * estimate }
}
