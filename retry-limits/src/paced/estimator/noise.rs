//! Rejections that have nothing to do with a limit.

use super::{GoodputEstimator, Phase, seconds};
use retry_core::time::Timestamp;

/// The amount that an accepted request takes from the sum, to which each rejection adds 1. It is the sequential test of a
/// share of 5 % against one of 15 %: `ln(0.95 / 0.85) / ln(0.15 / 0.05)` (Wald 1945; as a sum that never falls below 0,
/// Page 1954).
const PASS: f64 = 0.1;
/// The sum from which there is a limit. By the same test, one rejection in 3^7 = 2,187 leads to it at random, if 5 %
/// are rejected.
const LIMIT: f64 = 8.0;
/// The sum from which on a limit is likely, so that a ramp sends only a part of its rate until the answers on their way are
/// known, and that part. One in 9 rejections leads to it at random.
const DOUBT: f64 = 2.5;
const DOUBTFUL: f64 = 0.25;
/// The amount that an accepted request takes from the sum when the share of noise is known: twice that share and this, at
/// most [`PASS`].
const PASS_BEYOND: f64 = 0.03;
/// The sum from which there is a limit then: this and more for each part that is noise, at most [`LIMIT`].
const LIMIT_BEYOND: (f64, f64) = (4.0, 80.0);
/// The time after a cut, in seconds, in which a limit for this client alone rejects nothing. A shared limit rarely does,
/// because all clients were cut.
const LOOK: f64 = 1.0;
/// The part of that time, in seconds, whose rejections are evidence of noise. Later, smaller clients have taken what was freed.
const HIT: f64 = 0.5;
/// The number of such times in a row with a rejection that are noise. Clients that share a limit meet one in 6 to 4 of them.
const STREAK: u32 = 3;
/// The number of them that a long ramp with rejections stands for. With 2, a client that joins others keeps more than its share:
/// Jain's index of 100 clients on 2,000 per second falls from 0.95 to 0.88.
const RAMP_COUNTS: u32 = 1;
/// The highest share of rejections that is noise.
const MOST: f64 = 0.1;
/// The rate of accepted requests, and the estimate, above which noise can be distinguished from a limit. A smaller client can't
/// distinguish it from its neighbours.
const BUSY: f64 = 30.0;
const LARGE: f64 = 150.0;
/// The number of accepted requests in the last second below which a client that its rate does not limit takes rejections for noise.
/// Single seconds of a load of 20 per second that arrives at random have more than [`BUSY`]. Without a bound, a client that joins
/// others in its ramp would keep more than its share.
const UNLIMITED: f64 = 40.0;
/// The time, in seconds, after which a rejection ends a course of the rate, although it is noise, so that there is another look.
const LONGEST: f64 = 10.0;
/// The same for a ramp, in which this many rejections and this part of all were noise.
const LONGEST_RAMP: (f64, f64, f64) = (2.0, 6.0, 0.01);
/// The time from the start of a ramp, in seconds, in which too little was accepted to know the rate.
const FIRST_ANSWERS: f64 = 0.25;

/// The rejections that occurred although no limit was reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Noise {
    /// How far the current rejections outweigh the accepted requests.
    pub(super) sum: f64,
    /// The requests that were accepted and rejected in looks, from the first rejection on. Requests of earlier courses of the
    /// rate have less weight.
    pub(super) accepted: f64,
    pub(super) rejected: f64,
    /// Whether one was rejected in the look of this course.
    pub(super) is_hit: bool,
    /// The number of earlier looks in a row in which one was.
    pub(super) streak: u32,
}

/// Why a rejection may have nothing to do with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::paced) enum Doubt {
    /// No reason.
    None,
    /// The client sends little, and less than its rate.
    Unlimited,
    /// There are operations with a limit of their own, and the first rejection of another such operation looks like any other one.
    OwnLimits,
}

impl Noise {
    pub(super) const NONE: Self = Self { sum: 0.0, accepted: 0.0, rejected: 0.0, is_hit: false, streak: 0 };

    /// Returns the share of rejected requests in looks, if there were any.
    fn share(&self) -> f64 {
        self.rejected / (self.accepted + self.rejected)
    }

    /// Returns the part of the rate of a ramp that is sent.
    pub(super) fn part(&self) -> f64 {
        if self.sum > DOUBT { DOUBTFUL } else { 1.0 }
    }

    /// Returns whether the last looks have shown noise.
    fn is_known(&self) -> bool {
        self.is_hit && self.streak.saturating_add(1) >= STREAK && self.share() <= MOST
    }

