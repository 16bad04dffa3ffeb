//! The waits of rejected operations.

use std::time::Duration;

/// The longest part by which a wait that the server asks for is stretched, so that operations do not all retry at the
/// same time.
const STRETCH: f64 = 0.1;
/// The longest time by which such a wait is stretched.
const LONGEST_STRETCH: Duration = Duration::from_secs(5);
/// The first and the longest wait of an operation that probably has a limit of its own. It doubles with each rejection. The longest
/// one is that of the standard strategy. With a first one of 1 s, a job of 2 s against 20 servers of which one is sick ends with it.
const OWN_WAIT: (Duration, Duration) = (Duration::from_millis(250), LONGEST_OWN_WAIT);
pub(crate) const LONGEST_OWN_WAIT: Duration = Duration::from_secs(20);

/// Returns a wait that the server asks for, stretched by this part of [`STRETCH`], and by at most [`LONGEST_STRETCH`]. It saturates.
pub(crate) fn stretched(wait: Duration, part: f64) -> Duration {
    let factor = STRETCH.mul_add(part, 1.0);
    let stretched = Duration::try_from_secs_f64(wait.as_secs_f64() * factor).unwrap_or(Duration::MAX);
    stretched.clamp(wait, wait.saturating_add(LONGEST_STRETCH))
}

/// Returns the wait of an operation that probably has a limit of its own, after this number of rejections in a row. `part`, which
/// is random, is the part of its second half.
pub(crate) fn own_wait(number: u32, part: f64) -> Duration {
    let (first, longest) = OWN_WAIT;
    let wait = first.saturating_mul(1 << number.saturating_sub(2).min(16)).min(longest);
    wait.mul_f64(part.midpoint(1.0))
}
