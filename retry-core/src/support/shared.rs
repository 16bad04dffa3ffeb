//! State that operations share, and that a test has to itself.

#[cfg(feature = "test")]
use super::session::{self, Key};

/// State that operations share. While a test guard lives, its thread uses a copy of its own.
///
/// Without the feature `test` it is the state and nothing else. With the feature and without a guard, it costs a relaxed
/// load to find out that there is no guard.
#[derive(Debug)]
pub(crate) struct Shared<T> {
    state: T,
    #[cfg(feature = "test")]
    key: Key,
}

impl<T> Shared<T> {
    pub(crate) const fn new(state: T) -> Self {
        Self {
            state,
            #[cfg(feature = "test")]
            key: Key::new(),
        }
    }
}

#[cfg(not(feature = "test"))]
impl<T> Shared<T> {
    /// Uses the state. A guard that has no copy yet makes one of it.
    #[inline]
    pub(crate) fn with<R>(&self, _fresh: impl FnOnce() -> T, using: impl FnOnce(&T) -> R) -> R {
        using(&self.state)
    }

    /// Returns the number of a guard's copy.
    #[inline]
    #[expect(clippy::unused_self, reason = "with the feature it is used")]
    pub(crate) fn number_of_copy(&self, _fresh: impl FnOnce() -> T) -> Option<usize> {
        None
    }
}

#[cfg(feature = "test")]
impl<T: Send + Sync + 'static> Shared<T> {
    /// Uses the state. A guard that has no copy yet makes one of it.
    #[inline]
    pub(crate) fn with<R>(&self, fresh: impl FnOnce() -> T, using: impl FnOnce(&T) -> R) -> R {
        match session::copy_of(&self.key, fresh) {
            Some(copy) => using(&copy.state),
            None => using(&self.state),
        }
    }

    /// Returns the number of a guard's copy, which is smaller than any address.
    #[inline]
    pub(crate) fn number_of_copy(&self, fresh: impl FnOnce() -> T) -> Option<usize> {
        session::copy_of(&self.key, fresh).map(|copy| copy.number)
    }
}
