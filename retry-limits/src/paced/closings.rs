//! A server that closes again and again, because of the rate.

use super::estimator::seconds;
use retry_core::time::Timestamp;

/// The lowest number of requests that were accepted between two closings, by which the second one is evaluated. It is the size of a
/// measurement.
const MIN_REQUESTS: u64 = 16;
/// The number of requests accepted between two closings up to which they are one: late answers of requests that were sent before.
const LATE_ANSWERS: u64 = 2;
/// The time between two closings after which the first one is forgotten, as a multiple of its length. The cap has quadrupled by then, and
/// the time may be a pause between two jobs, in which little was sent.
const FORGOTTEN_AFTER: f64 = 10.0;
/// The cap after the second closing, as a multiple of what the server accepted from the end of the first one to that of the
/// second one. A limit per minute is used up in a fifth of the minute. The firewall of the lab bans for six times as long as it counts. With
/// 3, a job of 1,000 requests takes 3.0 times the ideal time there, with 5 2.45, and with 7 3.75.
const CAP_FACTOR: f64 = 5.0;
/// What a further closing leaves of the rate before it. With that firewall, a job of 6,000 requests takes 1.74 times the ideal time, with 0.7
/// 1.81, and without a cut 4.3. Jobs of 1,000 requests meet no closing that cuts.
const CUT: f64 = 0.75;
/// The time in which the cap doubles, as a multiple of the last closing. After a cut, it returns within two closings, so they
/// last for a third of the time. With 3, that firewall bans once more: 3.2 times the ideal time in place of 2.45.
const DOUBLING_LENGTHS: f64 = 5.0;
/// The part of the cap from which on it limits the client.
const LIMITED_PART: f64 = 0.5;
/// The number of probes in the time of the last closing, and the parts of it from which and up to which probes are that frequent. Without
/// them, the end is noticed up to a third late: one worker takes 1.13 times the ideal time with a limit of 600 per minute, in place of 1.06,
/// and that firewall 2.8 times.
const PROBES: f64 = 16.0;
const PROBED_PARTS: (f64, f64) = (0.7, 1.1);

/// The part of a closing by which the times before two closings must differ to show whether both are rests of windows. With 0.0625, a limit
/// of 600 per minute takes 1.07 times the ideal time for two or eight workers, in place of 1.04 to 1.05.
const SHOWN_PART: f64 = 0.04;

/// The closings of a server, the times in which it rejected everything or asked for a wait.
///
/// At first, a limit for a long window and a ban for too many requests look alike. A window is used up at a lower rate as well, if that
/// rate needs less time than the window. So the second closing caps the rate, and each further one lowers the cap. After a lower rate,
/// what is left of a window is shorter by as much as the server was open for longer. A ban is not, so this shows which of them it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closings {
    last: Option<Closing>,
    /// The highest rate at the end of the last closing, in sends per second, or infinity.
    cap: f64,
    /// The sends that were accepted since the last closing.
    sends: f64,
    /// Whether the last closings were the rests of windows.
    is_window: bool,
}

#[derive(Clone, Copy, Debug)]
struct Closing {
    begin: Timestamp,
    end: Timestamp,
    /// The time from the end of the closing before, in seconds, if there was one.
    open: Option<f64>,
    /// How many requests the server had accepted when it was over.
    accepted: u64,
}

impl Closing {
    fn length(&self) -> f64 {
        seconds(self.begin, self.end)
    }

    /// Returns whether this closing and the next one were rests of windows, or `None` if the server was open for about as long before
    /// both, or was idle: a lower rate keeps a window open for less than its length. All times are in seconds.
    fn is_window(&self, next_open: f64, next_length: f64) -> Option<bool> {
        let longer = next_open - self.open?;
        let shorter = self.length() - next_length;
        let is_shown = longer.abs() > SHOWN_PART * self.length() && longer < self.length();
        is_shown.then_some(shorter / longer > 0.5)
    }
}

