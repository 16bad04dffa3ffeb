//! The evaluation of an outcome by the policy, and the warning about an error that the policy does not know.

use super::OperationOf;
use super::call::{Call, OptionalObserver};
use super::time_limits::TimeLimits;
use crate::observe::EventKind;
use crate::observe::trace::Level;
use crate::policy::{self, RetryDirective, RetryPolicy};
use crate::strategy::RetryStrategy;
use crate::support::Shared;
use crate::support::sync::{PoisonError, RwLock};
use crate::time::Clock;
use std::error::Error;

/// The maximum number of functions that are remembered. There are no warnings about others.
const MAX_FUNCTIONS: usize = 256;

/// The functions about which there was a warning.
static WARNED: Shared<RwLock<Vec<&'static str>>> = Shared::new(RwLock::new(Vec::new()));

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Returns the policy's directive for an outcome, and tells the strategy what was used. The first unknown error of a function
    /// is reported.
    #[inline]
    pub(crate) fn evaluate<R: ?Sized, L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        policy: &(impl RetryPolicy<R> + ?Sized),
        outcome: &R,
    ) -> RetryDirective {
        let directive = policy.evaluate(outcome);
        if directive.is_unknown() {
            self.warn(operation, || policy.unknown_error(outcome));
        }
        if let Some(usage) = policy.usage(outcome) {
            operation.settle_usage(self.strategy, usage);
        }
        directive
    }

    #[cold]
    fn warn<'o, L: TimeLimits>(
        self,
        operation: &OperationOf<S, L, O>,
        error: impl FnOnce() -> Option<&'o (dyn Error + 'static)>,
    ) {
        if Self::is_warning_wanted(&operation.observed) && is_first(self.name().get()) {
            let chain = error().map(policy::text_of);
            self.tell(&operation.observed, Level::Warn, operation.attempts(), || EventKind::UnknownError { chain });
        }
    }
}

/// Remembers a function. Returns whether it was not remembered before, and there was room for it.
fn is_first(function: &'static str) -> bool {
    let is_settled = |warned: &Vec<_>| warned.len() >= MAX_FUNCTIONS || warned.contains(&function);
    WARNED.with(
        || RwLock::new(Vec::new()),
        |warned| {
            if is_settled(&warned.read().unwrap_or_else(PoisonError::into_inner)) {
                return false;
            }
            let mut warned = warned.write().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have added it meanwhile.
            let is_first = !is_settled(&warned);
            if is_first {
                warned.push(function);
            }
            is_first
        },
    )
}
