use super::*;

/// A small generator of pseudo-random numbers (`SplitMix64`).
struct Numbers(u64);

impl Numbers {
    /// Returns a number from 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let number = (mixed >> 11) as f64;
        number / 9_007_199_254_740_992.0
    }
}

/// Distributions of the time of a call, in milliseconds, by a number from 0 to 1.
type Times = fn(f64) -> f64;

fn exponential(number: f64) -> f64 {
    -20.0 * (1.0 - number).ln()
}

/// A long tail: a hundredth of the calls takes more than 100 times the least.
fn pareto(number: f64) -> f64 {
    3.0 / (1.0 - number)
}

/// Most calls take 8 to 12 ms, and 3 % take a second.
fn two_kinds(number: f64) -> f64 {
    if number < 0.97 { 8.0 + 4.0 * number / 0.97 } else { 1_000.0 }
}

fn uniform(number: f64) -> f64 {
    2_000.0 * number
}

/// Makes calls one after the other, and returns the delay after them and the share of calls that reached it.
fn run(mut delay: Steered, numbers: &mut Numbers, calls: u32, time: impl Fn(f64) -> f64) -> (Steered, f64) {
    let mut reached = 0;
    for _ in 0..calls {
        if time(numbers.next()) > delay.delay().as_secs_f64() * 1000.0 {
            delay = delay.reached();
            reached += 1;
        } else {
            delay = delay.answered();
        }
    }
    (delay, f64::from(reached) / f64::from(calls))
}

// Rule V1.
#[test]
fn five_percent_of_calls_reach_the_delay_whatever_the_distribution() {
    let distributions: [(&str, Times); 4] =
        [("exponential", exponential), ("pareto", pareto), ("two kinds", two_kinds), ("uniform", uniform)];
    for (name, time) in distributions {
        for seed in 0..5 {
            let numbers = &mut Numbers(seed);
            let (settled, _) = run(Steered::NEW, numbers, 5_000, time);
            let (_, share) = run(settled, numbers, 40_000, time);
            assert!((0.048..0.052).contains(&share), "{name}, seed {seed}: {share}");
        }
    }
}

// Rule V1.
#[test]
fn the_delay_follows_a_drift_and_does_not_drift_itself() {
    let numbers = &mut Numbers(7);
    let (mut delay, _) = run(Steered::NEW, numbers, 5_000, exponential);
    let mut now = 0;
    while now < 40 {
        now += 1;
        // The times double within 20,000 calls.
        let factor = 1.0 + f64::from(now) / 20.0;
        let share;
        (delay, share) = run(delay, numbers, 1_000, |number| factor * exponential(number));
        assert!((0.02..0.09).contains(&share), "{now}: {share}");
    }
    let p95 = 3.0 * exponential(0.95);
    let last = delay.delay().as_secs_f64() * 1000.0;
    assert!((0.7 * p95..1.4 * p95).contains(&last), "{last}, expected about {p95}");

    // 19 answers and one call that reaches the delay lead back exactly, at any length.
    for step in [LOWEST + 19, START, HIGHEST - 19] {
        let mut delay = Steered::of(step, 0, FIRST_CALLS, 0);
        for _ in 0..100 {
            delay = (0..19).fold(delay.reached(), |delay, _| delay.answered());
            assert_eq!(delay.step(), step);
        }
    }
}

// Rule V1.
#[test]
fn a_new_delay_finds_fast_and_slow_services_within_a_few_hundred_calls() {
    for (scale, within) in [(0.1, 300), (1.0, 300), (20.0, 300)] {
        let numbers = &mut Numbers(3);
        let (delay, _) = run(Steered::NEW, numbers, within, |number| scale * exponential(number));
        let (p95, found) = (scale * exponential(0.95), delay.delay().as_secs_f64() * 1000.0);
        assert!((0.5 * p95..2.0 * p95).contains(&found), "{found}, expected about {p95}");
        assert!(!delay.is_far_above_its_floor());
    }
}

// Rule V2.
#[test]
fn a_delay_that_is_suddenly_twice_as_long_says_so_until_that_is_usual() {
    let numbers = &mut Numbers(1);
    let (usual, _) = run(Steered::NEW, numbers, 5_000, exponential);
    assert!(!usual.is_far_above_its_floor());

    let slow = |number| 4.0 * exponential(number);
    let (mut delay, _) = run(usual, numbers, 500, slow);
    assert!(delay.is_far_above_its_floor());
    let mut calls = 500;
    while delay.is_far_above_its_floor() {
        (delay, _) = run(delay, numbers, 100, slow);
        calls += 100;
        assert!(calls < 20_000, "it never becomes usual");
    }
    assert!(calls > 2_000, "after {calls} calls");

    let (fast, _) = run(delay, numbers, 5_000, exponential);
    assert!(!fast.is_far_above_its_floor(), "the floor follows down immediately");
}

// Rule V17.
#[test]
fn a_delay_is_reached_by_many_once_two_of_four_calls_did() {
    let after = |calls: &str| {
        let steps = calls
            .bytes()
            .fold(Steered::NEW, |delay, call| if call == b'x' { delay.reached() } else { delay.answered() });
        steps.is_reached_by_many()
    };
    assert!(!after("x") && after("xx") && after("x..x") && after("xx.."));
    assert!(!after("x..x."), "the first one is the fifth from the end");
    assert!(!after("xxxxxxxx...") && after("xxxxxxxx.."));

    // While 5 % of the calls reach the delay, that is rare.
    let numbers = &mut Numbers(5);
    let (mut delay, _) = run(Steered::NEW, numbers, 5_000, exponential);
    let mut many = 0;
    for _ in 0..40_000 {
        (delay, _) = run(delay, numbers, 1, exponential);
        many += u32::from(delay.is_reached_by_many());
    }
    assert!((400..800).contains(&many), "{many} of 40,000");
}

// Rule V1.
#[test]
fn the_delay_stays_within_its_bounds() {
    let (lowest, _) = run(Steered::NEW, &mut Numbers(0), 10_000, |_| 0.0);
    assert_eq!(lowest.step(), LOWEST);
    let (highest, _) = run(lowest, &mut Numbers(0), 10_000, |_| f64::INFINITY);
    assert_eq!(highest.step(), HIGHEST);
    for (step, expected) in [(LOWEST, 1.0), (START, 50.0), (HIGHEST, 60_000.0)] {
        let millis = duration(step).as_secs_f64() * 1000.0;
        assert!((0.995 * expected..=expected).contains(&millis), "{millis}");
    }
    const { assert!(HIGHEST * FLOOR_PARTS + FLOOR_PARTS < 1 << FLOOR_BITS && HIGHEST < 1 << DELAY_BITS) };
    const { assert!(FIRST_CALLS < 1 << CALLS_BITS && LATEST_AT >= DELAY_BITS + FLOOR_BITS + CALLS_BITS) };
}
