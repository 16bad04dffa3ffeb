//! Reads time limits from the options, and writes them into the loop.

use crate::diagnostics::Diagnostics;
use crate::options::{Written, ungrouped};
use crate::tokens::{local, respan};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use std::time::Duration;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprReference, Lit};

/// The time limits that the options set.
#[derive(Default)]
pub(super) struct Limits {
    pub(super) max_time: Option<Limit>,
    pub(super) deadline: Option<Expr>,
    pub(super) attempt_timeout: Option<Limit>,
    /// Whether the strategy's maximum number of attempts does not apply.
    pub(super) unlimited_attempts: bool,
    /// The handle that stops the operation.
    pub(super) stop: Option<Expr>,
}

impl Limits {
    /// Returns the shortest constant limit, and the name of its option. A limit of zero was reported already.
    pub(super) fn shortest(&self) -> Option<(&'static str, Duration)> {
        let constant = |name, limit: &Option<Limit>| match limit {
            Some(Limit::Constant(time)) if !time.is_zero() => Some((name, *time)),
            _ => None,
        };
        let limits = [constant("max_time", &self.max_time), constant("attempt_timeout", &self.attempt_timeout)];
        limits.into_iter().flatten().min_by_key(|(_, time)| *time)
    }

    /// Replaces the expressions.
    pub(super) fn map(self, map: impl Fn(Expr) -> Expr) -> Self {
        let limit = |limit| match limit {
            Limit::Expr(expr) => Limit::Expr(map(expr)),
            constant @ Limit::Constant(_) => constant,
        };
        let Self { max_time, deadline, attempt_timeout, unlimited_attempts, stop } = self;
        Self {
            max_time: max_time.map(limit),
            deadline: deadline.map(&map),
            attempt_timeout: attempt_timeout.map(limit),
            unlimited_attempts,
            stop: stop.map(&map),
        }
    }
}

/// The value of `max_time` or `attempt_timeout`.
pub(super) enum Limit {
    /// A text.
    Constant(Duration),
    Expr(Expr),
}

/// Reads a time limit: a text, or an expression that is evaluated in each call.
pub(super) fn read_limit(option: &Written, diagnostics: &mut Diagnostics) -> Option<Limit> {
    let name = &option.name;
    match option.value() {
        Some(Expr::Lit(ExprLit { lit: Lit::Str(_), .. })) => {
            let duration = option.duration(diagnostics)?;
            if duration.is_zero() {
                diagnostics.error(option, format!("`{name}` is zero, which leaves no time for any attempt"));
            }
            Some(Limit::Constant(duration))
        }
        Some(Expr::Lit(literal)) => {
            diagnostics.error(
                literal,
                format!("a time needs a unit: `{name} = \"30s\"`, or an expression that gives a `Duration`"),
            );
            None
        }
        Some(expr) => Some(Limit::Expr(expr.clone())),
        None => {
            diagnostics
                .error(option, format!("write a time: `{name} = \"30s\"`, or an expression that gives a `Duration`"));
            None
        }
    }
}

/// Reads a deadline: an expression that is evaluated in each call.
pub(super) fn read_deadline(option: &Written, diagnostics: &mut Diagnostics) -> Option<Expr> {
    match option.value() {
        Some(Expr::Lit(literal)) => {
            diagnostics.error(
                literal,
                "a deadline is a point in time, an `Instant` or a `Timestamp`; for a duration, write `max_time = \"30s\"`",
            );
            None
        }
        _ => option.expr("instant", diagnostics),
    }
}

/// Reads the handle that stops the operation: an expression, often the name of a static.
pub(super) fn read_stop(option: &Written, diagnostics: &mut Diagnostics) -> Option<Expr> {
    match option.value() {
        Some(Expr::Lit(literal)) => {
            diagnostics.error(
                literal,
                "`stop` takes a `Stop`, without quotes; make it a static, `static STOP: Stop = Stop::new();`, and write \
                 `stop = STOP`",
            );
            None
        }
        _ => option.expr("STOP", diagnostics),
    }
}

/// The code of the limits.
pub(super) struct Limited {
    /// The expression of the limits, if there are any.
    pub(super) limits: Option<TokenStream>,
    /// The declaration of the handle that stops the operation, before the operation begins.
    pub(super) setup: TokenStream,
}

pub(super) fn limited(limits: &Limits, private: &TokenStream) -> Limited {
    let Limits { max_time, deadline, attempt_timeout, unlimited_attempts: _, stop } = limits;
    let (mut limits, mut setup) = (None, TokenStream::new());
    let mut add = |limit: &str, value: TokenStream| {
        let limit = format_ident!("{limit}");
        let others = limits.take().unwrap_or_else(|| quote!(#private::limited()));
        limits = Some(quote!(#private::#limit(#others, #value)));
    };
    if let Some(time) = max_time {
        add("max_time", duration(time));
    }
    if let Some(deadline) = deadline {
        add("until", deadline.to_token_stream());
    }
    if let Some(time) = attempt_timeout {
        add("attempt_timeout", duration(time));
    }
    if let Some(stop) = stop {
        let handle = local("stop");
        let stop = match ungrouped(stop) {
            Expr::Reference(ExprReference { mutability: None, expr, .. }) => expr,
            other => other,
        };
        // Whether the type is right depends on the user's expression, so rustc points there. The variable keeps the
        // value of an expression as long as the operation.
        add("stop", respan(handle.to_token_stream(), stop.span()));
        setup = quote!(let #handle = &#stop;);
    }
    Limited { limits, setup }
}

/// Returns an expression of type `Duration`.
fn duration(limit: &Limit) -> TokenStream {
    match limit {
        Limit::Constant(time) => {
            let (secs, nanos) = (time.as_secs(), time.subsec_nanos());
            quote!(::core::time::Duration::new(#secs, #nanos))
        }
        Limit::Expr(expr) => expr.to_token_stream(),
    }
}
