//! The strategies to choose from.

use clap::ValueEnum;
use retry_core::{AdaptiveRetryStrategy, ErasedStrategy, StandardRetryStrategy};
use std::fmt;

/// Every call makes one attempt and no other.
static NO_RETRIES: StandardRetryStrategy = StandardRetryStrategy::new().max_attempts(1);

/// The standard strategy as it comes. All calls share it, and so its retry quota.
static STANDARD: StandardRetryStrategy = StandardRetryStrategy::new();

/// The adaptive strategy as it comes.
static ADAPTIVE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();

/// How failed attempts are retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// Not at all
    None,
    /// Up to five attempts, backoff with full jitter, and a retry quota: the library's defaults
    Standard,
    /// The same, and a limit on the rate of requests that it learns from being throttled
    Adaptive,
}

impl Strategy {
    /// The strategy itself, whatever its type.
    pub(crate) fn instance(self) -> ErasedStrategy {
        match self {
            Self::None => ErasedStrategy::new(&NO_RETRIES),
            Self::Standard => ErasedStrategy::new(&STANDARD),
            Self::Adaptive => ErasedStrategy::new(&ADAPTIVE),
        }
    }
}

/// The name on the command line.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Standard => "standard",
            Self::Adaptive => "adaptive",
        })
    }
}
