//! The level of a bucket compared with plain numbers: for all small ones, and at the borders of the real ones. And what
//! threads take from it.

use super::Level;
use crate::quota::{RetryQuota, TokenBucket};
use crate::time::ManualTimer;

/// Numbers at the borders of 32 bits and of the products that `resized` computes.
const BORDERS: [u32; 14] = [
    0,
    1,
    2,
    499,
    500,
    (1 << 16) - 1,
    1 << 16,
    (1 << 16) + 1,
    (1 << 31) - 1,
    1 << 31,
    (1 << 31) + 1,
    u32::MAX - 2,
    u32::MAX - 1,
    u32::MAX,
];

/// Returns the level with this capacity and balance.
fn level(capacity: u32, available: u32) -> Level {
    let level = Level::full(capacity).pay(capacity - available).unwrap();
    assert_eq!(contents(level), (capacity, available));
    level
}

fn contents(level: Level) -> (u32, u32) {
    assert_eq!(level.missing(), level.capacity() - level.available());
    (level.capacity(), level.available())
}

/// Compares all steps from all levels with these numbers.
fn compare(numbers: &[u32]) {
    for capacity in numbers {
        for available in numbers.iter().filter(|available| *available <= capacity) {
            let (capacity, available) = (*capacity, *available);
            let level = level(capacity, available);
            let (wide_capacity, wide) = (u128::from(capacity), u128::from(available));
            assert_eq!(level.is_low(), 2 * wide < wide_capacity, "{available} of {capacity}");
            for number in numbers.iter().copied() {
                let paid = (number <= available).then(|| (capacity, available - number));
                assert_eq!(level.pay(number).map(contents), paid, "{number} from {available} of {capacity}");
                let added = u32::try_from((wide + u128::from(number)).min(wide_capacity)).unwrap();
                assert_eq!(contents(level.add(number)), (capacity, added), "{number} to {available} of {capacity}");
                let proportion = match (capacity, capacity == available) {
                    (0, _) | (_, true) => number,
                    _ => u32::try_from(wide * u128::from(number) / wide_capacity).unwrap(),
                };
                assert_eq!(
                    contents(level.resized(number)),
                    (number, proportion),
                    "{available} of {capacity} to {number}"
                );
                let has_recovered = 2 * wide >= wide_capacity && available >= number;
                assert_eq!(level.has_recovered_from(number), has_recovered, "{number}, {available} of {capacity}");
            }
        }
    }
}

// Rules Q1, Q3, C20.
#[test]
fn all_small_levels_agree_with_plain_numbers() {
    compare(&(0..=40).collect::<Vec<_>>());
}

// Rules Q1, Q3, C20.
#[test]
fn the_largest_levels_agree_with_plain_numbers() {
    compare(&BORDERS);
}

// Rules Q1, Q2.
#[test]
fn threads_take_what_a_bucket_has_and_give_all_of_it_back() {
    let (bucket, clock) = (TokenBucket::new(50), ManualTimer::new());
    let take = || (0..20).filter(|_| bucket.try_acquire(1, &clock)).count();
    let taken = std::thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(take));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!((taken.iter().sum::<usize>(), bucket.available()), (50, 0));
    std::thread::scope(|scope| {
        for taken in taken {
            let bucket = &bucket;
            scope.spawn(move || (0..taken).for_each(|_| bucket.refund(1)));
        }
    });
    assert_eq!(bucket.available(), 50);
}
