//! What the estimator does exactly at its bounds. Each expected number is calculated from the rules.

use super::{assert_close, at, tracking, tracking_a_limit_of};
use retry_limits::GoodputEstimator;

/// Returns what a measurement of so many requests in so many seconds makes of the former estimate (rule L2).
fn measured(requests: f64, seconds: f64, former: f64) -> f64 {
    let goodput = requests / seconds;
    (requests * goodput + 4.0 * former.min(2.0 * goodput)) / (requests + 4.0)
}

/// Returns an estimator that searches since `at(1000)`, from 80 sends per second on.
fn searching() -> GoodputEstimator {
    let mut estimator = GoodputEstimator::new(at(0));
    estimator.accept(at(500), 100);
    estimator.reject(at(1000));
    estimator
}

// Rule L24.
#[test]
fn a_search_doubles_its_rate_in_a_quarter_of_a_second() {
    let mut estimator = searching();
    estimator.accept(at(1010), 30);
    for (millis, doublings) in [(1000, 0.0_f64), (1125, 0.5), (1250, 1.0)] {
        assert_close(estimator.rate(at(millis)), 80.0 * doublings.exp2());
    }
}

// Rule L24.
#[test]
fn the_last_second_before_the_first_rejection_includes_a_part_of_a_quarter() {
    let mut estimator = GoodputEstimator::new(at(0));
    estimator.accept(at(100), 80);
    estimator.accept(at(600), 20);
    // Half of the first quarter is older than a second.
    estimator.reject(at(1125));
    assert_eq!(estimator.estimate(), Some(60.0));
}

// Rule L1.
// This is not a goal: it records what the ramp does, so that a change is seen and decided.
#[test]
fn a_ramp_keeps_only_the_first_requests_of_a_quarter_that_is_followed_by_an_empty_one() {
    let mut estimator = GoodputEstimator::new(at(0));
    estimator.accept(at(400), 30);
    estimator.accept(at(410), 70);
    assert_close(estimator.rate(at(600_000)), 400.0);
    estimator.accept(at(1300), 1);
    assert_close(estimator.rate(at(600_000)), 120.0);
}

// Rule L25.
#[test]
fn a_client_without_accepted_requests_sends_at_most_two_per_second_if_its_estimate_is_lower() {
    for (estimate, rate) in [(0.2, 2.0), (3.0, 3.0)] {
        assert_close(GoodputEstimator::for_all_at(estimate, at(0)).rate(at(100_000)), rate);
    }
}

// Rules L1, L24, L25.
#[test]
fn a_client_that_had_no_limit_searches_at_the_rate_at_which_requests_were_accepted() {
    // Of nine requests in a second, two were accepted in the last quarter, so the rate is at most 16. Of seven, one was.
    for (goodput, rate) in [(9, 7.2 * 0.8_f64.exp2()), (7, 8.0)] {
        let estimator = GoodputEstimator::after_the_first_rejection(at(0), goodput);
        assert_close(estimator.rate(at(200)), rate);
        assert_close(estimator.rate(at(300)), 0.8 * f64::from(goodput));
    }
    // The first rejection is counted.
    let mut rejected = GoodputEstimator::after_the_first_rejection(at(0), 100);
    rejected.reject(at(1));
    assert_close(rejected.rate(at(1)), 80.0);
    rejected.reject(at(2));
    assert_close(rejected.rate(at(2)), 0.25 * 70.0);
    let mut raised = GoodputEstimator::after_the_first_rejection(at(0), 100);
    raised.accept(at(900), 150);
    raised.reject(at(1000));
    assert_close(raised.estimate().unwrap(), measured(150.0, 1.0, 100.0));
}

// Rules L16, L41.
#[test]
fn an_estimate_that_is_known_from_before_is_that_of_a_busy_client() {
    assert!(!GoodputEstimator::for_all_at(1_000.0, at(0)).suspect(at(1)));
}

