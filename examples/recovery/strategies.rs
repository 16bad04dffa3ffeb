//! What is compared: the same attempts and the same backoff, with another limit on retries each.

use clap::ValueEnum;
use retry_core::quota::NoQuota;
use retry_core::{ErasedStrategy, PatientRetryStrategy, StandardRetryStrategy};

/// What limits the retries of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Chosen {
    /// There are none.
    None,
    /// A quota that learns whether retries help. What it can't pay for waits for the service.
    Patient,
    /// The quota of `StandardRetryStrategy::new()`, a fixed bucket.
    Fixed,
    /// Nothing but the number of attempts.
    Unlimited,
}

impl Chosen {
    /// Returns a separate strategy for a process.
    pub(crate) fn strategy(self) -> ErasedStrategy {
        match self {
            Self::None => ErasedStrategy::new(StandardRetryStrategy::new().max_attempts(1)),
            Self::Patient => ErasedStrategy::new(PatientRetryStrategy::new()),
            Self::Fixed => ErasedStrategy::new(StandardRetryStrategy::new()),
            Self::Unlimited => ErasedStrategy::new(StandardRetryStrategy::new().with_quota(NoQuota)),
        }
    }

    /// Returns the words for it in the table.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::None => "no retries",
            Self::Patient => "the patient strategy",
            Self::Fixed => "new(), a fixed quota",
            Self::Unlimited => "no quota",
        }
    }

    /// Returns the word for it on the command line.
    pub(crate) fn option(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
