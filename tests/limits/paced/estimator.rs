//! The estimate of a limit, and the rate that follows it.

mod bounds;

use retry_core::time::Timestamp;
use retry_limits::GoodputEstimator;
use std::time::Duration;

fn at(millis: u64) -> Timestamp {
    Timestamp::START.saturating_add(Duration::from_millis(millis))
}

fn assert_close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1e-6 * expected.abs().max(1.0), "{actual} instead of {expected}");
}

/// Returns an estimator that tracks a limit of 100 per second since `at(2000)`.
fn tracking() -> GoodputEstimator {
    tracking_a_limit_of(100)
}

/// Returns an estimator that tracks a limit, in requests per second, since `at(2000)`.
fn tracking_a_limit_of(limit: u32) -> GoodputEstimator {
    let mut estimator = GoodputEstimator::new(at(0));
    estimator.accept(at(500), limit);
    estimator.reject(at(1000));
    assert_eq!((estimator.estimate(), estimator.rate(at(1000))), (Some(f64::from(limit)), 0.8 * f64::from(limit)));
    estimator.accept(at(1900), limit);
    estimator.reject(at(2000));
    estimator
}

// Rule L1.
#[test]
fn the_ramp_doubles_as_long_as_what_is_sent_is_accepted() {
    let mut estimator = GoodputEstimator::new(at(0));
    assert_eq!(estimator.estimate(), None);
    assert_close(estimator.rate(at(0)), 100.0);
    assert_close(estimator.rate(at(250)), 100.0);
    estimator.accept(at(240), 20);
    assert_close(estimator.rate(at(250)), 200.0);
    // 20 accepted in a quarter of a second are 80 per second, and the rate is at most three times that.
    assert_close(estimator.rate(at(400)), 240.0);
    estimator.accept(at(400), 40);
    assert_close(estimator.rate(at(400)), 100.0 * 1.6_f64.exp2());
    assert_close(estimator.rate(at(600)), 480.0);
    // After a pause, the rate that was accepted before is accepted again.
    assert_close(estimator.rate(at(1200)), 160.0);
    estimator.pause(at(600_000));
    assert_close(estimator.rate(at(600_000)), 160.0);
    // The highest rate so far can be that of the last quarter, or of one before.
    estimator.accept(at(600), 10);
    assert_close(estimator.rate(at(600_000)), 160.0);
    estimator.accept(at(610), 60);
    assert_close(estimator.rate(at(600_000)), 280.0);
}

/// Returns an estimator in a ramp, in which 1,000 were accepted in each of these quarters of a second.
fn ramp_at_4_000(quarters: u64) -> GoodputEstimator {
    let mut estimator = GoodputEstimator::new(at(0));
    for quarter in 0..quarters {
        estimator.accept(at(200 + 250 * quarter), 1_000);
    }
    estimator
}

// Rule L15.
#[test]
fn a_few_rejections_among_many_accepted_requests_do_not_end_the_ramp_and_many_do() {
    let mut noise = ramp_at_4_000(4);
    for _ in 0..40 {
        assert!(!noise.suspect(at(990)));
        noise.accept(at(990), 19);
    }
    assert_eq!(noise.estimate(), None);
    assert_close(noise.rate(at(990)), 100.0 * 3.96_f64.exp2());
    // Ten accepted requests take off what a rejection adds.
    let mut level = ramp_at_4_000(4);
    for _ in 0..400 {
        assert!(!level.suspect(at(990)));
        level.accept(at(990), 10);
    }

    // The eighth one counts, and an accepted one takes off 0.1. From the third one on, the rate is quartered.
    let mut limit = ramp_at_4_000(4);
    for rejected in 1..8 {
        assert!(!limit.suspect(at(990)));
        let part = if rejected < 3 { 1.0 } else { 0.25 };
        assert_close(limit.rate(at(990)), part * 100.0 * 3.96_f64.exp2());
    }
    assert!(limit.suspect(at(990)));
    assert_close(limit.estimate().unwrap(), 4_000.0);
    // Three of them and five accepted requests are 2.5.
    let mut doubtful = ramp_at_4_000(4);
    (0..3).for_each(|_| assert!(!doubtful.suspect(at(990))));
    doubtful.accept(at(990), 5);
    assert_close(doubtful.rate(at(990)), 100.0 * 3.96_f64.exp2());
    let mut half = ramp_at_4_000(4);
    for _ in 0..8 {
        assert!(!half.suspect(at(990)));
        half.accept(at(990), 1);
    }
    assert!(half.suspect(at(990)), "nine of them, and eight accepted requests");
}

