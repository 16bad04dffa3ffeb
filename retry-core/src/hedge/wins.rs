//! Which of the last hedges won.

use crate::support::Shared;
use crate::support::sync::{AtomicU32, Ordering};

/// The share of the last hedges that must have won, in percent. In simulations of 10 and 30 servers, 60 to 93 % win where some answers are
/// slow or a server hangs or pauses, and about 30 % with a load of .95, where they only add to it. Where 1 % of the answers are slow, four of
/// five hedges come for usual answers, and 35 to 45 % win: with 33 here, 99.9 % of those calls take three times as long as with 28.
const FEW: u32 = 28;

/// The number of hedges whose share is known, at most.
const LAST: u32 = 64;

/// While few win, one call in this number gets a hedge, which stands for all of them.
const SAMPLE: u32 = 8;

/// The hedges that a new share assumes to have won. So the first ones must lose often before others are not sent.
const ASSUMED: u32 = 8;

/// Of this many of the first calls, at most one gets a hedge: 5 %, as later. The delay is a guess then, and may be far too short.
const CALLS_PER_EARLY_HEDGE: u32 = 20;

const ONE: u32 = 1 << 10;

const SHARE_BITS: u32 = 11;
const COUNT_BITS: u32 = 7;
const SKIPPED_BITS: u32 = 3;

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
    /// The calls that got no hedge because few won, modulo [`SAMPLE`].
    skipped: u32,
    /// The hedges of the first calls.
    early: u32,
}

impl Known {
    const NEW: Self = Self { share: ONE, count: ASSUMED, skipped: 0, early: 0 };

    const fn of(bits: u32) -> Self {
        Self {
            share: bits & ((1 << SHARE_BITS) - 1),
            count: (bits >> SHARE_BITS) & ((1 << COUNT_BITS) - 1),
            skipped: (bits >> (SHARE_BITS + COUNT_BITS)) & ((1 << SKIPPED_BITS) - 1),
            early: bits >> (SHARE_BITS + COUNT_BITS + SKIPPED_BITS),
        }
    }

    const fn bits(self) -> u32 {
        self.share
            | self.count << SHARE_BITS
            | self.skipped << (SHARE_BITS + COUNT_BITS)
            | self.early << (SHARE_BITS + COUNT_BITS + SKIPPED_BITS)
    }

    const fn few_won(self) -> bool {
        100 * self.share < FEW * ONE
    }

    /// Adds a hedge to the share, rounded.
    const fn with(self, won: bool) -> Self {
        // A hedge that is sent as a sample stands for the calls that got none.
        let of = if self.few_won() { LAST / SAMPLE } else { LAST };
        let before = if self.count < of { self.count } else { of - 1 };
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

    /// Returns whether a call gets no hedge because few of the last ones won.
    pub(super) fn are_too_few(&self) -> bool {
        let skip = |known: Known| known.few_won().then(|| Known { skipped: (known.skipped + 1) % SAMPLE, ..known });
        self.change(skip).is_some_and(|before| before.skipped + 1 != SAMPLE)
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
