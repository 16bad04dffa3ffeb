//! The value of the option `policy`.

use crate::diagnostics::Diagnostics;
use crate::options::Written;
use crate::tokens::ungrouped;
use syn::{BinOp, Block, Expr, ExprBinary, ExprLit, ExprUnary, Ident, Lit, ReturnType, Stmt, UnOp, parse_quote};

/// Reads the policy, and reports a closure that returns a `bool`.
pub(super) fn read_policy(option: &Written, diagnostics: &mut Diagnostics) -> Option<Expr> {
    let mut policy = option.expr("POLICY", diagnostics)?;
    let mut booleans = Vec::new();
    if let Some(body) = body(&mut policy) {
        take_booleans(body, &mut booleans);
    }
    if let Some(first) = booleans.first() {
        diagnostics.error(
            first,
            "a policy returns a `RetryDirective`, and this is a `bool`; write `RetryDirective::retry(RetryErrorType::Other)` for an \
             outcome that is retried, and `RetryDirective::succeed()` or `RetryDirective::fail(RetryErrorType::Other)` for one that \
             is not",
        );
    }
    Some(policy)
}

/// Returns the body of the closure that is the policy, or of which `policy_fn` makes it. One that names its return type is left to
/// rustc.
fn body(policy: &mut Expr) -> Option<&mut Expr> {
    match policy {
        Expr::Group(group) => body(&mut group.expr),
        Expr::Paren(paren) => body(&mut paren.expr),
        Expr::Closure(closure) => matches!(closure.output, ReturnType::Default).then_some(&mut *closure.body),
        Expr::Call(call) => match ungrouped(&call.func) {
            Expr::Path(path) if path.path.segments.last()?.ident == "policy_fn" => body(call.args.first_mut()?),
            _ => None,
        },
        _ => None,
    }
}

/// Takes the values of an expression that are a `bool`, as far as the expression shows it. In their place it gets what fits every
/// type, so that rustc does not report them as well.
fn take_booleans(expr: &mut Expr, taken: &mut Vec<Expr>) {
    match expr {
        Expr::Group(group) => take_booleans(&mut group.expr, taken),
        Expr::Paren(paren) => take_booleans(&mut paren.expr, taken),
        Expr::Block(block) => take_from_block(&mut block.block, taken),
        Expr::If(choice) => {
            take_from_block(&mut choice.then_branch, taken);
            if let Some((_, otherwise)) = &mut choice.else_branch {
                take_booleans(otherwise, taken);
            }
        }
        Expr::Match(choice) => choice.arms.iter_mut().for_each(|arm| take_booleans(&mut arm.body, taken)),
        value if is_boolean(value) => taken.push(std::mem::replace(value, parse_quote!(loop {}))),
        _ => {}
    }
}

fn take_from_block(block: &mut Block, taken: &mut Vec<Expr>) {
    if let Some(Stmt::Expr(last, None)) = block.stmts.last_mut() {
        take_booleans(last, taken);
    }
}

fn is_boolean(value: &Expr) -> bool {
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

/// Whether a function returns a `bool` by its name, as `is_none` does.
fn is_question(function: &Ident) -> bool {
    function.to_string().starts_with("is_")
}
