//! The evaluation of an outcome by the policy, and the warning about an error that the policy does not know.

use super::StateOf;
use super::call::{Call, OptionalObserver};
use super::explored::{self, Outcome};
use super::time_limits::TimeLimits;
use super::warned::Warned;
use crate::observe::EventKind;
use crate::observe::trace::Level;
use crate::policy::{self, RetryDirective, RetryPolicy};
use crate::strategy::RetryStrategy;
use crate::time::Clock;
use std::error::Error;

/// The functions about which there was a warning.
static WARNED: Warned = Warned::new();

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Returns the policy's directive for an outcome, and tells the strategy what was used. The first unknown error of a function
    /// is reported.
    #[inline]
    pub(crate) fn evaluate<R, L: TimeLimits>(
        self,
        operation: &mut StateOf<S, L, O>,
        policy: &(impl RetryPolicy<R> + ?Sized),
        outcome: &Outcome<R>,
    ) -> RetryDirective {
        let evaluate = |outcome: &R| {
            let directive = policy.evaluate(outcome);
            if directive.is_unknown() {
                self.warn(operation, || policy.unknown_error(outcome));
            }
            if let Some(usage) = policy.usage(outcome) {
                operation.used(self.strategy, usage);
            }
            directive
        };
        explored::evaluated(outcome, evaluate, |failure| policy.__no_answer(failure))
    }

    #[cold]
    fn warn<'o, L: TimeLimits>(
        self,
        operation: &StateOf<S, L, O>,
        error: impl FnOnce() -> Option<&'o (dyn Error + 'static)>,
    ) {
        if Self::is_warning_wanted(&operation.observed) && WARNED.is_first(self.name().get()) {
            let chain = error().map(policy::text_of);
            self.tell(&operation.observed, Level::Warn, operation.attempts(), || EventKind::UnknownError { chain });
        }
    }
}
