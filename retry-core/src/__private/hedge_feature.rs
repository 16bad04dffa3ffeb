//! The feature that the option `hedge` of `#[retryable]` needs. The attribute does not know which features are enabled, so it passes
//! the body of a function with a hedge to this macro.

/// Expands to the body of a function with a hedge.
#[cfg(feature = "hedges")]
#[doc(hidden)]
#[macro_export]
macro_rules! __retry_core_hedge_feature {
    ($($body:tt)*) => { $($body)* };
}

/// Expands to an error in place of the body of a function with a hedge, so that nothing else is reported about it.
#[cfg(not(feature = "hedges"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __retry_core_hedge_feature {
    ($($body:tt)*) => {
        ::core::compile_error!("`hedge` needs the feature `hedges` of retry-core; enable it, or remove `hedge`")
    };
}
pub use __retry_core_hedge_feature;
