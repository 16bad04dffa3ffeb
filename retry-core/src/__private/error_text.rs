//! The text of the error in an outcome, for the event at the end of an operation. An error need not implement [`Error`]: the expansion finds
//! out whether it does, by method resolution, and an error that does not has no text.

use crate::policy;
use crate::support::KeptOutcome;
use std::error::Error;
use std::marker::PhantomData;
use std::ops::Deref;

/// The type of an outcome, whose methods depend on its error.
pub struct ErrorText<R>(PhantomData<fn() -> R>);

impl<R> ErrorText<R> {
    #[inline]
    #[expect(clippy::new_without_default, reason = "only expansions make one")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// The text of an error.
pub struct OfError;

/// The text of an error in an owner that is not an error itself, such as `Box<dyn Error>` or `anyhow::Error`.
pub struct OfOwned;

/// No text.
pub struct OfNothing;

pub const NO_TEXT: PhantomData<OfNothing> = PhantomData;

// Rustc tries the methods in this order.

impl<T, E: Error> ErrorText<Result<T, E>> {
    #[inline]
    pub const fn __of(&self) -> PhantomData<OfError> {
        PhantomData
    }
}

pub trait OwnedText {
    #[inline]
    fn __of(&self) -> PhantomData<OfOwned> {
        PhantomData
    }
}

impl<T, E: Deref<Target: AsError>> OwnedText for ErrorText<Result<T, E>> {}

pub trait NoText {
    #[inline]
    fn __of(&self) -> PhantomData<OfNothing> {
        PhantomData
    }
}

impl<R> NoText for &ErrorText<R> {}

/// A `dyn Error`.
pub trait AsError {
    fn as_error(&self) -> &(dyn Error + '_);
}

macro_rules! dyn_errors {
    ($($bound:tt)*) => {
        impl<'e> AsError for dyn Error $($bound)* + 'e {
            fn as_error(&self) -> &(dyn Error + '_) {
                self
            }
        }
    };
}
dyn_errors!();
dyn_errors!(+ Send);
dyn_errors!(+ Sync);
dyn_errors!(+ Send + Sync);

/// Returns the text of the error in an outcome.
pub trait TextOf<R> {
    fn text(outcome: &R) -> Option<String>;
}

impl<T, E: Error> TextOf<Result<T, E>> for OfError {
    #[cold]
    fn text(outcome: &Result<T, E>) -> Option<String> {
        outcome.as_ref().err().map(|error| policy::text_of_borrowed(error))
    }
}

impl<T, E: Deref<Target: AsError>> TextOf<Result<T, E>> for OfOwned {
    #[cold]
    fn text(outcome: &Result<T, E>) -> Option<String> {
        outcome.as_ref().err().map(|error| policy::text_of_borrowed((**error).as_error()))
    }
}

impl<R> TextOf<R> for OfNothing {
    #[inline]
    fn text(_: &R) -> Option<String> {
        None
    }
}

/// A place for the last outcome that knows the text of its error. It is transparent, because a struct costs instructions.
#[repr(transparent)]
pub struct WithText<P, X> {
    pub place: P,
    pub text: PhantomData<X>,
}

impl<R, P: KeptOutcome<R>, X: TextOf<R>> KeptOutcome<R> for WithText<P, X> {
    #[inline]
    fn keep(&mut self, outcome: R, waits: bool) {
        self.place.keep(outcome, waits);
    }

    #[inline]
    fn is_kept(&self) -> bool {
        self.place.is_kept()
    }

    #[inline]
    fn take(&mut self) -> Option<R> {
        self.place.take()
    }

    #[inline]
    fn end_wait(&mut self) {
        self.place.end_wait();
    }

    fn error_text(&self, outcome: &R) -> Option<String> {
        X::text(outcome)
    }
}

/// Expands to what knows the text of the error in an outcome of this type.
#[doc(hidden)]
#[macro_export]
macro_rules! __retry_core_text_of {
    ($outcome:ty) => {{
        // Which of them is used depends on the error. No lint looks into macros of other crates.
        use $crate::__private::{NoText as _, OwnedText as _};
        (&$crate::__private::ErrorText::<$outcome>::new()).__of()
    }};
}
pub use __retry_core_text_of as text_of;
