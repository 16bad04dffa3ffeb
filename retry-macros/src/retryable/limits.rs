//! Reads time limits from the options, and writes them into the loop.

use crate::diagnostics::Diagnostics;
use crate::options::Written;
use crate::tokens::ungrouped;
use crate::tokens::{local, respan};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::time::Duration;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprLit, ExprReference, Lit, Path};

/// The time limits that the options set.
#[derive(Default)]
pub(super) struct Limits {
    pub(super) max_time: Option<Limit>,
    pub(super) deadline: Option<Expr>,
    pub(super) attempt_timeout: Option<Limit>,
    /// The closure that makes the error of an attempt that was cut.
    pub(super) timed_out: Option<Expr>,
    pub(super) max_attempts: Option<Attempts>,
    /// Whether the strategy's maximum number of attempts does not apply.
    pub(super) unlimited_attempts: bool,
    /// The handle that stops the operation.
    pub(super) stop: Option<Expr>,
    /// The future that stops the operation.
    pub(super) stop_when: Option<Expr>,
    /// Whether a stop cuts the attempt that runs.
    pub(super) cut_on_stop: bool,
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

    /// Returns whether there is something that can cut an attempt or prevent the first one.
    pub(super) const fn can_cut(&self) -> bool {
        let is_timed = self.max_time.is_some() || self.deadline.is_some() || self.attempt_timeout.is_some();
        is_timed || self.stop.is_some() || self.stop_when.is_some()
    }
}

/// The value of `max_time` or `attempt_timeout`.
pub(super) enum Limit {
    /// A text.
    Constant(Duration),
    Expr(Expr),
}

/// The value of `max_attempts`.
pub(super) enum Attempts {
    /// A literal, which is not 0.
    Constant(u32),
    Expr(Expr),
}

/// Reads a number of attempts: a literal, or an expression that is evaluated in each call.
pub(super) fn read_attempts(option: &Written, diagnostics: &mut Diagnostics) -> Option<Attempts> {
    let expected = "expected a whole number from 1 to 4294967295, since it counts the first attempt too";
    match option.value() {
        Some(Expr::Lit(ExprLit { lit, .. })) => {
            let number = if let Lit::Int(number) = lit { number.base10_parse::<u32>().ok() } else { None };
            let attempts = number.filter(|number| *number > 0);
            if attempts.is_none() {
                diagnostics.error(lit, format!("invalid max_attempts: {expected}"));
            }
            attempts.map(Attempts::Constant)
        }
        _ => option.expr("2", diagnostics).map(Attempts::Expr),
    }
}

/// Reads a time limit: a text, or an expression that is evaluated in each call.
pub(super) fn read_limit(option: &Written, diagnostics: &mut Diagnostics) -> Option<Limit> {
    let name = &option.name;
    match option.value() {
        Some(Expr::Lit(ExprLit { lit: Lit::Str(_), .. })) => {
            let duration = option.duration(diagnostics)?;
            if duration.is_zero() {
                diagnostics.error(option, zero(name));
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
        Some(expr) => {
            if is_zero(expr) {
                diagnostics.error(option, zero(name));
            }
            Some(Limit::Expr(expr.clone()))
        }
        None => {
            diagnostics
                .error(option, format!("write a time: `{name} = \"30s\"`, or an expression that gives a `Duration`"));
            None
        }
    }
}

fn zero(name: &Ident) -> String {
    format!("`{name}` is zero, which leaves no time for any attempt")
}

/// Returns true for the ways to write a `Duration` of zero that need no types: `Duration::ZERO` and a literal 0, as in
/// `Duration::from_secs(0)`.
fn is_zero(expr: &Expr) -> bool {
    let function = |path: &Path| {
        let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
        names.next().filter(|_| names.next().is_some_and(|ty| ty == "Duration"))
    };
    match expr {
        Expr::Path(path) => function(&path.path).is_some_and(|name| name == "ZERO"),
        Expr::Call(ExprCall { func, args, .. }) => {
            let Expr::Path(path) = &**func else { return false };
            let Some(Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) = args.first() else { return false };
            function(&path.path).is_some_and(|name| name.starts_with("from_")) && number.base10_digits() == "0"
        }
        _ => false,
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

/// Reads the future that stops the operation: an expression.
pub(super) fn read_stop_when(option: &Written, diagnostics: &mut Diagnostics) -> Option<Expr> {
    match option.value() {
        Some(Expr::Lit(literal)) => {
            diagnostics.error(literal, "`stop_when` takes a future, without quotes: `stop_when = token.cancelled()`");
            None
        }
        Some(Expr::Closure(closure)) => {
            diagnostics.error(
                closure,
                "`stop_when` takes the future itself, which belongs to one call; remove the `||`: `stop_when = token.cancelled()`",
            );
            None
        }
        _ => option.expr("token.cancelled()", diagnostics),
    }
}

/// The code of the limits.
pub(super) struct Limited {
    /// The expression of the limits, if there are any.
    pub(super) limits: Option<TokenStream>,
    /// The declarations of what stops the operation, before the operation begins.
    pub(super) setup: TokenStream,
}

/// Returns the expression that awaits a step of the operation, with the future that is polled beside it, if there is one.
pub(super) fn awaited(limits: &Limits, step: &TokenStream, private: &TokenStream) -> TokenStream {
    if limits.stop_when.is_none() {
        return quote!(#step.await);
    }
    let [when, own] = ["when", "own_stop"].map(local);
    quote!(#private::beside(::core::pin::Pin::as_mut(&mut #when), &#own, #step).await)
}

pub(super) fn limited(limits: &Limits, private: &TokenStream) -> Limited {
    let (all, can_cut) = (limits, limits.can_cut());
    let Limits {
        max_time,
        deadline,
        attempt_timeout,
        timed_out: _,
        max_attempts,
        unlimited_attempts: _,
        stop,
        stop_when,
        cut_on_stop,
    } = limits;
    let attempts = max_attempts.as_ref().map(|attempts| match attempts {
        Attempts::Constant(number) => quote!(#private::attempts(#number)),
        // Whether the type is right depends on the user's expression, so rustc points there.
        Attempts::Expr(expr) => {
            let accepted = respan(quote!(#private::accept_attempts), expr.span());
            quote_spanned!(expr.span()=> #accepted(#expr))
        }
    });
    if !can_cut {
        let limits = attempts.map(|attempts| quote!(#private::at_most(#attempts)));
        return Limited { limits, setup: TokenStream::new() };
    }
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
    if let Some(attempts) = attempts {
        add("max_attempts", attempts);
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
    if let Some(when) = stop_when {
        let [own, future] = ["own_stop", "when"].map(local);
        add("stopped_by", quote!(&#own));
        // Whether the type is right depends on the user's expression, so rustc points there.
        let accepted = respan(quote!(#private::stop_when), when.span());
        // If the future is ready, no attempt is sent.
        let polled = awaited(all, &quote!(::core::future::ready(())), private);
        setup.extend(quote! {
            let #own = #private::own_stop();
            let mut #future = ::core::pin::pin!(#accepted(#when));
            #polled;
        });
    }
    if *cut_on_stop {
        limits = limits.map(|others| quote!(#private::cut_on_stop(#others)));
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
