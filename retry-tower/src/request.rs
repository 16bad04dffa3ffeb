//! Ways to clone a request, so that it can be sent again, and to change the request of each attempt.

use super::choice::{Same, With, sealed};
use super::{Hooks, OnEnd, OnRetry};
use retry_core::AttemptContext;

/// A way to clone requests of type `R`: [`Same`] or [`With`]. This trait is sealed.
///
/// ```
/// use retry_tower::RetryLayer;
/// use retry_core::PatientRetryStrategy;
///
/// /// A request that can be sent again only if its body is in memory.
/// struct Request {
///     body: Option<Vec<u8>>,
/// }
///
/// static API: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// let layer = RetryLayer::new(&API)
///     .clone_with(|request: &Request| Some(Request { body: Some(request.body.clone()?) }));
/// # let _ = layer;
/// ```
pub trait CloneRequest<R>: sealed::Sealed {
    /// Returns a clone of the request, or `None` if it can't be cloned.
    #[doc(hidden)]
    fn clone_request(&self, request: &R) -> Option<R>;
}

impl<R: Clone> CloneRequest<R> for Same {
    fn clone_request(&self, request: &R) -> Option<R> {
        Some(request.clone())
    }
}

impl<R, F: Fn(&R) -> Option<R>> CloneRequest<R> for With<F> {
    fn clone_request(&self, request: &R) -> Option<R> {
        (self.0)(request)
    }
}

/// A way to change the requests of attempts, of type `R`: [`Same`] or [`With`]. This trait is sealed.
///
/// See [`RetryLayer::before_attempt`](super::RetryLayer::before_attempt).
pub trait ChangeRequest<R>: sealed::Sealed {
    /// Changes the request of an attempt, whose context the function returns.
    #[doc(hidden)]
    fn change_request(&self, request: &mut R, context: impl FnOnce() -> AttemptContext);
}

impl<R> ChangeRequest<R> for Same {
    fn change_request(&self, _: &mut R, _: impl FnOnce() -> AttemptContext) {}
}

impl<R, F: Fn(&mut R, AttemptContext)> ChangeRequest<R> for With<F> {
    fn change_request(&self, request: &mut R, context: impl FnOnce() -> AttemptContext) {
        (self.0)(request, context());
    }
}

/// A way to make the next request of type `R` from an outcome of type `Out`: [`Same`] or [`With`]. This trait is sealed.
///
/// See [`RetryLayer::next_request`](super::RetryLayer::next_request).
pub trait NextRequest<R, Out>: sealed::Sealed {
    /// Whether there is a function.
    #[doc(hidden)]
    const IS_SET: bool;

    /// Changes the request that is sent next.
    #[doc(hidden)]
    fn next_request(&self, request: &mut R, outcome: &Out);
}

impl<R, Out> NextRequest<R, Out> for Same {
    const IS_SET: bool = false;

    fn next_request(&self, _: &mut R, _: &Out) {}
}

impl<R, Out, F: Fn(&mut R, &Out)> NextRequest<R, Out> for With<F> {
    const IS_SET: bool = true;

    fn next_request(&self, request: &mut R, outcome: &Out) {
        (self.0)(request, outcome);
    }
}

/// How the request of a caller becomes the requests of attempts, and what is called with their outcomes: how the request is cloned, how
/// clones are changed, how an outcome changes the request of the attempts that follow, and the [`Hooks`].
#[derive(Clone, Copy, Debug)]
pub struct Requests<C = Same, A = Same, N = Same, H = Hooks> {
    pub(super) clone: C,
    pub(super) change: A,
    pub(super) next: N,
    pub(super) hooks: H,
}

/// A way to make the requests of attempts from a request of type `R`, with outcomes of type `Out`: [`Requests`]. This trait is sealed.
pub trait RequestsOf<R, Out>: sealed::Sealed {
    /// Returns a clone of the request, or `None` if it can't be cloned.
    #[doc(hidden)]
    fn clone_request(&self, request: &R) -> Option<R>;

    /// Changes the request of an attempt, whose context the function returns.
    #[doc(hidden)]
    fn change_request(&self, request: &mut R, context: impl FnOnce() -> AttemptContext);

    /// The function that changes the request of the attempts after an outcome.
    #[doc(hidden)]
    type Next: NextRequest<R, Out>;

    /// Changes the request of the attempts after this outcome.
    #[doc(hidden)]
    fn next_request(&self, request: &mut R, outcome: &Out);

    /// The function that is called after each failure.
    #[doc(hidden)]
    type OnRetry: OnRetry<Out>;

    /// The function that is called at the end.
    #[doc(hidden)]
    type OnEnd: OnEnd<Out>;

    /// Returns the functions that are called with outcomes.
    #[doc(hidden)]
    fn hooks(&self) -> &Hooks<Self::OnRetry, Self::OnEnd>;
}

impl<C, A, N, H> sealed::Sealed for Requests<C, A, N, H> {}

impl<R, Out, C, A, N, F, E> RequestsOf<R, Out> for Requests<C, A, N, Hooks<F, E>>
where
    C: CloneRequest<R>,
    A: ChangeRequest<R>,
    N: NextRequest<R, Out>,
    F: OnRetry<Out>,
    E: OnEnd<Out>,
{
    type Next = N;
    type OnRetry = F;
    type OnEnd = E;

    fn hooks(&self) -> &Hooks<F, E> {
        &self.hooks
    }

    fn clone_request(&self, request: &R) -> Option<R> {
        self.clone.clone_request(request)
    }

    fn change_request(&self, request: &mut R, context: impl FnOnce() -> AttemptContext) {
        self.change.change_request(request, context);
    }

    fn next_request(&self, request: &mut R, outcome: &Out) {
        self.next.next_request(request, outcome);
    }
}
