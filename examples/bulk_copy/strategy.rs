//! The strategies to choose from.

use clap::ValueEnum;
use retry_core::{AdaptiveRetryStrategy, ErasedStrategy, PacedRetryStrategy, StandardRetryStrategy};
use std::fmt;

/// A strategy without retries: each call makes one attempt.
static NO_RETRIES: StandardRetryStrategy = StandardRetryStrategy::new().max_attempts(1);

/// The standard strategy with its defaults. All calls share it and its retry quota.
static STANDARD: StandardRetryStrategy = StandardRetryStrategy::new();

/// The adaptive strategy with its defaults.
static ADAPTIVE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();

/// The paced strategy with its defaults.
static PACED: PacedRetryStrategy = PacedRetryStrategy::new();

/// How failed attempts are retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// No retries
    None,
    /// Up to five attempts, backoff with full jitter, and a retry quota: the library's defaults
    Standard,
    /// The same, and a limit on the rate of requests, which it learns from throttling
    Adaptive,
    /// Up to five attempts and a retry quota, and sends at the rate that the service accepts, which it measures
    Paced,
}

impl Strategy {
    /// Returns the strategy, with its type erased.
    pub(crate) fn instance(self) -> ErasedStrategy {
        match self {
            Self::None => ErasedStrategy::new(&NO_RETRIES),
            Self::Standard => ErasedStrategy::new(&STANDARD),
            Self::Adaptive => ErasedStrategy::new(&ADAPTIVE),
            Self::Paced => ErasedStrategy::new(&PACED),
        }
    }
}

/// Writes the name that the command line uses.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Standard => "standard",
            Self::Adaptive => "adaptive",
            Self::Paced => "paced",
        })
    }
}
