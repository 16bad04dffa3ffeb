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
}

impl Ready {
    /// Returns how long to wait before asking again, or `None` if the attempt may be sent now.
    pub const fn wait(self) -> Option<Duration> {
        match self {
            Self::After(wait) if !wait.is_zero() => Some(wait),
            Self::After(_) | Self::Now => None,
        }
    }
}
