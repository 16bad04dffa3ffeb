//! Which of the last hedges won.

use crate::support::Shared;
use crate::support::sync::{AtomicU32, Ordering};
use std::time::Duration;

/// The share of the last hedges from which on no call waits longer, in percent. In simulations of 10 and 30 servers, 74 to 85 % win
/// where a server hangs or pauses or some answers are slow, and 20 to 40 % where all wait for loaded servers, and hedges only add to the load.
/// Where 1 % of the answers are slow, four of five calls that reach the delay have a usual answer. They wait longer, and three
/// of five hedges shorten nearly as many of the slow ones: 99 % of the calls take 38 ms in place of 35, and 99.9 % 64 in place of 53.
const MANY: u32 = 50;

/// The delays that a call waits longer, for a share that is short of that by all hedges: so 3 of them if none won.
const LONGER: u32 = 6;

/// What each of the latest calls that reached the delay adds to that, as a multiple. Then most calls are slow because of an overload, and have a
/// usual answer if they wait. Without it, an overload of 50 processes fails twice as many more calls.
const FOR_EACH: u32 = 3;

/// The number of hedges whose share is known, at most.
const LAST: u32 = 64;

/// The hedges that a new share assumes to have won. With 8, each new process would send some hedges to servers that are overloaded.
const ASSUMED: u32 = 1;

/// Of this many of the first calls, at most one gets a hedge: 5 %, as later. The delay is a guess then, and may be far too short.
const CALLS_PER_EARLY_HEDGE: u32 = 20;

const ONE: u32 = 1 << 10;

const SHARE_BITS: u32 = 11;
const COUNT_BITS: u32 = 7;

/// What is known of the last hedges, in one number. It publishes no other data, so relaxed ordering suffices. Each change starts from
/// the number as it is at that time, so no thread's change is lost.
#[derive(Debug)]
pub(super) struct Wins(Shared<AtomicU32>);

/// The number, in parts.
#[derive(Clone, Copy)]
struct Known {
    /// The share of the hedges that won, in 1,024ths.
    share: u32,
    /// The number of hedges that it is of.
    count: u32,
    /// The hedges of the first calls.
    early: u32,
}

impl Known {
    const NEW: Self = Self { share: ONE, count: ASSUMED, early: 0 };

    const fn of(bits: u32) -> Self {
        Self {
            share: bits & ((1 << SHARE_BITS) - 1),
            count: (bits >> SHARE_BITS) & ((1 << COUNT_BITS) - 1),
            early: bits >> (SHARE_BITS + COUNT_BITS),
        }
    }

    const fn bits(self) -> u32 {
        self.share | self.count << SHARE_BITS | self.early << (SHARE_BITS + COUNT_BITS)
    }

    /// Adds a hedge to the share, rounded.
    const fn with(self, won: bool) -> Self {
        let before = if self.count < LAST { self.count } else { LAST - 1 };
        let sum = self.share * before + if won { ONE } else { 0 };
        Self { share: (sum + before.div_ceil(2)) / (before + 1), count: before + 1, ..self }
    }
}

impl Wins {
    pub(super) const fn new() -> Self {
        Self(Shared::new(AtomicU32::new(Known::NEW.bits())))
    }

    /// Records the end of a hedge.
    pub(super) fn note(&self, won: bool) {
        self.change(|known| Some(known.with(won)));
    }

    /// Returns how much longer a call waits because few of the last hedges won. So many of the latest calls reached the delay: the more,
    /// the more likely all calls are slow, and the longer it waits for that to be known.
    pub(super) fn longer(&self, delay: Duration, reached: u32) -> Duration {
        let read = |wins: &AtomicU32| wins.load(Ordering::Relaxed);
        let known = Known::of(self.0.with(|| AtomicU32::new(Known::NEW.bits()), read));
        let missing = (MANY * ONE / 100).saturating_sub(known.share);
        delay * (LONGER * missing * (1 + FOR_EACH * reached)) / ONE
    }

    /// Returns whether one of the first calls may have a hedge. This is the number of calls so far.
    pub(super) fn permit_early(&self, calls: u32) -> bool {
        let one_more = |known: Known| {
            (known.early < calls / CALLS_PER_EARLY_HEDGE).then(|| Known { early: known.early + 1, ..known })
        };
        self.change(one_more).is_some()
    }

    /// Changes what is known, and returns what was known before, if there was a change.
    fn change(&self, change: impl Fn(Known) -> Option<Known>) -> Option<Known> {
        let change = |bits| change(Known::of(bits)).map(Known::bits);
        let changed = |wins: &AtomicU32| wins.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
        self.0.with(|| AtomicU32::new(Known::NEW.bits()), changed).ok().map(Known::of)
    }
}
