//! Strategies that are chosen at run time.

use crate::policy::Success;
use crate::strategy::{
    DelaySource, Failure, ForeignToken, LazyWaker, Operations, Ready, RetryError, RetryStrategy, RetryToken, Share,
    Switch, Switched, forward_strategy,
};
use crate::time::Clock;
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Any strategy, of a type that only the run time knows.
///
/// For those who choose among strategies of different types, by a setting say. It is a handle: clones of it share one
/// strategy.
///
/// ```
/// # #[derive(Debug, retry_core::RetryInfo)]
/// # enum StoreError {}
/// use retry_core::{ErasedStrategy, ScopedRetryStrategy, StandardRetryStrategy, retryable};
///
/// static SHARED: StandardRetryStrategy = StandardRetryStrategy::new();
/// static TENANTS: ScopedRetryStrategy<u64> = ScopedRetryStrategy::new(StandardRetryStrategy::aws_2_0);
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
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(client.get("key")).unwrap();
/// ```
///
/// # Costs
///
/// An allocation for each token, that is one for each attempt, the first included, and a virtual call wherever else
/// there would be a direct one. If the strategies have the same kind of token no erasing is needed: an
/// `Arc<dyn RetryStrategy<Token = StandardRetryToken> + Send + Sync>` is a strategy without allocations.
#[derive(Clone)]
pub struct ErasedStrategy {
    strategy: Arc<Switched<dyn RetryStrategy<Token = ErasedToken> + Send + Sync>>,
}

impl ErasedStrategy {
    /// Erases the type of a strategy, or of what points to one: `ErasedStrategy::new(&STORE)` shares the state of the
    /// static, and tokens pass between the handles of one strategy.
    pub fn new<S>(strategy: S) -> Self
    where
        S: RetryStrategy<Token: Send + 'static> + Send + Sync + 'static,
    {
        Self { strategy: Arc::new(Switched { switch: Switch::new(), strategy: Erasing(strategy) }) }
    }

    /// Turns the retries that are made through this handle and its clones on or off. They are on at first.
    ///
    /// The strategy behind it keeps its own switch, see
    /// [`StandardRetryStrategy::set_enabled`](crate::StandardRetryStrategy::set_enabled). Retries are made while both are on.
    pub fn set_enabled(&self, enabled: bool) {
        self.strategy.switch.set(enabled);
    }

    /// Returns whether retries through this handle are on, see [`set_enabled`](ErasedStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.strategy.switch.is_on()
    }
}

impl fmt::Debug for ErasedStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedStrategy").finish_non_exhaustive()
    }
}

forward_strategy! {
    [] ErasedStrategy: ErasedToken, self => *self.strategy;
}

impl Share<ErasedStrategy> for Operations {}

/// The token of an [`ErasedStrategy`]: a box around that of the strategy behind it.
pub struct ErasedToken {
    token: Box<dyn AnyToken>,
}

impl ErasedToken {
    fn new<T: AnyToken>(token: T) -> Self {
        Self { token: Box::new(token) }
    }

    /// The token inside. One of another type must be from another strategy; whether one of the same type is, the
    /// strategy finds out itself.
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
}

impl fmt::Debug for ErasedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedToken")
            .field("attempt", &self.attempt())
            .field("delay", &self.delay())
            .finish_non_exhaustive()
    }
}

/// A token whose type can be asked for.
trait AnyToken: RetryToken + Any + Send {}

impl<T: RetryToken + Any + Send> AnyToken for T {}

/// Boxes the tokens of a strategy, and unboxes them for it.
struct Erasing<S>(S);

impl<S: RetryStrategy<Token: Send + 'static>> RetryStrategy for Erasing<S> {
    type Token = ErasedToken;

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<ErasedToken, RetryError> {
        self.0.acquire_initial_token(clock).map(ErasedToken::new)
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

    fn ready(&self, token: &mut ErasedToken, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        let token: &mut dyn Any = &mut *token.token;
        token.downcast_mut().map_or(Ready::Now, |token| self.0.ready(token, clock, waker))
    }

    fn release(&self, token: ErasedToken) {
        if let Ok(token) = token.into_inner() {
            self.0.release(token);
        }
    }

    fn quota_level(&self) -> Option<u32> {
        self.0.quota_level()
    }
}
