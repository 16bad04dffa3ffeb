//! Writes the loop into the function. It cannot fail.

use crate::retryable::attr::Limit;
use crate::retryable::strategy::{Own, Source};
use crate::retryable::validate::{Call, Limits, Policy};
use crate::tokens::mentions;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

pub(super) fn expand(call: Call) -> TokenStream {
    let rebound = rebound(&call);
    let Call { function, arguments: _, clone: _, outcome, strategy, policy, limits, observer, timer, crate_path } =
        call;
    let private = quote!(#crate_path::__private);
    let attrs = &function.attrs;
    let (outer, inner): (Vec<_>, Vec<_>) = attrs.iter().partition(|attr| matches!(attr.style, syn::AttrStyle::Outer));
    let (vis, modifiers, signature, body) =
        (&function.vis, &function.modifiers.defaultness, &function.sig, &function.block.stmts);
    let Access { setup, first, again } = access(&strategy, &private, &crate_path);

    let name = signature.ident.to_string();
    let around = Ident::new("__RETRYABLE_AROUND", Span::mixed_site());
    let (timer_setup, timer) = surrounding("timer", timer.as_ref(), &private);
    let (observer_setup, observer) = surrounding("observer", observer.as_ref(), &private);
    let around_setup = quote! {
        const #around: #private::Around<'static> =
            #private::Around::new(::core::concat!(::core::module_path!(), "::", #name));
        #timer_setup
        #observer_setup
    };
    let around = quote!(&#around #timer #observer);

    let operation = local("operation");
    let wait = local("wait");
    let result = local("outcome");
    let directive = match policy {
        Policy::Standard { idempotent } => {
            let idempotent = idempotent.map(|idempotent| quote!(.idempotent(#idempotent)));
            let policy = quote!(#crate_path::StandardRetryPolicy::new() #idempotent);
            // Whether the outcome can be judged is a matter of the return type, so that is where rustc shall point.
            respan(quote!(#private::judge(&#result, &#policy)), outcome.span())
        }
        Policy::Closure(closure) => quote!(#private::judge_by(&#result, #closure)),
        Policy::Value(policy) => {
            let judge = respan(quote!(#private::judge_with), policy.span());
            quote_spanned!(policy.span()=> #judge(&#result, &#policy))
        }
    };

    let attempt = quote! {
        async {
            if false {
                return #private::unreached::<#outcome>();
            }
            #rebound
            #(#body)*
        }
    };
    let Limited { limits, last, setup: last_setup, keep } = limited(limits, &private, &result);
    let (begin, before, attempt) = match limits {
        None => (quote!(#private::begin(#first, #around)), None, quote!(#attempt.await)),
        Some(limits) => {
            let (cut, deadline, sleep) = (local("cut"), local("deadline"), local("sleep"));
            let before = quote!(let (#deadline, #sleep) = #private::deadline(&#operation, #around););
            // Whether an outcome can say that the time was up is a matter of the return type, too.
            let next = respan(quote!(#private::cut(&mut #operation, #again, #cut, #last, #around)), outcome.span());
            let attempt = quote! {
                match #private::attempt(
                    #deadline,
                    ::core::pin::pin!(#sleep),
                    ::core::pin::pin!(#attempt),
                )
                .await
                {
                    ::core::result::Result::Ok(#result) => #result,
                    ::core::result::Result::Err(#cut) => match #next {
                        ::core::ops::ControlFlow::Continue(#result) => #result,
                        ::core::ops::ControlFlow::Break(#result) => return #result,
                    },
                }
            };
            (quote!(#private::begin_within(#first, #limits, #around)), Some(before), attempt)
        }
    };

    quote! {
        #(#outer)*
        #vis #modifiers #signature {
            #(#inner)*
            #setup
            #around_setup
            #last_setup
            let mut #operation = #begin;
            loop {
                while let ::core::option::Option::Some(#wait) = #private::wait(&mut #operation, #again, #around) {
                    #wait.await;
                }
                #before
                let #result = #attempt;
                if #private::settle(&mut #operation, #again, #directive, #around) {
                    return #result;
                }
                #keep
            }
        }
    }
}

/// What a limit on the time brings with it.
#[derive(Default)]
struct Limited {
    /// The limits.
    limits: Option<TokenStream>,
    /// A reference to where the last outcome is kept.
    last: TokenStream,
    /// What stands before the loop for that.
    setup: TokenStream,
    /// What keeps an outcome.
    keep: TokenStream,
}

fn limited(limits: Limits, private: &TokenStream, outcome: &Ident) -> Limited {
    match limits {
        Limits::None => Limited::default(),
        Limits::Attempt(time) => {
            let time = duration(time);
            let limits = Some(quote!(#private::attempt_timeout(#time)));
            Limited { limits, last: quote!(&mut ()), ..Limited::default() }
        }
        Limits::MaxTime(max_time, attempt_timeout) => {
            let max_time = duration(max_time);
            let attempt_timeout = attempt_timeout.map(duration).map_or_else(
                || quote!(::core::option::Option::None),
                |time| quote!(::core::option::Option::Some(#time)),
            );
            let last = local("last");
            Limited {
                limits: Some(quote!(#private::max_time(#max_time, #attempt_timeout))),
                last: quote!(&mut #last),
                setup: quote!(let mut #last = ::core::option::Option::None;),
                keep: quote!(#last = ::core::option::Option::Some(#outcome);),
            }
        }
    }
}

/// A time as an expression.
fn duration(limit: Limit) -> TokenStream {
    match limit {
        Limit::Constant(time) => {
            let (secs, nanos) = (time.as_secs(), time.subsec_nanos());
            quote!(::core::time::Duration::new(#secs, #nanos))
        }
        Limit::Expr(expr) => expr.to_token_stream(),
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

/// A name that users can't see.
fn local(name: &str) -> Ident {
    Ident::new(&format!("__{name}"), Span::mixed_site())
}

/// How the strategy is reached.
struct Access {
    /// What stands before the loop.
    setup: TokenStream,
    /// A reference to it, where it is needed for the first time.
    first: TokenStream,
    /// A reference to it, everywhere else.
    again: TokenStream,
}

fn access(strategy: &Source, private: &TokenStream, crate_path: &syn::Path) -> Access {
    match strategy {
        Source::Own(own) => {
            let ty = match own {
                Own::Standard => quote!(#crate_path::StandardRetryStrategy),
                Own::Adaptive => quote!(#crate_path::AdaptiveRetryStrategy),
            };
            let own = Ident::new("__RETRYABLE_STRATEGY", Span::mixed_site());
            Access { setup: quote!(static #own: #ty = #ty::new();), first: quote!(&#own), again: quote!(&#own) }
        }
        Source::Static(path) => Access {
            setup: TokenStream::new(),
            first: quote_spanned!(path.span()=> #private::named(&#path)),
            again: quote_spanned!(path.span()=> &#path),
        },
        Source::Place(place) => {
            let place = quote_spanned!(place.span()=> &#place);
            Access { setup: TokenStream::new(), first: place.clone(), again: place }
        }
        Source::Once(expr) => {
            let once = local("strategy");
            Access {
                setup: quote_spanned!(expr.span()=> let #once = #private::shared(#expr);),
                first: quote!(&#once),
                again: quote!(&#once),
            }
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

/// What each attempt begins with, so that it starts from the arguments as they were passed: `mut` ones are bound anew,
/// `&mut` ones are reborrowed, and those that it uses up are cloned. What the body doesn't name stays out of it.
fn rebound(call: &Call) -> TokenStream {
    let crate_path = &call.crate_path;
    let mut tokens = TokenStream::new();
    let body = &call.function.block.stmts;
    let body = quote!(#(#body)*);
    for argument in call.arguments.iter().filter(|argument| mentions(&body, &[&argument.ident])) {
        let (ident, mutability, cfg) = (&argument.ident, &argument.mutability, &argument.cfg);
        let value = if call.clone.contains(ident) {
            quote_spanned!(ident.span()=> ::core::clone::Clone::clone(&#ident))
        } else if argument.mutable_reference {
            quote!(&mut *#ident)
        } else if mutability.is_some() {
            let private = quote!(#crate_path::__private);
            quote_spanned!(ident.span()=> #private::anew(&#ident))
        } else {
            continue;
        };
        tokens.extend(quote!(#(#cfg)* let #mutability #ident = #value;));
    }
    tokens
}
