//! Items for the code that the macros generate. They are not part of the public API, and can change in every release.

mod accepted;
mod answer_field;
mod classified;
mod evaluate;
mod hedge;
mod retryable;
mod said;
mod settle;
mod source_field;
mod wait_field;

// Items for `#[derive(RetryInfo)]`.
pub use answer_field::{ErrorCodeField, HttpStatusField, error_code, response};
pub use classified::{Classified, PartialClassification, SafeField, classification, inner};
pub use said::{Said, Say, said};
pub use source_field::{SourceField, source};
pub use wait_field::{RetryAfterField, RetryAfterNumber};

// Items for `#[retryable]`, and the types of its values, and the bounds of methods that calls don't have.
#[cfg(all(debug_assertions, not(feature = "test")))]
pub use crate::operation::explored::Marked;
#[cfg(feature = "test")]
pub use crate::operation::explored::{Explored, Exploring};
pub use crate::operation::explored::{Outcome, Place, no_answer};
pub use crate::operation::misplaced::{ClosureForTheEnd, SettingsAfterHedge, StrategySettings};
pub use crate::operation::{
    Attempt, ContextState, Deadline, Driver, End, OutOfTime, Race, Raced, ReleaseGuard, Wait, Waiting,
};
pub use crate::policy::{NoAnswer, Unanswered};
pub use crate::support::KeptOutcome;
pub use crate::support::never::{Neither, Never};
pub use accepted::{
    AcceptedBlockingTimer, AcceptedDeadline, AcceptedObserver, AcceptedShare, AcceptedStop, AcceptedStrategy,
    AcceptedTimer, AcceptedUsage, Anew, IntoSpan, Pointer,
};
pub use evaluate::{Evaluable, Fallible, evaluate, evaluate_by, evaluate_idempotent, evaluate_with, used, used_by};
pub use hedge::{NextContext, begin_attempt, next_context, proceed, race, start, static_hedge};
pub use retryable::{
    Call, FunctionName, Name, Path, State, anew, attempt, attempt_context, attempt_timeout, begin, begin_within, block,
    blocking_timer, call, call_with, call_with_shared, context, deadline, into_span, last, limited, max_time, observer,
    place, shared, static_blocking_timer, static_observer, static_timer, stop, timer, unlimited_attempts, unreached,
    until, wait, weigh,
};
pub use settle::{
    beginning, cut, cut_unsettled, is_unrecovered, last_outcome, on_end, on_retry, outcome, over, settle,
    settle_and_tell, settle_to_end, started, tell_end, tell_failure, unrecovered,
};

/// Expands to the [`Name`] of the surrounding function, as the value of a static.
#[doc(hidden)]
#[macro_export]
macro_rules! __retry_core_function_name {
    ($function:literal) => {{
        static FUNCTION: $crate::__private::FunctionName =
            $crate::__private::FunctionName::new(::core::concat!(::core::module_path!(), "::", $function));
        static PATH: $crate::__private::Path = $crate::__private::Path::new(&FUNCTION, || {});
        $crate::__private::Name::Path(&PATH)
    }};
}
pub use __retry_core_function_name as function_name;
