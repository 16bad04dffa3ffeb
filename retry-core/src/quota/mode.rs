//! What a quota does at present.

/// What a [quota](super::RetryQuota) does at present, for events and metrics. The order is that of an operator's concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum QuotaMode {
    /// Nothing is missing.
    Full,
    /// Retries are paid for, and what they cost is not yet given back.
    Spending,
    /// A timeout showed congestion not long ago, so the quota pays for fewer retries of timeouts.
    Congested,
    /// The latest retry was refused, because too much is missing.
    Exhausted,
}

impl QuotaMode {
    /// Returns the name of the mode as used for `tracing`, such as `spending`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Spending => "spending",
            Self::Congested => "congested",
            Self::Exhausted => "exhausted",
        }
    }
}
