//! The next rate of a fleet, which one process at a time computes from the answers to all processes.

use super::{GROWTH, LimitPart};
use crate::protocol::{LimitReply, Post, Step};
use retry_core::time::Timestamp;
use retry_limits::GoodputEstimator;
use std::time::Duration;

/// The time without a step, in milliseconds, after which the store was lost or the fleet idle.
const LONGEST_STEP: u64 = 2_000;
/// If at least one request in this many is rejected, the limit has fallen meanwhile.
const FALLEN: u64 = 10;
/// The number of first steps in which few rejections cut nothing.
const TOGETHER: u64 = 3;

/// The factor of the estimate from which on a rate is one of a search for a higher limit.
const SEARCHING: f64 = 1.3;
/// The part of what a rate allows that is answered at least if all processes send, and the number of requests by which it can be
/// fewer at random.
const UNUSED: f64 = 0.6;
const FEW: f64 = 2.0;
/// The number of steps since a cut, a second, after which no rejections are reported any more.
const QUIET: u64 = 4;

impl LimitPart {
    /// Computes the next rate from what the whole fleet was answered, which may have fewer processes now.
    pub(super) fn step(&self, step: &Step, reply: &LimitReply, has_fewer: bool) -> Post {
        let now = Timestamp::from_origin(Duration::from_millis(step.now));
        let known = step.state.as_ref().and_then(|state| state.parse::<GoodputEstimator>().ok());
        // If the state was damaged, the estimate of the process is used.
        let latest = if known.is_none() && step.state.is_some() { self.fleet.or(reply.rate) } else { reply.rate };
        let estimate = known.as_ref().map_or(latest.map(|(_, estimate)| estimate), GoodputEstimator::estimate);
        // After a gap, it is unknown what was sent at which rate, so only the estimate is kept.
        let known = known.filter(|_| step.elapsed < LONGEST_STEP);
        let mut estimator = known.unwrap_or_else(|| match estimate {
            Some(estimate) => GoodputEstimator::for_all_at(estimate, now),
            None => GoodputEstimator::for_all(now),
        });
        estimator.accept(now, u32::try_from(step.accepted).unwrap_or(u32::MAX));
        // It is unknown how many requests of the missing processes were accepted.
        if self.former.is_some() && step.rejected.saturating_mul(FALLEN) < step.accepted.saturating_add(step.rejected) {
            estimator.pause(now);
        }
        // Processes that start together send their first requests at the same moment, which says little about the limit.
        let is_cut = step.rejected > if step.version < TOGETHER { step.accepted } else { 0 };
        if is_cut {
            estimator.reject(now);
        } else if estimator.estimate().is_some() && has_fewer || Self::is_unused(step, reply) {
            estimator.pause(now);
        } else if reply.waiting == 0 {
            // Then the number of accepted requests is not a measure of the limit. The rate does not grow, either: an idle fleet that starts again
            // with a rate far above the estimate would learn of the rejections too late. But a fleet whose requests are accepted above the
            // estimate continues the search that this proves, as one process does. Else it would fall back to an estimate that is refuted.
            match estimator.estimate() {
                Some(estimate) if !Self::is_above(step, reply, estimate) => {
                    estimator = GoodputEstimator::for_all_at(estimate, now);
                }
                _ => estimator.pause(now),
            }
        }
        let rate = estimator.rate(now);
        Post {
            version: step.version,
            accepted: step.accepted,
            rejected: step.rejected,
            rate,
            estimate: estimator.estimate().unwrap_or(rate),
            is_cut,
            state: estimator.to_string(),
        }
    }

    /// Returns whether the processes, none of which waits, send more than the estimate, and nothing was rejected. The answers of one step
    /// vary with the times of the calls, so what each process sent between two calls of its own counts.
    #[expect(clippy::cast_precision_loss, reason = "rates are far smaller")]
    fn is_above(step: &Step, reply: &LimitReply, estimate: f64) -> bool {
        step.rejected == 0 && reply.satisfied as f64 / (1_000.0 * GROWTH) > estimate
    }

    /// Returns whether the fleet was answered far less than its rate allows, although processes wait: some of them have died with their
    /// shares, and the store does not know it yet. Then the number of accepted requests is not a measure of the limit.
    #[expect(clippy::cast_precision_loss, reason = "rates are far smaller")]
    fn is_unused(step: &Step, reply: &LimitReply) -> bool {
        // While the rate doubles, the answers are far behind it.
        let Some((rate, _)) = reply.rate.filter(|(rate, estimate)| *rate < SEARCHING * estimate) else { return false };
        let (allowed, accepted) = (rate * step.elapsed as f64 / 1_000.0, step.accepted as f64);
        // A limit that has fallen shows in rejections, which are not reported soon after a cut. By then, a rejection is a cut itself,
        // because `TOGETHER` is less than `QUIET`, so nothing was rejected.
        let is_quiet = step.version >= reply.cut.saturating_add(QUIET);
        // With less than one send of each process in a step, it is random how many are answered in it.
        let is_many = allowed >= f64::from(reply.waiting);
        reply.waiting > 0 && is_quiet && is_many && accepted < UNUSED * allowed - FEW
    }
}
