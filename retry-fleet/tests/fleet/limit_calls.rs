//! What a process reports about its sends, and which share it takes from a reply.

use crate::fake::{MEASURED, One};
use crate::millis::at;
use retry_fleet::protocol::LimitReply;

/// Returns the reply of a fleet with this rate and estimate, all processes of which wait.
fn of_rate(rate: f64, estimate: f64, waiting: u32) -> LimitReply {
    LimitReply { rate: Some((rate, estimate)), waiting, ..MEASURED }
}

// Rules F9, F24.
#[test]
fn a_process_wants_a_quarter_more_than_it_has_sent_in_a_tenth_of_a_second_or_more() {
    let mut one = One::new();
    assert_eq!(one.take_paced(), [(Some(10.0), false); 2], "a newcomer");
    one.sends(7, 3, 0);
    let call = one.call(99);
    assert_eq!((call.accepted, call.rejected, call.demand), (7, 3, None), "the time is too short");
    assert_eq!(one.call(100).demand, Some(125_000));
    one.sends(9, 1, 0);
    assert_eq!(one.call(300).demand, Some(62_500));
    assert_eq!(one.call(1_300).demand, Some(0));
    assert!(one.take_paced().iter().all(|paced| *paced == (Some(10.0), false)));
}

// Rule F23.
#[test]
fn a_process_waits_for_a_second_or_the_time_of_four_sends_after_an_operation_had_to_wait() {
    for (rate, window) in [(10.0, 1_000), (4.0, 1_000), (2.0, 2_000), (0.5, 8_000), (0.01, 60_000), (1e-300, 60_000)] {
        for (elapsed, is_waiting) in [(window - 1, true), (window, false)] {
            let mut one = One::joined(1, of_rate(rate, rate, 1));
            one.sends(1_000, 0, 1);
            assert_eq!(one.call(1_000).demand, None);
            one.sends(1_000, 0, 0);
            let demand = one.call(1_000 + elapsed).demand;
            assert_eq!(demand.is_none(), is_waiting, "{elapsed} ms at {rate}");
        }
    }
}

// Rule F23.
#[test]
fn a_process_that_waits_but_sends_less_than_two_thirds_of_its_share_does_not_want_more() {
    for (rate, elapsed, accepted, is_waiting) in [
        (30.0, 1_000, 21, true),
        (30.0, 1_000, 19, false),
        (10.0, 100, 0, false),
        (10.0, 100, 1, true),
        (2.0, 1_000, 2, true),
        (2.0, 1_000, 1, false),
    ] {
        let mut one = One::joined(1, of_rate(rate, rate, 1));
        one.sends(accepted, 0, 1);
        let demand = one.call(elapsed).demand;
        assert_eq!(demand.is_none(), is_waiting, "{accepted} in {elapsed} ms at {rate}");
    }
    // It has sent more before: with 0.4 of the weight, because the window is of two seconds.
    for (before, is_waiting) in [(4, true), (3, false)] {
        let mut one = One::joined(1, of_rate(2.0, 2.0, 1));
        one.sends(before, 0, 1);
        assert_eq!(one.call(1_000).demand, None);
        assert_eq!(one.call(2_000).demand.is_none(), is_waiting, "{before} before");
    }
    // Its average share is lower while it grows.
    for (accepted, is_waiting) in [(24, true), (23, false)] {
        let mut one = One::joined(1, of_rate(8.0, 8.0, 1));
        one.sends(0, 0, 1);
        one.call(1_000);
        one.answered(1_000, 1, of_rate(32.0, 32.0, 1));
        one.sends(accepted, 0, 1);
        assert_eq!(one.call(2_000).demand.is_none(), is_waiting, "{accepted} with an average share of 22");
    }
}

// Rules F3, F23.
#[test]
fn a_process_without_a_share_waits_whatever_it_sends() {
    let mut one = One::new();
    one.unanswered(3_000);
    assert_eq!(one.member.status().share, None);
    one.sends(0, 0, 1);
    assert_eq!(one.call(4_000).demand, None);
    assert_eq!(one.call(4_999).demand, None);
    let mut one = One::new();
    one.unanswered(3_000);
    one.sends(0, 0, 1);
    assert_eq!(one.call(4_000).demand, None);
    assert_eq!(one.call(5_000).demand, Some(0));
}

