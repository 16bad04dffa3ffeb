//! Judges options and signature together.

use crate::diagnostics::{Diagnostics, choices};
use crate::options::ungrouped;
use crate::retryable::attr::{self, Limit, Options};
use crate::retryable::signature::{self, Argument};
use crate::retryable::strategy::Source;
use proc_macro2::Ident;
use syn::{Expr, ItemFn, Path, Signature, Type, parse_quote};

/// A function to be retried, with all that its loop needs to know.
pub(super) struct Call {
    pub(super) function: ItemFn,
    pub(super) arguments: Vec<Argument>,
    /// The arguments that each attempt gets a clone of.
    pub(super) clone: Vec<Ident>,
    pub(super) outcome: Type,
    pub(super) strategy: Source,
    pub(super) policy: Policy,
    pub(super) limits: Limits,
    pub(super) observer: Option<Source>,
    /// None for the default one.
    pub(super) timer: Option<Source>,
    pub(super) crate_path: Path,
}

/// How much time there is.
pub(super) enum Limits {
    None,
    /// For each attempt.
    Attempt(Limit),
    /// For all of them, and perhaps for each.
    MaxTime(Limit, Option<Limit>),
}

/// What outcomes mean.
pub(super) enum Policy {
    /// What the error says, and whether the operation is idempotent.
    Standard { idempotent: Option<bool> },
    /// A closure, whose argument needs no type.
    Closure(Expr),
    /// Any other expression.
    Value(Expr),
}

pub(super) fn validate(options: Options, mut function: ItemFn, diagnostics: &mut Diagnostics) -> Option<Call> {
    let Options {
        strategy,
        policy,
        idempotent,
        idempotent_option,
        max_time,
        attempt_timeout,
        clone,
        observer,
        timer,
        crate_path,
    } = options;
    let limits = match (max_time, attempt_timeout) {
        (None, None) => Limits::None,
        (None, Some(attempt_timeout)) => Limits::Attempt(attempt_timeout),
        (Some(max_time), attempt_timeout) => Limits::MaxTime(max_time, attempt_timeout),
    };
    if let (Some(_), Some(option)) = (&policy, idempotent_option) {
        diagnostics.error(
            option,
            "`idempotent` is a setting of the standard policy; beside `policy`, set it there: \
             `policy = StandardRetryPolicy::new().idempotent(true)`",
        );
    }
    judge_signature(&function.sig, policy.is_some(), diagnostics);
    let arguments = signature::take_arguments(&mut function.sig);
    judge_clone(&clone, &arguments, diagnostics);
    let strategy = match strategy {
        Some(attr::Strategy::Own(own)) => Some(Source::Own(own)),
        Some(attr::Strategy::Expr(expr)) => Some(Source::of(&expr, &arguments)),
        None => None,
    };
    Some(Call {
        outcome: signature::outcome(&function.sig).unwrap_or_else(|| parse_quote!(())),
        observer: observer.map(|observer| Source::of(&observer, &arguments)),
        timer: timer.map(|timer| Source::of(&timer, &arguments)),
        limits,
        policy: match policy {
            None => Policy::Standard { idempotent },
            Some(closure) if matches!(ungrouped(&closure), Expr::Closure(_)) => Policy::Closure(closure),
            Some(policy) => Policy::Value(policy),
        },
        function,
        arguments,
        clone,
        strategy: strategy?,
        crate_path: crate_path.unwrap_or_else(|| parse_quote!(::retry_core)),
    })
}

fn judge_signature(signature: &Signature, has_policy: bool, diagnostics: &mut Diagnostics) {
    let name = &signature.ident;
    if let Some(constness) = &signature.constness {
        diagnostics.error(constness, format!("a `const fn` can't wait; write `async fn {name}`"));
    } else if signature.asyncness.is_none() {
        diagnostics.error(
            signature.fn_token,
            format!("`{name}` is not async, and a retry has to wait; write `async fn {name}`"),
        );
    }
    if let Some(receiver) = signature::mutable_receiver(signature) {
        diagnostics.error(receiver, "`mut self` would be used up by the first attempt; take `&mut self`");
    }
    if !has_policy && signature::outcome(signature).is_none() {
        diagnostics.error(
            name,
            format!("`{name}` returns nothing, so a failure can't be told from a success; return a `Result`"),
        );
    }
    if let Some((place, argument)) = signature::borrow_of_mutable(signature) {
        diagnostics.error(
            place,
            format!(
                "the return type borrows from the `&mut` argument `{argument}`, which the next attempt needs again; \
                 return an owned value, or borrow from a shared reference"
            ),
        );
    }
}

fn judge_clone(clone: &[Ident], arguments: &[Argument], diagnostics: &mut Diagnostics) {
    for (index, name) in clone.iter().enumerate() {
        if !arguments.iter().any(|argument| argument.ident == *name) {
            let names = choices(arguments.iter().map(|argument| &argument.ident));
            let takes = if names.is_empty() { "there is none".to_owned() } else { format!("`clone` can take {names}") };
            diagnostics.error(name, format!("`{name}` is no argument of this function; {takes}"));
        } else if clone.iter().take(index).any(|earlier| earlier == name) {
            diagnostics.error(name, format!("`{name}` stands twice; remove one"));
        }
    }
}