// Rule L41.
#[test]
fn a_ramp_with_few_accepted_requests_ends_at_a_rejection() {
    let mut small = GoodputEstimator::new(at(0));
    small.accept(at(900), 7);
    assert!(small.suspect(at(990)));
    let mut certain = ramp_at_4_000(4);
    certain.reject(at(990));
    assert!(certain.estimate().is_some());
    for (millis, is_noise) in [(250, true), (251, false)] {
        assert_eq!(!GoodputEstimator::new(at(0)).suspect(at(millis)), is_noise, "{millis}");
    }
}

/// Has a rejection in the second after a ramp was ended at `at(2000)`, in which so many were accepted, and then one that counts.
fn look_after_a_ramp(estimator: &mut GoodputEstimator, accepted: u32) {
    estimator.accept(at(2_400), accepted);
    assert!(!estimator.suspect(at(2_400)));
    estimator.accept(at(4_390), 1_000);
    assert!(estimator.suspect(at(4_400)), "one look is not enough");
}

// Rules L42, L43.
#[test]
fn after_two_seconds_a_ramp_with_noise_ends_in_a_cut_that_is_no_rejection() {
    let noisy = |rejected: u32| {
        let mut estimator = ramp_at_4_000(8);
        for _ in 0..rejected {
            assert!(!estimator.suspect(at(1_999)));
            estimator.accept(at(1_999), 20);
        }
        assert!(!estimator.suspect(at(2_000)));
        estimator
    };
    assert_eq!(noisy(80).estimate(), None);
    // A hundredth of them all is 101 of 10,100.
    for (accepted, ends) in [(9_999, true), (10_000, false)] {
        let mut estimator = ramp_at_4_000(8);
        for _ in 0..101 {
            assert!(!estimator.suspect(at(1_999)));
            estimator.accept(at(1_999), 19);
        }
        estimator.accept(at(1_999), accepted - 8_000 - 101 * 19);
        assert!(!estimator.suspect(at(2_000)));
        assert_eq!(estimator.estimate().is_some(), ends, "{accepted}");
    }
    // In the last second, 4 * 1,000 and 120 * 20 were accepted.
    let ended = noisy(120);
    assert_eq!(ended.estimate(), Some(6_400.0));
    assert_close(ended.rate(at(2_000)), 0.7 * 6_400.0);
    // The next measurement can raise that.
    let mut raised = ended;
    raised.accept(at(2_400), 2_900);
    raised.reject(at(2_400));
    assert_close(raised.estimate().unwrap(), (2_900.0 * 7_250.0 + 4.0 * 6_400.0) / 2_904.0);
    // Two looks with a rejection show that it is noise, and then others do not count.
    let mut shown = ended;
    look_after_a_ramp(&mut shown, 1_000);
    shown.accept(at(4_800), 300);
    assert!(!shown.suspect(at(4_800)));
    shown.accept(at(6_800), 1_200);
    assert!(!shown.suspect(at(6_900)));
    shown.accept(at(14_390), 5_000);
    let mut later = shown;
    assert!(!shown.suspect(at(14_399)));
    assert!(later.suspect(at(14_400)), "after ten seconds, there is another look");
    // Without one, they count.
    let mut clean = ended;
    clean.accept(at(4_400), 7_000);
    assert!(clean.suspect(at(4_500)));
}

// Rule L42.
#[test]
fn a_ramp_with_fewer_than_six_rejections_goes_on() {
    for rejected in [5, 6] {
        let mut estimator = GoodputEstimator::new(at(0));
        for round in 0..rejected {
            estimator.accept(at(500 + 200 * round), 20);
            assert!(!estimator.suspect(at(500 + 200 * round)));
        }
        estimator.accept(at(1_999), 20);
        assert!(!estimator.suspect(at(2_000)));
        assert_eq!(estimator.estimate().is_some(), rejected == 6, "{rejected} before this one");
    }
}

