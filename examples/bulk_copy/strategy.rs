//! The strategies to choose from.

use clap::ValueEnum;
use retry_core::StandardRetryStrategy;
use std::fmt;

/// Every call makes one attempt and no other.
static NO_RETRIES: StandardRetryStrategy = StandardRetryStrategy::new().max_attempts(1);

/// The standard strategy as it comes. All calls share it, and so its retry quota.
static STANDARD: StandardRetryStrategy = StandardRetryStrategy::new();

/// How failed attempts are retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// Not at all
    None,
    /// Up to five attempts, backoff with full jitter, and a retry quota: the library's defaults
    Standard,
}

impl Strategy {
    /// The strategy itself.
    pub(crate) fn instance(self) -> &'static StandardRetryStrategy {
        match self {
            Self::None => &NO_RETRIES,
            Self::Standard => &STANDARD,
        }
    }
}

/// The name on the command line.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Standard => "standard",
        })
    }
}
