//! The policies of requests: one for all of them, or one from a function.

use crate::policy::RetryPolicy;

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// The policies of requests of type `Req`, whose outcomes are of type `R`: [`SamePolicy`] or [`PolicyWith`]. This trait is
/// sealed.
///
/// ```
/// use retry_core::tower::RetryLayer;
/// use retry_core::{PatientRetryStrategy, StandardRetryPolicy};
///
/// static API: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// // The same policy for all requests.
/// let layer = RetryLayer::new(&API).policy(StandardRetryPolicy::new().idempotent(true));
/// # let _ = layer.clone();
/// // A policy for each request, which is the name of a method here.
/// let layer = RetryLayer::new(&API).policy_with(|method: &&str| {
///     StandardRetryPolicy::new().idempotent(*method == "GET")
/// });
/// # let _ = layer;
/// ```
pub trait PolicyOf<Req, R>: sealed::Sealed {
    /// The policy of one request.
    type Policy: RetryPolicy<R>;

    /// Returns the policy of this request.
    #[doc(hidden)]
    fn policy_of(&self, request: &Req) -> Self::Policy;
}

/// The same policy for all requests. This is the default.
#[derive(Clone, Copy, Debug)]
pub struct SamePolicy<P>(pub(super) P);

impl<P> sealed::Sealed for SamePolicy<P> {}

impl<Req, R, P: RetryPolicy<R> + Clone> PolicyOf<Req, R> for SamePolicy<P> {
    type Policy = P;

    fn policy_of(&self, _: &Req) -> P {
        self.0.clone()
    }
}

/// A policy for each request, from a function; see [`RetryLayer::policy_with`](super::RetryLayer::policy_with).
#[derive(Clone, Copy, Debug)]
pub struct PolicyWith<F>(pub(super) F);

impl<F> sealed::Sealed for PolicyWith<F> {}

impl<Req, R, P: RetryPolicy<R>, F: Fn(&Req) -> P> PolicyOf<Req, R> for PolicyWith<F> {
    type Policy = P;

    fn policy_of(&self, request: &Req) -> P {
        (self.0)(request)
    }
}
