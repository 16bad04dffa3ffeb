//! Whether hedges at the delay win, by what the last calls that reached it have shown.

use crate::support::Shared;
use crate::support::sync::{AtomicU32, Ordering};

/// The share of hedges that win, in percent, up to which they are few. So if the first hedge of a new process loses, they are. In simulations
/// of 10 and 30 servers, 74 to 85 % win where a server hangs or pauses or some answers are slow, and 20 to 40 % where all wait for loaded
/// servers, and hedges only add to the load.
const FEW_PERCENT: u32 = 50;

/// The wins that are counted for a call without a hedge at the delay that has no answer after twice the delay. Where `q` of the calls that
/// reach the delay have slow answers, a hedge wins for these and for three of ten others: half of the hedges if `q` is 0.29. Those that
/// still have no answer are `q` only. With four wins for each, and the result of its late hedge, half of the count are wins if `q` is from 0.17
/// (if late hedges win) to 0.25 (if they lose, because they are late). With three, 1 % of slow answers are hardly hedged: in three runs,
/// 99 % of the calls take 0.61 of the time without hedges, in place of 0.56.
const WINS_OF_UNANSWERED: u32 = 4;

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

    /// Records whether a call that had no hedge at the delay had an answer before twice the delay. So what few hedges would do is known even
    /// if none are sent.
    pub(super) fn note_without(&self, is_answered: bool) {
        if is_answered {
            return self.note(false);
        }
        self.change(|known| Some((0..WINS_OF_UNANSWERED).fold(known, |known, _| known.with(true))));
    }

    /// Returns whether few of the last hedges won.
    pub(super) fn are_few(&self) -> bool {
        let read = |wins: &AtomicU32| wins.load(Ordering::Relaxed);
        let known = Known::of(self.0.with(|| AtomicU32::new(Known::NEW.bits()), read));
        known.share <= FEW_PERCENT * ONE / 100
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
