//! Points in time of a quota.

use crate::time::Timestamp;

/// A point in time: whole milliseconds since the origin of the clock. It saturates after 500 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Millis(pub(super) u64);

impl Millis {
    #[inline]
    pub(super) fn of(at: Timestamp) -> Self {
        let time = at.since_origin();
        Self(time.as_secs().min(1 << 34) * 1000 + u64::from(time.subsec_millis()))
    }

    pub(super) const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