// Rules F10, F26.
#[test]
fn a_process_reports_the_estimate_that_was_measured_and_the_rate_without_the_store() {
    for (cut, rate, estimate, expected) in [
        (0, 200.0, 200.0, None),
        (1, 200.0, 200.0, Some((194.0, 200.0))),
        (1, 160.0, 200.0, Some((194.0, 200.0))),
        (1, 159.0, 200.0, Some((159.0, 200.0))),
        (1, 30.0, 200.0, Some((30.0, 200.0))),
        (7, 400.0, 200.0, Some((194.0, 200.0))),
    ] {
        let mut one = One::joined(10, LimitReply { cut, version: 51, ..of_rate(rate, estimate, 10) });
        let call = one.call(250);
        assert_eq!((call.version, call.known), (51, expected), "{rate} of {estimate}");
        assert_eq!(one.member.status().rate, Some(rate));
    }
    // A measured estimate stays one if the state begins again.
    let mut one = One::joined(10, MEASURED);
    one.answered(250, 10, LimitReply { cut: 0, ..MEASURED });
    assert_eq!(one.call(250).known, Some((194.0, 200.0)));
}

// Rules F8, F22.
#[test]
fn a_strategy_learns_of_each_cut_once() {
    let mut one = One::joined(10, LimitReply { cut: 0, ..MEASURED });
    one.take_paced();
    for (cut, is_cut) in [(0, false), (1, true), (1, false), (5, true), (0, false), (5, true)] {
        one.answered(0, 10, LimitReply { cut, ..MEASURED });
        assert_eq!(one.take_paced(), [(Some(20.0), is_cut)], "{cut}");
    }
    // Of an emptied store, a cut with the same number is another one.
    one.answered_in("another", 0, 10, LimitReply { cut: 5, ..MEASURED });
    assert_eq!(one.take_paced(), [(Some(20.0), true)]);
    one.answered_in("a third one", 0, 10, MEASURED);
    assert_eq!(one.take_paced(), [(Some(20.0), true)]);
    // So is the first one that a process learns of.
    let mut one = One::new();
    one.take_paced();
    one.answered(0, 10, MEASURED);
    assert_eq!(one.take_paced(), [(Some(20.0), true)]);
}

