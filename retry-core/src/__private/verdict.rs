//! What functions under `with` return, and fields under `safe` hold: whether an error may be retried.

use crate::classify::Classification;
use crate::error::{ErrorFault, RetryInfo, RetrySafety};
use std::time::Duration;

/// What a fn under `#[retry(with = ...)]` answers. `None` leaves the word to others.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no verdict",
    label = "the fn under `with` answers with this",
    note = "let it answer a `bool`, a `RetrySafety`, a `classify::Classification` or an `Option` of one of them"
)]
pub trait Verdict {
    /// Whether the request may be sent again.
    fn safety(&self) -> Option<RetrySafety>;

    /// The full classification, if any.
    fn all(&self) -> Option<Classification> {
        None
    }
}

impl Verdict for bool {
    fn safety(&self) -> Option<RetrySafety> {
        Some(if *self { RetrySafety::Yes } else { RetrySafety::No })
    }
}

impl Verdict for RetrySafety {
    fn safety(&self) -> Option<RetrySafety> {
        Some(*self)
    }
}

impl Verdict for Classification {
    fn safety(&self) -> Option<RetrySafety> {
        Some(self.is_retry_safe())
    }

    fn all(&self) -> Option<Classification> {
        Some(*self)
    }
}

impl<V: Verdict> Verdict for Option<V> {
    fn safety(&self) -> Option<RetrySafety> {
        self.as_ref()?.safety()
    }

    fn all(&self) -> Option<Classification> {
        self.as_ref()?.all()
    }
}

impl<V: Verdict> Verdict for &V {
    fn safety(&self) -> Option<RetrySafety> {
        (**self).safety()
    }

    fn all(&self) -> Option<Classification> {
        (**self).all()
    }
}

/// The answers of a verdict, each `None` if the verdict does not give it. Its methods have the names of those of
/// [`RetryInfo`].
#[derive(Clone, Copy, Debug)]
pub struct PartialClassification {
    safety: Option<RetrySafety>,
    all: Option<Classification>,
}

/// Returns the answers of a verdict. All of them come from here, so that rustc reports a wrong type once.
#[inline]
pub fn verdict<V: Verdict>(verdict: &V) -> PartialClassification {
    PartialClassification { safety: verdict.safety(), all: verdict.all() }
}

impl PartialClassification {
    /// Who caused the error.
    pub fn fault(self) -> Option<ErrorFault> {
        self.all.map(|all| all.fault())
    }

    /// Whether the request may be sent again.
    pub fn is_retry_safe(self) -> Option<RetrySafety> {
        self.safety
    }

    /// Whether the request was turned away, because there were too many of late.
    pub fn is_throttle(self) -> Option<bool> {
        self.all.map(|all| all.is_throttle())
    }

    /// Whether no answer came in time.
    pub fn is_timeout(self) -> Option<bool> {
        self.all.map(|all| all.is_timeout())
    }

    /// Whether the request lost a race against another one.
    pub fn is_conflict(self) -> Option<bool> {
        self.all.map(|all| all.is_conflict())
    }

    /// How long the server asked to wait. That it did not ask is no answer.
    pub fn retry_after(self) -> Option<Duration> {
        self.all?.retry_after()
    }
}

/// A field under `#[retry(safe)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether a retry is safe",
    label = "`#[retry(safe)]` can't read this type",
    note = "write `bool`, `RetrySafety` or an `Option` of either",
    note = "a field that says more is marked `#[retry(transparent)]` or `#[retry(source)]`",
    note = "any other type is judged by a fn of yours: `#[retry(with = path::of::judge)]`"
)]
pub trait SafeField {
    /// What the field says, if it says something.
    fn safety(&self) -> Option<RetrySafety>;
}

impl SafeField for bool {
    fn safety(&self) -> Option<RetrySafety> {
        Verdict::safety(self)
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

/// The field that a transparent error takes its answers from. If it has none to give, this is what rustc complains of,
/// and nothing else.
#[inline]
pub fn inner<E: RetryInfo>(field: &E) -> &dyn RetryInfo {
    field
}
