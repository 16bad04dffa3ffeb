//! All short sequences of readings, compared with the plainest reading of the rule.

use super::{Latest, MAX_DISORDER};
use crate::time::Timestamp;
use std::time::Duration;

/// The number of readings in a sequence.
const LENGTH: usize = 4;

/// Returns the time to use after these readings, from their list: a clock was set back if all readings since the latest one are
/// before it, and the last of them is 250 ms after the earliest.
fn plain(readings: &[Timestamp]) -> (Timestamp, Option<Timestamp>) {
    let (mut latest, mut late) = (readings[0], Vec::new());
    let mut observed = (latest, None);
    for now in readings[1..].iter().copied() {
        if now >= latest {
            (latest, observed) = (now, (now, None));
            late.clear();
            continue;
        }
        late.push(now);
        let earliest = late.iter().copied().min().unwrap();
        if now >= earliest.saturating_add(MAX_DISORDER) {
            (latest, observed) = (now, (now, Some(earliest)));
            late.clear();
        } else {
            observed = (latest, None);
        }
    }
    observed
}

fn compare(times: &[Timestamp]) {
    let count = times.len().pow(u32::try_from(LENGTH).unwrap());
    for number in 0..count {
        let mut readings = [times[times.len() / 2]; LENGTH + 1];
        let mut rest = number;
        for reading in &mut readings[1..] {
            *reading = times[rest % times.len()];
            rest /= times.len();
        }
        let mut latest = Latest::new(readings[0]);
        for end in 1..=LENGTH {
            let observed = latest.observe(readings[end]);
            assert_eq!((observed.now, observed.went_back_to), plain(&readings[..=end]), "{readings:?}");
            assert_eq!(latest.get(), observed.now, "{readings:?}");
        }
    }
}

// Rules K2, K3.
#[test]
fn all_short_sequences_of_readings_agree_with_the_rule() {
    let nanos = |nanos| Timestamp::from_origin(Duration::from_nanos(nanos));
    let border = 250_000_000;
    // Around the 250 ms after which a clock was set back.
    compare(
        &[0, 1, border - 1, border, border + 1, 2 * border - 1, 2 * border, 2 * border + 1, 3 * border, 4 * border]
            .map(nanos),
    );
    // At both ends of time.
    let end = Timestamp::from_origin(Duration::MAX);
    let before = |millis| end.saturating_sub(Duration::from_millis(millis));
    compare(&[nanos(0), nanos(1), nanos(border), before(500), before(251), before(250), before(249), before(1), end]);
}
