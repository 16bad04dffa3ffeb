//! A strategy for one operation whose weight is known.

use super::{Operations, RetryError, RetryStrategy, Share, forward_strategy};
use crate::time::Clock;
use std::mem;

/// A handle to a strategy for operations of one weight, for a limit on the sum of weights.
///
/// Some limits are on a sum: an LLM service counts the tokens of all prompts, a storage service counts bytes. A strategy with such a
/// limit, such as a `PacedLimiter<Weights>` of the crate [`retry-limits`](https://docs.rs/retry-limits), counts the weights of
/// operations. Other strategies ignore them. An operation without a weight weighs 1.
///
/// [`Retry::weight`](crate::Retry::weight), `weight = EXPR` in `#[retryable]` and the layer for `tower` make a handle. Create it
/// yourself where a function takes a strategy.
///
/// ```
/// use retry_core::strategy::Weighted;
/// use retry_core::{RetryInfo, StandardRetryStrategy, retry_blocking};
///
/// # #[derive(Debug, RetryInfo)]
/// # struct Failed;
/// // Any strategy: one with a limit on the sum of weights uses them.
/// static UPLOADS: StandardRetryStrategy = StandardRetryStrategy::new();
///
/// let file = b"...";
/// let length = u32::try_from(file.len()).unwrap_or(u32::MAX);
/// let uploaded = retry_blocking(Weighted::new(&UPLOADS, length), || {
///     // One attempt.
/// #   let _ = file;
///     Ok::<_, Failed>(())
/// });
/// uploaded.run()?;
/// # Ok::<(), Failed>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Weighted<S> {
    strategy: S,
    weight: u32,
}

impl<S> Weighted<S> {
    /// Creates a handle to a strategy for operations of this weight.
    pub const fn new(strategy: S, weight: u32) -> Self {
        Self { strategy, weight }
    }
}

impl<S: RetryStrategy> Weighted<S> {
    /// Tells the strategy the weight of a token that it sold. If it panics, it gets the token back.
    #[inline]
    fn weighed(&self, token: Result<S::Token, RetryError>) -> Result<S::Token, RetryError> {
        let mut sold = Sold { token, strategy: &self.strategy };
        if let Ok(token) = &mut sold.token {
            self.strategy.weigh(token, self.weight);
        }
        sold.take()
    }
}

/// What a strategy sold, which it gets back if this is dropped.
struct Sold<'a, S: RetryStrategy> {
    token: Result<S::Token, RetryError>,
    strategy: &'a S,
}

impl<S: RetryStrategy> Sold<'_, S> {
    #[inline]
    fn take(&mut self) -> Result<S::Token, RetryError> {
        mem::replace(&mut self.token, Err(RetryError::Disabled))
    }
}

impl<S: RetryStrategy> Drop for Sold<'_, S> {
    #[inline]
    fn drop(&mut self) {
        if let Ok(token) = self.take() {
            self.strategy.release(token);
        }
    }
}

impl<S> Share<Weighted<S>> for Operations where Self: Share<S> {}

impl<S: RetryStrategy> RetryStrategy for Weighted<S> {
    type Token = S::Token;

    // A first token holds a weight, so it is never empty, and the methods for empty tokens keep their defaults. `weigh` forwards: a
    // weight from further out replaces the one of the handle.
    forward_strategy! {
        self => self.strategy;
        except acquire_initial_token, acquire_hedge, starts_empty, empty_token, record_first_success
    }

    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<S::Token, RetryError> {
        self.weighed(self.strategy.acquire_initial_token(clock))
    }

    fn acquire_hedge(&self, token: &S::Token, clock: &dyn Clock) -> Result<S::Token, RetryError> {
        self.weighed(self.strategy.acquire_hedge(token, clock))
    }
}
