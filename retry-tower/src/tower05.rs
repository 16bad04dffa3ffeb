//! The errors of tower 0.5's own layers, and a retry quota as the [`Budget`] of its retry layer.
//!
//! # Errors
//!
//! A stack of tower layers has the error type [`BoxError`](tower::BoxError), in which the errors of its layers are links of a chain.
//! [`policy`] knows them. The default policy of [`RetryLayer`](super::RetryLayer) does not take a `BoxError`.
//!
//! | link | safe | timeout | throttling | why |
//! |---|---|---|---|---|
//! | `timeout::error::Elapsed` | maybe | yes | | the request may have been acted upon |
//! | `load_shed::error::Overloaded` | yes | | yes | nothing was sent, and the layers below take no more requests now |
//! | `buffer::error::Closed` | no | | | the task of the buffer has ended, so that each further request fails |
//! | `buffer::error::ServiceError` | | | | its source, the error of readiness, is the next link |
//! | any other link | | | | by the table of [`chain`] |
//!
//! An `Overloaded` is throttling so that its retry has the long backoff of throttling and a limiter of the strategy sends less: a
//! retry after the short backoff would meet the same full queue. The other layers, such as the limits on concurrency and rate, have no
//! errors: they wait.
//!
//! ```
//! use retry_core::PatientRetryStrategy;
//! use retry_tower::{RetryLayer, tower05};
//! use std::time::Duration;
//! use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};
//!
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! async fn get(key: &'static str) -> Result<String, BoxError> {
//!     Ok(format!("object {key}"))
//! }
//!
//! # async fn example() -> Result<(), BoxError> {
//! let store = ServiceBuilder::new()
//!     .layer(RetryLayer::new(&STORE).policy(tower05::policy().idempotent(true)))
//!     .timeout(Duration::from_secs(2)) // of each attempt
//!     .service(service_fn(get));
//! let object = store.oneshot("7").await?;
//! # Ok(())
//! # }
//! ```
//!
//! The errors of a client below are known by one more line, such as `tower05::policy().also(hyper_util01::link)` with the crate
//! `retry-clients`. For a client that has a policy, the line is `.also(tower05::link)`.
//!
//! # A quota for another loop
//!
//! [`QuotaBudget`] lets tower's own retry layer pay from the quota of a strategy, so that both kinds of retries share one
//! limit. If you are free to choose, take [`RetryLayer`](super::RetryLayer) instead. A budget does not know the error, so
//! each retry costs the same. A retry that is dropped before it is sent is not refunded, and first requests are not
//! limited.
//!
//! ```
//! use retry_tower::tower05::QuotaBudget;
//! use retry_core::{StandardRetryStrategy, TokenBucket};
//! use std::future::{Ready, ready};
//! use tower::retry::Policy;
//! use tower::retry::budget::Budget;
//!
//! static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
//!
//! #[derive(Clone)]
//! struct Paid(QuotaBudget<&'static TokenBucket>);
//!
//! impl<Res, E> Policy<String, Res, E> for Paid {
//!     type Future = Ready<()>; // or a delay, from `tower::retry::backoff`
//!
//!     fn retry(&mut self, _: &mut String, outcome: &mut Result<Res, E>) -> Option<Self::Future> {
//!         match outcome {
//!             Ok(_) => {
//!                 self.0.deposit();
//!                 None
//!             }
//!             Err(_) => self.0.withdraw().then(|| ready(())),
//!         }
//!     }
//!
//!     fn clone_request(&mut self, request: &String) -> Option<String> {
//!         Some(request.clone())
//!     }
//! }
//!
//! let layer = tower::retry::RetryLayer::new(Paid(QuotaBudget::new(STORE.quota()).cost(10)));
//! ```
//!
//! Any other loop can use it as well: call `withdraw` before each retry, and `deposit` after each success.
//!
//! There is no adapter to the `RetryBudget` of tower-resilience, because its types are not stable: its versions 0.12, 0.13
//! and 0.14 came out between August and September 2026, and 0.13 changed the signatures of its budgets. In a program, its
//! three methods take a line each, over the same quota: `try_withdraw` is [`withdraw`](Budget::withdraw), `deposit` is
//! [`deposit`](Budget::deposit), and `balance` is [`available`](RetryQuota::available).

use retry_core::classify::chain::ErrorLike;
use retry_core::classify::{Classification, chain};
use retry_core::time::StdTimer;
use retry_core::{ChainPolicy, RetryErrorType, RetryQuota, RetrySafety};
use std::error::Error;
use tower::buffer::error::Closed;
use tower::load_shed::error::Overloaded;
use tower::retry::budget::Budget;
use tower::timeout::error::Elapsed;

/// Classifies an error by the [table](self). Returns `None` if no error in it is known.
///
/// It takes any error, so it can classify a field of a derived [`RetryInfo`](trait@retry_core::RetryInfo):
///
/// ```
/// use retry_core::{RetryInfo, RetrySafety};
/// use retry_tower::tower05;
/// use tower::BoxError;
/// use tower::timeout::error::Elapsed;
///
/// #[derive(Debug, RetryInfo)]
/// struct StoreError(#[retry(with = tower05::classify)] BoxError);
///
/// let error = StoreError(Box::new(Elapsed::new()));
/// assert_eq!(error.is_retry_safe(), RetrySafety::Maybe);
/// assert!(error.is_timeout());
/// # use retry_core::ErrorInfo as _;
/// ```
pub fn classify<E: ErrorLike<K> + ?Sized, K>(error: &E) -> Option<Classification> {
    chain::first_known(error, |error| link(error).or_else(|| chain::link(error)))
}

/// Classifies an error of a tower layer that is a link of a chain, for [`ChainPolicy::also`]. Returns `None` for any other link.
pub fn link(link: &(dyn Error + 'static)) -> Option<Classification> {
    if link.is::<Elapsed>() {
        return Some(Classification::new(RetrySafety::Maybe).with_timeout());
    }
    if link.is::<Overloaded>() {
        return Some(Classification::new(RetrySafety::Yes).with_throttling());
    }
    link.is::<Closed>().then_some(Classification::new(RetrySafety::No))
}

/// Returns a [`ChainPolicy`] that knows the errors of tower layers, by [`link`].
pub const fn policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(link)
}

/// A [`Budget`] that pays each retry from a quota of retry-core.
///
/// `Q` is the quota, or a pointer to one: `&'static TokenBucket` for the quota of a strategy in a `static`. A quota that is
/// refilled over time reads the clock of the standard library.
#[derive(Clone, Copy, Debug)]
pub struct QuotaBudget<Q> {
    quota: Q,
    cost: u32,
    refund: u32,
}

impl<Q: RetryQuota> QuotaBudget<Q> {
    /// Creates a budget with a cost of 5 for each retry and a refund of 1 for each success, as in
    /// [`StandardRetryStrategy::new`](retry_core::StandardRetryStrategy::new).
    pub const fn new(quota: Q) -> Self {
        Self { quota, cost: 5, refund: 1 }
    }

    /// Sets the cost of a retry. The default is 5.
    #[must_use]
    pub const fn cost(mut self, cost: u32) -> Self {
        self.cost = cost;
        self
    }

    /// Sets the refund for a success. The default is 1.
    #[must_use]
    pub const fn refund(mut self, refund: u32) -> Self {
        self.refund = refund;
        self
    }
}

impl<Q: RetryQuota> Budget for QuotaBudget<Q> {
    /// Reports a success to the quota, with the refund. The loop of tower does not say whether it was a retry.
    fn deposit(&self) {
        self.quota.first_succeeded(self.refund);
    }

    /// Takes the cost of a retry from the quota, and returns whether it could be paid.
    fn withdraw(&self) -> bool {
        let paid = self.quota.pay(self.cost, RetryErrorType::Other, &StdTimer).is_some();
        if !paid {
            self.quota.note_refusal(self.cost, None);
        }
        paid
    }
}
