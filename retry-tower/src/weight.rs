//! The strategies of requests: one for all of them, or one with the weight of each.

use retry_core::RetryStrategy;
use retry_core::drive::{Operation, OperationBuilder};
use retry_core::strategy::{Operations, Share, Weighted};

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// The strategies of requests of type `Req`: a strategy, or a [`WeightWith`]. This trait is sealed.
///
/// ```
/// use retry_core::StandardRetryStrategy;
/// use retry_tower::RetryLayer;
///
/// // Any strategy: one with a limit on the sum of weights uses them.
/// static UPLOADS: StandardRetryStrategy = StandardRetryStrategy::new();
///
/// // The weight of a request is its length, which is that of a text here.
/// let layer = RetryLayer::new(&UPLOADS)
///     .weight(|body: &&str| u32::try_from(body.len()).unwrap_or(u32::MAX));
/// # let _ = layer;
/// ```
pub trait StrategyOf<Req>: sealed::Sealed {
    /// The strategy of one request.
    type Strategy: RetryStrategy;

    /// Returns the operation of this request, with its strategy and this name.
    #[doc(hidden)]
    fn operation_of(&self, request: &Req, name: &'static str) -> OperationBuilder<Self::Strategy>;
}

impl<S: RetryStrategy + Clone> sealed::Sealed for S {}

impl<Req, S: RetryStrategy + Clone> StrategyOf<Req> for S
where
    Operations: Share<S>,
{
    type Strategy = S;

    fn operation_of(&self, _: &Req, name: &'static str) -> OperationBuilder<S> {
        Operation::builder(self.clone(), name)
    }
}

/// A strategy with the weight of each request, from a function; see [`RetryLayer::weight`](super::RetryLayer::weight).
#[derive(Clone, Copy, Debug)]
pub struct WeightWith<S, F> {
    pub(super) strategy: S,
    pub(super) weight: F,
}

impl<S, F> sealed::Sealed for WeightWith<S, F> {}

impl<Req, S: RetryStrategy + Clone, F: Fn(&Req) -> u32> StrategyOf<Req> for WeightWith<S, F>
where
    Operations: Share<S>,
{
    type Strategy = Weighted<S>;

    fn operation_of(&self, request: &Req, name: &'static str) -> OperationBuilder<Weighted<S>> {
        Operation::<Weighted<S>>::builder(Weighted::new(self.strategy.clone(), (self.weight)(request)), name)
    }
}
