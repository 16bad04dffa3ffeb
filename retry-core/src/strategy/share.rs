//! The marker trait for strategies that operations share.

use super::RetryStrategy;
use std::sync::Arc;

/// Marker type that implements [`Share`] for each type of strategy that operations can share.
#[derive(Debug)]
pub struct Operations;

/// Marker trait: all operations that hold an `S` share one strategy. It is implemented for references, for [`Arc`]s and
/// for the handles of this library.
///
/// An owned strategy is not shared. If it were created for each call, its quota would be full at the start of each call
/// and protect nothing. So [`retry()`](crate::retry()) and `strategy = EXPR` require `Operations: Share<S>`, even if the
/// expression is an argument of the function. Generic code that passes an `S` on needs the same bound.
///
/// (`Operations` implements the trait instead of `S`. For a bound on `S`, rustc would suggest to borrow the strategy in
/// place, which would not share it either.)
///
/// # Your own handle
///
/// For a handle to a strategy that is stored elsewhere, implement it in one line, and [`RetryStrategy`] by
/// [`forward_strategy!`](crate::forward_strategy):
///
/// ```
/// use retry_core::strategy::{Operations, Share};
/// use retry_core::{RetryInfo, RetryStrategy, StandardRetryStrategy, forward_strategy, retry};
/// use std::sync::Arc;
///
/// struct Shard {
///     retries: StandardRetryStrategy,
///     // ...
/// }
///
/// /// One of many handles to a shard.
/// #[derive(Clone)]
/// struct Handle(Arc<Shard>);
///
/// impl RetryStrategy for Handle {
///     type Token = <StandardRetryStrategy as RetryStrategy>::Token;
///
///     forward_strategy! { self => self.0.retries }
/// }
///
/// impl Share<Handle> for Operations {}
///
/// # #[derive(RetryInfo)]
/// # struct Failed;
/// # async fn send() -> Result<(), Failed> { Ok(()) }
/// # async fn example(handle: &Handle) -> Result<(), Failed> {
/// retry(handle.clone(), || send()).run().await
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{S}` is not shared by all calls",
    label = "made here, each call would have a new, full quota",
    note = "make it a static, `static STORE: {S} = ...;`, and write `strategy = STORE` or `retry(&STORE, ...)`",
    note = "or pass a reference or an `Arc` of a strategy that is kept elsewhere"
)]
pub trait Share<S> {}

impl<S: RetryStrategy + ?Sized> Share<&S> for Operations {}
impl<S: RetryStrategy + ?Sized> Share<Arc<S>> for Operations {}
