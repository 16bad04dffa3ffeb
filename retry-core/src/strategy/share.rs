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
/// For a handle to a strategy that is stored elsewhere, implement it in one line, besides [`RetryStrategy`]:
///
/// ```
/// use retry_core::policy::Usage;
/// use retry_core::quota::QuotaMode;
/// use retry_core::strategy::{ForeignToken, LazyWaker, Operations, Ready, Share, StrategyName};
/// use retry_core::time::Clock;
/// use retry_core::{
///     Failure, RetryError, RetryInfo, RetryStrategy, StandardRetryStrategy, Success, retry,
/// };
/// use std::sync::Arc;
/// use std::time::Duration;
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
/// type Token = <StandardRetryStrategy as RetryStrategy>::Token;
///
/// impl RetryStrategy for Handle {
///     type Token = Token;
///
///     fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<Token, RetryError> {
///         self.0.retries.acquire_initial_token(clock)
///     }
///     fn refresh_retry_token(
///         &self,
///         token: Token,
///         failure: &Failure,
///         clock: &dyn Clock,
///     ) -> Result<Token, RetryError> {
///         self.0.retries.refresh_retry_token(token, failure, clock)
///     }
///     fn record_success(
///         &self,
///         token: Token,
///         success: &Success,
///         clock: &dyn Clock,
///     ) -> Result<(), ForeignToken> {
///         self.0.retries.record_success(token, success, clock)
///     }
///     // A wrapper must also forward the methods that have a default. Clippy's lint
///     // `missing_trait_methods` on the impl reports each one that is missing, and three hidden
///     // ones that only save instructions.
///     fn record_progress(&self, token: Token, clock: &dyn Clock) -> Result<Token, RetryError> {
///         self.0.retries.record_progress(token, clock)
///     }
///     fn weigh(&self, token: &mut Token, weight: u32) {
///         self.0.retries.weigh(token, weight);
///     }
///     fn used(&self, token: &mut Token, usage: Usage) {
///         self.0.retries.used(token, usage);
///     }
///     fn ready(
///         &self,
///         token: &mut Token,
///         clock: &dyn Clock,
///         waker: Option<&LazyWaker<'_>>,
///     ) -> Ready {
///         self.0.retries.ready(token, clock, waker)
///     }
///     fn acquire_hedge(&self, token: &Token, clock: &dyn Clock) -> Result<Token, RetryError> {
///         self.0.retries.acquire_hedge(token, clock)
///     }
///     fn release(&self, token: Token) {
///         self.0.retries.release(token);
///     }
///     fn refused_delay(&self, token: &Token, failure: &Failure) -> Duration {
///         self.0.retries.refused_delay(token, failure)
///     }
///     fn quota_level(&self) -> Option<u32> {
///         self.0.retries.quota_level()
///     }
///     fn full_quota_level(&self) -> Option<u32> {
///         self.0.retries.full_quota_level()
///     }
///     fn quota_mode(&self) -> Option<QuotaMode> {
///         self.0.retries.quota_mode()
///     }
///     fn waiting_operations(&self) -> Option<u32> {
///         self.0.retries.waiting_operations()
///     }
///     fn send_rate(&self) -> Option<f64> {
///         self.0.retries.send_rate()
///     }
///     fn name(&self) -> Option<StrategyName> {
///         RetryStrategy::name(&self.0.retries)
///     }
///     fn max_attempts(&self) -> Option<u32> {
///         RetryStrategy::max_attempts(&self.0.retries)
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
    message = "`{S}` is not shared by all calls",
    label = "made here, each call would have a new, full quota",
    note = "make it a static, `static STORE: {S} = ...;`, and write `strategy = STORE` or `retry(&STORE, ...)`",
    note = "or pass a reference or an `Arc` of a strategy that is kept elsewhere"
)]
pub trait Share<S> {}

impl<S: RetryStrategy + ?Sized> Share<&S> for Operations {}
impl<S: RetryStrategy + ?Sized> Share<Arc<S>> for Operations {}
