//! Ways to clone a request, so that it can be sent again.

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// A way to clone requests of type `R`: [`ByClone`] or [`CloneWith`]. This trait is sealed.
pub trait CloneRequest<R>: sealed::Sealed {
    /// Returns a clone of the request, or `None` if it can't be cloned.
    #[doc(hidden)]
    fn clone_request(&self, request: &R) -> Option<R>;
}

/// Clones requests that are [`Clone`]. This is the default.
#[derive(Clone, Copy, Debug)]
pub struct ByClone;

impl sealed::Sealed for ByClone {}

impl<R: Clone> CloneRequest<R> for ByClone {
    fn clone_request(&self, request: &R) -> Option<R> {
        Some(request.clone())
    }
}

/// Clones requests with a function; see [`RetryLayer::clone_with`](super::RetryLayer::clone_with).
#[derive(Clone, Copy, Debug)]
pub struct CloneWith<F>(pub(super) F);

impl<F> sealed::Sealed for CloneWith<F> {}

impl<R, F: Fn(&R) -> Option<R>> CloneRequest<R> for CloneWith<F> {
    fn clone_request(&self, request: &R) -> Option<R> {
        (self.0)(request)
    }
}
