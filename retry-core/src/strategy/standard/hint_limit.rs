//! The limit on the wait that a server asks for.

use std::time::Duration;

/// The limit on the wait that a server asks for before a retry. A longer wait is cut to the limit.
///
/// The delay can be longer than the limit. A [`HintJitter`](super::HintJitter) is added after the wait is cut: with
/// [`new()`](crate::StandardRetryStrategy::new) and a limit of 10 s, the delay is up to 11 s. With any limit, the delay before a
/// retry is never shorter than its backoff, unless the wait [replaces](crate::StandardRetryStrategy::hint_replaces_backoff) it.
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
    /// Returns the wait that the server asked for, cut to the limit.
    pub(super) fn cut(self, backoff: Duration, max_backoff: Duration, hint: Duration) -> Duration {
        match self {
            Self::Unlimited => hint,
            Self::MaxBackoff => hint.min(max_backoff),
            Self::BeyondBackoff(excess) => hint.min(backoff.saturating_add(excess)),
        }
    }
}
