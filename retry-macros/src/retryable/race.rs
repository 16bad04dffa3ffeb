//! The code of the race of the first attempt and its hedge.

use crate::retryable::expand::out_of_time;
use crate::retryable::hedge_option::Hedge;
use crate::retryable::limits::awaited;
use crate::retryable::model::RetriedFunction;
use crate::retryable::settle::Settle;
use crate::tokens::{local, private, respan};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Path;
use syn::spanned::Spanned;

/// Returns the loop of a function, which the library replaces with an error if there is a hedge, but not the feature for it.
pub(super) fn with_feature(retried: &RetriedFunction, body: TokenStream) -> TokenStream {
    match &retried.hedge {
        Some((_, option)) => in_feature(&retried.crate_path, option, body),
        None => body,
    }
}

/// Returns the code, which the library replaces with an error at the option `hedge` if the feature is off.
pub(super) fn in_feature(crate_path: &Path, option: &Ident, body: TokenStream) -> TokenStream {
    // Rustc reports the error of a macro of another crate at its call in the user's code, so the call is there. `$crate` has its
    // meaning from its own place.
    let at_the_option = |mut token: TokenTree| {
        if !matches!(&token, TokenTree::Ident(name) if name == "$crate") {
            token.set_span(option.span());
        }
        token
    };
    let body = TokenTree::from(Group::new(Delimiter::Brace, body));
    quote!(#crate_path::__private::hedge_feature! #body).into_iter().map(at_the_option).collect()
}

/// Returns the setup of the race before the loop.
pub(super) fn setup(hedge: &Hedge, retried: &RetriedFunction, call: &TokenStream) -> TokenStream {
    let crate_path = &retried.crate_path;
    let private = private();
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
    let weight = retried.weighing.weight.as_ref().map(|_| local("weight"));
    let weigh = weight.map(|weight| quote!(#private::weigh_hedge(&mut #race, #weight);));
    let places = [&first, &second, &first_sleep, &second_sleep, &due];
    quote! {
        #declared
        #(let #places = ::core::pin::pin!(::core::option::Option::None);)*
        let mut #race = #private::race(
            #call, &#operation, #place, [#first, #second], [#first_sleep, #second_sleep], #due,
        );
        #weigh
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
            None => (none, quote!(|_, _| ::core::ops::ControlFlow::Continue(()))),
            Some((beginning, on_retry)) => (quote!(::core::option::Option::Some(#beginning)), on_retry),
        };
        let value = settle.tell_end(&end);
        let racing = awaited(&retried.limits, &quote!((&mut #race)), private);
        // Whether an outcome can be made from `TimedOut` depends on the return type, so rustc points there.
        let out_of_time = out_of_time(retried, private);
        let proceed = respan(quote!(#private::proceed), retried.outcome.span());
        let proceeding = respan(quote!(#call, &mut #operation, (&mut #race, #raced), #last), retried.outcome.span());
        quote! {
            if #private::Race::is_attempt_due(&#race) {
                if !#private::Race::is_hedge(&#race) { #wait }
                #private::begin_attempt(#call, &mut #operation, &mut #race, #last);
                #next
                #private::start(&mut #race, #attempt);
            }
            let #raced = #racing;
            if let ::core::option::Option::Some(#end) =
                #proceed(#proceeding, |#operation, #result| #directive, (#contexts, #beginning), #on_retry, #out_of_time)
            {
                return #value;
            }
        }
    }
}
