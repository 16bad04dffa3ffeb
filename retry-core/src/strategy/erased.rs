//! Strategies whose type is chosen at run time.

use crate::limit::{LazyWaker, Ready};
use crate::policy::{Success, Usage};
use crate::strategy::{
    DelaySource, Failure, ForeignToken, Operations, RetryError, RetryStrategy, RetryToken, Share, Switch, Switched,
    forward_strategy,
};
use crate::support::{KeptInWait, KeptOutcome};
use crate::time::{Clock, Timestamp};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A type-erased strategy, for a strategy whose type is chosen at run time.
///
/// Use this to choose between strategies of different types, for example by a setting. An `ErasedStrategy` is a handle:
/// its clones share one strategy.
///
/// ```
/// # #[derive(Debug, retry_core::RetryInfo)]
/// # enum StoreError {}
/// use retry_core::{
///     ErasedStrategy, PatientRetryStrategy, ScopedRetryStrategy, StandardRetryStrategy, retryable,
/// };
///
/// static SHARED: PatientRetryStrategy = PatientRetryStrategy::new();
/// static TENANTS: ScopedRetryStrategy<u64> =
///     ScopedRetryStrategy::new(StandardRetryStrategy::aws_2_0);
///
/// struct Client {
///     retry: ErasedStrategy,
/// }
///
/// impl Client {
///     fn new(tenant: Option<u64>) -> Self {
///         let retry = match tenant {
///             Some(tenant) => ErasedStrategy::new(TENANTS.scope(&tenant)),
///             None => ErasedStrategy::new(&SHARED),
///         };
///         Self { retry }
///     }
///
///     #[retryable(strategy = self.retry)]
///     async fn get(&self, key: &str) -> Result<String, StoreError> {
///         // One attempt.
/// #       Ok(key.to_owned())
///     }
/// }
/// # let client = Client::new(Some(7));
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(client.get("key")).unwrap();
/// ```
///
/// # Costs
///
/// Each token is allocated, which means one allocation for each attempt. A call that succeeds at its first attempt needs none,
/// unless the strategy limits sends. Calls of the strategy are virtual instead of direct. The last outcome of an operation is kept while
/// it waits, so a future is `Send` only if its outcome is. If all strategies have the same token type, erasure is not necessary: an
/// `Arc<dyn RetryStrategy<Token = StandardRetryToken> + Send + Sync>` is a strategy that allocates nothing.
#[derive(Clone)]
pub struct ErasedStrategy {
    strategy: Arc<Switched<dyn RetryStrategy<Token = ErasedToken> + Send + Sync>>,
}

impl ErasedStrategy {
    /// Erases the type of a strategy or of a pointer to one.
    ///
    /// `ErasedStrategy::new(&STORE)` shares the state of the static. Two handles that erase pointers to the same
    /// strategy accept each other's tokens.
    pub fn new<S>(strategy: S) -> Self
    where
        S: RetryStrategy<Token: Send + 'static> + Send + Sync + 'static,
    {
        Self {
            strategy: Arc::new(Switched { switch: Arc::new(Switch::new()), name: None, strategy: Erasing(strategy) }),
        }
    }

    /// Turns the retries through this handle and its clones on or off. They are on by default.
    ///
    /// The strategy behind the handle has its own switch; see
    /// [`StandardRetryStrategy::set_enabled`](crate::StandardRetryStrategy::set_enabled). A retry needs both switches
    /// to be on.
    pub fn set_enabled(&self, enabled: bool) {
        self.strategy.switch.set(enabled);
    }

    /// Returns whether the retries through this handle are on; see [`set_enabled`](ErasedStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.strategy.switch.is_on()
    }
}

impl fmt::Debug for ErasedStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedStrategy").finish_non_exhaustive()
    }
}

impl RetryStrategy for ErasedStrategy {
    type Token = ErasedToken;
    forward_strategy! { self => *self.strategy }
}

impl Share<ErasedStrategy> for Operations {}

/// The token of an [`ErasedStrategy`]: a box around the token of the strategy behind it.
pub struct ErasedToken {
    token: Box<dyn AnyToken>,
}

impl ErasedToken {
    fn new<T: AnyToken>(token: T) -> Self {
        Self { token: Box::new(token) }
    }

