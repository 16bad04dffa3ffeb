//! How the values of `strategy`, `timer` and `observer` are evaluated.

use crate::retryable::arguments::Argument;
use crate::tokens::ungrouped;
use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprBlock, ExprField, ExprIndex, ExprPath, ExprReference, ExprUnary, Stmt, UnOp, parse_quote};

/// The value of `strategy`, `timer` or `observer`, by the way in which the loop uses it.
pub(super) enum Dependency {
    /// A static inside of the function.
    Own(Own),
    /// A static of the user, or a place in one.
    Static(Expr),
    /// A place expression, which is borrowed again for each use, so that the body may borrow the whole.
    Place(Expr),
    /// An argument or a variable, which is used like a place, and may own its value.
    Whole(Expr),
    /// Any other expression, which is evaluated once in each call.
    Once(Expr),
}

/// A strategy with default settings.
#[derive(Clone, Copy)]
pub(super) enum Own {
    Patient,
    Standard,
    Adaptive,
}

/// The values of `strategy` that are texts.
pub(super) const OWN: [(&str, Own); 3] =
    [("patient", Own::Patient), ("standard", Own::Standard), ("adaptive", Own::Adaptive)];

/// The types of these strategies.
pub(super) const OWN_TYPES: [&str; 3] = ["PatientRetryStrategy", "StandardRetryStrategy", "AdaptiveRetryStrategy"];

/// The strategies of the crate `retry-limits`, which the attribute can't make: names that users try, and their types.
pub(super) const LIMITS: [(&str, &str); 2] =
    [("paced", "PacedRetryStrategy"), ("concurrency", "ConcurrencyRetryStrategy")];

/// Returns the names of the values of `strategy` that are texts.
pub(super) fn own_names() -> impl Iterator<Item = &'static str> {
    OWN.iter().map(|(name, _)| *name)
}

impl Dependency {
    /// Classifies an expression. `locals` are the names that the function binds besides its arguments.
    pub(super) fn of(expr: &Expr, arguments: &[Argument], locals: &[Ident]) -> Self {
        let place = match ungrouped(expr) {
            Expr::Reference(ExprReference { mutability: None, expr, .. }) => ungrouped(expr),
            other => other,
        };
        let is_local = |path: &ExprPath| {
            path.path.get_ident().is_some_and(|ident| {
                ident == "self" || locals.contains(ident) || arguments.iter().any(|argument| argument.ident == *ident)
            })
        };
        match root(place, arguments) {
            Some(root) if is_local(root) && matches!(place, Expr::Path(_)) => Self::Whole(place.clone()),
            Some(root) if is_local(root) => Self::Place(place.clone()),
            Some(_) => Self::Static(place.clone()),
            // If the index may change, the element is chosen once.
            None if matches!(place, Expr::Index(_)) => Self::Once(parse_quote!(&#place)),
            None => Self::Once(expr.clone()),
        }
    }

    /// Classifies the expression of a strategy. A pointer that is made here may point to a new strategy, so the pointee
    /// must be a strategy that calls share.
    pub(super) fn of_strategy(expr: &Expr, arguments: &[Argument], locals: &[Ident], private: &TokenStream) -> Self {
        let mut dependency = Self::of(expr, arguments, locals);
        if let Self::Once(expr) = &mut dependency {
            share_pointees(expr, private);
        }
        dependency
    }

    /// Returns the expression whose value is kept during the whole call.
    pub(super) fn held(&self) -> Option<&Expr> {
        match self {
            Self::Once(expr) => Some(expr),
            Self::Own(_) | Self::Static(_) | Self::Place(_) | Self::Whole(_) => None,
        }
    }
}

/// Returns the path that a place expression starts with. A place is a path, a field, a dereferenced place, or an
/// element with an index that does not change.
fn root<'a>(expr: &'a Expr, arguments: &[Argument]) -> Option<&'a ExprPath> {
    match ungrouped(expr) {
        Expr::Path(path) => Some(path),
        Expr::Unary(ExprUnary { op: UnOp::Deref(_), expr, .. }) => root(expr, arguments),
        Expr::Field(ExprField { base, .. }) => root(base, arguments),
        Expr::Index(ExprIndex { expr, index, .. }) => {
            let stays = match ungrouped(index) {
                Expr::Lit(_) => true,
                Expr::Path(path) => arguments.iter().any(|argument| path.path.is_ident(&argument.ident)),
                _ => false,
            };
            root(expr, arguments).filter(|_| stays)
        }
        _ => None,
    }
}

/// Pointer types that count as shared, whatever they point to.
const POINTERS: [&str; 2] = ["Arc", "ErasedStrategy"];

/// Requires that the pointee of a new pointer is shared: `Arc::new(shared(..))`.
fn share_pointees(expr: &mut Expr, private: &TokenStream) {
    match expr {
        Expr::Group(group) => share_pointees(&mut group.expr, private),
        Expr::Paren(paren) => share_pointees(&mut paren.expr, private),
        Expr::MethodCall(call) => share_pointees(&mut call.receiver, private),
        Expr::Block(ExprBlock { block, .. }) => {
            if let Some(Stmt::Expr(last, None)) = block.stmts.last_mut() {
                share_pointees(last, private);
            }
        }
        Expr::Call(call) if makes_pointer(&call.func) => {
            for pointee in &mut call.args {
                *pointee = Expr::Verbatim(quote_spanned!(pointee.span()=> #private::shared(#pointee)));
            }
        }
        _ => {}
    }
}

fn makes_pointer(function: &Expr) -> bool {
    let Expr::Path(path) = ungrouped(function) else { return false };
    let mut segments = path.path.segments.iter().rev().map(|segment| &segment.ident);
    let (Some(function), Some(ty)) = (segments.next(), segments.next()) else { return false };
    (function == "new" || function == "from") && POINTERS.iter().any(|pointer| ty == pointer)
}

/// Whether an expression certainly makes a strategy: `Arc::default()`, or a reference to the result of a call.
pub(super) fn is_made_here(expr: &Expr) -> bool {
    match ungrouped(expr) {
        Expr::Reference(ExprReference { expr, .. }) => matches!(ungrouped(expr), Expr::Call(_) | Expr::MethodCall(_)),
        Expr::Call(call) => match ungrouped(&call.func) {
            Expr::Path(path) => {
                call.args.is_empty() && path.path.segments.last().is_some_and(|it| it.ident == "default")
            }
            _ => false,
        },
        _ => false,
    }
}
