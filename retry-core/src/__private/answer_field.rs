//! The types of fields that hold a server's status or error code.

use super::classified::{PartialClassification, classification};
use crate::classify::{Classification, aws, http};
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The type of a field with `#[retry(http_status)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an HTTP status",
    label = "`#[retry(http_status)]` can't read this type",
    note = "write `u16`, `http::StatusCode` (with retry-core's feature `http`) or an `Option` of either",
    note = "for any other type, name your own fn: `#[retry(with = path::of::classify)]`"
)]
pub trait HttpStatusField {
    /// Returns the status, if the field holds one.
    fn status(&self) -> Option<u16>;
}

impl HttpStatusField for u16 {
    fn status(&self) -> Option<u16> {
        Some(*self)
    }
}

#[cfg(feature = "http")]
impl HttpStatusField for ::http::StatusCode {
    fn status(&self) -> Option<u16> {
        Some(self.as_u16())
    }
}

impl<T: HttpStatusField> HttpStatusField for Option<T> {
    fn status(&self) -> Option<u16> {
        self.as_ref()?.status()
    }
}

impl<T: HttpStatusField + ?Sized> HttpStatusField for &T {
    fn status(&self) -> Option<u16> {
        (**self).status()
    }
}

/// The type of a field with `#[retry(error_code)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an error code",
    label = "`#[retry(error_code)]` can't read this type",
    note = "write a text, such as `String`, `&str`, `Box<str>` or `Cow<str>`, or an `Option` of one",
    note = "for any other type, name your own fn: `#[retry(with = path::of::classify)]`"
)]
pub trait ErrorCodeField {
    /// Returns the code, if the field holds one.
    fn code(&self) -> Option<&str>;
}

impl ErrorCodeField for str {
    fn code(&self) -> Option<&str> {
        Some(self)
    }
}

impl ErrorCodeField for String {
    fn code(&self) -> Option<&str> {
        Some(self)
    }
}

impl ErrorCodeField for Cow<'_, str> {
    fn code(&self) -> Option<&str> {
        Some(self)
    }
}

impl<T: ErrorCodeField> ErrorCodeField for Option<T> {
    fn code(&self) -> Option<&str> {
        self.as_ref()?.code()
    }
}

/// Pointers to fields forward to them.
macro_rules! pointers {
    ($($pointer:ty),+) => {$(
        impl<T: ErrorCodeField + ?Sized> ErrorCodeField for $pointer {
            fn code(&self) -> Option<&str> {
                (**self).code()
            }
        }
    )+};
}

pointers!(&T, Box<T>, Rc<T>, Arc<T>);

/// Classifies an error code. An unknown code gives no answers. The status helps to determine the fault.
pub fn error_code(code: Option<&str>, status: Option<u16>) -> PartialClassification {
    classification(&known_code(code, status))
}

/// Classifies a response of a server by its error code if that is known, and otherwise by its status. `wait` is the
/// wait that the server asked for in the response.
pub fn response(code: Option<&str>, status: Option<u16>, wait: Option<Duration>) -> PartialClassification {
    let status = status.map(|status| code.map_or(status, |code| aws::documented_status(code, status)));
    let by_status = || status.map(|status| http::status_with(status, wait));
    classification(&known_code(code, status).or_else(by_status))
}

fn known_code(code: Option<&str>, status: Option<u16>) -> Option<Classification> {
    let code = code?;
    aws::known_code(code).map(|_| aws::error_code(code, status))
}
