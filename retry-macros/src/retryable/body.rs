//! The statements of one attempt, and the code of the function around them.

use crate::retryable::arguments::{self, Argument};
use crate::retryable::moved;
use crate::retryable::tail::Tail;
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::{Expr, FnArg, ItemFn, Signature, Stmt};

/// The statements of one attempt, and the place of the loop in the function.
pub(super) struct Body {
    /// The statements of one attempt.
    pub(super) attempt: Vec<Stmt>,
    /// The span of the braces around these statements.
    pub(super) braces: Span,
    /// The end of the function, if the loop is in an `async` block there. Otherwise it is in the function itself.
    tail: Option<Box<Tail>>,
}

impl Body {
    /// Creates the body of an `async fn`, or of a function that blocks.
    pub(super) fn whole(function: &ItemFn) -> Self {
        let braces = function.block.brace_token.span.join();
        Self { attempt: function.block.stmts.clone(), braces, tail: None }
    }

    /// Creates the body of a function that ends with an `async` block.
    pub(super) fn in_block(attempt: Vec<Stmt>, tail: Tail) -> Self {
        Self { attempt, braces: tail.braces, tail: Some(Box::new(tail)) }
    }

    /// Takes out the statements that move the arguments into the `async` block, as `#[async_trait]` writes them. If
    /// `self` is moved, returns its new name.
    pub(super) fn take_moves(&mut self, arguments: &mut Vec<Argument>, signature: &Signature) -> Option<Ident> {
        let tail = self.tail.as_mut()?;
        let moves = moved::take(&mut self.attempt, arguments, signature);
        tail.moved = moves.statements;
        moves.receiver
    }

    /// Whether the loop owns the arguments. It does not if it is in a block that borrows them.
    pub(super) fn owns_arguments(&self) -> bool {
        self.tail.as_ref().is_none_or(|tail| tail.moves)
    }

    /// Declares a name as `mut` where it is bound last: in a move into the block, or otherwise in the signature.
    pub(super) fn declare_mut(&mut self, signature: &mut Signature, ident: &Ident) {
        let moved = self.tail.iter_mut().flat_map(|tail| &mut tail.moved).map(|local| &mut local.pat);
        if !arguments::declare_mut(moved, ident) {
            let typed = signature.inputs.iter_mut().filter_map(|input| match input {
                FnArg::Typed(argument) => Some(&mut *argument.pat),
                FnArg::Receiver(_) => None,
            });
            arguments::declare_mut(typed, ident);
        }
    }

    /// Returns the names that the function binds around the block.
    pub(super) fn locals(&self) -> Vec<Ident> {
        let names_of = |statement: &Stmt| match statement {
            Stmt::Local(local) => arguments::names(&local.pat),
            _ => Vec::new(),
        };
        self.once().iter().flat_map(names_of).collect()
    }

    /// Returns the statements that run once in each call.
    pub(super) fn once(&self) -> &[Stmt] {
        self.tail.as_ref().map_or(&[], |tail| &tail.statements)
    }

    /// Puts the loop into its place, and returns the statements of the function.
    pub(super) fn around(&self, body: TokenStream) -> TokenStream {
        match &self.tail {
            Some(tail) => tail.around(&body),
            None => body,
        }
    }
}

/// Replaces `self` in an expression, for a body in which it has another name.
pub(super) fn rename_self(expr: &mut Expr, receiver: &Ident) {
    let tokens = crate::tokens::rename(expr.to_token_stream(), "self", receiver);
    if let Ok(renamed) = syn::parse2(tokens) {
        *expr = renamed;
    }
}
