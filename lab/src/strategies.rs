//! Ways to retry, by name.

use crate::call::{Call, Caller, Outcome, Weight};
use retry_config::RetryConfig;
use retry_core::quota::NoQuota;
use retry_core::{
    ErasedStrategy, RetryDirective, RetryErrorType, RetryInfo, RetryStrategy, StandardRetryPolicy,
    StandardRetryStrategy, policy_fn, retry,
};
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

/// A named way to retry: a strategy of this library, or another crate. It makes a [`Caller`] with separate state for each resource.
#[derive(Clone)]
pub struct Strategy {
    name: String,
    make: Arc<dyn Fn(u64) -> Rc<dyn Caller> + Send + Sync>,
}

impl Strategy {
    /// Creates a strategy from a function that makes a caller with a seed.
    pub fn new(name: impl Into<String>, make: impl Fn(u64) -> Rc<dyn Caller> + Send + Sync + 'static) -> Self {
        Self { name: name.into(), make: Arc::new(make) }
    }

    /// Wraps a strategy of this library, which a function makes with a seed for its jitter.
    pub fn of<S>(name: impl Into<String>, make: impl Fn(u64) -> S + Send + Sync + 'static) -> Self
    where
        S: RetryStrategy<Token: Send + 'static> + Send + Sync + 'static,
    {
        Self::new(name, move |seed| caller(make(seed)))
    }

    /// Creates a strategy like [`of`](Strategy::of), which gets the reports of the server about its limit.
    pub fn with_reports<S>(name: impl Into<String>, make: impl Fn(u64) -> S + Send + Sync + 'static) -> Self
    where
        S: RetryStrategy<Token: Send + 'static> + Send + Sync + 'static,
    {
        Self::new(name, move |seed| Rc::new(Shipped { strategy: ErasedStrategy::new(make(seed)), reads_reports: true }))
    }

    /// Creates the lower bound: one attempt, whatever its outcome.
    pub fn no_retries() -> Self {
        Self::of("no retries", |_| StandardRetryStrategy::new().max_attempts(1).with_quota(NoQuota))
    }

    /// Creates a strategy from settings at run time, over [`StandardRetryStrategy::new()`].
    ///
    /// # Panics
    ///
    /// A call panics if [`settings::report`](crate::settings::report) returns an error for these settings.
    pub fn configured(name: impl Into<String>, config: RetryConfig) -> Self {
        Self::of(name, move |seed| {
            config.build_on(StandardRetryStrategy::new().seed(seed)).expect("settings of which a report was made")
        })
    }

    /// Limits all attempts of a call. [`PacedRetryStrategy`](retry_limits::PacedRetryStrategy) itself does not count throttled ones. The last attempt fails permanently, so the strategy still learns from it. Other crates ignore the limit.
    #[must_use]
    pub fn in_all(self, max_attempts: u32) -> Self {
        let make = self.make;
        Self::new(self.name, move |seed| Rc::new(Limited { inner: make(seed), max_attempts }))
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes a caller with a full quota. The seed determines its jitter.
    pub fn caller(&self, seed: u64) -> Rc<dyn Caller> {
        (self.make)(seed)
    }
}

impl fmt::Debug for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Strategy").field(&self.name).finish()
    }
}

/// Creates a caller from a strategy of this library.
pub fn caller<S>(strategy: S) -> Rc<dyn Caller>
where
    S: RetryStrategy<Token: Send + 'static> + Send + Sync + 'static,
{
    Rc::new(Shipped { strategy: ErasedStrategy::new(strategy), reads_reports: false })
}

/// A caller with a limit on the attempts of a call in all.
struct Limited {
    inner: Rc<dyn Caller>,
    max_attempts: u32,
}

impl Caller for Limited {
    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = Outcome> + '_>> {
        self.inner.call(Call { max_attempts: Some(self.max_attempts), ..call })
    }
}

/// Runs a call with its limits. Each combination of limits is a separate type.
macro_rules! limited {
    ($call:expr, $limits:expr, |$limited:ident| $run:expr) => {{
        let $limited = $call;
        match $limits {
            (None, None) => Box::pin($run),
            (Some(attempt), None) => {
                let $limited = $limited.attempt_timeout(attempt);
                Box::pin($run)
            }
            (None, Some(all)) => {
                let $limited = $limited.max_time(all);
                Box::pin($run)
            }
            (Some(attempt), Some(all)) => {
                let $limited = $limited.attempt_timeout(attempt).max_time(all);
                Box::pin($run)
            }
        }
    }};
}

/// A strategy of this library.
struct Shipped {
    strategy: ErasedStrategy,
    reads_reports: bool,
}

impl Caller for Shipped {
    fn call(&self, call: Call) -> Pin<Box<dyn Future<Output = Outcome> + '_>> {
        let Call { world, attempt_timeout, max_time, max_attempts, mut attempt, reported, weight, hedge } = call;
        let made = Rc::new(Cell::new(0));
        let evaluated = Rc::clone(&made);
        let policy = policy_fn(move |outcome: &Outcome| match outcome {
            Ok(()) => RetryDirective::succeed().with_rate_limit(reported.get().filter(|_| self.reads_reports)),
            Err(error) if max_attempts.is_some_and(|most| evaluated.get() >= most) => {
                RetryDirective::fail(Some(RetryErrorType::of(error))).after(error.retry_after())
            }
            Err(error) => StandardRetryPolicy::new().idempotent(true).evaluate_error(error),
        })
        .idempotent(true);
        let attempt = move || {
            made.set(made.get() + 1);
            attempt()
        };
        let call = retry(&self.strategy, attempt).policy(policy).timer(world);
        let limits = (attempt_timeout, max_time);
        match (hedge, weight) {
            (Some(hedge), _) => {
                limited!(call, limits, |call| async move { call.hedge(hedge).run().await })
            }
            (None, Some(Weight { estimate, used })) => {
                limited!(call.weight(estimate).used(move |_| used), limits, |call| call.run())
            }
            (None, None) => limited!(call, limits, |call| call.run()),
        }
    }
}
