//! A server that is closed: it asked for a wait, and until its end only rare probes are sent.

use super::place::Grant;
use crate::number::next_short;
use retry_core::time::Timestamp;
use std::num::NonZeroU16;
use std::time::Duration;

/// The time from the start of a hold to its first probe, and the shortest time between two probes. A server that asks for a
/// longer wait than it needs costs this time once.
const FIRST_PROBE: Duration = Duration::from_secs(1);
/// The longest time between two probes. Within it, the end of a wait that was too long is noticed.
const LONGEST_SPACE: Duration = Duration::from_secs(300);
/// The longest hold that can be a ban: the one that fail2ban begins with. An hour is rather the rest of a quota, and a cap would
/// make 12,000 operations at 5,000 per hour take 1.04 times the ideal time.
const LONGEST_BAN: Duration = Duration::from_secs(600);

/// A hold: all sends are held back until the end of a wait that the server asked for.
///
/// Some servers ask for waits that they do not need, such as always 30 s. So probes check the hold: one request after 1 s,
/// others after 3 s, 7 s, 15 s, .., at most 5 minutes apart, and not closer together than the user allows. If one is accepted,
/// the hold ends. If more than half of the wait was left then, later waits hold back only their own operations, until the server
/// rejects several requests in a row. Then the next hold begins, and waits are believed again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    /// Whether it began, and its end was not noticed yet. Otherwise its times are not used.
    is_active: bool,
    /// The serial number of the hold, which wraps. A probe carries it, so that neither another request
    /// nor the probe of another hold is taken for it.
    number: NonZeroU16,
    /// The number of probes that were taken, and neither granted nor given back yet. One can be kept for an operation that is
    /// late.
    taken: u8,
    begun: Timestamp,
    until: Timestamp,
    /// The time from which the next probe may be sent.
    probe_at: Timestamp,
    /// Whether the last wait proved too long.
    was_too_long: bool,
}

impl Hold {
    /// Creates a hold that is over.
    pub(super) const fn over(now: Timestamp) -> Self {
        Self {
            is_active: false,
            number: NonZeroU16::MIN,
            taken: 0,
            begun: now,
            until: now,
            probe_at: now,
            was_too_long: false,
        }
    }

    /// Returns a hold that is over, for another limit. The number stays, so that a probe of this hold is not one of the next hold.
    pub(super) const fn restarted(&self, now: Timestamp) -> Self {
        Self { number: self.number, ..Self::over(now) }
    }

    /// Returns the end.
    pub(super) const fn until(&self) -> Timestamp {
        self.until
    }

    /// Returns whether all sends but probes are held back. A hold whose time is over counts until [`pass`](Hold::pass) notices it.
    #[inline]
    pub(super) const fn is_active(&self) -> bool {
        self.is_active
    }

    /// Returns whether sends are held back at this time.
    #[inline]
    pub(super) fn is_on(&self, now: Timestamp) -> bool {
        self.is_active && now < self.until
    }

    /// Updates the time. Returns whether a probe is due.
    pub(super) fn pass(&mut self, now: Timestamp) -> bool {
        self.is_active = self.is_on(now);
        self.is_active && now >= self.probe_at
    }

    /// Returns the beginning and the end of a hold that is over, if the server needed most of the wait, and it can have been a ban.
    pub(super) fn closing(&self) -> Option<(Timestamp, Timestamp)> {
        // It is shorter if the clock was set back.
        let is_ban = (FIRST_PROBE..=LONGEST_BAN).contains(&self.until.saturating_since(self.begun));
        (is_ban && !self.is_active && !self.was_too_long).then_some((self.begun, self.until))
    }

    /// Returns whether a wait holds back other operations, too. `is_closed` says whether several requests in a row were
    /// rejected.
    pub(super) const fn is_believed(&self, is_closed: bool) -> bool {
        is_closed || !self.was_too_long
    }

    /// Begins the hold, or prolongs it. Returns whether it begins. `interval` is the time between two sends that the user allows.
    pub(super) fn begin(&mut self, now: Timestamp, wait: Duration, interval: Duration) -> bool {
        let begins = !self.is_on(now);
        if begins {
            self.begun = now;
            self.probe_at = now.saturating_add(FIRST_PROBE.max(interval));
            (self.is_active, self.number, self.taken) = (true, next_short(self.number), 0);
            self.was_too_long = false;
        }
        self.until = self.until.max(now.saturating_add(wait));
        begins
    }

    /// Returns the time of the next probe.
    pub(super) fn next_probe(&self) -> Timestamp {
        self.probe_at.min(self.until)
    }

