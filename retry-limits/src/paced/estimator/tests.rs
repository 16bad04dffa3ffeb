//! What a limiter does with its estimator: it changes the unit, sets the clock back, and resumes after a hold.

use super::{GoodputEstimator, scaled};
use retry_core::time::Timestamp;
use std::time::Duration;

fn at(millis: u64) -> Timestamp {
    Timestamp::START.saturating_add(Duration::from_millis(millis))
}

/// Returns estimators in a ramp, in a search and in tracking, to which this many times as many requests were accepted.
fn in_each_phase(times: u32) -> [GoodputEstimator; 3] {
    let mut ramp = GoodputEstimator::new(at(0));
    ramp.accept(at(240), 20 * times);
    ramp.accept(at(700), 80 * times);
    let mut search = ramp;
    search.reject(at(1000));
    search.accept(at(1500), 10 * times);
    let mut track = search;
    track.accept(at(1900), 90 * times);
    track.reject(at(2000));
    track.accept(at(2300), 30 * times);
    [ramp, search, track]
}

// Rule L45.
#[test]
fn in_another_unit_everything_is_as_if_it_had_been_counted_in_it() {
    let [single, double] = [1, 2].map(in_each_phase);
    for (mut estimator, expected) in single.into_iter().zip(double) {
        estimator.rescale(2.0);
        assert_eq!(estimator.to_string(), expected.to_string());
    }
    for (mut estimator, expected) in double.into_iter().zip(single) {
        estimator.rescale(0.5);
        assert_eq!(estimator.to_string(), expected.to_string());
    }
    assert_eq!([4, 5, 6, 7].map(|requests| scaled(requests, 0.25)), [1, 1, 2, 2]);
}

// Rule K3.
#[test]
fn when_the_clock_is_set_back_nothing_is_in_the_future() {
    let [.., mut estimator] = in_each_phase(1);
    assert!(!estimator.warn(at(2300)));
    let words = |estimator: &GoodputEstimator| estimator.to_string().split(' ').map(String::from).collect::<Vec<_>>();
    let before = words(&estimator);
    // The words that are times: the course, the measurement, the first rejection, the careful time, and the quarter.
    let times = [5, 7, 12, 13, 14];
    for (millis, changed) in [(10_000, &[][..]), (2500, &[13]), (100, &times)] {
        estimator.reanchor(at(millis), Duration::from_secs(1));
        let nanos = at(millis).since_origin().as_nanos();
        let mut expected = before.clone();
        for word in changed {
            expected[*word] = if *word == 14 { (nanos / 250_000_000).to_string() } else { nanos.to_string() };
        }
        assert_eq!(words(&estimator), expected, "{millis}");
    }
}

// Rules K3, L16.
#[test]
fn the_age_of_a_ramp_whose_clock_was_set_back_to_zero_ends_with_the_ramp() {
    let after = |millis| Timestamp::from_origin(Duration::from_millis(millis));
    let mut estimator = GoodputEstimator::new(after(0));
    estimator.reanchor(after(0), Duration::from_millis(900));
    estimator.accept(after(240), 200);
    estimator.reject(after(250));
    for quarter in 2..6 {
        estimator.accept(after(250 * quarter - 10), 50);
    }
    estimator.reject(after(1250));
    estimator.accept(after(1700), 90);
    // In the second after a cut it can be noise.
    assert!(!estimator.suspect(after(1750)));
    estimator.accept(after(2200), 90);
    assert!(estimator.suspect(after(2250)));
}

// Rules L5, L23, L32.
#[test]
fn after_a_hold_the_rate_begins_a_course_and_the_measurement_can_only_lower_the_estimate() {
    let [ramp, search, track] = in_each_phase(1);
    let mut resumed = ramp;
    resumed.resume(at(9_000));
    assert_eq!(resumed.to_string(), ramp.to_string(), "a ramp continues");

    for mut resumed in [search, track] {
        let estimate = resumed.estimate().unwrap();
        resumed.resume(at(9_000));
        for (millis, part) in [(9_000, 0.7), (10_000, 1.0 - 0.3 / 8.0), (11_000, 1.0)] {
            assert!((resumed.rate(at(millis)) - part * estimate).abs() < 1e-9, "{millis}");
        }
        let (mut more, mut less) = (resumed, resumed);
        more.accept(at(9_900), 500);
        more.reject(at(10_000));
        assert_eq!(more.estimate(), Some(estimate));
        less.accept(at(9_900), 50);
        less.reject(at(10_000));
        assert_eq!(less.estimate(), Some(50.0));
    }

    // The probes are counted from the end of the hold on.
    let mut closed = track;
    (0..3).for_each(|_| closed.reject(at(2_400)));
    closed.resume(at(9_000));
    let rate = 0.25 * 0.7 * closed.estimate().unwrap();
    assert!((closed.rate(at(9_100)) - rate).abs() < 1e-9, "{}", closed.rate(at(9_100)));
    let mut closed = track;
    (0..9).for_each(|_| closed.reject(at(2_400)));
    closed.resume(at(9_000));
    assert!((closed.rate(at(19_000)) - 0.4).abs() < 1e-9, "{}", closed.rate(at(19_000)));
}
