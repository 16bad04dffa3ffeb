//! The evaluation of an outcome by the policy, and the warning about an error that the policy does not know.

use super::StateOf;
use super::call::Call;
use super::explored::{self, Outcome};
use super::observed::Observed;
use super::optional_observer::OptionalObserver;
use super::time_limits::RunningLimits;
use super::unheard;
use super::warned::Warned;
use crate::observe::EventKind;
use crate::observe::trace::Level;
use crate::policy::{self, RetryDirective, RetryPolicy};
use crate::strategy::RetryStrategy;
use crate::time::Clock;
use std::any::type_name;

/// The functions about which there was a warning.
static WARNED: Warned = Warned::new();

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Returns the policy's directive for an outcome, and tells the strategy what was used and whether the attempt made progress. The first unknown error of a function
    /// is reported.
    #[inline]
    pub(crate) fn evaluate<R, L: RunningLimits>(
        self,
        operation: &mut StateOf<S, L, O>,
        policy: &(impl RetryPolicy<R> + ?Sized),
        outcome: &Outcome<R>,
    ) -> RetryDirective {
        let directive = self.evaluate_only(operation, policy, outcome);
        if policy.__may_progress() && directive.has_progressed() {
            self.record_progress(operation);
        }
        directive
    }

    /// Evaluates an outcome as [`evaluate`](Call::evaluate) does, for a driver that lets the strategy record the progress itself.
    #[inline]
    pub(crate) fn evaluate_only<R, L: RunningLimits>(
        self,
        operation: &mut StateOf<S, L, O>,
        policy: &(impl RetryPolicy<R> + ?Sized),
        outcome: &Outcome<R>,
    ) -> RetryDirective {
        operation.limits.note_once(policy.is_idempotent() == Some(false));
        let evaluate = |outcome: &R| {
            let directive = match policy.evaluate(outcome) {
                unknown if unknown.is_unknown() => self.unknown(operation, policy, outcome, unknown),
                directive => directive,
            };
            if let Some(usage) = policy.usage(outcome) {
                operation.used(self.strategy, usage);
            }
            directive
        };
        explored::evaluated(outcome, evaluate, |failure| policy.__no_answer(failure))
    }

    /// Returns the directive for an outcome that the policy does not know: that of a [`TimedOut`](crate::TimedOut) if the limit of the
    /// attempt made the outcome. Otherwise warns about it.
    #[cold]
    fn unknown<R, L: RunningLimits>(
        self,
        operation: &StateOf<S, L, O>,
        policy: &(impl RetryPolicy<R> + ?Sized),
        outcome: &R,
        directive: RetryDirective,
    ) -> RetryDirective {
        if operation.limits.was_cut() {
            return policy::of_timed_out(policy.is_idempotent());
        }
        self.warn(&operation.observed, operation.attempts(), &|| policy.__text(outcome), Some(type_name::<R>));
        directive
    }

    /// Reports an unknown error, if it is the first one of its function. `outcome` is the name of its type, where it is known.
    pub(super) fn warn(
        self,
        observed: &Observed<O::State>,
        attempts: u32,
        text: &dyn Fn() -> Option<String>,
        outcome: Option<fn() -> &'static str>,
    ) {
        if !Self::is_warning_wanted(observed) {
            unheard::unknown_error(self.name(), attempts, outcome);
        } else if WARNED.is_first(self.name().get()) {
            // The text is never freed, so that events can be copied freely. There are as many texts as warnings.
            let chain = text().map(|text| &*text.leak());
            self.tell(observed, Level::Warn, attempts, &move || EventKind::UnknownError { chain });
        }
    }
}
