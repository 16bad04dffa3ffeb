//! The policy for functions that return a client's own error.

use retry_core::classify::Classification;
use retry_core::{RetryDirective, RetryPolicy, StandardRetryPolicy};
use std::fmt;

/// The policy for functions that return a client's own error, which can't implement
/// [`RetryInfo`](trait@retry_core::RetryInfo) here. The function `policy` of each module returns one.
///
/// It decides as [`StandardRetryPolicy`] does.
pub struct ClientPolicy<E: ?Sized> {
    classify: fn(&E) -> Classification,
    standard: StandardRetryPolicy,
}

impl<E: ?Sized> ClientPolicy<E> {
    #[allow(dead_code, reason = "only the modules of clients call it")]
    pub(crate) const fn new(classify: fn(&E) -> Classification) -> Self {
        Self { classify, standard: StandardRetryPolicy::new() }
    }

    /// Sets whether the operation is idempotent; see [`StandardRetryPolicy::idempotent`].
    #[must_use]
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        self.standard = self.standard.idempotent(idempotent);
        self
    }
}

impl<T, E> RetryPolicy<Result<T, E>> for ClientPolicy<E> {
    fn evaluate(&self, outcome: &Result<T, E>) -> RetryDirective {
        match outcome {
            Ok(_) => RetryDirective::succeed(),
            Err(error) => self.standard.evaluate_error(&(self.classify)(error)),
        }
    }
}

impl<E: ?Sized> Clone for ClientPolicy<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: ?Sized> Copy for ClientPolicy<E> {}

impl<E: ?Sized> fmt::Debug for ClientPolicy<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientPolicy").field("standard", &self.standard).finish_non_exhaustive()
    }
}
