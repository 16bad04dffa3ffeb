//! A derived error as an [`Error`], if it is one. The expansion finds that out by method resolution.

use std::error::Error;

/// An error whose method depends on its type.
pub struct MaybeError<'e, E: ?Sized>(pub &'e E);

// Rustc tries the methods in this order.

impl<'e, E: Error> MaybeError<'e, E> {
    #[inline]
    pub fn __as_error(&self) -> Option<&'e (dyn Error + 'e)> {
        Some(self.0)
    }
}

pub trait NoError<'e> {
    #[inline]
    fn __as_error(&self) -> Option<&'e (dyn Error + 'e)> {
        None
    }
}

impl<'e, E: ?Sized> NoError<'e> for &MaybeError<'e, E> {}
