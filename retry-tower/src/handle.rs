//! The handles that layers hold: strategies whose types name no lifetime.

use retry_core::RetryStrategy;
use retry_core::strategy::{ErasedStrategy, Operations, Scope, Static};
use std::sync::Arc;

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// A strategy that [`RetryLayer::new`](super::RetryLayer::new) takes: a reference to a static, an [`Arc`], a [`Scope`] or
/// an [`ErasedStrategy`]. This trait is sealed.
///
/// ```
/// use retry_tower::{IntoHandle, RetryLayer};
/// use retry_core::PatientRetryStrategy;
/// use std::sync::Arc;
///
/// /// Takes a static or an `Arc`, as `RetryLayer::new` does.
/// fn named<H: IntoHandle>(strategy: H) -> RetryLayer<H::Handle> {
///     RetryLayer::new(strategy).name("orders")
/// }
///
/// static API: PatientRetryStrategy = PatientRetryStrategy::new();
/// named(&API);
/// named(Arc::new(PatientRetryStrategy::new()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a strategy that `RetryLayer::new` takes",
    label = "expected a reference to a static, an `Arc`, a `Scope` or an `ErasedStrategy`",
    note = "make it a static, `static STORE: {Self} = ...;`, and write `RetryLayer::new(&STORE)`",
    note = "for your own handle, write `RetryLayer::with_handle(..)`"
)]
pub trait IntoHandle: sealed::Sealed {
    /// The handle in the layer.
    type Handle: RetryStrategy;

    /// Returns the handle.
    #[doc(hidden)]
    fn into_handle(self) -> Self::Handle;
}

/// The handle of a strategy of type `H`. [`Operations`] implements it instead of `H`: for a bound on `H`, rustc would suggest to borrow the
/// strategy in place, which makes a temporary one, and leave out what is written above.
#[expect(unnameable_types, reason = "all that it says is said by `IntoHandle`")]
pub trait HandleOf<H> {
    type Handle: RetryStrategy;

    fn handle_of(strategy: H) -> Self::Handle;
}

impl<H: IntoHandle> HandleOf<H> for Operations {
    type Handle = H::Handle;

    fn handle_of(strategy: H) -> H::Handle {
        strategy.into_handle()
    }
}

impl<S: RetryStrategy + ?Sized> sealed::Sealed for &'static S {}
impl<S: RetryStrategy + ?Sized> IntoHandle for &'static S {
    type Handle = Static<S>;

    fn into_handle(self) -> Static<S> {
        Static::new(self)
    }
}

/// Handles whose types already name no lifetime.
macro_rules! handles {
    ($([$($generics:tt)*] $handle:ty;)+) => {$(
        impl<$($generics)*> sealed::Sealed for $handle {}
        impl<$($generics)*> IntoHandle for $handle {
            type Handle = Self;

            fn into_handle(self) -> Self {
                self
            }
        }
    )+};
}

handles! {
    [S: RetryStrategy + ?Sized] Arc<S>;
    [S: RetryStrategy] Scope<S>;
    [] ErasedStrategy;
}
