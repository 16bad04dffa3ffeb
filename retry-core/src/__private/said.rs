//! What the fields of an error with derived impls say.

use super::classified::PartialClassification;
use crate::error::{ErrorInfo, RetryInfo, RetrySafety};
use std::time::Duration;

/// An error whose fields give answers. The derive implements it, in one method that reads all fields, so that rustc reports a
/// wrong type of a field once, and not in each method of [`RetryInfo`].
pub trait Say {
    /// Returns what the fields say.
    fn say(&self) -> Said<'_>;
}

/// What the fields of an error say.
#[derive(Clone, Copy, Default)]
pub struct Said<'a> {
    with: PartialClassification,
    safe: Option<RetrySafety>,
    response: PartialClassification,
    wait: Option<Duration>,
    source: Option<&'a dyn RetryInfo>,
}

/// Returns that no field says anything.
#[inline]
pub fn said<'a>() -> Said<'a> {
    Said::default()
}

impl<'a> Said<'a> {
    /// Sets the answers of the function under `with`.
    #[inline]
    #[must_use]
    pub const fn set_with(self, with: PartialClassification) -> Self {
        Self { with, ..self }
    }

    /// Sets the answer of the field with `safe`.
    #[inline]
    #[must_use]
    pub const fn set_safe(self, safe: Option<RetrySafety>) -> Self {
        Self { safe, ..self }
    }

    /// Sets the answers of an error code and a status.
    #[inline]
    #[must_use]
    pub const fn set_response(self, response: PartialClassification) -> Self {
        Self { response, ..self }
    }

    /// Sets the wait in the field with `retry_after`.
    #[inline]
    #[must_use]
    pub const fn set_wait(self, wait: Option<Duration>) -> Self {
        Self { wait, ..self }
    }

    /// Sets the inner error, if there is one.
    #[inline]
    #[must_use]
    pub const fn set_source(self, source: Option<&'a dyn RetryInfo>) -> Self {
        Self { source, ..self }
    }

    /// Returns the answers of the function under `with`.
    #[inline]
    pub const fn with(self) -> PartialClassification {
        self.with
    }

    /// Returns the answer of the field with `safe`.
    #[inline]
    pub const fn safe(self) -> Option<RetrySafety> {
        self.safe
    }

    /// Returns the answers of an error code and a status.
    #[inline]
    pub const fn response(self) -> PartialClassification {
        self.response
    }

    /// Returns the wait in the field with `retry_after`.
    #[inline]
    pub const fn wait(self) -> Option<Duration> {
        self.wait
    }

    /// Returns the inner error, if there is one.
    #[inline]
    pub const fn source(self) -> Option<&'a dyn RetryInfo> {
        self.source
    }

    /// Returns the inner error of a transparent error, which always has one.
    #[inline]
    pub fn inner(self) -> &'a dyn RetryInfo {
        self.source.unwrap_or(&Silent)
    }
}

/// An error that gives no answers.
struct Silent;

impl ErrorInfo for Silent {}

impl RetryInfo for Silent {}
