//! State that operations share. Each test has its own copy.

#[cfg(feature = "test")]
use super::session::{self, Key};

/// State that operations share. A thread under a test guard uses the guard's copy of it.
///
/// Without the feature `test`, this type contains the state and nothing else. With the feature, but without any guard,
/// each use costs one more relaxed load.
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
    /// Calls `using` with the state.
    #[inline]
    pub(crate) fn with<R>(&self, _fresh: impl FnOnce() -> T, using: impl FnOnce(&T) -> R) -> R {
        using(&self.state)
    }

    /// Returns `None`: there is no guard, and so no copy.
    #[inline]
    #[expect(clippy::unused_self, reason = "the version for tests uses it")]
    pub(crate) fn number_of_copy(&self, _fresh: impl FnOnce() -> T) -> Option<usize> {
        None
    }
}

#[cfg(feature = "test")]
impl<T: Send + Sync + 'static> Shared<T> {
    /// Calls `using` with the state, or with the copy of the guard that this thread is under. If the guard has no copy
    /// yet, `fresh` creates it.
    #[inline]
    pub(crate) fn with<R>(&self, fresh: impl FnOnce() -> T, using: impl FnOnce(&T) -> R) -> R {
        match session::copy_of(&self.key, fresh) {
            Some(copy) => using(&copy.state),
            None => using(&self.state),
        }
    }

    /// Returns the number of the copy that [`with`](Shared::with) would use, or `None` if this thread is under no
    /// guard.
    ///
    /// Strategies are identified by this number, or otherwise by their address. Numbers count from 1 and stay far below
    /// the addresses of statics and of the heap, so the two do not collide.
    #[inline]
    pub(crate) fn number_of_copy(&self, fresh: impl FnOnce() -> T) -> Option<usize> {
        session::copy_of(&self.key, fresh).map(|copy| copy.number)
    }
}
