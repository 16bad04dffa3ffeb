//! The share of requests that is rejected.

use super::estimator::seconds;
use retry_core::time::Timestamp;

/// The time, in seconds, in which the weight of an answer falls to `1 / e`. An operation that was rejected waits for its turn
/// behind all workers of its client, which takes 2.5 s for 64 workers at 25 per second.
const REMEMBERED: f64 = 4.0;
/// The number of rejections in a row from which a new client takes them for a limit that others have used up. Of 1,000 processes that
/// start at once on 500 per second, 49 % of the requests are rejected in place of 55 %, and with 6, 50.2 %.
const SHUT_OUT_BY: u64 = 5;
/// The number of accepted requests for which it takes one more. A client that joins 19 others on 100 per second meets as many rejections
/// in a row, while half of its requests are accepted: without this, Jain's index of their first 40 s falls from 0.89 to 0.88.
const ONE_MORE_FOR: u64 = 2;
/// The numbers of rejections, each after an accepted request, and of accepted requests, and the share of rejections, from which the
/// limit has no burst. Of ramps with noise of 5 %, at most one in 140 has so many among its first 40 requests, with 10 % one in 18.
const UNEVEN: (u32, u64, f64) = (3, 5, 0.3);

/// The answers in the last seconds. Later ones have more weight. They are brought up to date at each rejection, so that an accepted
/// request costs nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answered {
    accepted: f64,
    rejected: f64,
    /// The number of rejections without an accepted request in between.
    in_a_row: u32,
    /// The number of rejections in a short time that followed an accepted request.
    apart: u32,
    /// The number of accepted requests in all, and the time, at the last rejection.
    total: u64,
    at: Timestamp,
}

impl Answered {
    pub(super) const fn none(now: Timestamp) -> Self {
        Self { accepted: 0.0, rejected: 0.0, in_a_row: 0, apart: 0, total: 0, at: now }
    }

    /// Counts a rejection, after this many accepted requests in all. Returns the share of rejections.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub(super) fn reject(&mut self, now: Timestamp, total: u64) -> f64 {
        let elapsed = seconds(self.at, now) / REMEMBERED;
        let left = (-elapsed).exp();
        // The mean weight of answers that came evenly since the last rejection.
        let weight = if elapsed > 0.0 { (1.0 - left) / elapsed } else { 1.0 };
        let accepted = total.saturating_sub(self.total) as f64;
        let is_next = total == self.total && elapsed < 1.0;
        self.in_a_row = if is_next { self.in_a_row.saturating_add(1) } else { 1 };
        let apart = if elapsed < 1.0 { self.apart } else { 0 };
        self.apart = apart.saturating_add(u32::from(accepted > 0.0));
        self.accepted = self.accepted * left + accepted * weight;
        self.rejected = self.rejected * left + 1.0;
        (self.total, self.at) = (total, now);
        self.share()
    }

    fn share(&self) -> f64 {
        self.rejected / (self.accepted + self.rejected)
    }

    /// Returns the number of rejections without an accepted request in between, in the last seconds.
    pub(super) const fn in_a_row(&self) -> u32 {
        self.in_a_row
    }

    /// Returns whether so many requests in a row were rejected, for the number that was accepted before, that a client with no estimate
    /// yet meets a limit that others have used up.
    pub(super) fn is_shut_out(&self) -> bool {
        u64::from(self.in_a_row) >= SHUT_OUT_BY + self.total / ONE_MORE_FOR
    }

    /// Returns whether a server rejects requests between others that it accepts, too many for noise.
    pub(super) fn is_uneven(&self) -> bool {
        let (apart, accepted, share) = UNEVEN;
        self.apart >= apart && self.total >= accepted && self.share() > share
    }

    /// Continues from an earlier time, because the clock was set back.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        self.at = self.at.min(now);
    }
}

#[cfg(test)]
mod tests {
    use super::Answered;
    use retry_core::time::Timestamp;
    use std::time::Duration;

    const fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(1_000_000 + millis))
    }

    #[test]
    fn the_share_is_that_of_the_last_seconds() {
        let mut answered = Answered::none(at(0));
        assert!((answered.reject(at(0), 0) - 1.0).abs() < 1e-9, "nothing was accepted");
        // 1 of 11, and then 1 of 2: after a while, only the latter counts.
        let mut total = 0;
        let mut share = |accepted: u64, from: u64, to: u64| {
            let mut last = 0.0;
            for second in from..to {
                total += accepted;
                last = answered.reject(at(1_000 * second), total);
            }
            last
        };
        let (rare, after, often) = (share(10, 1, 60), share(1, 60, 62), share(1, 62, 90));
        assert!((0.08..0.13).contains(&rare), "{rare}");
        assert!((rare..0.2).contains(&after), "{after}");
        assert!((0.48..0.56).contains(&often), "{often}");
    }

    // Rule L66.
    #[test]
    fn a_client_is_shut_out_by_five_rejections_in_a_row_and_one_more_for_every_two_accepted_requests() {
        for (accepted, rejections) in [(0, 5), (1, 5), (2, 6), (3, 6), (100, 55)] {
            let mut answered = Answered::none(at(0));
            let mut is_shut_out = |millis| {
                answered.reject(at(millis), accepted);
                answered.is_shut_out()
            };
            let found = (1..100).find(|rejection| is_shut_out(10 * rejection));
            // The first one that follows accepted requests is the first one in a row.
            assert_eq!(found, Some(rejections), "{accepted}");
        }
    }

    // Rule L72.
    #[test]
    fn a_limit_is_uneven_from_the_third_rejection_after_an_accepted_request_and_three_in_ten_on() {
        // Each number is the total of accepted requests at a rejection.
        for (totals, is_uneven) in [
            (&[2, 4, 5][..], true),
            (&[2, 3, 4], false),
            (&[5, 5, 5, 5], false),
            (&[3, 5, 5, 6], true),
            (&[2, 4, 8], false),
            (&[2, 4, 8, 9], true),
        ] {
            let mut answered = Answered::none(at(0));
            for total in totals {
                assert!(!answered.is_uneven(), "{totals:?} before {total}");
                answered.reject(at(0), *total);
            }
            assert_eq!(answered.is_uneven(), is_uneven, "{totals:?}");
        }
    }

    #[test]
    fn a_clock_that_was_set_back_stands_still() {
        let mut answered = Answered::none(at(50_000));
        answered.reanchor(at(10_000));
        answered.reject(at(10_000), 9);
        assert!((answered.reject(at(10_000), 9) - 2.0 / 11.0).abs() < 1e-9);
        assert!(answered.reject(at(60_000), 109) < 0.2);
    }
}