impl Closings {
    pub(super) const NONE: Self = Self { last: None, cap: f64::INFINITY, sends: 0.0, is_window: false };

    /// Returns whether there was none.
    #[inline]
    pub(super) const fn is_none(&self) -> bool {
        self.last.is_none()
    }

    /// Counts accepted sends.
    #[inline]
    pub(super) fn accept(&mut self, sends: u32) {
        if self.last.is_some() {
            self.sends += f64::from(sends);
        }
    }

    /// Records a closing that is over, and how many requests the server has accepted so far.
    pub(super) fn add(&mut self, begin: Timestamp, end: Timestamp, accepted: u64) {
        let mut closing = Closing { begin, end, open: None, accepted };
        if let Some(last) = &mut self.last {
            let requests = accepted.saturating_sub(last.accepted);
            if requests <= LATE_ANSWERS {
                (last.end, last.accepted) = (end, accepted);
                return;
            }
            // Responses that used nothing of a limit of weights would cap the rate at nothing.
            if requests < MIN_REQUESTS || self.sends < 1.0 {
                return;
            }
            let (open, length) = (seconds(last.end, begin), closing.length());
            self.is_window = last.is_window(open, length).unwrap_or(self.is_window);
            closing.open = Some(open);
            if self.is_window || open > FORGOTTEN_AFTER * last.length() {
                self.cap = f64::INFINITY;
            } else {
                let before = self.sends / open.max(1e-3);
                let is_limited = before > LIMITED_PART * self.cap(begin);
                self.cap = CAP_FACTOR * self.sends / (open + length);
                if is_limited {
                    self.cap = self.cap.min(CUT * before);
                }
            }
        }
        (self.last, self.sends) = (Some(closing), 0.0);
    }

    /// Returns the highest rate, in sends per second.
    pub(super) fn cap(&self, now: Timestamp) -> f64 {
        let doublings = |last: Closing| seconds(last.end, now) / (DOUBLING_LENGTHS * last.length());
        self.last.map_or(self.cap, |last| self.cap * doublings(last).exp2())
    }

    /// Returns the lowest rate of probes in a closing that began at this time, in sends per second. It probably lasts for as long as the
    /// last one.
    pub(super) fn probes(&self, begin: Timestamp, now: Timestamp) -> f64 {
        let (from, to) = PROBED_PARTS;
        let expected = self.last.filter(|last| (from..=to).contains(&(seconds(begin, now) / last.length())));
        expected.map_or(0.0, |last| PROBES / last.length())
    }

    /// Changes the unit: multiplies the numbers of sends by this factor.
    pub(super) fn rescale(&mut self, factor: f64) {
        self.cap *= factor;
        self.sends *= factor;
    }

    /// Continues from an earlier time, because the clock was set back.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        if let Some(last) = &mut self.last {
            let by = last.end.saturating_since(now);
            (last.begin, last.end) = (last.begin.saturating_sub(by), last.end.min(now));
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

    /// Records that so many requests were accepted, the last ones before this closing, each of which took so many sends.
    fn add(closings: &mut Closings, (begin, end): (u64, u64), accepted: u64, sends: u32) {
        closings.accept(sends);
        closings.add(at(begin), at(end), accepted);
    }