// Rules L16, L44.
#[test]
fn known_noise_of_a_share_is_told_from_a_limit_by_a_larger_share() {
    let ended = || {
        let mut estimator = ramp_at_4_000(8);
        for _ in 0..120 {
            assert!(!estimator.suspect(at(1_999)));
            estimator.accept(at(1_999), 20);
        }
        assert!(!estimator.suspect(at(2_000)));
        estimator
    };
    // A hundredth: 4 and 0.8.
    let mut estimator = ended();
    look_after_a_ramp(&mut estimator, 99);
    estimator.accept(at(4_800), 99);
    assert!(!estimator.suspect(at(4_800)));
    estimator.accept(at(6_800), 1_000);
    let mut level = estimator;
    for _ in 0..4 {
        assert!(!estimator.suspect(at(6_800)));
    }
    assert!(estimator.suspect(at(6_800)));
    // Each twentieth accepted request takes off a rejection.
    for _ in 0..100 {
        assert!(!level.suspect(at(6_800)));
        level.accept(at(6_800), 20);
    }
    // One in 11 is more than that.
    let counted = (0..20).position(|_| {
        let is_limit = level.suspect(at(6_800));
        level.accept(at(6_800), 10);
        is_limit
    });
    assert_eq!(counted, Some(8));
    // More than a tenth is no noise.
    for (accepted, is_noise) in [(9, true), (8, false)] {
        let mut estimator = ended();
        look_after_a_ramp(&mut estimator, accepted);
        estimator.accept(at(4_800), accepted);
        assert!(!estimator.suspect(at(4_800)));
        estimator.accept(at(6_800), 1_000);
        assert_eq!(!estimator.suspect(at(6_800)), is_noise, "1 of {}", accepted + 1);
        if is_noise {
            // 4 and 80 times a tenth are more than 8.
            let counted = (2..20).find(|_| estimator.suspect(at(6_800)));
            assert_eq!(counted, Some(8));
        }
    }
    // In the second after a cut, an accepted request takes off 0.1.
    let mut looking = ended();
    look_after_a_ramp(&mut looking, 999);
    looking.accept(at(4_800), 300);
    assert!((0..7).all(|_| !looking.suspect(at(4_800))));
    looking.accept(at(4_800), 60);
    assert!((0..6).all(|_| !looking.suspect(at(4_800))), "1 and 6 are less than 8");
    assert!(looking.suspect(at(4_800)));

    // The second after a cut ends.
    for (millis, is_noise) in [(2_999, true), (3_000, false)] {
        let mut estimator = tracking_a_limit_of(1_000);
        estimator.accept(at(2_990), 600);
        assert_eq!(!estimator.suspect(at(millis)), is_noise, "{millis}");
    }
}

// Rules L16, L43.
#[test]
fn three_looks_in_a_row_with_a_rejection_show_noise() {
    let look = |estimator: &mut GoodputEstimator, from: u64, hit: u64| {
        estimator.accept(at(from + hit), 300);
        assert!(!estimator.suspect(at(from + hit)), "in the second after a cut, it is not counted");
        estimator.accept(at(from + 1_900), 1_500);
    };
    for (hit, is_noise) in [(400, true), (499, true), (500, false), (600, false)] {
        let mut estimator = tracking_a_limit_of(1_000);
        for round in 0..2 {
            look(&mut estimator, 2_000 + 2_000 * round, hit);
            assert!(estimator.suspect(at(4_000 + 2_000 * round)));
        }
        look(&mut estimator, 6_000, hit);
        assert_eq!(!estimator.suspect(at(8_000)), is_noise, "{hit} ms");
    }
    // One without a rejection begins the row again.
    let mut estimator = tracking_a_limit_of(1_000);
    for (round, has_hit) in [true, true, false, true].into_iter().enumerate() {
        let from = 2_000 + 2_000 * round as u64;
        if has_hit {
            look(&mut estimator, from, 400);
        } else {
            estimator.accept(at(from + 1_900), 1_800);
        }
        assert!(estimator.suspect(at(from + 2_000)));
    }
    // A client with less than 150 per second has no look.
    let mut small = tracking_a_limit_of(149);
    small.accept(at(2_400), 45);
    assert!(small.suspect(at(2_400)));
    let mut large = tracking_a_limit_of(150);
    large.accept(at(2_400), 45);
    assert!(!large.suspect(at(2_400)));
}

