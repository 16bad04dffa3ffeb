//! Counters of accepted requests, which threads do not share.

use crate::sync::{AtomicU64, Ordering, thread_number};
use retry_core::time::Timestamp;

/// The requests that were accepted in the last second, for a strategy that does not limit sends yet.
///
/// Each thread has its own counter, so that threads do not wait for each other's cache lines. More threads than counters share
/// them. The counters publish no other data, so relaxed ordering suffices.
#[derive(Debug)]
pub(super) struct AcceptedCounters([Counter; 16]);

/// The number of a second, and the number of requests in it and in the second before.
#[derive(Debug)]
#[repr(align(64))]
struct Counter(AtomicU64);

/// The bits of a number of requests. The number saturates.
const BITS: u32 = 20;
const MAX: u64 = (1 << BITS) - 1;
/// The highest number of a second. The number after it is 0, so numbers repeat after 194 days.
const LAST_SECOND: u64 = u64::MAX >> (2 * BITS);

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
        let is_empty = self.before == 0 && self.current == 0;
        match second.wrapping_sub(self.second) & LAST_SECOND {
            0 => self,
            // Threads may deliver their readings of the clock out of order, so one can be late by a second. If it is earlier than
            // that, the clock was set back. An empty counter has no second yet.
            LAST_SECOND if !is_empty => self,
            1 => Self { second, before: self.current, current: 0 },
            _ => Self { second, before: 0, current: 0 },
        }
    }
}

/// Returns the number of the second that contains a point in time, as far as a counter keeps it.
const fn second(at: Timestamp) -> u64 {
    at.since_origin().as_secs() & LAST_SECOND
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
        Self([const { Counter(AtomicU64::new(0)) }; 16])
    }

    /// Counts a request.
    #[inline]
    pub(super) fn add(&self, now: Timestamp) {
        let (second, counter) = (second(now), &self.0[thread_number() % self.0.len()].0);
        let word = counter.load(Ordering::Relaxed);
        let content = Content::unpack(word);
        let is_counted = content.second == second
            && content.current < MAX
            && counter.compare_exchange(word, word + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if !is_counted {
            add_first(counter, second);
        }
    }

    /// Returns the number of requests in the last second. The second before the current one is included in proportion.
    #[expect(clippy::cast_possible_truncation, reason = "the counters have fewer bits together")]
    pub(super) fn last_second(&self, now: Timestamp) -> u32 {
        let passed = u64::from(now.since_origin().subsec_millis());
        let count = |counter: &Counter| {
            let content = Content::unpack(counter.0.load(Ordering::Relaxed)).at(second(now));
            content.current + content.before * (1000 - passed) / 1000
        };
        let total: u64 = self.0.iter().map(count).sum();
        total as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{AcceptedCounters, MAX};
    use retry_core::time::Timestamp;
    use std::time::Duration;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(millis))
    }

    /// Returns counters with so many requests at this time.
    fn with(requests: u32, millis: u64) -> AcceptedCounters {
        let counters = AcceptedCounters::new();
        (0..requests).for_each(|_| counters.add(at(millis)));
        counters
    }

    #[test]
    fn the_second_before_is_included_in_proportion() {
        let counters = with(2000, 7_300);
        (0..30).for_each(|_| counters.add(at(8_100)));
        for (millis, requests) in [
            (8_000, 2030),
            (8_001, 1998 + 30),
            (8_250, 1500 + 30),
            (8_500, 1000 + 30),
            (8_999, 2 + 30),
            (9_000, 30),
            (9_500, 15),
            (10_000, 0),
            (1_000_000, 0),
        ] {
            assert_eq!(counters.last_second(at(millis)), requests, "at {millis} ms");
        }
        // A second without requests is not the second before.
        (0..4).for_each(|_| counters.add(at(10_000)));
        assert_eq!(counters.last_second(at(10_000)), 4);
    }

    #[test]
    fn a_late_reading_of_the_clock_counts_in_the_latest_second() {
        let counters = with(3, 19_000);
        counters.add(at(18_999));
        counters.add(at(18_000));
        assert_eq!((counters.last_second(at(19_000)), counters.last_second(at(18_000))), (5, 5));
        // The clock was set back.
        assert_eq!(counters.last_second(at(17_999)), 0);
        counters.add(at(17_999));
        assert_eq!((counters.last_second(at(17_999)), counters.last_second(at(19_000))), (1, 0));
    }

    #[test]
    fn all_threads_are_counted() {
        let counters = AcceptedCounters::new();
        for _ in 0..50 {
            std::thread::scope(|scope| {
                scope.spawn(|| (0..3).for_each(|_| counters.add(at(1_000))));
            });
        }
        assert_eq!(counters.last_second(at(1_000)), 150);
    }

    #[test]
    fn a_second_has_the_requests_of_itself_and_of_the_one_before_whenever_it_is() {
        let start = Timestamp::START.since_origin().as_secs();
        // The numbers of seconds repeat after 2^24.
        for second in [0, 1, 1 << 23, (1 << 24) - 1, 1 << 24, 1 << 25, start, start + (1 << 23), start + (1 << 24)] {
            let millis = 1000 * second;
            // A counter that is new takes any second, and seconds before it say nothing.
            let counters = with(8, millis);
            assert_eq!(counters.last_second(at(millis + 999)), 8, "{second}");
            (0..3).for_each(|_| counters.add(at(millis + 1000)));
            assert_eq!(counters.last_second(at(millis + 1000)), 8 + 3, "{second}");
            assert_eq!(counters.last_second(at(millis + 2000)), 3, "{second}");
            assert_eq!(counters.last_second(at(millis + 3000)), 0, "{second}");
            assert_eq!(counters.last_second(at(millis + 9_000_000_000)), 0, "{second}");
        }
    }

    #[test]
    fn a_counter_that_is_full_stays_full() {
        let counters = with(1, 5_000);
        // Nearly full, and with as many in the second before.
        let word = 5 << 40 | 0xf_fffe << 20 | 0xf_fffe;
        counters.0.iter().for_each(|counter| counter.0.store(word, super::Ordering::Relaxed));
        let all = |requests: u64| u32::try_from(16 * requests).unwrap();
        assert_eq!(counters.last_second(at(5_000)), all(2 * 0xf_fffe));
        (0..3).for_each(|_| counters.add(at(5_000)));
        assert_eq!(counters.last_second(at(5_000)), all(2 * 0xf_fffe) + 1);
        assert_eq!(u64::from(counters.last_second(at(6_000))), 15 * (MAX - 1) + MAX);
    }
}
