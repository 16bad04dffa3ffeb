//! The functions about which there was a warning.

use crate::support::Shared;
use crate::support::sync::{Mutex, PoisonError};

/// The functions about which there was a warning of one kind, or pairs of functions. At most `MAX` are remembered, and there are no
/// warnings about others.
#[derive(Debug)]
pub(super) struct Warned<F = &'static str, const MAX: usize = 256>(Shared<Mutex<Vec<F>>>);

impl<F: Copy + PartialEq + Send + Sync + 'static, const MAX: usize> Warned<F, MAX> {
    pub(super) const fn new() -> Self {
        Self(Shared::new(Mutex::new(Vec::new())))
    }

    /// Remembers a function. Returns whether it was not remembered before, and there was room for it.
    pub(super) fn is_first(&self, function: F) -> bool {
        self.0.with(
            || Mutex::new(Vec::new()),
            |warned| {
                let mut warned = warned.lock().unwrap_or_else(PoisonError::into_inner);
                let is_first = warned.len() < MAX && !warned.contains(&function);
                if is_first {
                    warned.push(function);
                }
                is_first
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Warned;

    #[test]
    fn each_function_is_first_once_while_there_is_room() {
        let warned = Warned::<_, 20>::new();
        assert!(warned.is_first(0));
        // A function takes the room of one, however often it is asked about.
        assert!((0..20).all(|_| !warned.is_first(0)));
        assert!((1..20).all(|function| warned.is_first(function)));
        assert!((0..=20).all(|function| !warned.is_first(function)));
    }
}