// Rule L5.
#[test]
fn zero_accepted_requests_do_not_show_that_the_limit_has_room() {
    let mut estimator = tracking();
    estimator.reject(at(2001));
    estimator.reject(at(2002));
    assert_close(estimator.rate(at(2002)), 17.5);
    estimator.accept(at(2003), 0);
    assert!(estimator.rate(at(2003)) < 18.0, "{}", estimator.rate(at(2003)));
}

// Rule L4.
#[test]
fn exactly_as_much_as_a_proof_takes_proves_nothing() {
    // 1.03 * 50 * 2 + 50 * 0.05 + 2.5
    let mut estimator = tracking_a_limit_of(50);
    estimator.accept(at(4000), 108);
    assert_close(estimator.rate(at(4400)), 50.0 * 1.16_f64.powf(0.4) + 1.3 * 0.4);
}

// Rules L2, L22.
#[test]
fn within_50_ms_exactly_what_the_estimate_says_is_no_measurement() {
    let mut estimator = tracking_a_limit_of(1_000);
    estimator.accept(at(2020), 40);
    estimator.reject(at(2040));
    assert_eq!((estimator.estimate(), estimator.rate(at(2040))), (Some(1_000.0), 700.0));
    // The measurement continues.
    estimator.accept(at(2540), 200);
    estimator.reject(at(2540));
    assert_close(estimator.estimate().unwrap(), measured(240.0, 0.54, 1_000.0));
}

// Rule L2.
#[test]
fn what_is_accepted_in_no_time_is_measured_as_in_a_millisecond() {
    let mut estimator = tracking();
    estimator.accept(at(2000), 20);
    estimator.reject(at(2000));
    assert_close(estimator.estimate().unwrap(), measured(20.0, 0.001, 100.0));
}

// Rules L22, L23.
#[test]
fn a_time_after_a_pause_without_accepted_requests_is_no_measurement() {
    let mut estimator = tracking();
    estimator.accept(at(2100), 1);
    estimator.pause(at(3000));
    estimator.reject(at(3600));
    assert_eq!(estimator.estimate(), Some(100.0));
}

// Rules L3, L23.
#[test]
fn a_measurement_after_a_pause_ends_a_search() {
    let mut estimator = searching();
    estimator.pause(at(1500));
    estimator.accept(at(1900), 60);
    estimator.reject(at(2000));
    // 120 per second were accepted, and a pause came before.
    assert_eq!((estimator.estimate(), estimator.rate(at(2000))), (Some(100.0), 70.0));
}

// Rules L2, L23, L24.
#[test]
fn no_measurement_makes_the_estimate_lower_than_a_fifth_of_a_request_per_second() {
    let mut tracked = tracking_a_limit_of(1);
    tracked.accept(at(3000), 1);
    tracked.reject(at(102_000));
    assert_eq!(tracked.estimate(), Some(0.2));
    let mut paused = tracking();
    paused.pause(at(3000));
    paused.accept(at(3100), 1);
    paused.reject(at(103_000));
    assert_eq!(paused.estimate(), Some(0.2));
    // The same is true of the rate of a search that is cut.
    let mut searching = GoodputEstimator::new(at(0));
    searching.reject(at(2000));
    assert_close(searching.rate(at(2000)), 0.8 * 0.2);
    searching.accept(at(2001), 1);
    searching.reject(at(2002));
    assert_close(searching.rate(at(2002)), 0.2);
}

// Rule L28.
#[test]
fn a_silence_is_longer_than_the_time_of_16_requests_and_50_ms() {
    // A limit of 64 allows 16 in 0.25 s.
    for (millis, begins) in [(2300, 2000), (2301, 2301)] {
        let mut estimator = tracking_a_limit_of(64);
        estimator.reject(at(millis));
        estimator.accept(at(3300), 60);
        estimator.reject(at(3300));
        let seconds = f64::from(3300 - begins) / 1000.0;
        assert_close(estimator.estimate().unwrap(), measured(60.0, seconds, 64.0));
    }
}

