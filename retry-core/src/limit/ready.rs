//! The answer to the question whether an attempt may be sent.

use std::time::Duration;

/// The answer of a strategy to the question whether an attempt may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ready {
    /// The attempt may be sent now.
    Now,
    /// The operation waits this long, or until the waker is woken, and then asks again. A wait of zero means now.
    After(Duration),
    /// The operation is in a queue. It waits for `wait`, which is not zero, and then asks again. It will probably be sent after
    /// `expected`, which is at least `wait`. If that is longer than the time that the operation has left, it ends now, and not
    /// when that time is over.
    Queued {
        /// The time until the next question.
        wait: Duration,
        /// The time until the attempt is sent, if the rate stays.
        expected: Duration,
    },
    /// The attempt will not be sent, because the service did not recover in time. The operation releases the token, and ends with its
    /// last outcome and the reason [`NoRecovery`](crate::RetryError::NoRecovery). Not for a first attempt, which is always sent, and not
    /// for your own type of tokens, for which no last outcome is kept: their attempts are sent.
    Stop,
}

impl Ready {
    /// Returns how long to wait before asking again, or `None` if the attempt may be sent now or will not be sent.
    pub const fn wait(self) -> Option<Duration> {
        match self {
            Self::After(Duration::ZERO) | Self::Now | Self::Stop => None,
            Self::After(wait) | Self::Queued { wait, .. } => Some(wait),
        }
    }
}
