//! The faults that the service commits on purpose, and the seeded chance behind them.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What goes wrong with a request. It strikes before the request is acted upon.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The answer is 500.
    Error,
    /// The answer is held back for this long.
    Stall(Duration),
    /// The connection is closed without an answer.
    Drop,
}

/// How often each fault strikes: shares of all requests, from 0 to 1, together at most 1.
#[derive(Clone, Debug)]
pub(crate) struct FaultRates {
    /// The share of 500s.
    pub(crate) error: f64,
    /// The share of stalled answers.
    pub(crate) stall: f64,
    /// The share of dropped connections.
    pub(crate) drop: f64,
    /// How long a stalled answer is held back.
    pub(crate) stall_time: Duration,
}

impl FaultRates {
    /// Whether anything ever goes wrong.
    pub(crate) fn any(&self) -> bool {
        self.error + self.stall + self.drop > 0.0
    }
}

/// Decides which request is hurt.
///
/// The decision depends on the seed, the request, and how often that request came before, and on nothing else: with the
/// same seed the same objects are hurt in the same way, however the tasks take turns.
#[derive(Debug)]
pub(crate) struct Faults {
    rates: FaultRates,
    seed: u64,
    seen: Mutex<HashMap<String, u32>>,
}

impl Faults {
    /// No request has come yet.
    pub(crate) fn new(rates: FaultRates, seed: u64) -> Self {
        Self { rates, seed, seen: Mutex::default() }
    }

    /// The fault that strikes this request, if one does. Requests of the same name are repetitions of one request.
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

/// Random numbers for the n-th event of this name.
pub(crate) fn chance(seed: u64, name: &str, nth: u32) -> SmallRng {
    let mut hasher = DefaultHasher::new();
    (seed, name, nth).hash(&mut hasher);
    SmallRng::seed_from_u64(hasher.finish())
}
