//! The policies of requests: one for all of them, or one from a function.

use super::choice::{Same, With, sealed};
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

/// The standard policy of a layer with [`idempotent`](super::RetryLayer::idempotent). Another policy can't replace it: what was said
/// would be lost, and a write made twice.
#[derive(Clone, Copy, Debug)]
pub struct Stated(pub(super) StandardRetryPolicy);

impl sealed::Sealed for Stated {}

impl<Req, R> PolicyOf<Req, R> for Stated
where
    StandardRetryPolicy: RetryPolicy<R>,
{
    type Policy = StandardRetryPolicy;

    fn policy_of(&self, _: &Req) -> StandardRetryPolicy {
        self.0
    }
}

/// The standard policy, with or without a statement.
pub trait Standard {
    /// Returns it.
    fn standard(self) -> StandardRetryPolicy;
}

impl Standard for Same<StandardRetryPolicy> {
    fn standard(self) -> StandardRetryPolicy {
        self.0
    }
}

impl Standard for Stated {
    fn standard(self) -> StandardRetryPolicy {
        self.0
    }
}

/// A policy that another one may replace.
#[diagnostic::on_unimplemented(
    message = "a policy would drop what `idempotent` said before",
    label = "`idempotent` comes before this",
    note = "say it to the policy, as in `.policy(ChainPolicy::new().idempotent(false))`"
)]
pub trait Replaceable {}

#[diagnostic::do_not_recommend]
impl<P> Replaceable for Same<P> {}
#[diagnostic::do_not_recommend]
impl<F> Replaceable for With<F> {}
