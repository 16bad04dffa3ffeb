//! The estimate of a limit, and the rate that follows it.

use retry_core::limit::GoodputEstimator;
use retry_core::time::Timestamp;
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
    assert_close(estimator.rate(at(400)), 100.0);
    estimator.accept(at(400), 30);
    assert_close(estimator.rate(at(400)), 200.0);
    // 40 accepted in a quarter of a second are 160 per second, and the rate is at most twice that.
    estimator.accept(at(450), 10);
    assert_close(estimator.rate(at(600)), 100.0 * 1.5_f64.exp2());
    assert_close(estimator.rate(at(740)), 320.0);
    assert_close(estimator.rate(at(1200)), 100.0);
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

// Rule L2.
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

// Rule L3.
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

// Rule L4.
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

    // Less than a hundred do not begin another measurement.
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

// Rules L2, L4.
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

// Rule L5.
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

// Rule L5.
#[test]
fn after_a_second_a_silence_is_measured() {
    let mut estimator = tracking_a_limit_of(60);
    for time in (2010..10_000).step_by(250) {
        estimator.reject(at(time));
    }
    estimator.accept(at(10_500), 60);
    estimator.reject(at(10_600));
    // The first one in a row is that at 2000 ms, and the last one within a second after it is that at 2760 ms.
    let goodput = 60.0 / (10.6 - 2.76);
    assert_close(estimator.estimate().unwrap(), (60.0 * goodput + 4.0 * 2.0 * goodput) / 64.0);
}

// Rule L5.
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

// Rule L2.
#[test]
fn a_rejection_after_another_one_ends_no_measurement() {
    let mut estimator = tracking();
    estimator.accept(at(2100), 10);
    estimator.reject(at(2400));
    // Ten in 0.6 s are enough, but the time until the server accepts again belongs to the measurement.
    estimator.reject(at(2600));
    assert_eq!(estimator.estimate(), Some(100.0));
}

// Rule L5.
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

// Rule L2.
#[test]
fn a_pause_is_not_measured_and_what_the_server_saved_up_in_it_does_not_raise_the_estimate() {
    let mut estimator = tracking();
    estimator.accept(at(2500), 50);
    // An hour without a send that had to wait, and then a burst that the server had saved up.
    estimator.pause(at(3_602_500));
    estimator.accept(at(3_603_000), 150);
    estimator.reject(at(3_603_500));
    assert_eq!(estimator.estimate(), Some(100.0));
    // If it accepts less than before, the estimate follows at once.
    estimator.pause(at(3_604_000));
    estimator.accept(at(3_605_000), 60);
    estimator.reject(at(3_606_000));
    assert_eq!(estimator.estimate(), Some(30.0));
}

// Rule L12.
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
    estimator.accept(at(9000), 1);
    estimator.accept(at(9300), 1000);
    assert!(estimator.rate(at(9400)) > 1.9 * estimate, "after that, it does");
}
