//! How the expressions behind `strategy =`, `timer =` and `observer =` are evaluated.

use crate::options::ungrouped;
use crate::retryable::signature::Argument;
use proc_macro2::Ident;
use syn::{Expr, ExprField, ExprIndex, ExprPath, ExprReference, ExprUnary, UnOp};

/// Where what a loop needs again and again is found.
pub(super) enum Source {
    /// A static that the function brings with it.
    Own(Own),
    /// A static of the user's, or a place in one.
    Static(Expr),
    /// A place that is borrowed anew wherever it is needed, so that the body may borrow what it is part of.
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

impl Source {
    pub(super) fn of(expr: &Expr, arguments: &[Argument]) -> Self {
        let place = match ungrouped(expr) {
            Expr::Reference(ExprReference { mutability: None, expr, .. }) => ungrouped(expr),
            other => other,
        };
        match root(place) {
            Some(root) if is_local(root, arguments) => Self::Place(place.clone()),
            Some(_) => Self::Static(place.clone()),
            None => Self::Once(expr.clone()),
        }
    }
}

fn is_local(path: &ExprPath, arguments: &[Argument]) -> bool {
    let bound = |ident: &Ident| ident == "self" || arguments.iter().any(|argument| argument.ident == *ident);
    path.path.get_ident().is_some_and(bound)
}

/// What a place is part of, if the expression is one: a path, a field, what a place points to, or an element whose index
/// is there to be read.
fn root(expr: &Expr) -> Option<&ExprPath> {
    match ungrouped(expr) {
        Expr::Path(path) => Some(path),
        Expr::Unary(ExprUnary { op: UnOp::Deref(_), expr, .. }) => root(expr),
        Expr::Field(ExprField { base, .. }) => root(base),
        Expr::Index(ExprIndex { expr, index, .. }) => {
            let readable = matches!(ungrouped(index), Expr::Lit(_)) || root(index).is_some();
            root(expr).filter(|_| readable)
        }
        _ => None,
    }
}
