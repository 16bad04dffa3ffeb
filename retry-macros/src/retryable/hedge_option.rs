//! The value of the option `hedge`.

use crate::diagnostics::Diagnostics;
use crate::options::{Written, parse_duration};
use std::time::Duration;
use syn::{Expr, ExprLit, Lit, Path};

/// The value of `hedge`.
pub(super) enum Hedge {
    /// A delay that follows the calls.
    Steered,
    /// A delay that is always the same.
    Fixed(Duration),
    /// A static of the user.
    Static(Path),
}

const STEERED: &str = "p95";

/// The values of the option, for messages.
const CHOICES: &str = "`hedge = \"p95\"` for a delay that 5 % of the calls reach, `hedge = \"50ms\"` for one that is always the \
                       same, or `hedge = GET` for your own `static GET: Hedge`";

/// Reads the delay before a hedge.
pub(super) fn read_hedge(option: &Written, diagnostics: &mut Diagnostics) -> Option<Hedge> {
    match option.value() {
        Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => {
            let written = text.value();
            if written == STEERED {
                return Some(Hedge::Steered);
            }
            let delay = parse_duration(&written);
            if delay.is_none() {
                diagnostics.error(text, format!("\"{written}\" is not a delay; write {CHOICES}"));
            }
            delay.map(Hedge::Fixed)
        }
        Some(Expr::Path(path)) if path.path.is_ident(STEERED) => {
            diagnostics.error(path, format!("`{STEERED}` is written in quotes; write {CHOICES}"));
            None
        }
        Some(Expr::Path(path)) if path.qself.is_none() => Some(Hedge::Static(path.path.clone())),
        Some(other) => {
            diagnostics.error(other, format!("expected a delay; write {CHOICES}"));
            None
        }
        None => {
            diagnostics.error(option, format!("a hedge needs a delay; write {CHOICES}"));
            None
        }
    }
}
