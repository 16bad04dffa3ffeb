//! What a field of an error can be that answers for what is not said of the error itself.

use crate::error::RetryInfo;

/// A field under `#[retry(source)]`: an error, or an `Option` of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` holds no error that could answer",
    label = "`#[retry(source)]` can't ask this type",
    note = "for a type of your own, write `#[derive(RetryInfo)]` on it; an `Option` of an error is taken as well",
    note = "any other type is judged by a fn of yours: `#[retry(with = path::of::judge)]`"
)]
pub trait SourceField {
    /// Returns the error, if the field holds one.
    fn source(&self) -> Option<&dyn RetryInfo>;
}

impl<E: RetryInfo> SourceField for E {
    #[inline]
    fn source(&self) -> Option<&dyn RetryInfo> {
        Some(self)
    }
}

impl<F: SourceField> SourceField for Option<F> {
    #[inline]
    fn source(&self) -> Option<&dyn RetryInfo> {
        self.as_ref()?.source()
    }
}

/// Returns the error that a source holds. If the field can't hold any, this is the only place where rustc says so.
#[inline]
pub fn source<F: SourceField>(field: &F) -> Option<&dyn RetryInfo> {
    field.source()
}