// Rules L16, L43.
#[test]
fn the_second_after_a_cut_has_shown_noise_when_it_is_over() {
    let mut noisy = tracking_a_limit_of(1_000);
    for (from, later, is_noise) in [(2_000, 600, false), (3_000, 500, false), (4_000, 400, true)] {
        noisy.accept(at(from + 400), 300);
        assert!(!noisy.suspect(at(from + 400)));
        noisy.accept(at(from + 900), later);
        assert_eq!(!noisy.suspect(at(from + 1_000)), is_noise, "{from}");
    }
    // Two that a limit has ended show nothing.
    let mut limited = tracking_a_limit_of(1_000);
    for now in [2_400, 2_800] {
        limited.accept(at(now), 300);
        assert!((0..7).all(|_| !limited.suspect(at(now))));
        assert!(limited.suspect(at(now)));
    }
    limited.accept(at(3_200), 300);
    assert!(!limited.suspect(at(3_200)));
    limited.accept(at(4_700), 1_000);
    assert!(limited.suspect(at(4_800)));
    // After a rejection, another one before anything is accepted is evidence of a limit, too.
    assert!(tracking_a_limit_of(1_000).suspect(at(2_001)));
}

// Rule L2.
#[test]
fn the_estimate_is_what_was_accepted_between_two_rejections() {
    assert_eq!(tracking().estimate(), Some(100.0));
    let mut estimator = tracking();
    estimator.accept(at(5000), 130);
    estimator.reject(at(4000 + 2000));
    // 130 in four seconds, and the former estimate weighs as much as four requests, but at most twice the measurement.
    assert_close(estimator.estimate().unwrap(), (130.0 * 32.5 + 4.0 * 65.0) / 134.0);
}

// Rules L2, L24.
#[test]
fn a_rejection_before_there_is_a_measurement_cuts_the_rate_and_the_measurement_goes_on() {
    let mut estimator = tracking();
    estimator.accept(at(2100), 10);
    estimator.reject(at(2100));
    assert_close(estimator.rate(at(2100)), 70.0);
    assert_eq!(estimator.estimate(), Some(100.0));
    // Sixteen accepted requests are enough, and so is half a second.
    estimator.accept(at(2200), 6);
    estimator.reject(at(2200));
    assert_close(estimator.estimate().unwrap(), (16.0 * 80.0 + 4.0 * 100.0) / 20.0);
    let mut estimator = tracking();
    estimator.accept(at(2500), 1);
    estimator.reject(at(2500));
    assert_close(estimator.estimate().unwrap(), (2.0 + 4.0 * 4.0) / 5.0);

    let mut estimator = GoodputEstimator::new(at(0));
    estimator.accept(at(500), 100);
    estimator.reject(at(1000));
    estimator.accept(at(1010), 1);
    estimator.reject(at(1010));
    assert_close(estimator.rate(at(1010)), 0.5 * 80.0);
    // The next one in a row, as when a server's window is closed, does not halve it again.
    estimator.reject(at(1011));
    assert_close(estimator.rate(at(1011)), 0.5 * 80.0);
}

// Rules L3, L25.
#[test]
fn a_rejection_cuts_the_rate_which_returns_along_a_cubic_and_then_climbs() {
    let mut estimator = tracking();
    for (millis, rate) in [(2000, 70.0), (3000, 100.0 - 30.0 / 8.0), (4000, 100.0)] {
        assert_close(estimator.rate(at(millis)), rate);
    }
    // The rate climbs only if it is used, so 80 of 100 are accepted here.
    estimator.accept(at(4900), 40);
    assert_close(estimator.rate(at(5000)), 116.0 + 1.3);
    assert_close(estimator.rate(at(20_000)), 100.0);
}