    /// Returns the token inside. A token of another type is always foreign. For a token of the right type, the strategy
    /// checks the issuer.
    fn into_inner<T: AnyToken>(self) -> Result<T, ForeignToken> {
        let token: Box<dyn Any> = self.token;
        token.downcast().map(|token| *token).map_err(|_| ForeignToken)
    }
}

impl RetryToken for ErasedToken {
    fn attempt(&self) -> u32 {
        self.token.attempt()
    }

    fn retry_count(&self) -> u32 {
        self.token.retry_count()
    }

    fn delay(&self) -> Duration {
        self.token.delay()
    }

    fn delay_source(&self) -> DelaySource {
        self.token.delay_source()
    }

    fn waited(&self) -> Duration {
        self.token.waited()
    }

    fn waited_at(&self, now: Timestamp) -> Duration {
        self.token.waited_at(now)
    }

    fn is_long_poll(&self) -> bool {
        self.token.is_long_poll()
    }

    /// The strategy behind the handle may let operations wait.
    #[inline]
    fn may_wait() -> bool {
        true
    }

    fn kept_outcome<R>() -> impl KeptOutcome<R> {
        KeptInWait::<R>::new()
    }
}

impl fmt::Debug for ErasedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedToken")
            .field("attempt", &self.attempt())
            .field("delay", &self.delay())
            .finish_non_exhaustive()
    }
}

/// A token that can be downcast.
trait AnyToken: RetryToken + Any + Send {}

impl<T: RetryToken + Any + Send> AnyToken for T {}

/// A wrapper that boxes the tokens of a strategy.
struct Erasing<S>(S);

impl<S: RetryStrategy<Token: Send + 'static>> RetryStrategy for Erasing<S> {
    type Token = ErasedToken;

    forward_strategy! {
        self => self.0;
        except acquire_initial_token, refresh_retry_token, record_success, record_progress, weigh, used, ready, acquire_hedge,
        release, refused_delay, empty_token
    }

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<ErasedToken, RetryError> {
        self.0.acquire_initial_token(clock).map(ErasedToken::new)
    }

    fn weigh(&self, token: &mut ErasedToken, weight: u32) {
        let token: &mut dyn Any = &mut *token.token;
        if let Some(token) = token.downcast_mut() {
            self.0.weigh(token, weight);
        }
    }

    fn used(&self, token: &mut ErasedToken, usage: Usage) {
        let token: &mut dyn Any = &mut *token.token;
        if let Some(token) = token.downcast_mut() {
            self.0.used(token, usage);
        }
    }

    fn refresh_retry_token(
        &self,
        token: ErasedToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<ErasedToken, RetryError> {
        self.0.refresh_retry_token(token.into_inner()?, failure, clock).map(ErasedToken::new)
    }

    fn record_success(&self, token: ErasedToken, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        self.0.record_success(token.into_inner()?, success, clock)
    }

    fn record_progress(&self, token: ErasedToken, clock: &dyn Clock) -> Result<ErasedToken, RetryError> {
        self.0.record_progress(token.into_inner()?, clock).map(ErasedToken::new)
    }

    fn ready(&self, token: &mut ErasedToken, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let token: &mut dyn Any = &mut *token.token;
        token.downcast_mut().map_or(Ready::Now, |token| self.0.ready(token, clock, waker))
    }

    fn acquire_hedge(&self, token: &ErasedToken, clock: &dyn Clock) -> Result<ErasedToken, RetryError> {
        let token: &dyn Any = &*token.token;
        let token = token.downcast_ref().ok_or(RetryError::ForeignToken)?;
        self.0.acquire_hedge(token, clock).map(ErasedToken::new)
    }

    fn release(&self, token: ErasedToken) {
        if let Ok(token) = token.into_inner() {
            self.0.release(token);
        }
    }

    fn refused_delay(&self, token: &ErasedToken, failure: &Failure) -> Duration {
        let token: &dyn Any = &*token.token;
        token.downcast_ref().map_or(Duration::ZERO, |token| self.0.refused_delay(token, failure))
    }

    #[inline]
    fn empty_token(&self, clock: &dyn Clock) -> Result<ErasedToken, RetryError> {
        self.0.empty_token(clock).map(ErasedToken::new)
    }
}
