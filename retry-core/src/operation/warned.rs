//! The functions about which there was a warning.

use crate::support::Shared;
use crate::support::sync::{PoisonError, RwLock};

/// The maximum number of functions that are remembered. There are no warnings about others.
const MAX_FUNCTIONS: usize = 256;

/// The functions about which there was a warning of one kind, or pairs of functions.
#[derive(Debug)]
pub(super) struct Warned<F = &'static str>(Shared<RwLock<Vec<F>>>);

impl<F: Copy + PartialEq + Send + Sync + 'static> Warned<F> {
    pub(super) const fn new() -> Self {
        Self(Shared::new(RwLock::new(Vec::new())))
    }

    /// Remembers a function. Returns whether it was not remembered before, and there was room for it.
    pub(super) fn is_first(&self, function: F) -> bool {
        let is_settled = |warned: &Vec<_>| warned.len() >= MAX_FUNCTIONS || warned.contains(&function);
        self.0.with(
            || RwLock::new(Vec::new()),
            |warned| {
                if is_settled(&warned.read().unwrap_or_else(PoisonError::into_inner)) {
                    return false;
                }
                let mut warned = warned.write().unwrap_or_else(PoisonError::into_inner);
                // Another thread may have added it meanwhile.
                let is_first = !is_settled(&warned);
                if is_first {
                    warned.push(function);
                }
                is_first
            },
        )
    }
}
