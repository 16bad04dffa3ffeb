//! The arithmetic of backoffs, compared with slow and simple formulas, and the distribution of random delays.

use crate::support::{Failed, secs};
use proptest::prelude::*;
use retry_core::backoff::{ConstantBackoff, LinearBackoff};
use retry_core::{
    BackoffStrategy, ExponentialBackoff, Failure, Jitter, RetryErrorType, RetryStrategy, RetryToken,
    StandardRetryStrategy, TokioTimer,
};
use std::cell::RefCell;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

fn delay(backoff: &impl BackoffStrategy) -> Duration {
    backoff.compute_next_backoff_delay(0, RetryErrorType::Other)
}

fn nanos(delay: u64) -> Duration {
    Duration::from_nanos(delay)
}

proptest! {
    // Rules B1, B6.
    #[test]
    fn delays_double_in_whole_nanoseconds(base in any::<u64>(), cap in any::<u64>(), shift in 0..64_u32, i in 0..70_u32) {
        // Most bases are small, so that the doubling is seen before the cap.
        let base = base >> shift;
        let expected = (u128::from(base) << i.min(64)).min(cap.into());
        let backoff = ExponentialBackoff::new(nanos(base), nanos(cap)).jitter(Jitter::None);
        let delay = backoff.compute_next_backoff_delay(i, RetryErrorType::Other);
        prop_assert_eq!(delay.as_nanos(), if base == 0 { 0 } else { expected });
    }

    // Rule B7.
    #[test]
    fn a_fixed_factor_gives_the_exact_product_rounded_to_the_nearest_nanosecond(
        full in any::<u64>(), factor in 0..=1_u64 << 53,
    ) {
        // A float holds this quotient exactly.
        #[expect(clippy::cast_precision_loss, reason = "no number has more than 53 bits")]
        let jitter = Jitter::Fixed(factor as f64 / (1_u64 << 53) as f64);
        let expected = (u128::from(full) * u128::from(factor) + (1 << 52)) >> 53;
        prop_assert_eq!(delay(&ConstantBackoff::new(nanos(full)).jitter(jitter)).as_nanos(), expected);
    }

    // Rules B1, B7.
    #[test]
    fn random_delays_stay_within_the_bounds_of_their_jitter(full in any::<u64>(), shift in 0..64_u32, seed: u64) {
        let full = full >> shift;
        let drawn = |jitter| delay(&ConstantBackoff::new(nanos(full)).jitter(jitter).seed(seed)).as_nanos();
        prop_assert!(drawn(Jitter::Full) < u128::from(full.max(1)));
        prop_assert!((u128::from(full / 2)..=u128::from(full)).contains(&drawn(Jitter::Equal)));
    }
}

// Rule B6.
#[test]
fn a_backoff_saturates_where_a_wait_that_the_server_asks_for_does_not() {
    let longest = nanos(u64::MAX);
    assert!(longest > 584 * YEAR && longest < 585 * YEAR);
    let endless = ExponentialBackoff::new(secs(1), Duration::MAX).jitter(Jitter::None);
    assert_eq!(endless.compute_next_backoff_delay(u32::MAX, RetryErrorType::Other), longest);
    assert_eq!((endless.cap(), endless.max_backoff()), (Duration::MAX, Duration::MAX));
    assert_eq!(delay(&ConstantBackoff::new(Duration::MAX)), longest);
    let linear = LinearBackoff::new(YEAR, Duration::MAX).jitter(Jitter::None);
    assert_eq!(linear.compute_next_backoff_delay(u32::MAX, RetryErrorType::Other), longest);

    let strategy = StandardRetryStrategy::aws_2_0().backoff(secs(1), Duration::MAX);
    let token = strategy.acquire_initial_token(&TokioTimer).unwrap();
    let failure = Failure::of(&Failed::SAFE.after(1000 * YEAR));
    assert_eq!(strategy.refresh_retry_token(token, &failure, &TokioTimer).unwrap().delay(), 1000 * YEAR);
}

