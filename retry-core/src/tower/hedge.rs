//! The hedges of requests: one for all of them, or one from a function.

use crate::hedge::Hedge;

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// The hedges of requests of type `Req`: [`SameHedge`] or [`HedgeWith`]. This trait is sealed.
///
/// ```
/// use retry_core::tower::RetryLayer;
/// use retry_core::{Hedge, PatientRetryStrategy};
///
/// static API: PatientRetryStrategy = PatientRetryStrategy::new();
/// static READS: Hedge = Hedge::p95();
///
/// // The same hedge for all requests.
/// let layer = RetryLayer::new(&API).idempotent(true).hedge(&READS);
/// # let _ = layer;
/// // Hedges for some requests, which are names of methods here.
/// let layer = RetryLayer::new(&API)
///     .hedge_with(|method: &&str| (*method == "GET").then_some(&READS));
/// # let _ = layer;
/// ```
pub trait HedgeOf<Req>: sealed::Sealed {
    /// Returns the hedge of this request, if it has one.
    #[doc(hidden)]
    fn hedge_of(&self, request: &Req) -> Option<&'static Hedge>;
}

/// The same hedge for all requests; see [`RetryLayer::hedge`](super::RetryLayer::hedge).
#[derive(Clone, Copy, Debug)]
pub struct SameHedge(pub(super) &'static Hedge);

impl sealed::Sealed for SameHedge {}

impl<Req> HedgeOf<Req> for SameHedge {
    fn hedge_of(&self, _: &Req) -> Option<&'static Hedge> {
        Some(self.0)
    }
}

/// A hedge for some requests, from a function; see [`RetryLayer::hedge_with`](super::RetryLayer::hedge_with).
#[derive(Clone, Copy, Debug)]
pub struct HedgeWith<F>(pub(super) F);

impl<F> sealed::Sealed for HedgeWith<F> {}

impl<Req, F: Fn(&Req) -> Option<&'static Hedge>> HedgeOf<Req> for HedgeWith<F> {
    fn hedge_of(&self, request: &Req) -> Option<&'static Hedge> {
        (self.0)(request)
    }
}
