//! The policies of requests: one for all of them, or one from a function.

use super::choice::{Same, With, sealed};
use retry_core::retry::Replaceable;
use retry_core::{RetryPolicy, StandardRetryPolicy};

/// The policies of requests of type `Req`, whose outcomes are of type `R`: [`Same`] or [`With`]. This trait is
/// sealed.
///
/// ```
/// use retry_tower::RetryLayer;
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

impl<Req, R, P: RetryPolicy<R> + Clone> PolicyOf<Req, R> for Same<P> {
    type Policy = P;

    fn policy_of(&self, _: &Req) -> P {
        self.0.clone()
    }
}

impl<Req, R, P: RetryPolicy<R>, F: Fn(&Req) -> P> PolicyOf<Req, R> for With<F> {
    type Policy = P;

    fn policy_of(&self, request: &Req) -> P {
        (self.0)(request)
    }
}

#[diagnostic::do_not_recommend]
impl Replaceable for Same<StandardRetryPolicy> {}