// Rules L28, L40.
#[test]
fn a_rejection_after_a_warning_keeps_what_was_accepted_before_it() {
    let mut estimator = searching();
    assert!(estimator.warn(at(1700)));
    estimator.accept(at(2500), 150);
    estimator.reject(at(2500));
    assert_close(estimator.estimate().unwrap(), 100.0);
}

// Rules L28, L29.
#[test]
fn a_silence_after_late_answers_is_left_out_once() {
    let after = |mut estimator: GoodputEstimator, times: &[u64]| {
        for time in times {
            estimator.reject(at(*time));
        }
        estimator
    };
    // Answers are late until 50 ms after the rejection at 2000 ms.
    for (rejected, requests, begins) in [(2050, 56.0, 2380), (2051, 58.0, 2000)] {
        let mut estimator = tracking_a_limit_of(60);
        estimator.accept(at(2030), 2);
        estimator = after(estimator, &[rejected, 2100, 2380]);
        estimator.accept(at(3000), 56);
        estimator.reject(at(3000));
        let seconds = f64::from(3000 - begins) / 1000.0;
        assert_close(estimator.estimate().unwrap(), measured(requests, seconds, 60.0));
    }
    // Then the measurement begins at 2330 ms. More late answers are measured with the silence after them.
    let mut estimator = after(tracking_a_limit_of(60), &[2020, 2330]);
    estimator.accept(at(2350), 2);
    estimator = after(estimator, &[2370, 2650, 2690]);
    let mut again = estimator;
    estimator.accept(at(3200), 48);
    estimator.reject(at(3330));
    let estimate = measured(50.0, 1.0, 60.0);
    assert_close(estimator.estimate().unwrap(), estimate);
    // After a measurement, it is left out again.
    again.accept(at(3200), 48);
    again.reject(at(3330));
    again.accept(at(3350), 2);
    again = after(again, &[3370, 3800]);
    again.accept(at(4300), 30);
    again.reject(at(4300));
    assert_close(again.estimate().unwrap(), measured(30.0, 0.5, estimate));
}

// Rules L1, L11, L36, L37, L52.
#[test]
fn the_estimator_for_all_ramps_and_searches_by_its_own_numbers() {
    // The ramp is at most twice the accepted rate, and keeps nothing in a pause.
    let mut ramp = GoodputEstimator::for_all(at(0));
    ramp.accept(at(240), 20);
    assert_close(ramp.rate(at(300)), 100.0 * 0.5_f64.exp2());
    assert_close(ramp.rate(at(480)), 160.0);
    ramp.accept(at(490), 1_000);
    assert_close(ramp.rate(at(10_000)), 100.0);

    // The search doubles in a second.
    let mut estimator = GoodputEstimator::for_all(at(0));
    estimator.accept(at(900), 200);
    estimator.reject(at(1000));
    estimator.accept(at(1010), 60);
    // A rejection in its first half second changes nothing.
    let mut late = estimator;
    late.reject(at(1200));
    for estimator in [estimator, late] {
        assert_close(estimator.rate(at(1240)), 100.0 * 0.24_f64.exp2());
    }

    // What counts in the last second of a search does not count in tracking.
    estimator.accept(at(2900), 140);
    estimator.reject(at(3000));
    let before = estimator.estimate().unwrap();
    estimator.accept(at(4900), 20);
    estimator.accept(at(5990), 110);
    estimator.reject(at(6000));
    assert_close(estimator.estimate().unwrap(), measured(130.0, 3.0, before));
}

// Rule L43.
#[test]
fn the_number_of_looks_with_noise_saturates() {
    let text = tracking().to_string();
    let mut words: Vec<_> = text.split(' ').collect();
    let streak = words.len() - 1;
    // A text from a store can have any number.
    words[streak - 2..].copy_from_slice(&["1", "1", "4294967295"]);
    let mut estimator: GoodputEstimator = words.join(" ").parse().unwrap();
    let before = estimator.rate(at(60_000));
    estimator.accept(at(60_000), 1);
    assert!(estimator.rate(at(60_000)) >= before);
}
