//! How the expressions behind `strategy =`, `timer =` and `observer =` are evaluated.

use crate::options::ungrouped;
use crate::retryable::arguments::Argument;
use proc_macro2::Ident;
use syn::{Expr, ExprField, ExprIndex, ExprPath, ExprReference, ExprUnary, UnOp, parse_quote};

/// The strategy, timer or observer of a loop, by how the loop gets at it.
pub(super) enum Dependency {
    /// A static that the function brings with it.
    Own(Own),
    /// A static of the user's, or a place in one.
    Static(Expr),
    /// A place expression that is borrowed anew wherever it is needed, so that the body may borrow what it is part of.
    Place(Expr),
    /// Anything else: it is evaluated once in each call.
    Once(Expr),
}

/// A strategy with default settings.
#[derive(Clone, Copy)]
pub(super) enum Own {
    Standard,
    Adaptive,
}

/// The names that stand in quotes.
pub(super) const OWN: [(&str, Own); 2] = [("standard", Own::Standard), ("adaptive", Own::Adaptive)];

impl Dependency {
    /// `locals` are names that the function binds besides its arguments.
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
            Some(root) if is_local(root) => Self::Place(place.clone()),
            Some(_) => Self::Static(place.clone()),
            // An element whose index may change is chosen once.
            None if matches!(place, Expr::Index(_)) => Self::Once(parse_quote!(&#place)),
            None => Self::Once(expr.clone()),
        }
    }

    /// The expression whose value is kept during the whole call.
    pub(super) fn held(&self) -> Option<&Expr> {
        match self {
            Self::Once(expr) => Some(expr),
            Self::Own(_) | Self::Static(_) | Self::Place(_) => None,
        }
    }
}

/// What a place is part of, if the expression is one: a path, a field, what a place points to, or an element whose index
/// is there to be read, and stays what it is.
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