/// Returns how far draws are from being spread evenly over some buckets, as the chi-squared statistic. Its mean is the
/// number of buckets minus one, and its standard deviation is the square root of twice that.
fn unevenness<const BUCKETS: usize>(draws: u32, mut bucket: impl FnMut() -> usize) -> f64 {
    let mut counts = [0_u32; BUCKETS];
    for _ in 0..draws {
        counts[bucket()] += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "there are few buckets")]
    let expected = f64::from(draws) / BUCKETS as f64;
    counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum()
}

fn drawn(backoff: &impl BackoffStrategy) -> usize {
    delay(backoff).as_nanos().try_into().unwrap()
}

// Rules B1, B8.
#[test]
fn random_delays_are_uniform() {
    // Nine standard deviations above the mean: a generator without bias does not get there.
    let full = ConstantBackoff::new(nanos(100)).jitter(Jitter::Full);
    assert!(unevenness::<100>(100_000, || drawn(&full)) < 226.0, "without a seed");
    for seed in [0, 1, 2, u64::MAX] {
        let full = ConstantBackoff::new(nanos(100)).jitter(Jitter::Full).seed(seed);
        assert!(unevenness::<100>(100_000, || drawn(&full)) < 226.0, "seed {seed}");
    }
    let short = ConstantBackoff::new(nanos(3)).jitter(Jitter::Full).seed(1);
    assert!(unevenness::<3>(100_000, || drawn(&short)) < 20.0, "the shortest delays are uniform, too");
    let equal = ConstantBackoff::new(secs(2)).jitter(Jitter::Equal).seed(1);
    let bucket = || (drawn(&equal) - 1_000_000_000) / 10_000_000;
    assert!(unevenness::<100>(100_000, bucket) < 226.0, "equal jitter");
}

// Rule B8.
#[test]
fn neither_successive_delays_nor_neighbouring_seeds_are_related() {
    let stream = |seed| ConstantBackoff::new(nanos(10)).jitter(Jitter::Full).seed(seed);
    for lag in 1..10 {
        let backoff = stream(7);
        let mut last = [0; 10];
        let mut turn = 0;
        let pair = || {
            turn = (turn + 1) % lag;
            let previous = std::mem::replace(&mut last[turn], drawn(&backoff));
            previous * 10 + last[turn]
        };
        assert!(unevenness::<100>(100_000, pair) < 226.0, "two delays of one stream, {lag} apart");
        let (left, right) = (stream(7), stream(7 + lag as u64));
        assert!(unevenness::<100>(100_000, || drawn(&left) * 10 + drawn(&right)) < 226.0, "seeds {lag} apart");
    }
    let mut seed = 0;
    let first = || {
        seed += 1;
        drawn(&ConstantBackoff::new(nanos(100)).jitter(Jitter::Full).seed(seed))
    };
    assert!(unevenness::<100>(100_000, first) < 226.0, "the first delays of many seeds");
}

// Rules B8, Q2.
#[test]
fn threads_share_the_stream_of_a_seed() {
    let backoff = || ExponentialBackoff::new(secs(1), secs(1)).seed(3);
    let draw = |backoff: &ExponentialBackoff| (0..1000).map(|_| delay(backoff)).collect::<Vec<_>>();
    let alone = backoff();
    let mut expected: Vec<_> = (0..4).flat_map(|_| draw(&alone)).collect();
    let shared = backoff();
    let mut together: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| draw(&shared))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    expected.sort();
    together.sort();
    assert_eq!(together, expected);
}

// Rule B8.
#[test]
fn a_thread_that_ends_can_still_draw_a_delay() {
    struct AtEnd(mpsc::Sender<Duration>);

    impl Drop for AtEnd {
        fn drop(&mut self) {
            let _ = self.0.send(delay(&ExponentialBackoff::new(secs(1), secs(1))));
        }
    }

    thread_local! {
        static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
    }
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        AT_END.set(Some(AtEnd(sender)));
        let _ = delay(&ExponentialBackoff::new(secs(1), secs(1)));
    })
    .join()
    .unwrap();
    assert!(receiver.recv().unwrap() < secs(1));
}
