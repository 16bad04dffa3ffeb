//! The types of fields whose error supplies the answers that the variant does not give.

use crate::error::RetryInfo;

/// The type of a field with `#[retry(source)]`: an error, or an `Option` of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an error that implements `RetryInfo`",
    label = "`#[retry(source)]` can't read this type",
    note = "for your own type, write `#[derive(RetryInfo)]` on it; an `Option` of an error is accepted as well",
    note = "for any other type, name your own fn: `#[retry(with = path::of::classify)]`"
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

/// Returns the error that a field holds, if it holds one. The expansion reads a source field only through this
/// function, so that rustc reports a wrong type once.
#[inline]
pub fn source<F: SourceField>(field: &F) -> Option<&dyn RetryInfo> {
    field.source()
}
