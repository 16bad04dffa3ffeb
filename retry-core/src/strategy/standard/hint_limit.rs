//! The limit on the wait that a server asks for.

use std::time::Duration;

/// The limit on the wait that a server asks for before a retry. A longer wait is cut to the limit.
///
/// With any limit, the delay before a retry is never shorter than its backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HintLimit {
    /// No limit.
    Unlimited,
    /// The longest backoff that the strategy can compute; for exponential backoff, this is its cap.
    MaxBackoff,
    /// The backoff of the retry plus this duration.
    BeyondBackoff(Duration),
}

impl HintLimit {
    /// Returns the delay before a retry: the backoff, or the wait that the server asked for, cut to the limit,
    /// whichever is longer.
    pub(super) fn wait(self, backoff: Duration, max_backoff: Duration, hint: Duration) -> Duration {
        backoff.max(match self {
            Self::Unlimited => hint,
            Self::MaxBackoff => hint.min(max_backoff),
            Self::BeyondBackoff(excess) => hint.min(backoff.saturating_add(excess)),
        })
    }
}
