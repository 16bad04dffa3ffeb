//! The operations that a quota refused, most of which are no warnings.

use crate::support::Shared;
use crate::support::sync::{Mutex, PoisonError};
use crate::time::Timestamp;
use std::time::Duration;

/// The time between two warnings of a function while a quota refuses its operations.
const PERIOD: Duration = Duration::from_secs(10);

/// The maximum number of functions that are counted separately. Further ones are counted as the last one.
const MAX_FUNCTIONS: usize = 256;

/// The functions whose operations a quota refused.
#[derive(Debug)]
pub(super) struct Refusals(Shared<Mutex<Vec<Refused>>>);

/// The operations of a function that a quota refused.
#[derive(Debug)]
struct Refused {
    function: &'static str,
    /// The time of the latest warning.
    warned: Timestamp,
    /// The number of operations since then.
    since: u32,
}

impl Refusals {
    pub(super) const fn new() -> Self {
        Self(Shared::new(Mutex::new(Vec::new())))
    }

    /// Notes that the quota refused an operation of a function. If it is a warning, returns the number of operations that were refused
    /// since the last one.
    pub(super) fn note(&self, function: &'static str, now: Timestamp) -> Option<u32> {
        self.0.with(
            || Mutex::new(Vec::new()),
            |all| {
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                let found = all.iter().position(|refused| refused.function == function);
                let Some(index) = found.or((all.len() == MAX_FUNCTIONS).then_some(MAX_FUNCTIONS - 1)) else {
                    all.push(Refused { function, warned: now, since: 0 });
                    return Some(0);
                };
                let refused = &mut all[index];
                // The time goes back if the calls of a function use several timers.
                let is_due = now < refused.warned || now.saturating_since(refused.warned) >= PERIOD;
                if !is_due {
                    refused.since = refused.since.saturating_add(1);
                    return None;
                }
                refused.warned = now;
                Some(std::mem::take(&mut refused.since))
            },
        )
    }
}