// Rule F52.
#[test]
fn a_small_share_varies_from_call_to_call_by_up_to_a_quarter() {
    for (rate, varies) in [(39.0, true), (40.0, false)] {
        let (mut one, share) = (One::new(), rate / 10.0);
        one.take_paced();
        (0..100).for_each(|_| one.answered(0, 10, of_rate(rate, rate, 10)));
        assert_eq!(one.member.status().share, Some(share));
        let rates: Vec<_> = one.take_paced().into_iter().filter_map(|(rate, _)| rate).collect();
        let (least, most) =
            rates.iter().fold((f64::MAX, 0.0_f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
        assert!(least >= 0.75 * share && most <= 1.25 * share, "{least} to {most}");
        assert_eq!((least < 0.8 * share, most > 1.2 * share), (varies, varies), "{least} to {most}");
        let mean = rates.iter().sum::<f64>() / 100.0;
        assert!((mean / share - 1.0).abs() < 0.04, "{mean} on average");
    }
}

// Rule F39.
#[test]
fn a_rate_of_zero_is_none_and_others_are_bounded_by_the_larger_of_rate_and_estimate() {
    let mut one = One::joined(10, of_rate(1e12, 1e12, 10));
    assert_eq!(one.member.status().rate, Some(1e12), "the first one is not bounded");
    one.take_paced();
    one.answered(0, 10, of_rate(0.0, 5.0, 10));
    assert_eq!((one.take_paced(), one.member.status().rate), (vec![], Some(1e12)));
    one.answered(0, 10, of_rate(50.0, 500.0, 10));
    assert_eq!((one.take_paced(), one.member.status().rate), (vec![(Some(5.0), false)], Some(50.0)));

    for (rate, estimate) in [(100.0, 200.0), (200.0, 100.0)] {
        for (told, bounded, without_the_store) in [
            ((1e6, 1e6), 800.0, (776.0, 800.0)),
            ((1e6, 300.0), 800.0, (291.0, 300.0)),
            ((500.0, 1e6), 500.0, (500.0, 800.0)),
            ((700.0, 800.0), 700.0, (776.0, 800.0)),
        ] {
            let mut one = One::joined(10, of_rate(rate, estimate, 10));
            one.answered(0, 10, of_rate(told.0, told.1, 10));
            let known = one.call(0).known;
            assert_eq!((one.member.status().rate, known), (Some(bounded), Some(without_the_store)), "{told:?}");
        }
    }
}

// Rules F9, F24.
#[test]
fn a_share_is_what_the_others_leave_and_at_least_the_even_one() {
    // What it had, what it sends, if it does not wait, what the others want, and how many wait.
    for (had, sent, satisfied, waiting, expected) in [
        (20.0, None, 50_000, 5, 30.0),
        (20.0, None, 190_000, 1, 20.0),
        (20.0, None, 100_000, 1, 80.0),
        (20.0, None, 150_000, 10, 20.0),
        (20.0, None, 250_000, 2, 20.0),
        (100.0, None, 50_000, 0, 150.0),
        // Its own demand, a quarter more than it sends, is among those of the others.
        (20.0, Some(10), 62_500, 4, 30.0),
        (20.0, Some(8), 10_000, 3, 40.0),
        (20.0, Some(16), 20_000, 0, 80.0),
        (100.0, Some(96), 120_000, 0, 200.0),
        (100.0, Some(96), 0, 0, 200.0),
        (100.0, Some(32), 40_000, 0, 160.0),
    ] {
        let mut one = One::joined(10, of_rate(10.0 * had, 10.0 * had, 10));
        one.assert_share(had, "before");
        one.sends(sent.unwrap_or(0), 0, 0);
        if sent.is_some() {
            one.call(1_000);
        }
        one.answered(1_000, 10, LimitReply { satisfied, ..of_rate(200.0, 200.0, waiting) });
        one.assert_share(expected, &format!("had {had}, sent {sent:?}, {satisfied} and {waiting}"));
    }
    // A fleet of one has the whole rate.
    let mut one = One::joined(1, of_rate(200.0, 200.0, 1));
    one.assert_share(200.0, "alone");
    one.sends(30, 0, 0);
    one.call(1_000);
    one.answered(1_000, 0, of_rate(200.0, 200.0, 0));
    one.assert_share(200.0, "a reply without processes");
}

/// Returns the reply to a process of a fleet, of which some are back.
fn back(waiting: u32) -> LimitReply {
    LimitReply { waiting, ..MEASURED }
}

// Rule F27.
#[test]
fn until_all_are_back_after_a_store_was_away_none_gets_a_larger_part() {
    for (silence, members, waiting, expected) in
        [(1_499, 5, 5, 40.0), (1_500, 5, 5, 20.0), (1_500, 9, 5, 20.0), (1_500, 10, 5, 40.0), (9_000, 5, 5, 20.0)]
    {
        let mut one = One::joined(10, MEASURED);
        one.answered(silence, members, back(waiting));
        one.assert_share(expected, &format!("{members} are back after {silence} ms"));
    }
    // The part of another rate.
    let mut one = One::joined(10, MEASURED);
    one.answered(1_500, 5, of_rate(400.0, 400.0, 5));
    one.assert_share(40.0, "another rate");
    // In a large fleet, one and a half intervals are longer.
    for (silence, expected) in [(2_999, 20.0), (3_000, 10.0)] {
        let mut one = One::joined(4_000, of_rate(40_000.0, 40_000.0, 4_000));
        one.answered(silence, 2_000, of_rate(40_000.0, 40_000.0, 2_000));
        one.assert_share(expected, &format!("{silence} ms"));
    }
    // What was not measured is no part to keep.
    let mut one = One::joined(10, LimitReply { cut: 0, ..MEASURED });
    one.answered(1_500, 5, back(5));
    one.assert_share(40.0, "not measured");
    // An emptied store knows few at first, too.
    let mut one = One::joined(10, MEASURED);
    one.answered_in("another", 100, 5, back(5));
    one.assert_share(20.0, "emptied");
    one.answered_in("another", 200, 10, back(5));
    one.assert_share(40.0, "all are back");
    one.answered_in("another", 300, 5, back(5));
    one.assert_share(40.0, "and leave");
}

// Rule F27.
#[test]
fn who_is_not_back_after_ten_seconds_leaves_the_share_to_the_others() {
    for (end, expected) in [(11_499, 20.0), (11_500, 40.0)] {
        let mut one = One::joined(10, MEASURED);
        for now in (1_500..11_000).step_by(1_000).chain([end]) {
            one.answered(now, 5, back(5));
        }
        one.assert_share(expected, &format!("{end} ms"));
    }
    // The store is away a second time, before all are back.
    let mut one = One::joined(10, MEASURED);
    one.answered(1_500, 5, back(5));
    one.answered(3_000, 9, back(9));
    one.assert_share(20.0, "twice away");
    one.answered(3_250, 10, back(5));
    one.assert_share(40.0, "all are back");
}

// Rules F10, F25.
#[test]
fn without_the_store_a_share_is_that_of_the_estimate_or_of_a_rate_far_below_it() {
    for (cut, rate, estimate, rejected, expected) in [
        (1, 200.0, 200.0, 0, Some(19.4)),
        (1, 200.0, 200.0, 1, Some(19.4)),
        (1, 160.0, 200.0, 0, Some(19.4)),
        (1, 159.0, 200.0, 0, Some(15.9)),
        (1, 100.0, 200.0, 0, Some(10.0)),
        (1, 400.0, 200.0, 0, Some(19.4)),
        (0, 200.0, 200.0, 0, Some(19.4)),
        (0, 200.0, 200.0, 1, None),
    ] {
        let mut one = One::joined(10, LimitReply { cut, ..of_rate(rate, estimate, 10) });
        one.sends(50, rejected, 0);
        one.call(1_000);
        one.take_paced();
        for failed in [1_000, 1_250] {
            one.unanswered(failed);
            match expected {
                Some(share) => one.assert_share(share, &format!("{rate} of {estimate}, {rejected} rejected")),
                None => assert_eq!(one.member.status().share, None),
            }
        }
        assert!(one.take_paced().iter().all(|(_, is_cut)| !is_cut), "no server has cut it");
    }
}

// Rules F9, F25.
#[test]
fn a_newcomer_keeps_its_rate_until_the_store_is_lost_even_if_it_is_rejected() {
    let mut one = One::new();
    one.sends(0, 5, 1);
    one.call(1_000);
    for now in [1_000, 2_000, 2_999] {
        one.unanswered(now);
        one.assert_share(10.0, "not lost yet");
    }
    assert!(one.take_paced().iter().all(|(_, is_cut)| !is_cut));
    one.unanswered(3_000);
    assert_eq!(one.member.status().share, None, "it has its own estimate");
    // So has one that has left.
    let mut one = One::joined(10, MEASURED);
    one.member.call(at(100), true);
    one.unanswered(3_000);
    assert_eq!(one.member.status().share, None);
}

// Rule F36.
#[test]
fn from_the_second_failed_call_on_a_share_grows_with_accepted_requests_and_is_cut_by_rejections() {
    let mut one = One::joined(100, of_rate(200.0, 200.0, 100));
    let (mut share, mut now) = (1.94, 1_000);
    one.sends(10, 0, 1);
    one.call(now);
    one.unanswered(now);
    one.assert_share(share, "the first failed call");
    for (elapsed, accepted, rejected, factor) in [
        (1_000, 5, 0, 1.005),
        (1_000, 7, 0, 1.007),
        (1_000, 500, 0, 1.01),
        (500, 500, 0, 1.005),
        (2_000, 1 << 33, 0, 1.02),
        (1_000, 100, 1, 0.9),
        (1_000, 6, 0, 1.006),
    ] {
        now += elapsed;
        one.sends(accepted, rejected, 1);
        assert_eq!(one.call(now).demand, None);
        one.unanswered(now);
        share *= factor;
        one.assert_share(share, &format!("{accepted} and {rejected} in {elapsed} ms"));
    }
}

// Rule F51.
#[test]
fn a_share_grows_faster_in_a_fleet_that_is_young_but_not_in_an_old_one_whose_store_was_emptied() {
    for (versions, factor) in [(&[39][..], 1.05), (&[40], 1.01), (&[4_000, 3], 1.01)] {
        let mut one = One::new();
        for (store, version) in versions.iter().enumerate() {
            let limit = LimitReply { version: *version, ..of_rate(200.0, 200.0, 100) };
            one.answered_in(&store.to_string(), 0, 100, limit);
        }
        one.sends(10, 0, 1);
        one.call(1_000);
        one.unanswered(1_000);
        one.sends(500, 0, 1);
        one.call(2_000);
        one.unanswered(2_000);
        one.assert_share(1.94 * factor, &format!("versions {versions:?}"));
    }
}

// Rule F36.
#[test]
fn a_share_stays_if_no_operation_waits_and_after_an_answer_the_next_failed_call_is_a_first_one() {
    let mut one = One::joined(100, of_rate(200.0, 200.0, 100));
    for now in [1_000, 2_000, 3_000] {
        one.sends(10, 0, 0);
        assert!(one.call(now).demand.is_some());
        one.unanswered(now);
        one.assert_share(1.94, "no operation waits");
    }
    for is_answered in [false, true] {
        let mut one = One::joined(100, of_rate(200.0, 200.0, 100));
        one.sends(10, 0, 1);
        one.call(1_000);
        one.unanswered(1_000);
        if is_answered {
            one.answered(1_000, 100, of_rate(200.0, 200.0, 100));
        }
        one.sends(10, 0, 1);
        one.call(2_000);
        one.unanswered(2_000);
        one.assert_share(if is_answered { 1.94 } else { 1.94 * 1.01 }, "the second failed call");
    }
}
