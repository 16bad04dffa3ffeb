//! The requests that were accepted in the last second.

use super::scaled;
use retry_core::time::Timestamp;

/// The number of quarters of a second that are kept: four, and the current one.
pub(super) const KEPT: usize = 5;

/// The requests that were accepted in the last second, by quarters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent {
    /// The number of the current quarter.
    pub(super) quarter: u64,
    /// The current quarter comes first.
    pub(super) counts: [u32; KEPT],
}

impl Recent {
    pub(super) const fn new(now: Timestamp) -> Self {
        Self { quarter: quarter(now), counts: [0; KEPT] }
    }

    /// Adds requests. Returns whether they are the first ones of a quarter.
    #[inline]
    pub(super) fn add(&mut self, now: Timestamp, requests: u32) -> bool {
        let begins = self.advance(now);
        self.counts[0] = self.counts[0].saturating_add(requests);
        begins
    }

    /// Sets the rate per second of the last quarter.
    pub(super) const fn set_last(&mut self, rate: u32) {
        self.counts[1] = rate / 4;
    }

    /// Makes the quarter of `now` the current one. Returns whether it was another one.
    #[inline]
    fn advance(&mut self, now: Timestamp) -> bool {
        let by = quarter(now).saturating_sub(self.quarter);
        if by > 0 {
            let by = usize::try_from(by).unwrap_or(KEPT).min(KEPT);
            self.counts.copy_within(..KEPT - by, by);
            self.counts[..by].fill(0);
            self.quarter = quarter(now);
        }
        by > 0
    }

    /// Returns the rate per second of the current or of the last quarter, whichever is higher.
    #[inline]
    pub(super) fn rate(mut self, now: Timestamp) -> f64 {
        self.advance(now);
        4.0 * f64::from(self.counts[0].max(self.counts[1]))
    }

    /// Returns the rate per second of the quarter to which requests were added last.
    pub(super) fn latest(&self) -> f64 {
        4.0 * f64::from(self.counts[0])
    }

    /// Returns the number in the last second. The oldest quarter is included in proportion.
    pub(super) fn last_second(mut self, now: Timestamp) -> f64 {
        self.advance(now);
        let [whole @ .., oldest] = self.counts;
        let passed = f64::from(now.since_origin().subsec_nanos() % QUARTER_NANOS) / f64::from(QUARTER_NANOS);
        whole.iter().map(|count| f64::from(*count)).sum::<f64>() + f64::from(oldest) * (1.0 - passed)
    }

    /// Returns whether the first quarter can be the one of this time.
    pub(super) const fn began_after(&self, time: Timestamp) -> bool {
        self.quarter >= quarter(time)
    }

    /// Multiplies all numbers.
    pub(super) fn rescale(&mut self, factor: f64) {
        self.counts = self.counts.map(|count| scaled(count, factor));
    }

    pub(super) fn reanchor(&mut self, now: Timestamp) {
        self.quarter = self.quarter.min(quarter(now));
    }
}

const QUARTER_NANOS: u32 = 250_000_000;

/// Returns the number of the quarter of a second that contains a point in time.
const fn quarter(at: Timestamp) -> u64 {
    let since = at.since_origin();
    since.as_secs().saturating_mul(4).saturating_add((since.subsec_nanos() / QUARTER_NANOS) as u64)
}
