//! Random numbers from sources that are `const`-constructible and shared by threads.

use crate::support::sync::{AtomicU64, Ordering};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64 as PlainAtomic;

/// A stream of random numbers, for jitter.
///
/// Under a test guard, the numbers come from the seed of the guard, so that a test is the same each time.
///
/// # Threads
///
/// Each number comes from its own generator, whose seed is the sum of the stream's seed and a counter. So the only
/// state that threads share is the counter, which publishes no other data, so relaxed ordering suffices. All streams
/// without a seed share the seed and the counter of the process, so no two of them get the same number.
#[derive(Debug)]
pub struct RandomNumbers {
    seed: Option<u64>,
    counter: AtomicU64,
}

impl Default for RandomNumbers {
    fn default() -> Self {
        Self::new()
    }
}

impl RandomNumbers {
    /// Creates a stream of unique, random numbers.
    pub const fn new() -> Self {
        Self { seed: None, counter: AtomicU64::new(0) }
    }

    /// Creates a stream that is the same in each process, on each platform.
    pub const fn seeded(seed: u64) -> Self {
        Self { seed: Some(seed), counter: AtomicU64::new(0) }
    }

    /// Returns the stream from its start.
    pub(crate) const fn restarted(&self) -> Self {
        Self { seed: self.seed, counter: AtomicU64::new(0) }
    }

    /// Returns the next number. All numbers are equally likely.
    #[inline]
    pub fn next(&self) -> u64 {
        #[cfg(feature = "test")]
        if let Some(session) = super::session::current() {
            return next_random(session.seed(), &session.random);
        }
        match self.seed {
            Some(seed) => next_random(seed, &self.counter),
            None => next_random(process_seed(), &COUNTER),
        }
    }

    /// Returns a random number from 0 to 1.
    pub fn part(&self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap_or_default()) / f64::from(u32::MAX)
    }
}

/// The counter of all streams without a seed.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Returns the next number of a stream.
#[inline]
fn next_random(seed: u64, counter: &AtomicU64) -> u64 {
    // The steps are 2^64 divided by the golden ratio. This odd number visits all states before one comes again, and
    // keeps the streams of neighbouring seeds apart.
    let state = seed.wrapping_add(counter.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed));
    Xoshiro256PlusPlus::seed_from_u64(state).random()
}

/// Returns the random seed of the process.
#[inline]
fn process_seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| entropy().hash_one("jitter"))
}

/// Returns the random number that belongs to `number` in this process. Different numbers have unrelated random ones.
pub(crate) fn random_u128(number: u64) -> u128 {
    let added = ADDED.get();
    // Only added entropy is hashed with the number, so that the usual case costs no more.
    let half = |half: u64| match added {
        (0, 0) => entropy().hash_one(number << 1 | half),
        added => entropy().hash_one((added, number << 1 | half)),
    };
    u128::from(half(0)) << 64 | u128::from(half(1))
}

/// The entropy that was added to that of the process. It is zero until then.
///
/// It publishes no other data, so relaxed ordering suffices. A thread that reads it while another one adds to it may get
/// half of each value, which is as random. The atomics are never loom's, because the models do not use them.
struct Added {
    low: PlainAtomic,
    high: PlainAtomic,
}

static ADDED: Added = Added { low: PlainAtomic::new(0), high: PlainAtomic::new(0) };

impl Added {
    fn get(&self) -> (u64, u64) {
        use std::sync::atomic::Ordering::Relaxed;

        (self.low.load(Relaxed), self.high.load(Relaxed))
    }

    fn set(&self, (low, high): (u64, u64)) {
        use std::sync::atomic::Ordering::Relaxed;

        self.low.store(low, Relaxed);
        self.high.store(high, Relaxed);
    }
}

/// Mixes `entropy` into the random seed of the process, from which the jitter of backoffs without a seed and the
/// [ids of operations](crate::OperationId) come. The new seed depends on the former one, so it is never less random.
///
/// Programs rarely need this, because the library gets a seed from the operating system on first use. There are two
/// exceptions:
///
/// - **After a fork.** A child continues with the memory of its parent, so all children would draw the same jitter and the
///   same ids. A server that forks its workers calls `reseed(0)` at the start of each child: the process id and the time are
///   mixed in as well.
/// - **On `wasm32-unknown-unknown`**, where the standard library has no source of random numbers, no process id and no
///   clock. There the jitter and the ids are the same each time that the program is loaded, unless the program passes
///   random bits of its host at the start, such as those of `crypto.getRandomValues` in a browser. With the same `entropy`,
///   two programs have the same ids.
///
/// Call it before operations begin, because it changes the ids of running operations. A strategy with its own seed
/// (`seed(..)`) is not affected. Under a `test` guard, jitter comes from the seed of the guard.
///
/// ```
/// // At the start of a forked process.
/// retry_core::reseed(0);
/// ```
pub fn reseed(entropy: u128) {
    let (added, surroundings) = (ADDED.get(), surroundings());
    let half = |half: u8| self::entropy().hash_one((added, entropy, surroundings, half));
    ADDED.set((half(0), half(1)));
    // The streams without a seed continue from a random place.
    COUNTER.store(half(2), Ordering::Relaxed);
}

/// Returns a number that distinguishes this process from others with the same memory.
#[cfg(not(target_family = "wasm"))]
fn surroundings() -> (u32, Option<std::time::Duration>) {
    use std::time::SystemTime;

    (std::process::id(), SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok())
}

/// There is no process id.
#[cfg(target_family = "wasm")]
const fn surroundings() {}

/// Returns the next number of a counter. It publishes no other data, so relaxed ordering suffices.
pub(crate) fn draw(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed)
}

/// Returns the entropy of the process: the keys of a hasher, which the standard library gets from the operating
/// system.
fn entropy() -> &'static RandomState {
    static ENTROPY: OnceLock<RandomState> = OnceLock::new();
    ENTROPY.get_or_init(RandomState::new)
}