// Rules L4, L26.
#[test]
fn what_is_accepted_beyond_the_estimate_proves_a_higher_limit() {
    let mut estimator = tracking();
    // 1.03 * 100 * 2 + 100 * 0.05 + 2.5
    estimator.accept(at(4000), 213);
    let tracked = 100.0 * 1.16_f64.powf(0.4) + 1.3 * 0.4;
    assert_close(estimator.rate(at(4400)), tracked);
    estimator.accept(at(4000), 1);
    assert_close(estimator.rate(at(4000)), 100.0);
    estimator.accept(at(4400), 100);
    assert_close(estimator.rate(at(4400)), 200.0);
    estimator.reject(at(4500));
    assert_close(estimator.estimate().unwrap(), (100.0 * 200.0 + 4.0 * 100.0) / 104.0);

    // A hundred and a few are enough to begin another measurement.
    let mut some = tracking_a_limit_of(50);
    some.accept(at(4000), 109);
    some.accept(at(4400), 50);
    some.reject(at(4500));
    assert_close(some.estimate().unwrap(), (50.0 * 100.0 + 4.0 * 50.0) / 54.0);
    let mut hundred = tracking_a_limit_of(45);
    hundred.accept(at(4000), 100);
    hundred.accept(at(4400), 50);
    hundred.reject(at(4500));
    assert_close(hundred.estimate().unwrap(), (50.0 * 100.0 + 4.0 * 45.0) / 54.0);

    // Less than a hundred do not.
    let mut few = tracking_a_limit_of(20);
    few.accept(at(4000), 45);
    few.accept(at(4400), 20);
    assert_close(few.rate(at(4400)), 40.0);
    few.reject(at(4500));
    assert_close(few.estimate().unwrap(), (65.0 * 26.0 + 4.0 * 20.0) / 69.0);
}

// Rules L3, L4.
#[test]
fn the_clock_may_count_from_any_time() {
    // The origin, today on a clock that counts from 1970, and the clocks of this library.
    let origins = [Duration::ZERO, Duration::from_secs(1_795_000_000), Timestamp::START.since_origin()];
    for origin in origins.map(Timestamp::from_origin) {
        let at = |millis| origin.saturating_add(Duration::from_millis(millis));
        let mut estimator = GoodputEstimator::new(at(0));
        estimator.accept(at(500), 100);
        estimator.reject(at(1000));
        estimator.accept(at(1900), 100);
        estimator.reject(at(2000));
        estimator.accept(at(4750), 30);
        assert_close(estimator.rate(at(5000)), 100.0 * 1.16 + 1.3);
        estimator.accept(at(5000), 300);
        assert_close(estimator.rate(at(5400)), 2.0 * (100.0 * 1.16 + 1.3));
    }
}

// Rules L2, L4, L22, L26.
#[test]
fn answers_that_come_right_after_a_rejection_do_not_lower_the_estimate_and_prove_nothing() {
    let estimator = tracking_a_limit_of(1_000);
    // Of requests that were sent before the rejection was known.
    let (mut late, mut later, mut more) = (estimator, estimator, estimator);
    late.accept(at(2020), 40);
    assert_close(late.rate(at(2020)), 1_000.0 * (1.0 - 0.3 * 0.99_f64.powi(3)));
    late.reject(at(2049));
    assert_eq!((late.estimate(), late.rate(at(2049))), (Some(1_000.0), 700.0));

    later.accept(at(2020), 40);
    later.reject(at(2050));
    assert_close(later.estimate().unwrap(), (40.0 * 800.0 + 4.0 * 1_000.0) / 44.0);

    // They can raise the estimate.
    more.accept(at(2020), 60);
    more.reject(at(2040));
    assert_close(more.estimate().unwrap(), (60.0 * 1_500.0 + 4.0 * 1_000.0) / 64.0);
}

