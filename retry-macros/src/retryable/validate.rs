//! Judges options and signature together.

use crate::diagnostics::{Diagnostics, choices};
use crate::retryable::attr::{self, Options};
use crate::retryable::signature::{self, Argument};
use crate::retryable::strategy::Strategy;
use proc_macro2::Ident;
use syn::{ItemFn, Path, Signature, Type, parse_quote};

/// A function to be retried, with all that its loop needs to know.
pub(super) struct Call {
    pub(super) function: ItemFn,
    pub(super) arguments: Vec<Argument>,
    /// The arguments that each attempt gets a clone of.
    pub(super) clone: Vec<Ident>,
    pub(super) outcome: Type,
    pub(super) strategy: Strategy,
    pub(super) idempotent: Option<bool>,
    pub(super) crate_path: Path,
}

pub(super) fn validate(options: Options, mut function: ItemFn, diagnostics: &mut Diagnostics) -> Option<Call> {
    let Options { strategy, idempotent, clone, crate_path } = options;
    judge_signature(&function.sig, diagnostics);
    let arguments = signature::take_arguments(&mut function.sig);
    judge_clone(&clone, &arguments, diagnostics);
    let strategy = match strategy {
        Some(attr::Strategy::Own(own)) => Some(Strategy::Own(own)),
        Some(attr::Strategy::Expr(expr)) => Some(Strategy::of(&expr, &arguments)),
        None => None,
    };
    Some(Call {
        outcome: signature::outcome(&function.sig)?,
        function,
        arguments,
        clone,
        strategy: strategy?,
        idempotent,
        crate_path: crate_path.unwrap_or_else(|| parse_quote!(::retry_core)),
    })
}

fn judge_signature(signature: &Signature, diagnostics: &mut Diagnostics) {
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
    if signature::outcome(signature).is_none() {
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
