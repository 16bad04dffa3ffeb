//! Where one attempt stands in a function, and what stands around it.

use crate::retryable::arguments::{self, Argument};
use crate::retryable::moved;
use crate::retryable::tail::Tail;
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::{Expr, FnArg, ItemFn, Signature, Stmt};

/// The statements of one attempt, and where in the function the loop goes.
pub(super) struct Body {
    /// One attempt.
    pub(super) attempt: Vec<Stmt>,
    /// Where the braces around these statements stand.
    pub(super) braces: Span,
    /// The end of the function whose block the loop stands in, if it isn't the function itself.
    tail: Option<Box<Tail>>,
}

impl Body {
    /// The body of an `async fn`, or of a function that blocks.
    pub(super) fn whole(function: &ItemFn) -> Self {
        let braces = function.block.brace_token.span.join();
        Self { attempt: function.block.stmts.clone(), braces, tail: None }
    }

    /// The `async` block that a function ends with.
    pub(super) fn in_block(attempt: Vec<Stmt>, tail: Tail) -> Self {
        Self { attempt, braces: tail.braces, tail: Some(Box::new(tail)) }
    }

    /// Takes out what moves the arguments into the `async` block by name, as `#[async_trait]` does. If `self` is among
    /// them, the name that stands for it is returned.
    pub(super) fn take_moves(&mut self, arguments: &mut Vec<Argument>, signature: &Signature) -> Option<Ident> {
        let tail = self.tail.as_mut()?;
        let moves = moved::take(&mut self.attempt, arguments, signature);
        tail.moved = moves.statements;
        moves.receiver
    }

    /// Whether the loop owns the arguments, and not a block around it that borrows them.
    pub(super) fn owns_arguments(&self) -> bool {
        self.tail.as_ref().is_none_or(|tail| tail.moves)
    }

    /// Declares a name `mut` where it is bound last: in a move into the block, else in the signature.
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

    /// The names that the function itself binds around the block.
    pub(super) fn locals(&self) -> Vec<Ident> {
        let names_of = |statement: &Stmt| match statement {
            Stmt::Local(local) => arguments::names(&local.pat),
            _ => Vec::new(),
        };
        self.once().iter().flat_map(names_of).collect()
    }

    /// What is done once in each call.
    pub(super) fn once(&self) -> &[Stmt] {
        self.tail.as_ref().map_or(&[], |tail| &tail.statements)
    }

    /// Puts the loop where it belongs, and gives the statements of the function.
    pub(super) fn around(&self, body: TokenStream) -> TokenStream {
        match &self.tail {
            Some(tail) => tail.around(&body),
            None => body,
        }
    }
}

/// The same expression, where `self` has another name.
pub(super) fn renamed(expr: &Expr, receiver: &Ident) -> Expr {
    let tokens = crate::tokens::rename(expr.to_token_stream(), "self", receiver);
    syn::parse2(tokens).unwrap_or_else(|_| expr.clone())
}
