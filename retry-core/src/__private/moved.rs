//! Moves of outcomes: a `Result` by its parts, any other type as a whole. Rustc chooses by method resolution, so it must know the type
//! there, and the macro need not.

use crate::policy::by_parts;

/// An outcome that is moved.
pub struct Moving<R>(pub R);

impl<T, E> Moving<Result<T, E>> {
    /// Moves a result by its parts.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn __moved(self) -> Result<T, E> {
        by_parts(self.0)
    }
}

/// The move of an outcome that is not a `Result`. Rustc tries the method of that type first.
pub trait Whole {
    type Outcome;

    fn __moved(self) -> Self::Outcome;
}

impl<R> Whole for Moving<R> {
    type Outcome = R;

    #[inline]
    fn __moved(self) -> R {
        self.0
    }
}

/// Expands to the moved outcome.
#[doc(hidden)]
#[macro_export]
macro_rules! __retry_core_moved {
    ($outcome:expr) => {{
        // No lint looks into macros of other crates: for a `Result`, the trait is not used.
        use $crate::__private::Whole as _;
        $crate::__private::Moving($outcome).__moved()
    }};
}
pub use __retry_core_moved as moved;
