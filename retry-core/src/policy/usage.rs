//! What an outcome says about a limit on weights.

use crate::classify::http::RateLimit;

/// What an outcome says about a limit on the sum of [weights](crate::strategy::Weighted): what the attempt used,
/// if its weight was an estimate, and what remains.
///
/// ```
/// use retry_core::classify::http::RateLimit;
/// use retry_core::policy::Usage;
///
/// let usage = Usage::new(350).with_limit(Some(RateLimit::new(99_650)));
/// assert_eq!((usage.used(), usage.limit()), (Some(350), Some(RateLimit::new(99_650))));
/// // Nothing is known of what was used.
/// assert_eq!(Usage::from(None).used(), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    used: Option<u32>,
    limit: Option<RateLimit>,
}

impl Usage {
    /// Creates the usage of an attempt that used so much.
    pub const fn new(used: u32) -> Self {
        Self { used: Some(used), limit: None }
    }

    /// Sets what the server reported about its limit on weights, such as the tokens that remain.
    #[must_use]
    pub const fn with_limit(self, limit: Option<RateLimit>) -> Self {
        Self { limit, ..self }
    }

    /// Returns what the attempt used, or `None` for its weight.
    pub const fn used(&self) -> Option<u32> {
        self.used
    }

    /// Returns what the server reported about its limit on weights, if anything.
    pub const fn limit(&self) -> Option<RateLimit> {
        self.limit
    }
}

impl From<u32> for Usage {
    fn from(used: u32) -> Self {
        Self::new(used)
    }
}

impl From<Option<u32>> for Usage {
    /// `None` means the weight.
    fn from(used: Option<u32>) -> Self {
        Self { used, limit: None }
    }
}
