//! What can say of an error whether it may be retried, where a variant leaves that to a fn or to a field.

use crate::classify::Classification;
use crate::error::{ErrorFault, RetrySafety};
use std::time::Duration;

/// What a fn under `#[retry(with = ...)]` answers. `None` leaves the word to others.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no verdict",
    label = "the fn under `with` answers with this",
    note = "let it answer a `bool`, a `RetrySafety`, a `classify::Classification` or an `Option` of one of them"
)]
pub trait Verdict {
    /// Who caused the error.
    fn fault(&self) -> Option<ErrorFault> {
        None
    }

    /// Whether the request may be sent again.
    fn is_retry_safe(&self) -> Option<RetrySafety>;

    /// Whether the request was turned away, because there were too many of late.
    fn is_throttle(&self) -> Option<bool> {
        None
    }

    /// Whether no answer came in time.
    fn is_timeout(&self) -> Option<bool> {
        None
    }

    /// How long the server asked to wait.
    fn retry_after(&self) -> Option<Duration> {
        None
    }
}

impl Verdict for bool {
    fn is_retry_safe(&self) -> Option<RetrySafety> {
        Some(if *self { RetrySafety::Yes } else { RetrySafety::No })
    }
}

impl Verdict for RetrySafety {
    fn is_retry_safe(&self) -> Option<RetrySafety> {
        Some(*self)
    }
}

/// Everything, but for a wait that it has not.
impl Verdict for Classification {
    fn fault(&self) -> Option<ErrorFault> {
        Some(self.fault())
    }

    fn is_retry_safe(&self) -> Option<RetrySafety> {
        Some(self.is_retry_safe())
    }

    fn is_throttle(&self) -> Option<bool> {
        Some(self.is_throttle())
    }

    fn is_timeout(&self) -> Option<bool> {
        Some(self.is_timeout())
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after()
    }
}

impl<V: Verdict> Verdict for Option<V> {
    fn fault(&self) -> Option<ErrorFault> {
        self.as_ref()?.fault()
    }

    fn is_retry_safe(&self) -> Option<RetrySafety> {
        self.as_ref()?.is_retry_safe()
    }

    fn is_throttle(&self) -> Option<bool> {
        self.as_ref()?.is_throttle()
    }

    fn is_timeout(&self) -> Option<bool> {
        self.as_ref()?.is_timeout()
    }

    fn retry_after(&self) -> Option<Duration> {
        self.as_ref()?.retry_after()
    }
}

impl<V: Verdict> Verdict for &V {
    fn fault(&self) -> Option<ErrorFault> {
        (**self).fault()
    }

    fn is_retry_safe(&self) -> Option<RetrySafety> {
        (**self).is_retry_safe()
    }

    fn is_throttle(&self) -> Option<bool> {
        (**self).is_throttle()
    }

    fn is_timeout(&self) -> Option<bool> {
        (**self).is_timeout()
    }

    fn retry_after(&self) -> Option<Duration> {
        (**self).retry_after()
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
        self.is_retry_safe()
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
