//! The moves of arguments that `#[async_trait]` writes at the beginning of its block.

use crate::retryable::arguments::{self, Argument, Matched, take_bindings};
use proc_macro2::Ident;
use syn::{Expr, ExprPath, FnArg, Local, Pat, Signature, Stmt, Type};

/// The moves at the beginning of a block.
#[derive(Default)]
pub(super) struct Moves {
    pub(super) statements: Vec<Local>,
    /// The new name of `self`.
    pub(super) receiver: Option<Ident>,
}

/// Removes the moves from an attempt, because they would use up the arguments. The names that they bind replace the
/// arguments.
///
/// Only moves before all other statements are taken, so that the order of the rest is kept.
pub(super) fn take(attempt: &mut Vec<Stmt>, arguments: &mut Vec<Argument>, signature: &Signature) -> Moves {
    let mut moves = Moves::default();
    let mut kept = Vec::new();
    for statement in std::mem::take(attempt) {
        // `#[async_trait]` begins with an `if` that states the return type.
        let is_first = kept.iter().all(|it| matches!(it, Stmt::Expr(Expr::If(_), _)));
        let taken = match &statement {
            Stmt::Local(local) if is_first => moved_argument(local, arguments),
            _ => None,
        };
        match (statement, taken) {
            (Stmt::Local(mut local), Some(taken)) => {
                let matched = type_of(&taken, signature).map_or(Matched::Unknown, Matched::Type);
                let mut bound = take_bindings(&mut local.pat, &local.attrs, matched);
                if taken == "self"
                    && let Some(receiver) = bound.first_mut()
                {
                    receiver.lending = arguments::receiver(signature);
                    moves.receiver = Some(receiver.ident.clone());
                }
                arguments.retain(|argument| argument.ident != taken);
                arguments.extend(bound);
                moves.statements.push(local);
            }
            (other, _) => kept.push(other),
        }
    }
    *attempt = kept;
    moves
}

/// Returns the argument that a `let` moves: `let key = key;`, or `let (a, b) = { let __arg1 = __arg1; __arg1 };`.
fn moved_argument(local: &Local, arguments: &[Argument]) -> Option<Ident> {
    let is_argument = |name: &Ident| arguments.iter().any(|argument| argument.ident == *name);
    let init = &local.init.as_ref().filter(|init| init.diverge.is_none())?.expr;
    if let Some(taken) = path(init) {
        let Pat::Ident(name) = &local.pat else { return None };
        // Under another name, it may be an ordinary statement, and the body may use the argument as well.
        let moves = taken == "self" || (name.ident == taken && is_argument(&taken));
        return moves.then_some(taken);
    }
    let Expr::Block(block) = &**init else { return None };
    let [Stmt::Local(inner), Stmt::Expr(last, None)] = block.block.stmts.as_slice() else { return None };
    let Pat::Ident(name) = &inner.pat else { return None };
    let taken = path(&inner.init.as_ref()?.expr)?;
    let moves = name.ident == taken && path(last)? == taken && is_argument(&taken);
    moves.then_some(taken)
}

fn path(expr: &Expr) -> Option<Ident> {
    match expr {
        Expr::Path(ExprPath { path, .. }) => path.get_ident().cloned(),
        _ => None,
    }
}

/// Returns the type of an argument that is a plain name.
fn type_of<'a>(name: &Ident, signature: &'a Signature) -> Option<&'a Type> {
    signature.inputs.iter().find_map(|input| match input {
        FnArg::Typed(argument) => match &*argument.pat {
            Pat::Ident(pattern) if pattern.ident == *name => Some(&*argument.ty),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    })
}
