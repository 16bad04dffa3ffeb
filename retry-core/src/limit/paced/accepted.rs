//! Counters of accepted requests, which threads do not share.

use crate::support::sync::{AtomicU64, Ordering, thread_number};
use crate::time::Timestamp;

/// The number of counters. More threads than that share counters.
const COUNTERS: usize = 16;

/// The requests that were accepted in the last second, for a strategy that does not limit sends yet.
///
/// Each thread has its own counter, so that threads do not wait for each other's cache lines. The counters publish no
/// other data, so relaxed ordering suffices.
#[derive(Debug)]
pub(super) struct AcceptedCounters([Counter; COUNTERS]);

/// The number of a second, and the number of requests in it and in the second before.
#[derive(Debug)]
#[repr(align(64))]
struct Counter(AtomicU64);

/// The bits of a number of requests. The number saturates.
const BITS: u32 = 20;
const MAX: u64 = (1 << BITS) - 1;

/// A counter's content.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Content {
    second: u64,
    before: u64,
    current: u64,
}

impl Content {
    const fn unpack(word: u64) -> Self {
        Self { second: word >> (2 * BITS), before: word >> BITS & MAX, current: word & MAX }
    }

    const fn pack(self) -> u64 {
        self.second << (2 * BITS) | self.before << BITS | self.current
    }

    /// Returns the content with `second` as the current one.
    const fn at(self, second: u64) -> Self {
        const SECONDS: u64 = u64::MAX >> (2 * BITS);

        match second.wrapping_sub(self.second) & SECONDS {
            0 => self,
            // Threads may deliver their readings of the clock out of order.
            ahead if ahead > SECONDS / 2 => self,
            1 => Self { second, before: self.current, current: 0 },
            _ => Self { second, before: 0, current: 0 },
        }
    }
}

/// Returns the number of the second that contains a point in time, as far as a counter keeps it.
const fn second(at: Timestamp) -> u64 {
    at.since_origin().as_secs() & (u64::MAX >> (2 * BITS))
}

/// Counts a request on the slow path: the first one in its second, or after a lost race with another thread, or if the
/// number is saturated.
#[cold]
fn add_first(counter: &AtomicU64, second: u64) {
    let add = |word| {
        let content = Content::unpack(word).at(second);
        Some(Content { current: (content.current + 1).min(MAX), ..content }.pack())
    };
    // The closure never returns `None`, so the update can't fail.
    let _ = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
}

impl AcceptedCounters {
    pub(super) const fn new() -> Self {
        Self([const { Counter(AtomicU64::new(0)) }; COUNTERS])
    }

    /// Counts a request.
    #[inline]
    pub(super) fn add(&self, now: Timestamp) {
        let (second, counter) = (second(now), &self.0[thread_number() % COUNTERS].0);
        let word = counter.load(Ordering::Relaxed);
        // If the number is saturated, its bits would become 0.
        let next = word.wrapping_add(1);
        let is_counted = word >> (2 * BITS) == second
            && next & MAX != 0
            && counter.compare_exchange(word, next, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if !is_counted {
            add_first(counter, second);
        }
    }

    /// Returns the number of requests in the last second. The second before the current one is included in proportion.
    pub(super) fn last_second(&self, now: Timestamp) -> u32 {
        let passed = u64::from(now.since_origin().subsec_millis());
        let count = |counter: &Counter| {
            let content = Content::unpack(counter.0.load(Ordering::Relaxed)).at(second(now));
            content.current + content.before * (1000 - passed) / 1000
        };
        let total: u64 = self.0.iter().map(count).sum();
        u32::try_from(total).unwrap_or(u32::MAX)
    }
}
