//! The arithmetic of a delay that follows the calls.

use std::time::Duration;

/// The steps of the delay in an octave: the delay doubles in 256 steps, so a step is 0.2 to 0.4 % of it.
const STEPS_BITS: u32 = 8;

/// The steps up of a call that reaches the delay. A success before the delay is one step down. The delay rests where both
/// balance, `19 * p = 1 - p`: where 5 % of the calls reach it, whatever the distribution of their times.
const UP: u64 = 19;

/// The first calls, in which the delay moves faster because its start is a guess: within about 200 calls to a tenth of it, and
/// within about 15 to twenty times of it.
const FIRST_CALLS: u64 = 256;
const FIRST_STEPS: u64 = 4;

/// The parts of a step in which the floor is kept. The floor rises by one part with each call, so that a delay that stays twice as
/// long is normal again after about 2,050 calls.
const FLOOR_PARTS: u64 = 8;

/// The ratio of the delay to its floor above which all calls are slow, so that a second attempt would be as slow as the first one,
/// and add load to a server that may be slow because of its load. With 1.5, the slowest of usual answers get no hedge either: with 2 %
/// of slow answers at a load of 60 %, 99.9 % of the calls take 322 ms in place of 259.
const ALL_SLOW: u32 = 2;

/// The number of the latest calls that reached the delay from which on all calls are slow. If 5 % reach it independently of each other, 2
/// of 4 did in 1 of 71 cases. If a server gets overloaded, each of 50 processes makes few calls before others time out, so it must know early:
/// with 4 of 15, they sent 1.6 times as many hedges.
const MANY: u32 = 2;
const LATEST: u32 = 4;

const LOWEST: u64 = code(Duration::from_millis(1));
const START: u64 = code(Duration::from_millis(50));
const HIGHEST: u64 = code(Duration::from_secs(60));

const DELAY_BITS: u32 = 16;
const FLOOR_BITS: u32 = 24;
const CALLS_BITS: u32 = 9;
/// Where the latest calls begin: they have the highest bits, so that older ones are shifted out.
const LATEST_AT: u32 = u64::BITS - LATEST;

/// The steered delay and its floor, in one number: the delay in steps, in the lowest 16 bits; the floor in parts of a step, in
/// the next 24; the number of calls up to [`FIRST_CALLS`], in 9; and whether each of the [`LATEST`] calls reached the delay, in the highest 4.
///
/// A delay in steps is a small floating-point number: `(256 + step % 256) << (step / 256)` nanoseconds. So steps up and down are
/// additions, and nothing is lost by rounding: after 19 calls that were answered and one that was not, the delay is
/// exactly as before. With delays in microseconds, a step down of a short delay is rounded to nothing or to too much, and the share
/// of calls that reach the delay is wrong by as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Steered(pub(super) u64);

impl Steered {
    pub(super) const NEW: Self = Self::of(START, START * FLOOR_PARTS, 0, 0);

    const fn of(delay: u64, floor: u64, calls: u64, latest: u64) -> Self {
        Self(delay | floor << DELAY_BITS | calls << (DELAY_BITS + FLOOR_BITS) | latest << LATEST_AT)
    }

    const fn step(self) -> u64 {
        self.0 & ((1 << DELAY_BITS) - 1)
    }

    const fn floor(self) -> u64 {
        (self.0 >> DELAY_BITS) & ((1 << FLOOR_BITS) - 1)
    }

    const fn calls(self) -> u64 {
        (self.0 >> (DELAY_BITS + FLOOR_BITS)) & ((1 << CALLS_BITS) - 1)
    }

    /// Returns a bit for each of the latest calls, the last one lowest, which is set if the call reached the delay.
    const fn latest(self) -> u64 {
        self.0 >> LATEST_AT
    }

    /// Returns the delay.
    pub(super) const fn delay(self) -> Duration {
        duration(self.step())
    }

    /// Returns whether the delay is far above the lowest one of the latest calls.
    pub(super) fn is_far_above_its_floor(self) -> bool {
        self.delay() > duration(self.floor() / FLOOR_PARTS).saturating_mul(ALL_SLOW)
    }

    /// Returns whether many of the latest calls reached the delay, which then is too short for what has become usual.
    pub(super) const fn is_reached_by_many(self) -> bool {
        self.latest().count_ones() >= MANY
    }

    /// Returns the number of calls so far, while it is one of the first.
    pub(super) fn early_calls(self) -> Option<u32> {
        u32::try_from(self.calls()).ok().filter(|_| self.is_early())
    }

    /// Records a success before the delay.
    #[inline]
    pub(super) fn answered(self) -> Self {
        if self.is_early() {
            return self.moved_early(self.step().saturating_sub(FIRST_STEPS).max(LOWEST), 0);
        }
        self.moved_to(self.step().max(LOWEST + 1) - 1, 0)
    }

    /// Records a call that reached the delay.
    pub(super) fn reached(self) -> Self {
        if self.is_early() {
            return self.moved_early((self.step() + UP * FIRST_STEPS).min(HIGHEST), 1);
        }
        self.moved_to((self.step() + UP).min(HIGHEST), 1)
    }

    /// Returns whether the call is one of the first: their number has one bit for the last of them.
    const fn is_early(self) -> bool {
        self.0 & FIRST_CALLS << (DELAY_BITS + FLOOR_BITS) == 0
    }

    /// Sets the delay. The floor follows it down, and slowly up.
    #[inline]
    fn moved_to(self, step: u64, reached: u64) -> Self {
        let floor = (step * FLOOR_PARTS).min(self.floor() + 1);
        Self::of(step, floor, FIRST_CALLS, self.latest() << 1 | reached)
    }

    /// Sets the delay after one of the first calls. What is usual is not known yet.
    #[cold]
    const fn moved_early(self, step: u64, reached: u64) -> Self {
        Self::of(step, step * FLOOR_PARTS, self.calls() + 1, self.latest() << 1 | reached)
    }
}

/// Returns the delay of a number of steps.
const fn duration(step: u64) -> Duration {
    let mantissa = (1 << STEPS_BITS) | (step & ((1 << STEPS_BITS) - 1));
    Duration::from_nanos(mantissa << (step >> STEPS_BITS))
}

/// Returns the steps of a delay, rounded down. The range is 256 ns to 584 years.
#[expect(clippy::cast_possible_truncation, reason = "the constants are small")]
const fn code(delay: Duration) -> u64 {
    let nanos = delay.as_nanos() as u64;
    let octave = (u64::BITS - 1 - nanos.leading_zeros() - STEPS_BITS) as u64;
    (octave << STEPS_BITS) | ((nanos >> octave) & ((1 << STEPS_BITS) - 1))
}

#[cfg(test)]
mod tests;
