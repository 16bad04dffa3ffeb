//! The arithmetic of a limit, step by step: what came in before a change, holds, weights, and a clock that is set back.

use super::super::place::Grant;
use super::super::unit::{Requests, Unit, Weights};
use super::{GoodputEstimator, Pace, RateLimit, SendSupply, Timestamp, UserRates};
use crate::throttled::Throttled;
use std::cell::Cell;
use std::time::Duration;

/// Returns a time in microseconds, from one that is far from the origin of the clock.
const fn at(micros: u64) -> Timestamp {
    Timestamp::from_origin(Duration::from_secs(100_000)).saturating_add(Duration::from_micros(micros))
}

const fn millis(millis: u64) -> Timestamp {
    at(1000 * millis)
}

/// Returns a limit at this external rate.
fn imposed<U: Unit>(rate: f64) -> Pace<U> {
    let mut pace = Pace::new(&GoodputEstimator::new(at(0)), at(0));
    pace.impose(at(0), Some(rate), false);
    pace
}

/// Returns a limit that the user set, at 100 sends per second.
fn limited_pace() -> Pace<Requests> {
    let mut estimator = GoodputEstimator::new(at(0));
    estimator.set_user_rates(UserRates::new(None, Some(103.0), 1));
    Pace::new(&estimator, at(0))
}

