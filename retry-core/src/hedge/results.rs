//! How many calls were helped by their hedges.

use crate::support::Shared;
use crate::support::sync::{AtomicU32, Ordering};

/// The number of calls that reached the delay after which their results are judged.
pub(super) const CALLS: u32 = 1_000;

/// The number of these calls that hedges help at least, if they are worth having: with `p95`, one call of 2,000.
const FEW: u32 = 10;

const HELPED: u32 = 1 << 16;

/// The results of the last calls that reached the delay, in one number: how many there were, and from bit 16 on, how many were helped. It
/// publishes no other data, so relaxed ordering suffices.
#[derive(Debug)]
pub(super) struct Results(Shared<AtomicU32>);

impl Results {
    pub(super) const fn new() -> Self {
        Self(Shared::new(AtomicU32::new(0)))
    }

    /// Records a call that reached the delay. After [`CALLS`] of them, the count begins again, and the number of calls that were helped is
    /// returned if it is small.
    pub(super) fn note(&self, has_helped: bool) -> Option<u32> {
        let added = |bits: u32| bits + 1 + if has_helped { HELPED } else { 0 };
        let is_full = |bits: u32| bits % HELPED >= CALLS;
        let change = |bits| Some(added(bits)).map(|bits| if is_full(bits) { 0 } else { bits });
        let note = |results: &AtomicU32| results.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
        let (Ok(before) | Err(before)) = self.0.with(|| AtomicU32::new(0), note);
        let bits = added(before);
        Some(bits / HELPED).filter(|helped| is_full(bits) && *helped < FEW)
    }
}
