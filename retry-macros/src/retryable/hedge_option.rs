//! The option `hedge`: reads it, checks it together with the function, and writes the race of the first attempt and the hedge.

use crate::diagnostics::Diagnostics;
use crate::options::{Written, parse_duration};
use crate::retryable::arguments::{self, Argument, Lending, mutable_reference};
use crate::retryable::attr::Options;
use crate::retryable::model::RetriedFunction;
use crate::retryable::rebind;
use crate::retryable::settle::Settle;
use crate::tokens::{local, respan};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use std::time::Duration;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, FnArg, Lit, Pat, Path, Signature};

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

/// Reports what prevents two attempts at the same time.
pub(super) fn judge(options: &Options, signature: &Signature, arguments: &[Argument], diagnostics: &mut Diagnostics) {
    let Some(hedge) = &options.hedge_option else { return };
    if options.blocking.is_some() {
        diagnostics.error(
            hedge,
            "a hedge runs beside the first attempt, and a function that blocks can only run one at a time; remove `hedge`, or \
             make the function async",
        );
    }
    match (options.idempotent, &options.idempotent_option) {
        (Some(true), _) => {}
        (Some(false), Some(option)) => diagnostics.error(
            option,
            "`hedge` can execute the function twice at the same time; remove `hedge`, or write `idempotent` if that is safe",
        ),
        _ => diagnostics.error(
            hedge,
            "`hedge` can execute the function twice at the same time; add `idempotent` if that is safe, or remove `hedge`",
        ),
    }
    if let (Some(Hedge::Fixed(delay)), Some((limit, time))) = (&options.hedge, options.limits.shortest())
        && *delay >= time
    {
        diagnostics.error(
            hedge.value(),
            format!(
                "`hedge` is not shorter than `{limit}`, which cuts the first attempt before a hedge is sent; write a shorter \
                 delay, or remove `hedge`"
            ),
        );
    }
    let name = &signature.ident;
    let mut refuse = |place: &dyn ToTokens, what: &str| {
        diagnostics.error(
            place,
            format!(
                "two attempts of `{name}` can run at the same time, and can't share {what}; take a shared reference or an owned \
                 value, or remove `hedge`"
            ),
        );
    };
    if let Some(receiver) = signature.receiver().filter(|_| is_mutable(arguments::receiver(signature))) {
        refuse(receiver, "`&mut self`");
    }
    for Argument { ident, .. } in arguments.iter().filter(|argument| is_mutable(argument.lending)) {
        let typed = signature.inputs.iter().find_map(|input| match input {
            FnArg::Typed(argument) if matches!(&*argument.pat, Pat::Ident(pattern) if pattern.ident == *ident) => {
                mutable_reference(&argument.ty)
            }
            _ => None,
        });
        let place: &dyn ToTokens = typed.map_or(ident, |reference| reference);
        refuse(place, &format!("the `&mut` argument `{ident}`"));
    }
}

const fn is_mutable(lending: Lending) -> bool {
    !matches!(lending, Lending::Shared | Lending::Owned)
}

/// Returns the setup of the race before the loop.
pub(super) fn setup(hedge: &Hedge, retried: &RetriedFunction, call: &TokenStream) -> TokenStream {
    let crate_path = &retried.crate_path;
    let private = quote!(#crate_path::__private);
    let own = Ident::new("__RETRYABLE_HEDGE", Span::mixed_site());
    let declared = |value| quote!(static #own: #crate_path::Hedge = #crate_path::Hedge::#value;);
    let (declared, place) = match hedge {
        Hedge::Steered => (declared(quote!(p95())), own.to_token_stream()),
        Hedge::Fixed(delay) => {
            let (secs, nanos) = (delay.as_secs(), delay.subsec_nanos());
            (declared(quote!(after(::core::time::Duration::new(#secs, #nanos)))), own.to_token_stream())
        }
        Hedge::Static(path) => (TokenStream::new(), path.to_token_stream()),
    };
    let place = respan(quote!(#private::static_hedge(&#place)), place.span());
    let [operation, race, due] = ["operation", "race", "due"].map(local);
    let [first, second, first_sleep, second_sleep] = ["first", "second", "first_sleep", "second_sleep"].map(local);
    let used = rebind::used(retried);
    let places = [&first, &second, &first_sleep, &second_sleep, &due];
    quote! {
        #declared
        #used
        #(let #places = ::core::pin::pin!(::core::option::Option::None);)*
        let mut #race = #private::race(
            #call, &#operation, #place, [#first, #second], [#first_sleep, #second_sleep], #due,
        );
    }
}

/// Returns the variable of the context of the next attempt before the attempt, and that of the context in it.
pub(super) fn context(context: &Ident, private: &TokenStream) -> (TokenStream, TokenStream) {
    let [next, state, operation] = ["next", "context", "operation"].map(local);
    (
        quote!(let #next = #private::next_context(&#state, &#operation);),
        quote!(let #context = #private::NextContext::take(#next);),
    )
}

/// The expressions that a turn of the loop consists of.
pub(super) struct Turn<'a> {
    pub(super) private: &'a TokenStream,
    pub(super) call: &'a TokenStream,
    /// The code that waits until a retry is due.
    pub(super) wait: &'a TokenStream,
    /// The future of an attempt.
    pub(super) attempt: &'a TokenStream,
    /// The policy's directive for an outcome.
    pub(super) directive: &'a TokenStream,
    /// A reference to the place for the last outcome.
    pub(super) last: &'a TokenStream,
    pub(super) settle: &'a Settle<'a>,
}

impl Turn<'_> {
    /// Returns a turn of the loop: one attempt.
    pub(super) fn expand(&self, retried: &RetriedFunction) -> TokenStream {
        let Self { private, call, wait, attempt, directive, last, settle } = self;
        let [operation, race, raced, result, state, end] =
            ["operation", "race", "raced", "outcome", "context", "end"].map(local);
        let none = quote!(::core::option::Option::None);
        let (next, contexts) = match &retried.context {
            None => (None, none.clone()),
            Some(name) => (Some(context(name, private).0), quote!(::core::option::Option::Some(&mut #state))),
        };
        let (beginning, on_retry) = match settle.on_failure() {
            None => (none, quote!(|_, _| {})),
            Some((beginning, on_retry)) => (quote!(::core::option::Option::Some(#beginning)), on_retry),
        };
        let value = settle.tell_end(&end);
        // Whether an outcome can be made from `TimedOut` depends on the return type, so rustc points there.
        let proceed = respan(quote!(#private::proceed), retried.outcome.span());
        let proceeding = respan(quote!(#call, &mut #operation, (&mut #race, #raced), #last), retried.outcome.span());
        quote! {
            if #private::Race::is_attempt_due(&#race) {
                if !#private::Race::is_hedge(&#race) { #wait }
                #private::begin_attempt(#call, &mut #operation, &mut #race, #last);
                #next
                #private::start(&mut #race, #attempt);
            }
            let #raced = (&mut #race).await;
            if let ::core::option::Option::Some(#end) =
                #proceed(#proceeding, |#operation, #result| #directive, (#contexts, #beginning), #on_retry)
            {
                return #value;
            }
        }
    }
}