// Rules L5, L28.
#[test]
fn the_rest_of_a_window_that_is_used_up_is_not_measured() {
    // A limit of 60 in each whole second. It is used up at 2 s and 600 ms.
    let used_up = || {
        let mut estimator = tracking_a_limit_of(60);
        estimator.accept(at(2500), 36);
        estimator.reject(at(2600));
        assert_close(estimator.estimate().unwrap(), 60.0);
        estimator
    };
    let after = |mut estimator: GoodputEstimator| {
        estimator.accept(at(3500), 60);
        estimator.reject(at(3600));
        estimator.estimate().unwrap()
    };
    // 50 ms and 16 requests later, it is known that nothing is accepted until the next one.
    let mut silent = used_up();
    for time in [2620, 2640, 2800, 2930] {
        silent.reject(at(time));
    }
    assert_close(after(silent), (60.0 * (60.0 / 0.67) + 4.0 * 60.0) / 64.0);

    let mut earlier = used_up();
    for time in [2620, 2640, 2800, 2910] {
        earlier.reject(at(time));
    }
    assert_close(after(earlier), 60.0);
}

// Rules L28, L62.
#[test]
fn a_server_that_rejected_everything_for_long_was_closed_and_may_have_saved_up_a_burst() {
    let closed = |limit: u32, until: u64| {
        let mut estimator = tracking_a_limit_of(limit);
        for time in (2010..until).step_by(100) {
            estimator.reject(at(time));
        }
        estimator.accept(at(until), 1);
        estimator
    };
    // The time of a second is measured. The first rejection in a row is that at 2010 ms, and the last one is that at 2910 ms.
    let mut estimator = closed(60, 3000);
    estimator.accept(at(3400), 59);
    estimator.reject(at(3500));
    assert!(estimator.estimate().unwrap() > 62.0, "{:?}", estimator.estimate());
    // A longer one is not, and the rate returns as after a cut. What was saved up raises no estimate.
    let mut estimator = closed(60, 9000);
    assert_close(estimator.estimate().unwrap(), 60.0);
    assert_close(estimator.rate(at(9000)), 42.0);
    estimator.accept(at(9500), 200);
    assert_close(estimator.rate(at(11_000)), 60.0);
    estimator.reject(at(11_000));
    assert_close(estimator.estimate().unwrap(), 60.0);
    // Within 1.5 s, a limit of 5 per second promises 7 requests, which prove nothing.
    let mut estimator = closed(5, 3500);
    estimator.reject(at(3600));
    assert!(estimator.estimate().unwrap() < 4.0, "{:?}", estimator.estimate());
}

// Rules L5, L29.
#[test]
fn a_limit_that_fell_to_a_small_part_is_measured_with_the_rejections_between() {
    let mut estimator = tracking_a_limit_of(1_000);
    // Five per second.
    for begin in (2000..4000).step_by(200) {
        for time in (10..200).step_by(20) {
            estimator.reject(at(begin + time));
        }
        estimator.accept(at(begin + 200), 1);
    }
    estimator.reject(at(4010));
    let estimate = estimator.estimate().unwrap();
    assert!(estimate < 10.0, "{estimate}");
}

// Rules L2, L22.
#[test]
fn a_rejection_after_another_one_ends_no_measurement() {
    let mut estimator = tracking();
    estimator.accept(at(2100), 10);
    estimator.reject(at(2400));
    // Ten in 0.6 s are enough, but the time until the server accepts again belongs to the measurement.
    estimator.reject(at(2600));
    assert_eq!(estimator.estimate(), Some(100.0));
}

// Rules L5, L27.
#[test]
fn rejections_in_a_row_leave_single_probes_and_the_estimate_as_it_is() {
    let mut estimator = tracking();
    // The first one is the one that the estimate comes from.
    for rate in [70.0, 17.5, 4.375, 4.0, 4.0, 4.0, 4.0, 4.0] {
        estimator.reject(at(2000));
        assert_close(estimator.rate(at(2000)), rate);
        assert_eq!(estimator.estimate(), Some(100.0));
    }
    // The longer everything is rejected, the fewer probes are sent.
    let since_first = |seconds: u64| estimator.rate(at(2000 + 1000 * seconds));
    for (seconds, rate) in [(10, 0.4), (100, 0.04)] {
        assert_close(since_first(seconds), rate);
    }
    estimator.accept(at(2500), 1);
    assert!(estimator.rate(at(2500)) > 70.0);
}

