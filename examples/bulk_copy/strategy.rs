//! The strategies to choose from.

use clap::ValueEnum;
use retry_core::{AdaptiveRetryStrategy, ErasedStrategy, PatientRetryStrategy, StandardRetryStrategy};
use retry_limits::PacedRetryStrategy;
use std::fmt;

/// A strategy without retries: each call makes one attempt.
static NO_RETRIES: StandardRetryStrategy = StandardRetryStrategy::new().max_attempts(1);

/// The patient strategy with its defaults. All calls share it.
static PATIENT: PatientRetryStrategy = PatientRetryStrategy::new();

/// The standard strategy with its defaults. All calls share it and its retry quota.
static STANDARD: StandardRetryStrategy = StandardRetryStrategy::new();

/// The adaptive strategy with its defaults, for reads and for writes. A limiter learns one limit, and the service has one for
/// each of them.
static ADAPTIVE: [AdaptiveRetryStrategy; 2] = [const { AdaptiveRetryStrategy::new() }; 2];

/// The paced strategy with its defaults, for reads and for writes.
static PACED: [PacedRetryStrategy; 2] = [const { PacedRetryStrategy::new() }; 2];

/// How failed attempts are retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Strategy {
    /// No retries
    None,
    /// Up to five attempts and backoff with full jitter; in an outage, objects wait for the service
    Patient,
    /// The same, but a retry that the quota, of a fixed size, can't pay for is not made
    Standard,
    /// The same as standard, and a limit on the rate of requests, which it learns from throttling
    Adaptive,
    /// Up to five attempts and a retry quota, and sends at the rate that the service accepts, which it measures
    Paced,
}

impl Strategy {
    /// Returns the strategies of reads and of writes, with their types erased.
    pub(crate) fn for_reads_and_writes(self) -> [ErasedStrategy; 2] {
        match self {
            Self::None => [(); 2].map(|()| ErasedStrategy::new(&NO_RETRIES)),
            Self::Patient => [(); 2].map(|()| ErasedStrategy::new(&PATIENT)),
            Self::Standard => [(); 2].map(|()| ErasedStrategy::new(&STANDARD)),
            Self::Adaptive => ADAPTIVE.each_ref().map(ErasedStrategy::new),
            Self::Paced => PACED.each_ref().map(ErasedStrategy::new),
        }
    }
}

/// Writes the name that the command line uses.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Patient => "patient",
            Self::Standard => "standard",
            Self::Adaptive => "adaptive",
            Self::Paced => "paced",
        })
    }
}
