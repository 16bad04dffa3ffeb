//! The state of a quota at present.

/// The state of a [quota](super::RetryQuota) at present, for events and metrics. Later variants are more severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum QuotaMode {
    /// Nothing is missing.
    Full,
    /// Retries are paid for, and their cost is not yet given back.
    Spending,
    /// A recent timeout showed congestion, so the quota pays for fewer retries of timeouts.
    Congested,
    /// The latest retry was refused, because too much is missing.
    Exhausted,
    /// Operations wait for evidence that the service answers again.
    Waiting,
}

impl QuotaMode {
    /// Returns the name of the mode as used for `tracing`, such as `spending`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Spending => "spending",
            Self::Congested => "congested",
            Self::Exhausted => "exhausted",
            Self::Waiting => "waiting",
        }
    }
}
