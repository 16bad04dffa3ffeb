//! The faults that the service injects, decided by seeded random numbers.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A fault of one request. It happens before the request is acted upon.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The answer is 500.
    Error,
    /// The answer is delayed by this time.
    Stall(Duration),
    /// The connection is closed without an answer.
    Drop,
}

/// The rate of each fault: a share of all requests, from 0 to 1. The rates add up to at most 1.
#[derive(Clone, Debug)]
pub(crate) struct FaultRates {
    /// The share of requests answered with 500.
    pub(crate) error: f64,
    /// The share of stalled answers.
    pub(crate) stall: f64,
    /// The share of dropped connections.
    pub(crate) drop: f64,
    /// The delay of a stalled answer.
    pub(crate) stall_time: Duration,
}

impl FaultRates {
    /// Returns true if any rate is above zero.
    pub(crate) fn any(&self) -> bool {
        self.error + self.stall + self.drop > 0.0
    }
}

/// Decides which requests fail.
///
/// The decision depends only on the seed, the request, and the number of earlier requests of the same name. So the same
/// seed gives the same faults for the same objects, in whatever order the tasks run.
#[derive(Debug)]
pub(crate) struct Faults {
    rates: FaultRates,
    seed: u64,
    seen: Mutex<HashMap<String, u32>>,
}

impl Faults {
    /// Creates the state before the first request.
    pub(crate) fn new(rates: FaultRates, seed: u64) -> Self {
        Self { rates, seed, seen: Mutex::default() }
    }

    /// Returns the fault of this request, if any. Requests of the same name are repetitions of one request.
    pub(crate) fn strike(&self, request: &str) -> Option<Fault> {
        if !self.rates.any() {
            return None;
        }
        let FaultRates { error, stall, drop, stall_time } = self.rates;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let repetitions = seen.entry(request.to_owned()).or_default();
        let roll: f64 = chance(self.seed, request, *repetitions).random();
        *repetitions += 1;
        if roll < error {
            Some(Fault::Error)
        } else if roll < error + stall {
            Some(Fault::Stall(stall_time))
        } else if roll < error + stall + drop {
            Some(Fault::Drop)
        } else {
            None
        }
    }
}

/// Returns random numbers for the n-th event of this name.
pub(crate) fn chance(seed: u64, name: &str, nth: u32) -> SmallRng {
    let mut hasher = DefaultHasher::new();
    (seed, name, nth).hash(&mut hasher);
    SmallRng::seed_from_u64(hasher.finish())
}
