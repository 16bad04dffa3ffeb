//! Which strategies operations may share, and which would be a fresh one for each of them.

use super::RetryStrategy;
use std::sync::Arc;

/// Marker type for the operations that share a strategy, on which [`Share`] is implemented.
#[derive(Debug)]
pub struct Operations;

/// Marker trait: all operations that hold an `S` share one strategy. It is implemented for references, for [`Arc`]s and
/// for the handles of this library.
///
/// An owned strategy is not shared. Made anew for each call, its quota would be full for each call and protect nothing.
/// So [`retry()`](crate::retry()) and `strategy = EXPR` ask for `Operations: Share<S>`, also where the expression is an
/// argument of the function. Code that is generic over `S` and takes one by value asks for it as well. (It is a trait of `Operations` instead of `S` because for the latter rustc
/// suggests to borrow the strategy on the spot, which would not share it either.)
///
/// # A handle of your own
///
/// A type that points to a strategy which is kept elsewhere implements it in one line, beside [`RetryStrategy`]:
///
/// ```
/// use retry_core::strategy::{ForeignToken, LazyWaker, Operations, Ready, Share};
/// use retry_core::time::Clock;
/// use retry_core::{Failure, RetryError, RetryInfo, RetryStrategy, StandardRetryStrategy, Success, retry};
/// use std::sync::Arc;
///
/// struct Shard {
///     retries: StandardRetryStrategy,
///     // ...
/// }
///
/// /// One of many pointers to a shard.
/// #[derive(Clone)]
/// struct Handle(Arc<Shard>);
///
/// type Token = <StandardRetryStrategy as RetryStrategy>::Token;
///
/// impl RetryStrategy for Handle {
///     type Token = Token;
///
///     fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Token, RetryError> {
///         self.0.retries.acquire_initial_token(clock)
///     }
///     fn refresh_retry_token(&self, token: Token, failure: &Failure, clock: &dyn Clock) -> Result<Token, RetryError> {
///         self.0.retries.refresh_retry_token(token, failure, clock)
///     }
///     fn record_success(&self, token: Token, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
///         self.0.retries.record_success(token, success, clock)
///     }
///     // A wrapper forwards the methods that have a default, too.
///     fn ready(&self, token: &mut Token, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
///         self.0.retries.ready(token, clock, waker)
///     }
///     fn release(&self, token: Token) {
///         self.0.retries.release(token);
///     }
///     fn quota_level(&self) -> Option<u32> {
///         self.0.retries.quota_level()
///     }
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
    message = "`{S}` is not shared by the calls that it is for",
    label = "made here, it would be a fresh retry quota for each call",
    note = "make it a static, `static STORE: StandardRetryStrategy = ...;`, and write `strategy = STORE` or `retry(&STORE, ...)`",
    note = "or hand over a reference or an `Arc` of one that is kept elsewhere"
)]
pub trait Share<S> {}

impl<S: RetryStrategy + ?Sized> Share<&S> for Operations {}
impl<S: RetryStrategy + ?Sized> Share<Arc<S>> for Operations {}
