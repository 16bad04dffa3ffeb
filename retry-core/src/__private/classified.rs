//! Classifications by the user: the return types of functions named by `with`, and the types of fields with `safe`.

use crate::classify::Classification;
use crate::error::{ErrorFault, RetryInfo, RetrySafety};
use std::time::Duration;

/// The return type of a function named by `#[retry(with = ...)]`. With `None`, the other sources decide.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a classification",
    label = "the fn under `with` returns this",
    note = "return a `bool`, a `RetrySafety`, a `classify::Classification` or an `Option` of one of them"
)]
pub trait Classified {
    /// Returns whether the request may be sent again, if known.
    fn safety(&self) -> Option<RetrySafety>;

    /// Returns the full classification, if there is one.
    fn all(&self) -> Option<Classification> {
        None
    }
}

impl Classified for bool {
    fn safety(&self) -> Option<RetrySafety> {
        Some(if *self { RetrySafety::Yes } else { RetrySafety::No })
    }
}

impl Classified for RetrySafety {
    fn safety(&self) -> Option<RetrySafety> {
        Some(*self)
    }
}

impl Classified for Classification {
    fn safety(&self) -> Option<RetrySafety> {
        Some(self.is_retry_safe())
    }

    fn all(&self) -> Option<Classification> {
        Some(*self)
    }
}

impl<V: Classified> Classified for Option<V> {
    fn safety(&self) -> Option<RetrySafety> {
        self.as_ref()?.safety()
    }

    fn all(&self) -> Option<Classification> {
        self.as_ref()?.all()
    }
}

impl<V: Classified> Classified for &V {
    fn safety(&self) -> Option<RetrySafety> {
        (**self).safety()
    }

    fn all(&self) -> Option<Classification> {
        (**self).all()
    }
}

/// The answers of a classification. Each method has the name of a method of [`RetryInfo`], and returns `None` if the
/// classification does not give that answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct PartialClassification {
    safety: Option<RetrySafety>,
    all: Option<Classification>,
}

/// Returns the answers of a classification. The expansion reads it only through this function, so that rustc reports a
/// wrong type once.
#[inline]
pub fn classification<V: Classified>(classification: &V) -> PartialClassification {
    PartialClassification { safety: classification.safety(), all: classification.all() }
}

impl PartialClassification {
    /// Returns who caused the error.
    pub fn fault(self) -> Option<ErrorFault> {
        self.all.map(|all| all.fault())
    }

    /// Returns whether the request may be sent again.
    pub fn is_retry_safe(self) -> Option<RetrySafety> {
        self.safety
    }

    /// Returns whether the server rejected the request because of too many recent requests.
    pub fn is_throttle(self) -> Option<bool> {
        self.all.map(|all| all.is_throttle())
    }

    /// Returns whether no response came in time.
    pub fn is_timeout(self) -> Option<bool> {
        self.all.map(|all| all.is_timeout())
    }

    /// Returns whether the request lost a race against another one.
    pub fn is_conflict(self) -> Option<bool> {
        self.all.map(|all| all.is_conflict())
    }

    /// Returns the wait that the server asked for. If it did not ask for one, there is no answer.
    pub fn retry_after(self) -> Option<Duration> {
        self.all?.retry_after()
    }
}

/// The type of a field with `#[retry(safe)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether a retry is safe",
    label = "`#[retry(safe)]` can't read this type",
    note = "write `bool`, `RetrySafety` or an `Option` of either",
    note = "for a field with all answers, write `#[retry(transparent)]` or `#[retry(source)]`",
    note = "for any other type, name your own fn: `#[retry(with = path::of::classify)]`"
)]
pub trait SafeField {
    /// Returns whether the request may be sent again, if the field holds a value.
    fn safety(&self) -> Option<RetrySafety>;
}

impl SafeField for bool {
    fn safety(&self) -> Option<RetrySafety> {
        Classified::safety(self)
    }
}

impl SafeField for RetrySafety {
    fn safety(&self) -> Option<RetrySafety> {
        Some(*self)
    }
}

impl<T: SafeField> SafeField for Option<T> {
    fn safety(&self) -> Option<RetrySafety> {
        self.as_ref()?.safety()
    }
}

impl<T: SafeField + ?Sized> SafeField for &T {
    fn safety(&self) -> Option<RetrySafety> {
        (**self).safety()
    }
}

/// Returns the field from which a transparent error takes its answers. The expansion reads the field only through this
/// function, so that rustc reports a wrong type once.
#[inline]
pub fn inner<E: RetryInfo>(field: &E) -> &dyn RetryInfo {
    field
}