    #[cold]
    pub(super) fn accept(&mut self, requests: u32, is_looking: bool) {
        let requests = f64::from(requests);
        let pass = if is_looking || !self.is_known() { PASS } else { (2.0 * self.share() + PASS_BEYOND).min(PASS) };
        self.sum = (self.sum - pass * requests).max(0.0);
        if is_looking {
            self.accepted += requests;
        }
    }

    /// Counts a rejection in a look. Before the first one, so many were accepted. Returns whether it can be noise.
    fn reject_in_look(&mut self, accepted: u32) -> bool {
        self.sum += 1.0;
        if self.rejected == 0.0 {
            self.accepted = f64::from(accepted);
        }
        self.rejected += 1.0;
        self.sum < LIMIT
    }

    /// Counts a rejection beyond a look that has shown noise. Returns whether it is noise.
    fn reject(&mut self) -> bool {
        let (least, more) = LIMIT_BEYOND;
        self.sum += 1.0;
        self.sum < (least + more * self.share()).min(LIMIT)
    }

    /// Records a cut. `has_looked` says whether there was a look since the last one, and nothing in it was a limit.
    pub(super) fn cut(&mut self, has_looked: bool) {
        *self = if has_looked && self.is_hit {
            let (accepted, rejected) = (self.accepted / 2.0, self.rejected / 2.0);
            Self { accepted, rejected, streak: self.streak.saturating_add(1), ..Self::NONE }
        } else {
            Self::NONE
        };
    }
}

impl GoodputEstimator {
    /// Counts a rejection that may have nothing to do with a limit, such as one by a sick server of many. Returns whether it is
    /// evidence of a limit, and [`reject`](GoodputEstimator::reject) was called.
    ///
    /// Leave out the rejection of a request that was sent before the last one with such evidence was known.
    pub fn suspect(&mut self, now: Timestamp) -> bool {
        self.suspect_in(now, Doubt::None)
    }

    /// Handles a rejection as [`suspect`](GoodputEstimator::suspect) does, with what is known about the client.
    pub(in crate::paced) fn suspect_in(&mut self, now: Timestamp, doubt: Doubt) -> bool {
        let is_limit = !self.is_noise(now, doubt);
        if is_limit {
            self.reject(now);
        }
        is_limit
    }

    /// Returns whether few requests were accepted in the last second.
    pub(in crate::paced) fn is_small(&self, now: Timestamp) -> bool {
        self.recent.last_second(now) < UNLIMITED
    }

    /// Returns whether a limit for this client alone would reject nothing at this rate, or much.
    pub(super) fn is_looking(&self, now: Timestamp) -> bool {
        match self.phase {
            Phase::Ramp => true,
            Phase::Search { .. } => false,
            Phase::Track => seconds(self.since, now) < LOOK,
        }
    }

    fn is_noise(&mut self, now: Timestamp, doubt: Doubt) -> bool {
        let age = self.age(now);
        let is_busy = self.recent.rate(now) >= BUSY;
        if self.rejected_in_a_row > 0 {
            return false;
        }
        if self.widen(now) {
            return true;
        }
        match self.phase {
            // A client that sends less than its rate learns nothing from a single rejection, and its neighbours would not notice a cut.
            Phase::Ramp | Phase::Track if doubt == Doubt::Unlimited => self.noise.reject_in_look(self.accepted),
            _ if doubt == Doubt::OwnLimits => {
                self.noise.reject_in_look(self.accepted);
                self.noise.sum < LIMIT_BEYOND.0
            }
            Phase::Ramp if !is_busy => age <= FIRST_ANSWERS && self.noise.reject_in_look(self.accepted),
            Phase::Ramp => {
                let (longest, least, share) = LONGEST_RAMP;
                if age >= longest && self.noise.rejected >= least && self.noise.share() >= share {
                    self.end_ramp_to_look(now);
                    return true;
                }
                self.noise.reject_in_look(self.accepted)
            }
            _ if !is_busy || self.estimate < LARGE => false,
            Phase::Track if age < LOOK => {
                self.noise.is_hit |= age < HIT;
                self.noise.reject_in_look(self.accepted)
            }
            _ => age < LONGEST && self.noise.is_known() && self.noise.reject(),
        }
    }

    /// Ends a ramp by a cut, to see whether there are rejections below the rate, too.
    fn end_ramp_to_look(&mut self, now: Timestamp) {
        self.begin_search(self.recent.last_second(now));
        self.phase = Phase::Track;
        self.since = now;
        self.begin_measurement(now, true);
        self.noise = Noise { streak: RAMP_COUNTS, ..Noise::NONE };
    }
}
