//! Which parts of this process are joined to a fleet.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The addresses of all parts that are joined to a fleet.
static JOINED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// The parts of one membership, which no other fleet can have meanwhile. They are free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Joined(Vec<usize>);

impl Joined {
    /// Returns `None` if one of these parts is joined already. Each part must stay at its address.
    pub(crate) fn new(parts: Vec<usize>) -> Option<Self> {
        let mut joined = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
        if parts.iter().any(|part| joined.contains(part)) {
            return None;
        }
        joined.extend(&parts);
        Some(Self(parts))
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let mut joined = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
        for part in &self.0 {
            joined.remove(part);
        }
    }
}
