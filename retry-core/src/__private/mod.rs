//! Items for the code that the macros generate. They are not part of the public API, and can change in every release.

mod accepted;
mod answer_field;
mod as_error;
mod classified;
mod error_text;
mod evaluate;
#[cfg(feature = "hedges")]
mod hedge;
mod hedge_feature;
mod moved;
mod retryable;
mod said;
mod settle;
mod source_field;
mod wait_field;

// Items for `#[derive(RetryInfo)]`.
pub use answer_field::{ErrorCodeField, HttpStatusField, error_code, response};
pub use as_error::{MaybeError, NoError};
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
pub use crate::operation::{
    Attempt, ContextState, Deadline, Driver, End, OutOfTime, ReleaseGuard, Step, Wait, Waiting,
};
pub use crate::policy::{NoAnswer, Unanswered};
pub use crate::strategy::{AdaptiveRetryStrategy, PatientRetryStrategy, StandardRetryStrategy};
pub use crate::support::KeptOutcome;
pub use crate::support::misplaced::{
    ChangingSettings, ClosureForTheEnd, FutureBesideAThread, NumberOfRetries, SettingsAfterStopWhen, StrategySettings,
    TimeoutOfACall, operation_setting,
};
pub use crate::support::never::{Neither, Never};
pub use crate::time::deadline::AcceptedDeadline;
pub use crate::time::limit::AcceptedLimit;
pub use accepted::{
    AcceptedAttempts, AcceptedBlockingTimer, AcceptedDirective, AcceptedName, AcceptedObserver, AcceptedShare,
    AcceptedStop, AcceptedStrategy, AcceptedTimer, AcceptedUsage, AcceptedWhen, Anew, Awaited, IntoSpan, Pointer,
};
pub use error_text::{
    AsError, ErrorText, NO_TEXT, NoText, OfError, OfNothing, OfOwned, OwnedText, TextOf, WithText, text_of,
};
pub use evaluate::{
    Evaluable, Fallible, directive, evaluate, evaluate_by, evaluate_idempotent, evaluate_with, used, used_by,
};
pub use hedge_feature::__retry_core_hedge_feature as hedge_feature;
pub use moved::{Moving, Whole, moved};
pub use retryable::{
    Call, FunctionName, Name, Path, State, accept_attempts, anew, at_most, attempt, attempt_context, attempt_timeout,
    attempts, begin, begin_if_due, begin_within, beside, block, blocking_timer, context, cut_on_stop, deadline,
    given_name, into_span, last, limited, max_attempts, max_time, observer, once, own_stop, place, shared,
    static_blocking_timer, static_observer, static_timer, stop, stop_when, stopped_by, timer, unlimited_attempts,
    unreached, until, wait, weigh,
};
pub use settle::{
    MadeOfError, beginning, cut, cut_unsettled, final_outcome, is_unrecovered, keep, last_outcome, never_cut, on_end,
    on_retry, out_of_time, outcome, over, settle, settle_and_tell, settle_to_end, started, tell_end, tell_failure,
    timed_out, unrecovered,
};

// Items for the option `hedge`.
#[cfg(feature = "hedges")]
pub use crate::operation::{Race, Raced, Racing};
#[cfg(feature = "hedges")]
pub use crate::support::misplaced::SettingsAfterHedge;
#[cfg(feature = "hedges")]
pub use hedge::{NextContext, begin_attempt, next_context, proceed, race, start, static_hedge, weigh_hedge};

/// Expands to the [`Name`] of the surrounding function, for a static in it. The static itself is not a part of this: if the user's path of
/// the library is wrong, rustc would report that it is missing, too.
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
