//! A server that closes again and again, because of the rate.

use super::estimator::seconds;
use retry_core::time::Timestamp;

/// The lowest number of requests between two closings. It is as many as make a measurement.
const LEAST: u64 = 16;
/// The highest rate after the second closing, as a multiple of what the server accepted from the end of the first one to that of the
/// second one. A limit per minute is used up in a fifth of the minute. With 3, five such limits take 1.14 times the ideal time in place
/// of 1.10. With 7, the rate is too high for the firewall of the lab, which bans for six times as long as it counts: 3.75 times in place
/// of 2.44.
const OPEN: f64 = 5.0;
/// What a further closing leaves of the rate before it. With 0.7, these five limits take 1.11 times the ideal time.
const CUT: f64 = 0.75;
/// The time in which the highest rate doubles, as a multiple of the last closing. After a cut, it returns within two closings, so they
/// last for a third of the time. With 3, that firewall bans once more: 3.2 times the ideal time in place of 2.44.
const DOUBLES: f64 = 5.0;
/// The part of the highest rate from which on it limits the client.
const LIMITED: f64 = 0.5;
/// The number of probes in the time of the last closing, and the parts of it from which and up to which that many are sent. Without them,
/// the end is noticed up to a third late, and the five limits take 1.12 times the ideal time.
const PROBES: f64 = 16.0;
const EXPECTED: (f64, f64) = (0.7, 1.1);

/// The closings of a server, the times in which it rejected everything.
///
/// A limit for a long window and a ban for too many requests look alike at first. A window is also used up if less is sent, as long as
/// that is done before its end. So the second closing sets a highest rate, which each further one cuts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closings {
    last: Option<Closing>,
    /// The highest rate at the end of the last closing, in sends per second, or infinity.
    most: f64,
}

#[derive(Clone, Copy, Debug)]
struct Closing {
    end: Timestamp,
    length: f64,
    /// The number of requests that were accepted before it, in all.
    accepted: u64,
}

impl Closings {
    pub(super) const NONE: Self = Self { last: None, most: f64::INFINITY };

    /// Returns whether there was none.
    #[inline]
    pub(super) const fn is_none(&self) -> bool {
        self.last.is_none()
    }

    /// Records a closing that is over, and the number of requests that were accepted before it, in all.
    pub(super) fn add(&mut self, begin: Timestamp, end: Timestamp, accepted: u64) {
        let length = seconds(begin, end);
        if let Some(last) = self.last {
            let requests = accepted.saturating_sub(last.accepted);
            if requests < LEAST {
                return;
            }
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
            let requests = requests as f64;
            let open = seconds(last.end, begin);
            let before = requests / open.max(1e-3);
            let is_limited = before > LIMITED * self.most(begin);
            self.most = OPEN * requests / (open + length);
            if is_limited {
                self.most = self.most.min(CUT * before);
            }
        }
        self.last = Some(Closing { end, length, accepted });
    }

    /// Returns the highest rate, in sends per second.
    pub(super) fn most(&self, now: Timestamp) -> f64 {
        self.last.map_or(self.most, |last| self.most * (seconds(last.end, now) / (DOUBLES * last.length)).exp2())
    }

    /// Returns the lowest rate of probes in a closing that began at this time, in sends per second. It probably lasts for as long as the
    /// last one.
    pub(super) fn probes(&self, begin: Timestamp, now: Timestamp) -> f64 {
        let (from, to) = EXPECTED;
        let expected = self.last.filter(|last| (from..=to).contains(&(seconds(begin, now) / last.length)));
        expected.map_or(0.0, |last| PROBES / last.length)
    }

    /// Changes the unit: multiplies the rate by this factor.
    pub(super) fn rescale(&mut self, factor: f64) {
        self.most *= factor;
    }

    /// Continues from an earlier time, because the clock was set back.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        if let Some(last) = &mut self.last {
            last.end = last.end.min(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Closings;
    use retry_core::time::Timestamp;
    use std::time::Duration;

    const fn at(secs: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(1_000 + secs))
    }

    /// Returns the closings of a server that accepts 100 requests in 10 s, and then closes for 40 s.
    fn closed_twice() -> Closings {
        let mut closings = Closings::NONE;
        closings.add(at(0), at(40), 100);
        assert!(closings.most(at(40)).is_infinite(), "it may have been something else");
        closings.add(at(50), at(90), 200);
        closings
    }

    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
    }

    // Rule L67.
    #[test]
    fn the_second_closing_limits_the_rate_which_doubles_in_five_closings() {
        let closings = closed_twice();
        assert_near(closings.most(at(90)), 5.0 * 100.0 / 50.0);
        assert_near(closings.most(at(290)), 20.0);
    }

    // Rule L67.
    #[test]
    fn a_further_closing_cuts_a_rate_that_was_limited() {
        // 300 requests in 30 s are 10 per second: the highest rate was 10 to 11.
        let mut limited = closed_twice();
        limited.add(at(120), at(130), 500);
        assert_near(limited.most(at(130)), 0.75 * 10.0);
        // 4 per second are less than half of it.
        let mut unlimited = closed_twice();
        unlimited.add(at(120), at(130), 320);
        assert_near(unlimited.most(at(130)), 5.0 * 120.0 / 40.0);
    }

    #[test]
    fn a_few_accepted_requests_do_not_separate_closings() {
        let mut closings = closed_twice();
        closings.add(at(100), at(140), 215);
        assert_near(closings.most(at(90)), 10.0);
        closings.add(at(150), at(190), 216);
        assert_near(closings.most(at(190)), 0.8);
    }

    // Rule L68.
    #[test]
    fn the_end_of_a_closing_is_expected_after_the_time_of_the_last_one() {
        let closings = closed_twice();
        for (secs, rate) in [(27, 0.0), (28, 0.4), (44, 0.4), (45, 0.0)] {
            assert_near(closings.probes(at(100), at(100 + secs)), rate);
        }
        assert_near(Closings::NONE.probes(at(0), at(40)), 0.0);
    }

    #[test]
    fn the_rate_changes_with_the_unit_and_its_growth_with_the_clock() {
        let mut closings = closed_twice();
        closings.rescale(2.0);
        assert_near(closings.most(at(90)), 20.0);
        closings.reanchor(at(0));
        assert_near(closings.most(at(200)), 40.0);
    }
}
