//! A retry quota as the [`Budget`] of tower 0.5, for retry loops that belong to another library.
//!
//! [`QuotaBudget`] lets tower's own retry layer pay from the quota of a strategy, so that both kinds of retries share one
//! limit. If you are free to choose, take `RetryLayer` of `retry_core::tower` instead. A budget does not know the error, so
//! each retry costs the same. A retry that is dropped before it is sent is not refunded, and first requests are not
//! limited.
//!
//! ```
//! use retry_clients::tower05::QuotaBudget;
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

use retry_core::time::StdTimer;
use retry_core::{RetryErrorType, RetryQuota};
use tower::retry::budget::Budget;

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
