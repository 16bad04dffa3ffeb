//! A function to be retried: what validation makes, and expansion writes.

use crate::retryable::arguments::Argument;
use crate::retryable::body::Body;
use crate::retryable::hedge_option::Hedge;
use crate::retryable::limits::Limits;
use crate::retryable::policy_option;
use crate::retryable::strategy::Dependency;
use crate::retryable::weight::Weighing;
use crate::tokens::ungrouped;
use proc_macro2::Ident;
use syn::{Expr, ItemFn, Path, Type};

/// A function to be retried, with everything that its loop needs.
pub(super) struct RetriedFunction {
    pub(super) function: ItemFn,
    pub(super) body: Body,
    /// Whether it is not async, and blocks its thread.
    pub(super) blocking: bool,
    pub(super) arguments: Vec<Argument>,
    /// The receiver, if each attempt borrows it mutably.
    pub(super) receiver: Option<Ident>,
    /// The arguments that are cloned for each attempt.
    pub(super) clone: Vec<Ident>,
    pub(super) outcome: Type,
    pub(super) strategy: Dependency,
    pub(super) policy: Policy,
    /// The delay before a second attempt beside the first one, if there is one, and the name of its option as it is written.
    pub(super) hedge: Option<(Hedge, Ident)>,
    pub(super) weighing: Weighing,
    pub(super) limits: Limits,
    /// The name of the operation in events; `None` for the path of the function.
    pub(super) name: Option<Expr>,
    /// The name of the context in the body.
    pub(super) context: Option<Ident>,
    pub(super) observer: Option<Dependency>,
    /// The closure that is called after each failure.
    pub(super) on_retry: Option<Expr>,
    /// The closure that is called when the operation ends.
    pub(super) on_end: Option<Expr>,
    /// `None` for the default timer.
    pub(super) timer: Option<Dependency>,
    pub(super) crate_path: Path,
}

/// How outcomes are classified.
pub(super) enum Policy {
    /// By the standard policy.
    Standard { idempotent: Option<bool> },
    /// By a closure, whose argument needs no type.
    Closure(Expr),
    /// By another expression.
    Value(Expr),
}

impl Policy {
    /// Returns the policy of the options.
    pub(super) fn of(policy: Option<Expr>, idempotent: Option<bool>) -> Self {
        match policy {
            None => Self::Standard { idempotent },
            Some(mut closure) if matches!(ungrouped(&closure), Expr::Closure(_)) => {
                policy_option::check_values(&mut closure);
                Self::Closure(closure)
            }
            Some(policy) => Self::Value(policy),
        }
    }
}
