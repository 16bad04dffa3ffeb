//! The arithmetic of delays compared with wider numbers: for all small ones, and at the borders of the real ones.

use super::{Factor, Rounding, doubled, nanos, smaller};
use std::time::Duration;

/// Numbers around all powers of two, and around the caps and bases of the presets.
fn borders() -> Vec<u64> {
    let around = |number: u64| [number.wrapping_sub(1), number, number.wrapping_add(1)];
    let powers = (0..u64::BITS).flat_map(|bit| around(1 << bit));
    let decimal = [20_000_000, 50_000_000, 1_000_000_000, 20_000_000_000].into_iter().flat_map(around);
    let mut borders: Vec<_> = powers.chain(decimal).chain([0, u64::MAX]).collect();
    borders.sort_unstable();
    borders.dedup();
    borders
}

// Rules B1, B6.
#[test]
fn a_doubled_base_saturates_at_the_largest_number_and_nowhere_else() {
    for base in borders().into_iter().chain(0..1_000) {
        for times in (0..200).chain([u32::MAX - 1, u32::MAX]) {
            let exact = if base == 0 {
                Some(0)
            } else {
                1_u128.checked_shl(times).and_then(|power| power.checked_mul(base.into()))
            };
            let exact = exact.and_then(|exact| u64::try_from(exact).ok());
            assert_eq!(doubled(base, times), exact.unwrap_or(u64::MAX), "{base} * 2^{times}");
        }
    }
}

// Rule B6.
#[test]
fn a_delay_saturates_at_the_largest_number_of_nanoseconds() {
    let seconds = u64::MAX / 1_000_000_000;
    for (delay, expected) in [
        (Duration::ZERO, 0),
        (Duration::from_nanos(u64::MAX - 1), u64::MAX - 1),
        (Duration::from_nanos(u64::MAX), u64::MAX),
        (Duration::from_nanos(u64::MAX) + Duration::from_nanos(1), u64::MAX),
        (Duration::new(seconds, 0), seconds * 1_000_000_000),
        (Duration::new(seconds + 1, 0), u64::MAX),
        (Duration::MAX, u64::MAX),
    ] {
        assert_eq!(nanos(delay), expected, "{delay:?}");
    }
    for left in borders() {
        for right in borders() {
            assert_eq!(smaller(left, right), left.min(right));
        }
    }
}

/// Factors from 0 to 1: all small parts, the borders of the fixed-point number, and those of floats.
fn factors() -> Vec<Factor> {
    let fixed = borders().into_iter().filter(|bits| *bits <= Factor::ONE.0).map(Factor);
    let parts = (0..=64_u32).map(|part| Factor::new(f64::from(part) / 64.0));
    let floats = [f64::MIN_POSITIVE, f64::EPSILON, 0.1, 1.0 / 3.0, 1.0 - f64::EPSILON / 2.0].map(Factor::new);
    fixed.chain(parts).chain(floats).collect()
}

// Rules B1, B7.
#[test]
fn a_factor_of_a_float_is_exact() {
    for part in 0..=64_u32 {
        assert_eq!(Factor::new(f64::from(part) / 64.0).0, u64::from(part) << 57);
    }
    assert_eq!((Factor::new(0.0).0, Factor::new(1.0).0), (Factor::ZERO.0, Factor::ONE.0));
    assert_eq!(Factor::new(1.0 - f64::EPSILON / 2.0).0, Factor::ONE.0 - (1 << 10));
    assert!(Factor::new(f64::MIN_POSITIVE).is_zero());
}

// Rules B1, B7.
#[test]
fn a_product_is_rounded_once_and_a_factor_below_one_shortens_each_delay() {
    for factor in factors() {
        for nanos in borders().into_iter().chain(0..64) {
            // 63 bits after the point, in a number that holds the product of both.
            let exact = u128::from(factor.0) * u128::from(nanos);
            let down = u64::try_from(exact >> 63).unwrap();
            let is_above_half = exact & ((1 << 63) - 1) >= 1 << 62;
            assert_eq!(factor.times(nanos, Rounding::Down), down, "{factor:?} * {nanos}");
            assert_eq!(factor.times(nanos, Rounding::Nearest), down + u64::from(is_above_half), "{factor:?} * {nanos}");
            assert!(factor.times(nanos, Rounding::Nearest) <= nanos);
            let is_below_one = factor.0 < Factor::ONE.0;
            assert!(!is_below_one || nanos == 0 || factor.times(nanos, Rounding::Down) < nanos, "{factor:?} * {nanos}");
        }
    }
}

// Rules B1, B7.
#[test]
fn a_random_part_is_below_its_factor_whatever_the_random_number() {
    for number in borders() {
        for factor in factors().into_iter().filter(|factor| !factor.is_zero()) {
            assert!(factor.random_part(number).0 < factor.0, "{factor:?}, {number}");
        }
        assert!(Factor::ZERO.random_part(number).is_zero());
        // Full and equal jitter: in [0, 1), and in [1/2, 1).
        let full = Factor::ZERO.plus(Factor::ONE.random_part(number)).0;
        assert_eq!(full, number >> 1);
        let equal = Factor::HALF.plus(Factor::HALF.random_part(number)).0;
        assert!((Factor::HALF.0..Factor::ONE.0).contains(&equal), "{number}");
    }
}
