//! How far a wait that the server asked for is honoured.

use std::time::Duration;

/// How far a wait that the server asked for is honoured. Whatever the limit, a wait is never shorter than the backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HintLimit {
    /// Without limit.
    Unlimited,
    /// Up to the longest backoff that there can be.
    MaxBackoff,
    /// As long as it exceeds the backoff of this retry by no more than this.
    BeyondBackoff(Duration),
}

impl HintLimit {
    /// The wait before a retry, given its backoff and what the server asked for.
    #[inline]
    pub(super) fn wait(self, backoff: Duration, max_backoff: Duration, hint: Option<Duration>) -> Duration {
        let Some(hint) = hint else { return backoff };
        backoff.max(match self {
            Self::Unlimited => hint,
            Self::MaxBackoff => hint.min(max_backoff),
            Self::BeyondBackoff(excess) => hint.min(backoff.saturating_add(excess)),
        })
    }
}