/// Returns a limit that began with a rejection, after 100 accepted requests in a second.
fn searching() -> Pace<Requests> {
    Pace::new(&GoodputEstimator::after_the_first_rejection(at(0), 100), at(0))
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// Takes a send of this weight, and grants it.
fn send<U: Unit>(pace: &mut Pace<U>, weight: U::Weight) -> Grant {
    pace.take(weight);
    pace.grant()
}

/// Returns whether a send is available.
fn is_available<U: Unit>(pace: &Pace<U>) -> bool {
    pace.wait_for(pace.one()).is_zero()
}

const NANO: Duration = Duration::from_nanos(1);

#[test]
fn what_came_in_before_a_change_came_in_at_the_rate_before_it() {
    type Change = fn(&mut Pace<Requests>);
    let changes: [Change; 3] = [
        |pace| _ = pace.reject(millis(5), Some(pace.rejections), true),
        |pace| pace.report(millis(5), Some(pace.rejections), RateLimit::new(100)),
        |pace| pace.set_user_rates(millis(5), UserRates::new(None, Some(51.5), 1)),
    ];
    for change in changes {
        let mut pace = limited_pace();
        assert_close(pace.rate(), 100.0);
        pace.report(at(0), None, RateLimit::new(900));
        change(&mut pace);
        assert_close(pace.sends, 0.5);
        assert!(pace.rate() < 99.0, "{}", pace.rate());
    }
}

#[test]
fn unused_sends_of_a_twentieth_of_a_second_are_saved_and_one_with_a_limit_that_the_user_sets() {
    let mut pace = imposed::<Requests>(100.0);
    pace.refill(millis(10_000));
    assert_close(pace.sends, 5.0);
    pace.set_user_rates(millis(10_000), UserRates::new(None, Some(206.0), 1));
    assert_close(pace.sends, 1.0);
}

#[test]
fn only_the_first_one_of_the_rejections_of_requests_that_were_sent_together_counts() {
    let mut pace = searching();
    let sent_after = Some(pace.rejections);
    (0..3).for_each(|_| _ = pace.reject(millis(1000), sent_after, true));
    assert_eq!(pace.answers.rejected, 1);
    // An external rate is not changed by rejections, so all of them count, also after a warning.
    let mut pace = imposed::<Requests>(100.0);
    let sent_after = Some(pace.rejections);
    pace.report(at(0), None, RateLimit::new(900));
    (0..3).for_each(|_| _ = pace.reject(millis(1000), sent_after, true));
    pace.report(millis(4000), sent_after, RateLimit::new(100));
    pace.reject(millis(4000), sent_after, true);
    assert_eq!(pace.answers.rejected, 4);
}

// Rule L64.
#[test]
fn after_a_fall_the_limit_is_searched_again_until_it_has_risen() {
    let mut pace = searching();
    // A limit that rejects one in each second.
    let second = |pace: &mut Pace<Requests>, number: u64, accepted: u32| {
        pace.accept(millis(1000 * number + 990), accepted);
        pace.waited_at = millis(1000 * number + 990);
        pace.reject(millis(1000 * (number + 1)), Some(pace.rejections), false);
        pace.estimator.rate(millis(1000 * (number + 1) + 240)) / pace.estimator.rate(millis(1000 * (number + 1)))
    };
    for (number, accepted) in [(0, 100), (1, 99), (2, 101)] {
        let growth = second(&mut pace, number, accepted);
        assert!(growth < 1.2, "{growth}");
    }
    let growth = second(&mut pace, 3, 10);
    assert!((1.9..2.0).contains(&growth), "{growth}");
    // It is rejected again, and then the limit rises.
    let growth = second(&mut pace, 4, 10);
    assert!((1.9..2.0).contains(&growth), "{growth}");
    let growth = second(&mut pace, 5, 100);
    assert!(growth < 1.2, "{growth}");
}

#[test]
fn the_rate_does_not_grow_in_a_hold() {
    let mut pace = searching();
    assert!(pace.hold(at(0), Duration::from_secs(60)));
    let rate_after = |pace: &mut Pace<Requests>, end| {
        pace.refill(millis(end));
        pace.refill(at(1000 * end + 1));
        pace.rate()
    };
    let rate = rate_after(&mut pace, 60_000);
    assert!((rate - 0.7 * 100.0).abs() < 0.01, "{rate}");
    pace.refill(millis(62_000));
    assert!(pace.rate() > rate, "{}", pace.rate());

    // A rejected probe cuts the rate, which does not grow until the end, either.
    let mut probed = searching();
    assert!(probed.hold(at(0), Duration::from_secs(60)));
    probed.refill(millis(1000));
    send(&mut probed, ());
    probed.reject(millis(1100), Some(probed.rejections), true);
    probed.accept(millis(1200), 1);
    assert!(!probed.wait_for(1.0).is_zero(), "a late answer does not end the hold");
    assert_close(rate_after(&mut probed, 60_000), rate);

    // If the probe is accepted, the rate grows from then on.
    let mut ended = searching();
    assert!(ended.hold(at(0), Duration::from_secs(60)));
    ended.refill(millis(1000));
    let probe = send(&mut ended, ());
    ended.accept_probe(millis(1000), probe);
    assert_close(rate_after(&mut ended, 1000), rate);
    ended.refill(millis(3000));
    assert!(ended.rate() > rate, "{}", ended.rate());
}

// Rule L33.
#[test]
fn an_accepted_probe_ends_a_hold_at_once() {
    let mut pace = searching();
    let stale = pace.grant();
    assert!(pace.hold(at(0), Duration::from_secs(60)));
    pace.refill(millis(1000));
    let probe = send(&mut pace, ());
    pace.accept_probe(millis(1100), stale);
    pace.accept(millis(1100), 1);
    assert!(pace.hold.is_on(millis(1100)), "the answer is a late one");
    pace.accept_probe(millis(1200), probe);
    assert!(!pace.hold.is_active());
    // The next send comes in from then on.
    assert_close(pace.sends, 0.0);
    pace.refill(millis(1200 + 10));
    assert_close(pace.sends, pace.rate() / 100.0);
}

// Rule L33.
#[test]
fn a_probe_that_is_not_sent_is_available_again() {
    let mut pace = searching();
    assert!(pace.hold(at(0), Duration::from_secs(60)));
    pace.refill(millis(1000));
    let unsent = send(&mut pace, ());
    assert!(!is_available(&pace));
    pace.not_sent(unsent, ());
    assert!(is_available(&pace), "another operation can send it");
    // It is kept for an operation that is late, which goes away.
    pace.take(());
    pace.give_back(());
    assert!(is_available(&pace));
    assert!(send(&mut pace, ()).is_probe());
}

// Rules L31, L33.
#[test]
fn sends_from_before_a_hold_that_are_given_back_in_it_are_lost() {
    let mut pace = imposed::<Requests>(1000.0);
    let stale = pace.grant();
    assert!(pace.hold(at(0), Duration::from_secs(60)));
    let give_back = |pace: &mut Pace<Requests>, expected| {
        pace.not_sent(stale, ());
        // One that was kept.
        pace.give_back(());
        assert_close(pace.sends, expected);
    };
    give_back(&mut pace, 0.0);
    pace.refill(millis(1000));
    give_back(&mut pace, 1.0);
    let probe = send(&mut pace, ());
    give_back(&mut pace, 0.0);
    pace.not_sent(probe, ());
    assert_close(pace.sends, 1.0);
    send(&mut pace, ());
    // One that was kept since before the hold is not a probe.
    let kept = pace.grant();
    pace.not_sent(kept, ());
    assert_close(pace.sends, 0.0);
    pace.accept_probe(millis(1200), kept);
    assert!(pace.hold.is_on(millis(1200)));
    // After the hold, they come back.
    pace.refill(millis(60_000));
    give_back(&mut pace, 2.0);
}

// Rule L33.
#[test]
fn sends_that_are_given_back_after_an_accepted_probe_are_not_lost() {
    let mut pace = imposed::<Requests>(1000.0);
    let stale = pace.grant();
    assert!(pace.hold(at(0), Duration::from_secs(60)));
    pace.refill(millis(1000));
    let probe = send(&mut pace, ());
    pace.accept_probe(millis(1100), probe);
    for (unsent, sends) in [(stale, 1.0), (stale, 2.0), (probe, 3.0)] {
        pace.not_sent(unsent, ());
        assert_close(pace.sends, sends);
    }
    // What came in since the end of the hold is added.
    pace.refill(millis(1110));
    assert_close(pace.sends, 13.0);
}

// Rule L33.
#[test]
fn a_probe_does_not_come_back_in_a_hold_of_the_next_limit() {
    let mut pace = searching();
    assert!(pace.hold(at(0), Duration::from_secs(60)));
    pace.refill(millis(1000));
    let probe = send(&mut pace, ());
    pace.restart(
        GoodputEstimator::after_the_first_rejection(millis(1500), 100),
        UserRates::new(None, None, 1),
        millis(1500),
    );
    assert!(pace.hold(millis(1500), Duration::from_secs(60)));
    pace.not_sent(probe, ());
    assert_close(pace.sends, 0.0);
}

// Rules L31, L33.
#[test]
fn a_probe_is_available_until_it_is_taken_also_if_the_hold_is_prolonged() {
    let mut pace = searching();
    // A burst that the server allows.
    pace.set_user_rates(at(0), UserRates::new(None, Some(1000.0), 10));
    assert!(pace.hold(at(0), Duration::from_secs(60)));
    pace.refill(millis(1000));
    send(&mut pace, ());
    // The answer to the first probe comes when the next one is due.
    pace.reject(millis(3000), Some(pace.rejections), true);
    assert!(pace.hold(millis(3000), Duration::from_secs(60)));
    assert!(is_available(&pace));
    send(&mut pace, ());
    assert!(!is_available(&pace));
    // A hold that begins has none.
    pace.refill(millis(7000));
    assert!(is_available(&pace));
    assert!(pace.hold(millis(63_000), Duration::from_secs(60)));
    assert!(!is_available(&pace));
}

#[test]
fn the_first_one_waits_for_the_next_probe_and_the_others_for_the_end_of_the_hold() {
    let mut pace = imposed::<Requests>(1000.0);
    assert!(pace.hold(at(0), Duration::from_secs(2)));
    pace.refill(millis(950));
    let end = |time| Duration::from_millis(time) + NANO;
    assert_eq!([pace.wait_for(1.0), pace.wait_for(2.0)], [Duration::from_millis(50), end(1050 + 2)]);
    pace.refill(millis(1000));
    assert_eq!([pace.wait_for(1.0), pace.wait_for(2.0)], [Duration::ZERO, end(1000 + 1)]);
    pace.take(());
    // The next probe would be after the end.
    pace.refill(millis(1950));
    assert_eq!([pace.wait_for(1.0), pace.wait_for(2.0)], [Duration::from_millis(50), end(50 + 2)]);
}

#[test]
fn a_clock_that_is_set_back_stops_nothing() {
    let mut pace = Pace::<Requests>::new(&GoodputEstimator::new(at(0)), at(0));
    pace.report(at(0), None, RateLimit::new(900));
    let rate = pace.rate();
    let begun = Timestamp::from_origin(Duration::from_secs(10));
    let after = |millis| begun.saturating_add(Duration::from_millis(millis));
    pace.observe(begun);
    assert_eq!(pace.observe(after(250)).went_back_to, Some(begun));
    assert_eq!((pace.filled, pace.waited_at), (begun, begun));
    // The rate grows with what is accepted.
    for step in 3..13 {
        pace.accept(after(100 * step), 100);
    }
    pace.refill(after(1250));
    assert!(pace.rate() > 2.0 * rate, "{}", pace.rate());
    // Former reports are forgotten.
    let few_remain = |pace: &mut Pace<Requests>, now| {
        let before = pace.rejections;
        pace.report(now, Some(before), RateLimit::new(100));
        pace.rejections != before
    };
    assert!(few_remain(&mut pace, after(11_000)));
    assert!(!few_remain(&mut pace, after(22_000)));
}

// Rules K3, L1, L72.
#[test]
fn a_ramp_keeps_its_age_when_the_clock_is_set_back() {
    // The last clock begins at zero, and then counts less than the age of the ramp.
    for (begun, back) in [(at(0), 0), (at(0), 300), (at(0), 10_000), (Timestamp::from_origin(Duration::ZERO), 300)] {
        let mut pace = Pace::<Requests>::new(&GoodputEstimator::new(begun), begun);
        let millis = |elapsed| begun.saturating_add(Duration::from_millis(elapsed));
        let later = |elapsed| millis(elapsed).saturating_sub(Duration::from_millis(back));
        pace.observe(millis(400));
        pace.observe(later(400));
        assert_eq!(pace.observe(later(650)).went_back_to.is_some(), back > 0);
        pace.accept(later(690), 9);
        // Three times what was accepted permits more than this rate.
        let mut busy = pace.estimator;
        busy.accept(later(690), 1000);
        assert_close(busy.rate(later(700)), 100.0 * (0.7_f64 / 0.25).exp2());
        let begun = pace.rejections;
        while pace.rejections == begun {
            pace.accept(later(690), 1);
            assert!(!pace.is_own(later(700), &mut Throttled::default()));
            pace.reject(later(700), Some(begun), false);
        }
        // Above three in ten: the seventh one after 16 accepted requests. The answers of the last 0.05 s are not known.
        assert_eq!((pace.answers.accepted, pace.answers.rejected), (16, 7));
        assert_close(pace.estimator.estimate().unwrap(), 16.0 / 0.65);
    }
}

#[test]
fn weights_ahead_are_added_up_as_far_as_a_waiter_can_wait() {
    let mut pace = imposed::<Weights>(20.0);
    let asked = Cell::new(0);
    let weight = |_| {
        asked.set(asked.get() + 1);
        1
    };
    // Two sends become available in the longest single wait.
    for (available, requests, expected) in
        [(0, 0, 0), (0, 1, 1), (0, 2, 2), (0, 3, 3), (0, 100, 3), (1, 3, 3), (1, 4, 4), (1, 100, 4)]
    {
        pace.refill(millis(1000 * available));
        asked.set(0);
        assert_close(pace.sends_of_all(requests, weight), f64::from(expected));
        assert_eq!(asked.get(), expected, "{available}, {requests}");
    }
    assert_close(imposed::<Requests>(20.0).sends_of_all(100, |_| panic!("all are the same")), 100.0);
}

#[test]
fn what_was_used_beyond_a_weight_is_taken_from_what_is_saved_up() {
    let mut pace = imposed::<Weights>(100.0);
    pace.accept_weight(millis(100_000), None, 1, Some(3));
    assert_close(pace.sends, 3.0);
    assert_eq!(pace.answers.accepted, 1, "it is one request");
}

#[test]
fn an_accepted_probe_of_any_weight_ends_a_hold() {
    let mut pace = imposed::<Weights>(100.0);
    assert!(pace.hold(at(0), Duration::from_secs(60)));
    pace.refill(millis(1000));
    let probe = send(&mut pace, 1);
    pace.accept_weight(millis(1100), None, 1, None);
    assert!(pace.hold.is_on(millis(1100)), "the answer is a late one");
    // What it used less than its weight is not available: it did not come in at the rate.
    pace.accept_weight(millis(1100), Some(probe), 100, Some(1));
    assert!(!pace.hold.is_active());
    assert_close(pace.sends, 0.0);
}

// Rule L33.
#[test]
fn an_answer_from_before_a_hold_makes_no_send_available_in_it() {
    let mut pace = imposed::<Weights>(100.0);
    assert!(pace.hold(at(0), Duration::from_secs(60)));
    pace.accept_weight(millis(500), None, 100, Some(1));
    assert!(!is_available(&pace));
    pace.refill(millis(1000));
    // It used more than its weight.
    pace.accept_weight(millis(1000), None, 1, Some(100));
    assert!(is_available(&pace));
}

#[test]
fn of_light_requests_only_one_is_the_probe() {
    let mut pace = imposed::<Weights>(100.0);
    pace.meet(100);
    assert!(pace.hold(at(0), Duration::from_secs(60)));
    pace.refill(millis(1000));
    let light = pace.sends(1);
    assert!(pace.wait_for(light).is_zero());
    let probe = send(&mut pace, 1);
    assert!(!pace.wait_for(light).is_zero());
    assert_close(pace.sends, 0.0);
    // If it is given back, an operation of any weight can be the probe.
    pace.not_sent(probe, 1);
    assert!(pace.wait_for(pace.sends(100)).is_zero());
}
