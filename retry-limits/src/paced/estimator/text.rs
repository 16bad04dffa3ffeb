//! An estimator as text, so that it can be kept in a store and continue in another process.

use super::noise::Noise;
use super::recent::{KEPT, Recent};
use super::tuning::Tuning;
use super::{GoodputEstimator, LOWEST, Phase, UserRates};
use retry_core::InvalidSetting;
use retry_core::time::Timestamp;
use std::fmt::{self, Display, Formatter};
use std::str::{FromStr, SplitWhitespace};
use std::time::Duration;

/// The number of the format. A text of another format is not read.
const FORMAT: u32 = 2;
/// The nanoseconds in a second.
const NANOS: u128 = 1_000_000_000;
/// A factor that allows for the rounding of a product.
const ROUNDED: f64 = 0.999;

/// Writes the state in one line, to be read by [`FromStr`]. Points in time are nanoseconds since the origin of the clock, so
/// the reader needs the same clock, such as that of a store.
impl Display for GoodputEstimator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { tuning, phase, since, estimate, epoch, accepted, .. } = self;
        let Self { recent, noise, rejected_in_a_row, rejected_since, careful_until, .. } = self;
        let (can_raise, skips_silence) = (u8::from(self.can_raise), u8::from(self.skips_silence));
        let (phase, from, doubles) = match *phase {
            Phase::Ramp => (0, 0.0, 0.0),
            Phase::Search { from, doubles } => (1, from, doubles),
            Phase::Track => (2, 0.0, 0.0),
        };
        let nanos = |at: &Timestamp| at.since_origin().as_nanos();
        let kind = u8::from(*tuning == Tuning::ALL);
        write!(f, "{FORMAT} {kind} {phase} {from} {doubles} {} {estimate} ", nanos(since))?;
        write!(f, "{} {can_raise} {skips_silence} {accepted} ", nanos(epoch))?;
        write!(f, "{rejected_in_a_row} {} ", nanos(rejected_since))?;
        write!(f, "{} {}", nanos(careful_until), recent.quarter)?;
        recent.counts.iter().try_for_each(|count| write!(f, " {count}"))?;
        let Noise { sum, accepted, rejected, is_hit, streak } = noise;
        write!(f, " {sum} {accepted} {rejected} {} {streak}", u8::from(*is_hit))
    }
}

/// Reads the text that [`Display`] wrote, with or without white space around it. Any other text is an error, even if its
/// words are numbers.
impl FromStr for GoodputEstimator {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        // Each estimator has exactly one text.
        let read = read(text).filter(|read| is_possible(read) && read.to_string() == text.trim());
        read.ok_or_else(|| InvalidSetting::new("estimator", text, "the text of a `GoodputEstimator`"))
    }
}

/// Returns whether an estimator can get into this state. Values that depend on the clock alone are not checked, because
/// callers may pass any times.
fn is_possible(estimator: &GoodputEstimator) -> bool {
    let GoodputEstimator { tuning, phase, since, estimate, can_raise, skips_silence, .. } = *estimator;
    let GoodputEstimator { recent, rejected_in_a_row, rejected_since, careful_until, .. } = *estimator;
    let is_in_phase = match phase {
        // Nothing but accepted requests, pauses and noise was counted yet. A rate is counted in quarters of a second.
        Phase::Ramp => {
            let is_unchanged = since == rejected_since && since == careful_until && rejected_in_a_row == 0;
            is_unchanged && estimate % 4.0 == 0.0 && !can_raise && recent.began_after(since)
        }
        // A search begins at a rate, which is never below the lowest one after a cut.
        Phase::Search { from, doubles } => {
            let is_known = [tuning.search.1, tuning.proven].contains(&doubles);
            is_known && from >= ROUNDED * tuning.cut.min(tuning.search.0) * LOWEST
        }
        Phase::Track => true,
    };
    let has_estimate = estimate >= LOWEST || phase == Phase::Ramp;
    // A measurement that begins after a silence can raise the estimate.
    is_in_phase && has_estimate && (can_raise || !skips_silence)
}

fn read(text: &str) -> Option<GoodputEstimator> {
    let mut words = text.split_whitespace();
    let words = &mut words;
    // The number of the format, which the caller compares with the text.
    words.next()?;
    let tuning = match next::<u8>(words)? {
        0 => Tuning::ONE,
        1 => Tuning::ALL,
        _ => return None,
    };
    let phase: u8 = next(words)?;
    let (from, doubles) = (number(words)?, number(words)?);
    let phase = match phase {
        0 => Phase::Ramp,
        1 => Phase::Search { from, doubles },
        2 => Phase::Track,
        _ => return None,
    };
    let (since, estimate, epoch) = (time(words)?, number(words)?, time(words)?);
    let (can_raise, skips_silence) = (next::<u8>(words)? == 1, next::<u8>(words)? == 1);
    let (accepted, rejected_in_a_row) = (next(words)?, next(words)?);
    let (rejected_since, careful_until) = (time(words)?, time(words)?);
    let (quarter, mut counts) = (next(words)?, <[u32; KEPT]>::default());
    for count in &mut counts {
        *count = next(words)?;
    }
    let recent = Recent { quarter, counts };
    let (sum, looked, rejected) = (number(words)?, number(words)?, number(words)?);
    let (is_hit, streak) = (next::<u8>(words)? == 1, next(words)?);
    let noise = Noise { sum, accepted: looked, rejected, is_hit, streak };
    Some(GoodputEstimator {
        tuning,
        user_rates: UserRates::NOTHING,
        phase,
        since,
        aged: 0.0,
        estimate,
        epoch,
        can_raise,
        skips_silence,
        accepted,
        recent,
        noise,
        rejected_in_a_row,
        rejected_since,
        careful_until,
    })
}

fn next<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

/// Reads a finite number that is not negative.
fn number(words: &mut SplitWhitespace<'_>) -> Option<f64> {
    next(words).filter(|number: &f64| number.is_finite() && number.is_sign_positive())
}

fn time(words: &mut SplitWhitespace<'_>) -> Option<Timestamp> {
    let nanos: u128 = next(words)?;
    let secs = u64::try_from(nanos / NANOS).ok()?;
    let subsec = u32::try_from(nanos % NANOS).ok()?;
    Some(Timestamp::from_origin(Duration::new(secs, subsec)))
}
