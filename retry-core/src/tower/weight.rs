//! The strategies of requests: one for all of them, or one with the weight of each.

use crate::strategy::{RetryStrategy, Weighted};

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// The strategies of requests of type `Req`: a strategy, or a [`WeightWith`]. This trait is sealed.
///
/// ```
/// use retry_core::limit::{PacedLimiter, Weights};
/// use retry_core::strategy::LimitedRetryStrategy;
/// use retry_core::StandardRetryStrategy;
/// use retry_core::tower::RetryLayer;
///
/// static UPLOADS: LimitedRetryStrategy<PacedLimiter<Weights>> =
///     LimitedRetryStrategy::with_limiter(
///         StandardRetryStrategy::new(),
///         PacedLimiter::of_weights(),
///     );
///
/// // The weight of a request is its length, which is that of a text here.
/// let layer = RetryLayer::new(&UPLOADS)
///     .weight(|body: &&str| u32::try_from(body.len()).unwrap_or(u32::MAX));
/// # let _ = layer;
/// ```
pub trait StrategyOf<Req>: sealed::Sealed {
    /// The strategy of one request.
    type Strategy: RetryStrategy;

    /// Returns the strategy of this request.
    #[doc(hidden)]
    fn strategy_of(&self, request: &Req) -> Self::Strategy;
}

impl<S: RetryStrategy + Clone> sealed::Sealed for S {}

impl<Req, S: RetryStrategy + Clone> StrategyOf<Req> for S {
    type Strategy = S;

    fn strategy_of(&self, _: &Req) -> S {
        self.clone()
    }
}

/// A strategy with the weight of each request, from a function; see [`RetryLayer::weight`](super::RetryLayer::weight).
#[derive(Clone, Copy, Debug)]
pub struct WeightWith<S, F> {
    pub(super) strategy: S,
    pub(super) weight: F,
}

impl<S, F> sealed::Sealed for WeightWith<S, F> {}

impl<Req, S: RetryStrategy + Clone, F: Fn(&Req) -> u32> StrategyOf<Req> for WeightWith<S, F> {
    type Strategy = Weighted<S>;

    fn strategy_of(&self, request: &Req) -> Weighted<S> {
        Weighted::new(self.strategy.clone(), (self.weight)(request))
    }
}
