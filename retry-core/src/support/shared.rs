//! State that operations share. Each test has its own copy.

#[cfg(feature = "test")]
use super::session::{self, Key};

/// State that operations share, such as that of a limiter in a `static`. A thread under a test guard uses the guard's copy of it,
/// so that two tests do not share it.
///
/// Without the feature `test`, this type contains the state and nothing else. With the feature, but without any guard,
/// each use costs one more relaxed load.
///
/// ```
/// use retry_core::parts::Shared;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// /// Counts sends.
/// struct Sends {
///     start: u32,
///     sends: Shared<AtomicU32>,
/// }
///
/// impl Sends {
///     const fn starting_with(start: u32) -> Self {
///         Self { start, sends: Shared::new(AtomicU32::new(start)) }
///     }
///
///     fn count(&self) -> u32 {
///         let fresh = || AtomicU32::new(self.start);
///         self.sends.with(fresh, |sends| sends.fetch_add(1, Ordering::Relaxed))
///     }
/// }
///
/// static SENDS: Sends = Sends::starting_with(7);
/// assert_eq!((SENDS.count(), SENDS.count()), (7, 8));
/// ```
#[derive(Debug)]
pub struct Shared<T> {
    state: T,
    #[cfg(feature = "test")]
    key: Key,
}

impl<T> Shared<T> {
    /// Creates the state.
    pub const fn new(state: T) -> Self {
        Self {
            state,
            #[cfg(feature = "test")]
            key: Key::new(),
        }
    }
}

#[cfg(not(feature = "test"))]
impl<T: Send + Sync + 'static> Shared<T> {
    /// Calls `using` with the state, or with the copy of the guard that this thread is under. If the guard has no copy
    /// yet, `fresh` creates it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn with<R>(&self, _fresh: impl FnOnce() -> T, using: impl FnOnce(&T) -> R) -> R {
        using(&self.state)
    }

    /// Returns the state, unless a guard may have a copy. With it, a call needs no closure, which may not be inlined.
    #[inline]
    #[expect(clippy::unnecessary_wraps, reason = "the version for tests has none")]
    pub(crate) const fn without_guard(&self) -> Option<&T> {
        Some(&self.state)
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
    /// Returns the state, unless a guard may have a copy.
    #[inline]
    #[expect(clippy::unused_self, reason = "the version without guards uses it")]
    pub(crate) const fn without_guard(&self) -> Option<&T> {
        None
    }

    /// Calls `using` with the state, or with the copy of the guard that this thread is under. If the guard has no copy
    /// yet, `fresh` creates it.
    #[inline]
    pub fn with<R>(&self, fresh: impl FnOnce() -> T, using: impl FnOnce(&T) -> R) -> R {
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