    /// Records that a probe becomes available, to the operation that asks next. `interval` is the time between two sends that the user
    /// allows.
    pub(super) fn probe(&mut self, now: Timestamp, interval: Duration) {
        let space = now.saturating_since(self.begun).saturating_add(FIRST_PROBE).min(LONGEST_SPACE);
        self.probe_at = now.saturating_add(space.max(interval));
    }

    /// Records that a probe was taken, to grant it or to keep it for an operation that is late.
    pub(super) fn take(&mut self) {
        self.taken = self.taken.saturating_add(1);
    }

    /// Records that a send that was taken is granted or given back. Returns whether it is a probe. Otherwise it was kept since before
    /// the hold.
    pub(super) fn release(&mut self) -> bool {
        let is_probe = self.taken > 0;
        self.taken = self.taken.saturating_sub(1);
        is_probe
    }

    /// Records that a send that was taken is granted to an operation. Returns it, marked if it is a probe.
    #[cold]
    pub(super) fn grant(&mut self, granted: Grant) -> Grant {
        if self.release() { granted.probe_of(self.number) } else { granted }
    }

    /// Returns whether a granted send is a probe of this hold.
    pub(super) const fn is_probe(&self, granted: Grant) -> bool {
        granted.is_probe_of(self.number)
    }

    /// Records that the request of this send was accepted. Returns whether that ends the hold, because it is a probe.
    pub(super) fn accept(&mut self, now: Timestamp, granted: Grant) -> bool {
        let ends = self.is_on(now) && self.is_probe(granted);
        if ends {
            self.was_too_long = self.until.saturating_since(now) > now.saturating_since(self.begun);
            self.until = now;
        }
        ends
    }

    /// Continues from an earlier time, because the clock was set back. How much of the wait is left is unknown, so it is over.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        self.until = self.until.min(now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Grant;
    use super::Hold;
    use retry_core::time::Timestamp;
    use std::num::NonZeroU16;
    use std::time::Duration;

