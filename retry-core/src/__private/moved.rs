//! The move of an outcome. Which one it is, rustc finds out by method resolution, so that a function that returns something else has no error
//! here, too.

use crate::policy::by_parts;

/// An outcome that is moved.
pub struct Moving<R>(pub R);

impl<T, E> Moving<Result<T, E>> {
    /// Moves a result by its parts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn moved(self) -> Result<T, E> {
        by_parts(self.0)
    }
}

/// The move of an outcome that is no result. Rustc tries it after the method of the same name.
pub trait Whole {
    type Outcome;

    fn moved(self) -> Self::Outcome;
}

impl<R> Whole for Moving<R> {
    type Outcome = R;

    #[inline]
    fn moved(self) -> R {
        self.0
    }
}

/// Expands to the outcome, which is moved by its parts if it is a result.
#[doc(hidden)]
#[macro_export]
macro_rules! __retry_core_moved {
    ($outcome:expr) => {{
        use $crate::__private::Whole as _;
        $crate::__private::Moving($outcome).moved()
    }};
}
pub use __retry_core_moved as moved;