// Rules L2, L23.
#[test]
fn a_pause_is_not_measured_and_what_the_server_saved_up_in_it_does_not_raise_the_estimate() {
    let mut estimator = tracking();
    estimator.accept(at(2500), 50);
    // An hour without a send that had to wait, and then a burst that the server had saved up.
    estimator.pause(at(3_602_500));
    estimator.accept(at(3_603_000), 150);
    estimator.reject(at(3_603_500));
    assert_eq!(estimator.estimate(), Some(100.0));
    // If it accepts less than before, the estimate follows immediately.
    estimator.pause(at(3_604_000));
    estimator.accept(at(3_605_000), 60);
    estimator.reject(at(3_606_000));
    assert_eq!(estimator.estimate(), Some(30.0));
}

// Rules L12, L40.
#[test]
fn a_warning_cuts_the_rate_as_a_rejection_does_unless_the_rate_returns_from_a_cut() {
    let mut estimator = tracking();
    estimator.accept(at(3900), 180);
    assert!(!estimator.warn(at(3900)), "the rate returns from the cut at 2000");
    assert_close(estimator.rate(at(3900)), 100.0 - 30.0 * 0.05_f64.powi(3));
    estimator.accept(at(4000), 10);
    assert!(estimator.warn(at(4000)));
    // 190 in two seconds.
    assert_close(estimator.estimate().unwrap(), (190.0 * 95.0 + 4.0 * 100.0) / 194.0);
    assert_close(estimator.rate(at(4000)), 0.7 * estimator.estimate().unwrap());

    // A warning ends the ramp and cuts a search, too.
    let mut estimator = GoodputEstimator::new(at(0));
    estimator.accept(at(500), 100);
    assert!(estimator.warn(at(1000)));
    assert_eq!((estimator.estimate(), estimator.rate(at(1000))), (Some(100.0), 80.0));
    estimator.accept(at(1010), 1);
    assert!(estimator.warn(at(1010)));
    assert_close(estimator.rate(at(1010)), 0.5 * 80.0);
    // Warnings in a row do not close the door.
    for millis in [4000, 7000, 10_000, 13_000] {
        estimator.accept(at(millis), 100);
        assert!(estimator.warn(at(millis)));
        assert!(estimator.rate(at(millis)) > 20.0);
    }
}

// Rule L13.
#[test]
fn for_five_seconds_after_a_warning_the_rate_gains_the_same_for_all_clients() {
    let mut estimator = tracking();
    estimator.accept(at(4000), 200);
    assert!(estimator.warn(at(4000)));
    estimator.accept(at(6900), 100);
    let estimate = estimator.estimate().unwrap();
    assert_close(estimator.rate(at(7000)), estimate + 1.3);
    // Nothing proves a higher limit.
    estimator.accept(at(8900), 10_000);
    assert_close(estimator.rate(at(8999)), estimate + 1.3 * 2.999);
    assert_close(estimator.rate(at(9000)), estimate * 1.16_f64.powi(3) + 1.3 * 3.0);
    let proven = estimator.rate(at(9000));
    estimator.accept(at(9000), 1);
    assert_close(estimator.rate(at(9100)), proven * 0.25_f64.exp2());
    estimator.accept(at(9300), 1000);
    assert!(estimator.rate(at(9400)) > 1.9 * estimate, "after that, it does");
}

#[test]
fn an_estimate_is_at_least_a_fifth_of_a_request_per_second() {
    for senseless in [f64::NAN, f64::NEG_INFINITY, -1.0, 0.0, 0.1] {
        assert_eq!(GoodputEstimator::for_all_at(senseless, at(0)).estimate(), Some(0.2), "{senseless}");
    }
    assert_eq!(GoodputEstimator::for_all_at(0.3, at(0)).estimate(), Some(0.3));
    assert_eq!(GoodputEstimator::for_all_at(f64::INFINITY, at(0)).estimate(), Some(f64::MAX));
    // Nothing was accepted in the second before.
    let mut estimator = GoodputEstimator::new(at(0));
    estimator.reject(at(2000));
    assert_eq!(estimator.estimate(), Some(0.2));
}