    const fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(1_000_000 + millis))
    }

    /// Returns a hold from 0 to this time, in milliseconds.
    fn until(end: u64) -> Hold {
        let mut hold = Hold::over(at(0));
        hold.begin(at(0), Duration::from_millis(end), Duration::ZERO);
        hold
    }

    /// Returns a send from before a hold.
    fn stale() -> Grant {
        Grant::after(NonZeroU16::MIN)
    }

    /// Grants a send that was taken.
    fn grant(hold: &mut Hold) -> Grant {
        hold.grant(stale())
    }

    /// Grants a probe at this time.
    fn probe(hold: &mut Hold, millis: u64) -> Grant {
        hold.probe(at(millis), Duration::ZERO);
        hold.take();
        grant(hold)
    }

    #[test]
    fn an_accepted_request_ends_a_hold_only_if_it_is_a_probe() {
        let mut hold = until(60_000);
        assert_eq!((hold.pass(at(999)), hold.pass(at(1_000))), (false, true));
        let kept = grant(&mut hold);
        let probe = probe(&mut hold, 1_000);
        assert!(!hold.accept(at(1_100), kept), "it was kept since before the hold");
        assert!(hold.is_on(at(1_100)));
        assert!(hold.accept(at(1_100), probe));
        assert!(!hold.is_on(at(1_100)));
        assert!(!hold.accept(at(1_200), probe), "it ends once");
    }

    #[test]
    fn only_a_probe_comes_back() {
        let mut hold = until(60_000);
        assert!(!hold.is_probe(stale()) && !hold.release(), "a send from before the hold is not a probe");
        assert!(probe(&mut hold, 1_000).is_probe());
        hold.take();
        assert!(hold.release());
        assert!(!hold.release(), "it was given back");
    }

    #[test]
    fn two_probes_are_two_although_one_is_kept() {
        let mut hold = until(60_000);
        hold.take();
        let granted = [probe(&mut hold, 3_000), grant(&mut hold), grant(&mut hold)];
        assert_eq!(granted.map(|granted| hold.is_probe(granted)), [true, true, false]);
    }

    #[test]
    fn a_probe_belongs_to_its_hold() {
        let mut hold = until(2_000);
        let former = probe(&mut hold, 1_000);
        hold.take();
        assert!(!hold.accept(at(2_000), former), "the hold ended by itself");
        assert!(hold.begin(at(2_500), Duration::from_secs(60), Duration::ZERO));
        assert!(!hold.is_probe(former) && !hold.release());
        assert!(!hold.accept(at(2_600), former));
        assert!(hold.is_on(at(2_600)));
        // A hold that is prolonged is the same one.
        let same = probe(&mut hold, 5_000);
        assert!(!hold.begin(at(5_000), Duration::from_secs(90), Duration::ZERO));
        assert!(hold.is_probe(same));
        assert!(hold.accept(at(5_100), same));
    }

    #[test]
    fn a_hold_that_is_over_is_noticed_once() {
        let mut hold = Hold::over(at(0));
        assert!(!hold.is_active());
        assert!(!hold.pass(at(0)));
        hold.begin(at(0), Duration::from_secs(2), Duration::ZERO);
        assert!(hold.is_active());
        assert_eq!((hold.pass(at(1_999)), hold.pass(at(2_000)), hold.pass(at(2_000))), (true, false, false));
        assert!(!hold.is_active());
    }

    #[test]
    fn a_wait_was_too_long_if_more_than_half_of_it_was_left_until_the_next_hold_begins() {
        for (accepted, is_believed) in [(29_999, false), (30_000, true), (30_001, true)] {
            let mut hold = until(60_000);
            let probe = probe(&mut hold, 1_000);
            assert!(hold.accept(at(accepted), probe));
            assert_eq!((hold.is_believed(false), hold.is_believed(true)), (is_believed, true), "{accepted}");
        }
        let mut hold = until(60_000);
        let probe = probe(&mut hold, 1_000);
        assert!(hold.accept(at(1_000), probe) && !hold.is_believed(false));
        hold.begin(at(2_000), Duration::from_secs(60), Duration::ZERO);
        assert!(hold.is_believed(false));
    }

    // Rule L71.
    #[test]
    fn a_hold_can_be_a_ban_if_it_is_over_lasts_up_to_ten_minutes_and_was_needed() {
        let closing = |end, over: u64| {
            let mut hold = until(end);
            hold.pass(at(over));
            hold.closing()
        };
        assert_eq!(closing(2_000, 1_999), None, "it is not over");
        assert_eq!(closing(2_000, 2_000), Some((at(0), at(2_000))));
        assert_eq!(closing(600_000, 700_000), Some((at(0), at(600_000))));
        assert_eq!(closing(601_000, 700_000), None);
        // A probe ends it, with more than half of it left, or with less.
        for (accepted, is_ban) in [(20_000, false), (40_000, true)] {
            let mut hold = until(60_000);
            let probe = probe(&mut hold, 1_000);
            assert!(hold.accept(at(accepted), probe));
            hold.pass(at(accepted));
            assert_eq!(hold.closing().is_some(), is_ban, "{accepted}");
        }
        let mut hold = until(60_000);
        let earlier = Timestamp::from_origin(Duration::from_secs(10));
        hold.reanchor(earlier);
        hold.pass(earlier);
        assert_eq!(hold.closing(), None, "the clock was set back");
    }

    #[test]
    fn the_next_probe_is_at_the_latest_at_the_end() {
        let mut hold = until(2_000);
        assert_eq!(hold.next_probe(), at(1_000));
        probe(&mut hold, 1_000);
        assert_eq!(hold.next_probe(), at(2_000));
    }

    #[test]
    fn probes_are_not_closer_together_than_the_user_allows() {
        for (interval, probes) in [
            (0, [1_000, 3_000, 7_000, 15_000]),
            (2_500, [2_500, 6_000, 13_000, 27_000]),
            (400_000, [400_000, 800_000, 1_200_000, 1_600_000]),
        ] {
            let mut hold = Hold::over(at(0));
            let interval = Duration::from_millis(interval);
            hold.begin(at(0), Duration::from_secs(10_000), interval);
            for probe in probes {
                assert_eq!(hold.next_probe(), at(probe), "{interval:?}");
                hold.probe(at(probe), interval);
            }
        }
    }

    #[test]
    fn a_hold_is_over_when_the_clock_is_set_back() {
        let mut hold = until(60_000);
        let probe = probe(&mut hold, 1_000);
        let earlier = Timestamp::from_origin(Duration::from_secs(10));
        hold.reanchor(earlier);
        assert!(!hold.is_on(earlier) && !hold.accept(earlier, probe));
        hold.begin(earlier, Duration::from_secs(5), Duration::ZERO);
        assert_eq!(hold.until(), earlier.saturating_add(Duration::from_secs(5)));
        // The end of a hold that is over stays.
        let mut hold = until(1_000);
        hold.reanchor(at(2_000));
        assert_eq!(hold.until(), at(1_000));
    }
}
