//! A handle to a static strategy, whose type names no lifetime.

use super::{Operations, RetryStrategy, Share, forward_strategy};
use std::fmt;

/// A reference to a static strategy.
///
/// Its type names no lifetime, unlike `&'static S`. In a spawned `async` block, rustc checks whether the types of services
/// and response futures are `Send` as if each lifetime in them were unknown, `'static` included. So it could not prove that
/// a response future with a reference in its type is `'static`, which [`Buffer`] of the crate `tower` requires.
///
/// ```
/// use retry_core::PatientRetryStrategy;
/// use retry_core::strategy::Static;
///
/// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// /// A client with a strategy that its type names, without a lifetime.
/// struct Client {
///     retry: Static<PatientRetryStrategy>,
/// }
///
/// let client = Client { retry: Static::new(&STORE) };
/// # let _ = client.retry;
/// ```
///
/// [`Buffer`]: https://docs.rs/tower/latest/tower/buffer/struct.Buffer.html
pub struct Static<S: ?Sized + 'static>(&'static S);

impl<S: ?Sized> Static<S> {
    /// Creates a handle to a static strategy.
    pub const fn new(strategy: &'static S) -> Self {
        Self(strategy)
    }
}

impl<S: ?Sized> Copy for Static<S> {}

impl<S: ?Sized> Clone for Static<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: fmt::Debug + ?Sized> fmt::Debug for Static<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<S: RetryStrategy + ?Sized> Share<Static<S>> for Operations {}

impl<S: RetryStrategy + ?Sized> RetryStrategy for Static<S> {
    type Token = S::Token;
    forward_strategy! { self => *self.0 }
}
