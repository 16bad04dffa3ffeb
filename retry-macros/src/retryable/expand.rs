//! Writes the loop into the function. It cannot fail.

use crate::retryable::limits::{Limited, limited};
use crate::retryable::rebind::{borrows, rebound};
use crate::retryable::strategy::{Own, Source};
use crate::retryable::validate::{Call, Policy};
use crate::tokens::local;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

pub(super) fn expand(call: &Call) -> TokenStream {
    let Call { function, body, outcome, strategy, context, crate_path, .. } = call;
    let private = quote!(#crate_path::__private);
    let attrs = &function.attrs;
    let (outer, inner): (Vec<_>, Vec<_>) = attrs.iter().partition(|attr| matches!(attr.style, syn::AttrStyle::Outer));
    let (vis, modifiers, signature) = (&function.vis, &function.modifiers.defaultness, &function.sig);
    let (setup, strategy) = strategy_access(strategy, &private, crate_path);
    let (around_setup, around) = around(call, &private);
    let [operation, result, notes, cut, judged] = ["operation", "outcome", "notes", "cut", "directive"].map(local);

    let directive = directive(call, &result, &private);
    let (context_setup, context, directive) = match context {
        None => (None, None, directive),
        Some(context) => (
            Some(quote!(let mut #notes = #private::context();)),
            Some(quote!(let #context = #private::attempt_context(&#notes, &#operation);)),
            quote!(#notes.judged(#directive)),
        ),
    };
    let Limited { limits, last, setup: last_setup } = limited(&call.limits, &private);
    // Whether an outcome can say that the time was up is a matter of the return type, so that is where rustc shall point.
    let cut_off = respan(quote!(#private::cut(&mut #operation, #strategy, #cut, #last, #around)), outcome.span());
    let parts =
        Parts { private: &private, operation: &operation, strategy: &strategy, around: &around, cut_off: &cut_off };
    let begin = match &limits {
        None => quote!(#private::begin(#strategy, #around)),
        Some(limits) => quote!(#private::begin_within(#strategy, #limits, #around)),
    };
    let (wait, attempt) = if call.blocking {
        let wait = parts.block(limits.is_some());
        (quote!(#wait #context), attempt(call))
    } else {
        let wait = parts.wait();
        let (before, attempt) = parts.within(limits.is_some(), context.as_ref(), &attempt(call));
        (quote!(#wait #before), attempt)
    };

    let body = body.around(quote! {
        #setup
        #around_setup
        #last_setup
        #context_setup
        let mut #operation = #begin;
        loop {
            #wait
            let #result = #attempt;
            let #judged = #directive;
            if #private::settle(&mut #operation, #strategy, #judged, #around) {
                return #result;
            }
            #private::keep(&mut #operation, #strategy, #last, #result);
        }
    });
    quote! {
        #(#outer)*
        #vis #modifiers #signature {
            #(#inner)*
            #body
        }
    }
}

/// What stands before the loop for what is around the operation, and a reference to that.
fn around(call: &Call, private: &TokenStream) -> (TokenStream, TokenStream) {
    let (name, crate_path) = (call.function.sig.ident.to_string(), &call.crate_path);
    let around = Ident::new("__RETRYABLE_AROUND", Span::mixed_site());
    let (ty, new, timer) = if call.blocking {
        (quote!(<'static, #crate_path::StdTimer>), quote!(blocking), "blocking_timer")
    } else {
        (quote!(<'static>), quote!(new), "timer")
    };
    let (timer_setup, timer) = surrounding(timer, call.timer.as_ref(), private);
    let (observer_setup, observer) = surrounding("observer", call.observer.as_ref(), private);
    let setup = quote! {
        const #around: #private::Around #ty =
            #private::Around::#new(::core::concat!(::core::module_path!(), "::", #name));
        #timer_setup
        #observer_setup
    };
    (setup, quote!(&#around #timer #observer))
}

/// What the policy makes of an outcome.
fn directive(call: &Call, result: &Ident, private: &TokenStream) -> TokenStream {
    match &call.policy {
        Policy::Standard { idempotent } => {
            let crate_path = &call.crate_path;
            let idempotent = idempotent.map(|idempotent| quote!(.idempotent(#idempotent)));
            let policy = quote!(#crate_path::StandardRetryPolicy::new() #idempotent);
            // Whether the outcome can be judged is a matter of the return type, too.
            respan(quote!(#private::judge(&#result, &#policy)), call.outcome.span())
        }
        Policy::Closure(closure) => quote!(#private::judge_by(&#result, #closure)),
        Policy::Value(policy) => {
            let judge = respan(quote!(#private::judge_with), policy.span());
            quote_spanned!(policy.span()=> #judge(&#result, &#policy))
        }
    }
}

/// What a turn of the loop is made of.
struct Parts<'a> {
    private: &'a TokenStream,
    operation: &'a Ident,
    strategy: &'a TokenStream,
    around: &'a TokenStream,
    cut_off: &'a TokenStream,
}

impl Parts<'_> {
    /// Waits until the attempt is due.
    fn wait(&self) -> TokenStream {
        let Self { private, operation, strategy, around, .. } = self;
        let wait = local("wait");
        // A `while let` would hold on to what is around the operation while it waits.
        quote! {
            loop {
                let ::core::option::Option::Some(#wait) = #private::wait(&mut #operation, #strategy, #around) else { break };
                #wait.await;
            }
        }
    }

    /// What comes before an attempt, and the attempt, with a deadline if there are limits.
    fn within(
        &self,
        limits: bool,
        context: Option<&TokenStream>,
        body: &TokenStream,
    ) -> (Option<TokenStream>, TokenStream) {
        let Self { private, operation, strategy, around, cut_off } = self;
        if !limits {
            return (context.cloned(), quote!(#body.await));
        }
        let [deadline, sleep, attempted, result, cut] = ["deadline", "sleep", "attempted", "outcome", "cut"].map(local);
        let before = quote! {
            let (#deadline, #sleep) = #private::deadline(&mut #operation, #strategy, #around);
        };
        // The attempt is over, and what it borrowed is free, before anything else is done.
        let attempt = quote! {
            match #attempted {
                ::core::result::Result::Ok(#result) => #result,
                ::core::result::Result::Err(#cut) => match #cut_off {
                    ::core::ops::ControlFlow::Continue(#result) => #result,
                    ::core::ops::ControlFlow::Break(#result) => return #result,
                },
            }
        };
        let before = quote! {
            #before
            #context
            let #attempted = #private::attempt(#deadline, ::core::pin::pin!(#sleep), ::core::pin::pin!(#body)).await;
        };
        (Some(before), attempt)
    }

    /// Blocks the thread until the attempt is due.
    fn block(&self, limits: bool) -> TokenStream {
        let Self { private, operation, strategy, around, cut_off } = self;
        let block = quote!(#private::block(&mut #operation, #strategy, #around));
        if !limits {
            return quote!(#block;);
        }
        let [result, cut] = ["outcome", "cut"].map(local);
        quote! {
            if let ::core::option::Option::Some(#cut) = #block {
                let (::core::ops::ControlFlow::Continue(#result) | ::core::ops::ControlFlow::Break(#result)) = #cut_off;
                return #result;
            }
        }
    }
}

/// One attempt, as a future or, if it blocks, as a call.
fn attempt(call: &Call) -> TokenStream {
    let (rebound, body, outcome) = (rebound(call), &call.body.attempt, &call.outcome);
    let crate_path = &call.crate_path;
    let private = quote!(#crate_path::__private);
    if call.blocking {
        return quote!(#private::call(|| -> #outcome { #rebound #(#body)* }));
    }
    let borrows = borrows(call);
    quote! {
        async {
            if false {
                #borrows
                return #private::unreached::<#outcome>();
            }
            #rebound
            #(#body)*
        }
    }
}

/// The same tokens, as if they stood elsewhere.
fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let respanned = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let mut group = Group::new(group.delimiter(), respan(group.stream(), span));
            group.set_span(span);
            TokenTree::Group(group)
        }
        mut token => {
            token.set_span(token.span().located_at(span));
            token
        }
    });
    respanned.collect()
}

/// What stands before the loop for the strategy, and a reference to it.
fn strategy_access(strategy: &Source, private: &TokenStream, crate_path: &syn::Path) -> (TokenStream, TokenStream) {
    match strategy {
        Source::Own(own) => {
            let ty = match own {
                Own::Standard => quote!(#crate_path::StandardRetryStrategy),
                Own::Adaptive => quote!(#crate_path::AdaptiveRetryStrategy),
            };
            let own = Ident::new("__RETRYABLE_STRATEGY", Span::mixed_site());
            (quote!(static #own: #ty = #ty::new();), quote!(&#own))
        }
        // Everywhere alike, so that rustc says once what is wrong with a `const`.
        Source::Static(path) => (TokenStream::new(), quote_spanned!(path.span()=> #private::named(&#path))),
        Source::Place(place) => (TokenStream::new(), quote_spanned!(place.span()=> &#place)),
        Source::Once(expr) => {
            let once = local("strategy");
            (quote_spanned!(expr.span()=> let #once = #private::shared(#expr);), quote!(&#once))
        }
    }
}

/// What stands before the loop for a timer or an observer, and how it joins what is around the operation.
fn surrounding(name: &str, source: Option<&Source>, private: &TokenStream) -> (TokenStream, TokenStream) {
    let method = Ident::new(name, Span::call_site());
    match source {
        None | Some(Source::Own(_)) => (TokenStream::new(), TokenStream::new()),
        Some(Source::Static(place) | Source::Place(place)) => {
            let place = respan(quote!(#private::#method(&#place)), place.span());
            (TokenStream::new(), quote!(.#method(#place)))
        }
        Some(Source::Once(expr)) => {
            let once = local(name);
            // Whether it is what it should be is a matter of the user's expression, so that is where rustc shall point.
            let reference = respan(quote!(#private::#method(&#once)), expr.span());
            (quote!(let #once = #expr;), quote!(.#method(#reference)))
        }
    }
}