    /// Returns the closings of a server that accepts 100 requests in 10 s, and then closes for 40 s.
    fn closed_twice() -> Closings {
        let mut closings = Closings::NONE;
        add(&mut closings, (0, 40), 100, 100);
        assert!(closings.cap(at(40)).is_infinite(), "it may have been something else");
        add(&mut closings, (50, 90), 200, 100);
        closings
    }

    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
    }

    // Rule L67.
    #[test]
    fn the_second_closing_caps_the_rate_which_doubles_in_five_closings() {
        let closings = closed_twice();
        assert_near(closings.cap(at(90)), 5.0 * 100.0 / 50.0);
        assert_near(closings.cap(at(290)), 20.0);
    }

    // Rule L69.
    #[test]
    fn a_further_closing_cuts_a_rate_that_was_limited() {
        // 300 requests in 30 s are 10 per second: the cap was 10 to 11.
        let mut limited = closed_twice();
        add(&mut limited, (120, 160), 500, 300);
        assert_near(limited.cap(at(160)), 0.75 * 10.0);
        // 4 per second are less than half of it.
        let mut unlimited = closed_twice();
        add(&mut unlimited, (120, 160), 320, 120);
        assert_near(unlimited.cap(at(160)), 5.0 * 120.0 / 70.0);
    }

    // Rule L70.
    #[test]
    fn rests_of_windows_are_shorter_after_a_longer_time_and_have_no_cap() {
        // 600 in 60 s: at 100 per second, 54 s are left, and at 50 per second, 48 s.
        let mut windows = Closings::NONE;
        add(&mut windows, (6, 60), 600, 600);
        add(&mut windows, (66, 120), 1_200, 600);
        assert_near(windows.cap(at(120)), 50.0);
        let mut bans = windows;
        add(&mut windows, (132, 180), 1_800, 600);
        assert!(windows.cap(at(180)).is_infinite());
        add(&mut windows, (192, 240), 2_400, 600);
        assert!(windows.cap(at(240)).is_infinite(), "nothing else was shown");
        let mut paused = windows;
        add(&mut paused, (400, 454), 3_000, 600);
        assert!(paused.cap(at(454)).is_infinite(), "a pause shows nothing");
        add(&mut windows, (246, 294), 3_000, 600);
        assert_near(windows.cap(at(294)), 5.0 * 600.0 / 54.0);
        add(&mut bans, (132, 184), 1_800, 600);
        assert!(bans.cap(at(184)).is_finite(), "it is shorter by a sixth of the time");
    }

    // Rule L69.
    #[test]
    fn a_closing_is_forgotten_after_ten_times_its_length() {
        let mut closings = closed_twice();
        add(&mut closings, (90 + 400, 530), 300, 100);
        assert_near(closings.cap(at(530)), 5.0 * 100.0 / 440.0);
        // As if it were the first one.
        add(&mut closings, (530 + 401, 971), 400, 100);
        assert!(closings.cap(at(971)).is_infinite());
        add(&mut closings, (981, 1_021), 500, 100);
        assert_near(closings.cap(at(1_021)), 10.0);
    }

    // Rules L67, L69.
    #[test]
    fn a_late_answer_does_not_separate_closings_and_few_accepted_requests_are_no_measurement() {
        let mut late = closed_twice();
        late.accept(2);
        late.add(at(91), at(130), 202);
        // Until 130, 80 s after its begin, so the cap doubles in 400 s.
        assert_near(late.cap(at(130)), 10.0);
        assert_near(late.cap(at(530)), 20.0);
        assert_near(late.probes(at(1_000), at(1_055)), 0.0);
        assert_near(late.probes(at(1_000), at(1_056)), 0.2);

        let mut few = closed_twice();
        add(&mut few, (100, 140), 215, 15);
        assert_near(few.cap(at(90)), 10.0);
        add(&mut few, (150, 190), 216, 1);
        assert_near(few.cap(at(190)), 0.8);
    }

    #[test]
    fn responses_that_used_nothing_do_not_cap_the_rate() {
        let mut closings = closed_twice();
        add(&mut closings, (100, 140), 400, 0);
        assert_near(closings.cap(at(90)), 10.0);
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
    fn the_cap_changes_with_the_unit_and_its_growth_with_the_clock() {
        let mut closings = closed_twice();
        closings.accept(150);
        closings.rescale(2.0);
        assert_near(closings.cap(at(90)), 20.0);
        closings.reanchor(at(0));
        assert_near(closings.cap(at(200)), 40.0);
        // 300 sends of the new unit in 70 s.
        closings.add(at(30), at(70), 300);
        assert_near(closings.cap(at(70)), 5.0 * 300.0 / 70.0);
    }
}
