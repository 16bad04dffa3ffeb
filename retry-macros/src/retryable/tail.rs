//! The end of a function that returns a future: an `async` block, and the expressions around it.

use crate::retryable::signature::inferred;
use crate::tokens::mentions;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Expr, ExprAsync, ExprPath, GenericArgument, ItemFn, Local, Pat, PathArguments, ReturnType, Stmt, Type,
    TypeParamBound, parse_quote,
};

/// A function that ends with an `async` block.
pub(super) struct Tail {
    /// The statements of the function. The block is empty.
    pub(super) statements: Vec<Stmt>,
    /// The statements that move arguments into the block, once in each call.
    pub(super) moved: Vec<Local>,
    /// Whether the block is `async move`.
    pub(super) moves: bool,
    /// The span of the braces of the block.
    pub(super) braces: Span,
    /// Whether the returned future has the output of the block.
    keeps_output: bool,
}

/// Methods that turn a future into one with the same output.
const KEEP_OUTPUT: [&str; 7] =
    ["boxed", "boxed_local", "fuse", "in_current_span", "instrument", "with_current_subscriber", "with_subscriber"];

impl Tail {
    /// Returns the end of a function and the statements of its `async` block, if it ends with one.
    pub(super) fn take(function: &ItemFn) -> Option<(Self, Vec<Stmt>)> {
        let mut statements = function.block.stmts.clone();
        let Found { block, keeps_output } = find(&mut statements)?;
        let attempt = std::mem::take(&mut block.block.stmts);
        let (moves, braces) = (block.capture.is_some(), block.block.brace_token.span.join());
        Some((Self { statements, moved: Vec::new(), moves, braces, keeps_output }, attempt))
    }

    /// Returns the statements of the function, with these in the block.
    pub(super) fn around(&self, body: &TokenStream) -> TokenStream {
        let mut statements = self.statements.clone();
        if let Some(Found { block, .. }) = find(&mut statements) {
            let moved = &self.moved;
            block.block.stmts = vec![Stmt::Expr(Expr::Verbatim(quote!(#(#moved)* #body)), None)];
        }
        statements.iter().map(ToTokens::to_token_stream).collect()
    }

    /// Returns the output of the block, as far as the return type of the function shows it.
    pub(super) fn output(&self, returned: &ReturnType) -> Type {
        let output = if self.keeps_output { output(returned) } else { None };
        output.unwrap_or_else(|| parse_quote!(_))
    }
}

struct Found<'a> {
    block: &'a mut ExprAsync,
    keeps_output: bool,
}

fn find(statements: &mut [Stmt]) -> Option<Found<'_>> {
    let (last, before) = statements.split_last_mut()?;
    match last {
        Stmt::Expr(expr @ Expr::Return(_), _) | Stmt::Expr(expr, None) => find_in(expr, before),
        _ => None,
    }
}

/// Returns the `async` block in an expression: the expression itself, the argument of a call, the receiver of
/// methods, or the value of a variable.
fn find_in<'a>(expr: &'a mut Expr, before: &'a mut [Stmt]) -> Option<Found<'a>> {
    match expr {
        Expr::Async(block) => Some(Found { block, keeps_output: true }),
        Expr::Call(call) if call.args.len() == 1 => find_in(call.args.first_mut()?, before),
        Expr::MethodCall(call) => {
            let keeps_output = KEEP_OUTPUT.iter().any(|name| call.method == name);
            let found = find_in(&mut call.receiver, before)?;
            Some(Found { keeps_output: found.keeps_output && keeps_output, ..found })
        }
        Expr::Return(returned) => find_in(returned.expr.as_mut()?, before),
        Expr::Paren(paren) => find_in(&mut paren.expr, before),
        Expr::Group(group) => find_in(&mut group.expr, before),
        Expr::Cast(cast) => find_in(&mut cast.expr, before),
        Expr::Path(ExprPath { path, .. }) => {
            let name = path.get_ident()?;
            let bound = before.iter().rposition(|statement| binds(statement, name))?;
            let (before, bound) = before.split_at_mut_checked(bound)?;
            match bound.first_mut()? {
                Stmt::Local(local) => find_in(&mut local.init.as_mut()?.expr, before),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a statement is a `let` that binds only this name.
fn binds(statement: &Stmt, name: &Ident) -> bool {
    let Stmt::Local(local) = statement else { return false };
    let pat = match &local.pat {
        Pat::Type(typed) => &*typed.pat,
        pat => pat,
    };
    matches!(pat, Pat::Ident(pattern) if pattern.ident == *name)
}

/// Whether a function binds an `async` block to a name and runs it, as `#[tokio::main]` writes it.
pub(super) fn is_run(function: &ItemFn) -> bool {
    let statements = &function.block.stmts;
    let is_block = |statement: &Stmt| match statement {
        Stmt::Local(local) => local.init.as_ref().is_some_and(|init| matches!(*init.expr, Expr::Async(_))),
        _ => false,
    };
    let block_on = Ident::new("block_on", Span::call_site());
    statements.iter().any(is_block) && mentions(&quote!(#(#statements)*), &[&block_on])
}

/// Returns whether a function returns a future, as far as the type shows it. A `Result` of a future is not one.
pub(super) fn returns_future(returned: &ReturnType) -> bool {
    match returned {
        ReturnType::Type(_, ty) => is_future(ty),
        ReturnType::Default => false,
    }
}

fn is_future(ty: &Type) -> bool {
    let in_bound = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|last| last.ident == "Future"),
        _ => false,
    };
    match ty {
        Type::ImplTrait(ty) => ty.bounds.iter().any(in_bound),
        Type::TraitObject(ty) => ty.bounds.iter().any(in_bound),
        Type::Paren(ty) => is_future(&ty.elem),
        Type::Group(ty) => is_future(&ty.elem),
        Type::Path(ty) => ty.path.segments.last().is_some_and(|last| match &last.arguments {
            _ if last.ident == "BoxFuture" || last.ident == "LocalBoxFuture" => true,
            PathArguments::AngleBracketed(pointee) if last.ident == "Pin" || last.ident == "Box" => {
                matches!(pointee.args.first(), Some(GenericArgument::Type(ty)) if is_future(ty))
            }
            _ => false,
        }),
        _ => false,
    }
}

/// Returns the output of the future that a function returns, as far as the type shows it: `Output = T`, or the `T` of a
/// `BoxFuture`.
pub(super) fn output(returned: &ReturnType) -> Option<Type> {
    match returned {
        ReturnType::Type(_, ty) => output_of(ty).map(inferred),
        ReturnType::Default => None,
    }
}

fn output_of(ty: &Type) -> Option<Type> {
    let of_bound = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => output_in(&bound.path.segments.last()?.arguments, false),
        _ => None,
    };
    match ty {
        Type::ImplTrait(ty) => ty.bounds.iter().find_map(of_bound),
        Type::TraitObject(ty) => ty.bounds.iter().find_map(of_bound),
        Type::Paren(ty) => output_of(&ty.elem),
        Type::Group(ty) => output_of(&ty.elem),
        Type::Path(ty) => {
            let last = ty.path.segments.last()?;
            output_in(&last.arguments, last.ident == "BoxFuture" || last.ident == "LocalBoxFuture")
        }
        _ => None,
    }
}

/// Returns the type after `Output =`, at any depth, or the type argument itself.
fn output_in(arguments: &PathArguments, itself: bool) -> Option<Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(assoc) if assoc.ident == "Output" => Some(assoc.ty.clone()),
        GenericArgument::Type(ty) if itself => Some(ty.clone()),
        GenericArgument::Type(ty) => output_of(ty),
        _ => None,
    })
}
