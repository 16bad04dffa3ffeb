//! The value of the option `policy`.

use crate::tokens::{private, respan, ungrouped};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprBinary, ExprLit, ExprUnary, Ident, Lit, ReturnType, Stmt, UnOp};

/// Lets rustc check each value of a policy's closure that looks like a `bool`. Its error then says what a policy returns. A closure that
/// names its return type needs no check.
pub(super) fn check_values(policy: &mut Expr) {
    match policy {
        Expr::Group(group) => check_values(&mut group.expr),
        Expr::Paren(paren) => check_values(&mut paren.expr),
        Expr::Closure(closure) if matches!(closure.output, ReturnType::Default) => check(&mut closure.body),
        _ => {}
    }
}

/// Wraps the values of an expression that look like a `bool`.
fn check(expr: &mut Expr) {
    match expr {
        Expr::Group(group) => check(&mut group.expr),
        Expr::Paren(paren) => check(&mut paren.expr),
        Expr::Block(block) => check_last(&mut block.block),
        Expr::If(choice) => {
            check_last(&mut choice.then_branch);
            if let Some((_, otherwise)) = &mut choice.else_branch {
                check(otherwise);
            }
        }
        Expr::Match(choice) => choice.arms.iter_mut().for_each(|arm| check(&mut arm.body)),
        value if looks_boolean(value) => {
            let private = private();
            let directive = respan(quote!(#private::directive), value.span());
            *value = Expr::Verbatim(quote_spanned!(value.span()=> #directive(#value)));
        }
        _ => {}
    }
}

fn check_last(block: &mut Block) {
    if let Some(Stmt::Expr(last, None)) = block.stmts.last_mut() {
        check(last);
    }
}

/// Whether a value is probably a `bool`. Macros, operators and functions of the user can return a directive, too.
fn looks_boolean(value: &Expr) -> bool {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => matches!(lit, Lit::Bool(_)),
        Expr::Unary(ExprUnary { op, .. }) => matches!(op, UnOp::Not(_)),
        Expr::Binary(ExprBinary { op, .. }) => is_comparison(op),
        Expr::Macro(call) => call.mac.path.segments.last().is_some_and(|last| last.ident == "matches"),
        Expr::MethodCall(call) => is_question(&call.method),
        Expr::Call(call) => match ungrouped(&call.func) {
            Expr::Path(path) => path.path.segments.last().is_some_and(|last| is_question(&last.ident)),
            _ => false,
        },
        _ => false,
    }
}

/// Whether the result of an operator is always a `bool`.
const fn is_comparison(op: &BinOp) -> bool {
    use BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    matches!(op, And(_) | Or(_) | Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_))
}

/// Whether a function probably returns a `bool` by its name, as `is_none` does.
fn is_question(function: &Ident) -> bool {
    function.to_string().starts_with("is_")
}
