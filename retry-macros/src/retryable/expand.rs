//! Writes the loop into the function. It cannot fail.

use crate::retryable::limits::{Limited, Limits, awaited, limited};
use crate::retryable::model::{Policy, RetriedFunction};
use crate::retryable::race::{self, Turn};
use crate::retryable::rebind::{borrows, rebound, used};
use crate::retryable::settle::{Over, Settle};
use crate::retryable::signature;
use crate::retryable::strategy::{Dependency, Own};
use crate::tokens::{local, private, respan};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, Type};

pub(super) fn expand(retried: &RetriedFunction) -> TokenStream {
    let RetriedFunction { function, body, outcome, context, crate_path, .. } = retried;
    let private = private();
    let attrs = &function.attrs;
    let (outer, inner): (Vec<_>, Vec<_>) = attrs.iter().partition(|attr| matches!(attr.style, syn::AttrStyle::Outer));
    let (vis, modifiers, signature) = (&function.vis, &function.modifiers.defaultness, &function.sig);
    let (call_setup, retried_call) = call_value(retried, &private);
    let [operation, result, state, cut, place_name] = ["operation", "outcome", "context", "cut", "last"].map(local);

    // A turn with a hedge has references to both.
    let evaluated = if retried.hedge.is_some() {
        [retried_call.clone(), quote!(#operation), quote!(#result)]
    } else {
        [retried_call.clone(), quote!(&mut #operation), quote!(&#result)]
    };
    let evaluated = evaluated.each_ref();
    let directive = directive(retried, evaluated, &private);
    let directive = retried.weighing.settled(directive, evaluated, &private);
    let (context_setup, context, remembered) = match context {
        None => (None, None, directive.clone()),
        Some(context) => (
            Some(quote!(let mut #state = #private::context(&#operation);)),
            Some(quote!(let #context = #private::attempt_context(&#state, &#operation);)),
            quote!(#state.__remember(#directive)),
        ),
    };
    let Limited { limits, setup: limits_setup } = limits(retried, &private);
    let last = quote!(&mut #place_name);
    let (is_limited, text) = (retried.limits.can_cut(), error_text(retried, &private));
    let place = place(is_limited, [&place_name, &operation], &text, &private);
    let (on_retry, on_end) = (retried.on_retry.as_ref(), retried.on_end.as_ref());
    let over = Over::new(&result, on_retry.is_some() || on_end.is_some());
    let cut_off = match (over.is_settled, retried.blocking) {
        (true, _) => quote!(#private::cut_unsettled),
        (false, false) => quote!(#private::cut),
        (false, true) => quote!(#private::over),
    };
    // Whether an outcome can be made from `TimedOut` depends on the return type, so rustc points there.
    let out_of_time = out_of_time(retried, &private);
    let cut_off = respan(quote!(#cut_off), outcome.span());
    let cut_off = quote!(#cut_off(#retried_call, &mut #operation, #cut, #last, #out_of_time));
    let parts = Parts {
        private: &private,
        operation: &operation,
        call: &retried_call,
        last: &last,
        cut_off: &cut_off,
        over: &over,
        limits: &retried.limits,
    };
    let settle = Settle {
        private: &private,
        call: &retried_call,
        operation: &operation,
        identified: if context.is_some() { &state } else { &operation },
        result: &result,
        directive: &remembered,
        last: &last,
        text: &text,
        is_known: !signature::is_inferred(outcome) && !matches!(outcome, Type::Never(_)),
        outcome: outcome.span(),
        on_retry,
        on_end,
    };
    let (weight_setup, weigh) = retried.weighing.weigh(&retried_call, &operation, &private);
    let (started, settle_setup) = (settle.started(), settle.setup());
    let begin = begin(retried, limits, &operation, &retried_call);
    let (race_setup, attempts) = if let Some((hedge, _)) = &retried.hedge {
        let (call, wait, attempt) = (&retried_call, &parts.wait(None), &attempt(retried));
        let turn = Turn { private: &private, call, wait, attempt, directive: &directive, last: &last, settle: &settle };
        let turn = turn.expand(retried);
        (Some(race::setup(hedge, retried, call)), quote!(#place loop { #turn }))
    } else if over.is_settled {
        let turn = turn(retried, &parts, is_limited, context.as_ref(), &settle.tell_and_settle());
        (None, quote!(#place loop { #turn }))
    } else {
        (None, attempts(retried, &parts, context.as_ref(), &settle, &place))
    };

    // Before what borrows an argument for the whole operation.
    let used = retried.hedge.as_ref().map(|_| used(retried));
    let repeated = quote! {
        use #crate_path::__private as #private;
        #call_setup
        #used
        #limits_setup
        #weight_setup
        #started
        #begin
        #weigh
        #context_setup
        #settle_setup
        #race_setup
        #attempts
    };
    let body = body.around(race::with_feature(retried, repeated));
    quote! {
        #(#outer)*
        #vis #modifiers #signature {
            #(#inner)*
            #body
        }
    }
}

/// Returns the code of the limits, which know whether the operation must not be carried out twice.
fn limits(retried: &RetriedFunction, private: &TokenStream) -> Limited {
    let Limited { limits, setup } = limited(&retried.limits, private);
    let is_once = matches!(retried.policy, Policy::Standard { idempotent: Some(false) });
    let limits = match limits {
        Some(limits) if is_once && retried.limits.can_cut() => Some(quote!(#private::once(#limits))),
        limits => limits,
    };
    Limited { limits, setup }
}

/// Returns the beginning of the operation.
fn begin(retried: &RetriedFunction, limits: Option<TokenStream>, operation: &Ident, call: &TokenStream) -> TokenStream {
    let private = private();
    let begun = match limits {
        None => quote!(#private::begin(#call)),
        Some(limits) => quote!(#private::begin_within(#call, #limits)),
    };
    let unlimited = retried.limits.unlimited_attempts.then(|| quote!(#private::unlimited_attempts(&mut #operation);));
    quote! {
        let mut #operation = #begun;
        #unlimited
    }
}

/// Returns the marker that gives the text of the error in an outcome.
fn error_text(retried: &RetriedFunction, private: &TokenStream) -> TokenStream {
    let outcome = &retried.outcome;
    // While a part of the type is not known, nothing is known of the error.
    if signature::is_inferred(outcome) { quote!(#private::NO_TEXT) } else { quote!(#private::text_of!(#outcome)) }
}

/// Returns the declaration of the place for the last outcome.
fn place(is_limited: bool, [place, operation]: [&Ident; 2], text: &TokenStream, private: &TokenStream) -> TokenStream {
    if is_limited {
        // Written in its place. The result of a function would be copied.
        quote!(let mut #place = #private::WithText { place: ::core::option::Option::None, text: #text };)
    } else {
        quote!(let mut #place = #private::last(&#operation, #text);)
    }
}

/// Returns the loop of a function without `on_retry`, `on_end` and a hedge. A final outcome is returned as it is.
///
/// In an async function, the later waits and the place for the last outcome come after a failure, so that a success at the first attempt pays
/// for neither. Limits need that place in attempts, too.
fn attempts(
    retried: &RetriedFunction,
    parts: &Parts<'_>,
    context: Option<&TokenStream>,
    settle: &Settle<'_>,
    place: &TokenStream,
) -> TokenStream {
    let Parts { private, operation, call, last, .. } = parts;
    let (is_limited, attempt) = (retried.limits.can_cut(), attempt(retried));
    let (settled, text) = (settle.settle(), settle.text);
    let [result, place_name] = ["outcome", "last"].map(local);
    let moved = settle.moved();
    // A function that blocks has no attempt before it, so rustc does not know yet what the outcome is.
    let unrecovered = if retried.blocking { result.to_token_stream() } else { moved.clone() };
    let ended = quote! {
        if let ::core::option::Option::Some(#result) = #private::unrecovered(#call, &mut #operation, #last, #text) {
            return #private::final_outcome(#unrecovered);
        }
    };
    let keep = quote!(#private::keep(#call, &mut #operation, #last, #moved););
    if retried.blocking {
        let (wait, attempt) = parts.block(is_limited, &attempt);
        return quote! {
            #place
            loop {
                #wait
                #ended
                #context
                let #result = #attempt;
                #settled
                #keep
            }
        };
    }
    let (before, attempt) = parts.within(is_limited, context, &attempt);
    // The outcome is in a block, because the future would store it during the waits otherwise.
    let attempt = quote! {
        #before
        let #result = #attempt;
        #settled
    };
    let (outside, attempt) = if is_limited {
        (Some(place), quote!({ #attempt #keep }))
    } else {
        let kept = quote!(#call.kept(&mut #operation, #moved));
        (None, quote!(let mut #place_name = { #attempt #kept };))
    };
    let [first_wait, wait] = [None, Some(&ended)].map(|ended| parts.wait(ended));
    quote! {
        #outside
        #first_wait
        loop {
            #attempt
            #wait
        }
    }
}

/// Returns the function that makes the outcome of an attempt that was cut.
pub(super) fn out_of_time(retried: &RetriedFunction, private: &TokenStream) -> TokenStream {
    let outcome = &retried.outcome;
    match &retried.limits.timed_out {
        // Whether an outcome can be made from `TimedOut` depends on the return type, so rustc points there.
        None if retried.limits.can_cut() => respan(quote!(#private::out_of_time), outcome.span()),
        None => quote!(#private::never_cut),
        Some(make) => {
            let timed_out = local("timed_out");
            let called = respan(quote!(#private::timed_out::<#outcome>), outcome.span());
            // Whether the error is right depends on the user's expression, so rustc points there.
            let called = quote_spanned!(make.span()=> #called(#timed_out, #make));
            quote!(|#timed_out| #called)
        }
    }
}

/// Returns a turn of the loop of a function with `on_retry` or `on_end`: an attempt, and the end that settles its outcome. The attempt is
/// skipped if the service did not recover.
fn turn(
    retried: &RetriedFunction,
    parts: &Parts<'_>,
    is_limited: bool,
    context: Option<&TokenStream>,
    settle: &TokenStream,
) -> TokenStream {
    let Parts { private, operation, call, last, over: Over { setup: is_over, value: over, .. }, .. } = parts;
    let result = local("outcome");
    let (wait, before, attempt) = if retried.blocking {
        let (wait, attempt) = parts.block(is_limited, &attempt(retried));
        (wait, context.cloned(), attempt)
    } else {
        let (before, attempt) = parts.within(is_limited, context, &attempt(retried));
        (parts.wait(None), before, attempt)
    };
    // The outcome is no value of a `match`, which would keep it during the attempt.
    quote! {
        #wait
        #before
        #is_over
        let #result = if #private::is_unrecovered(#call, &mut #operation, #last) {
            let #result = #private::last_outcome(#last);
            #over
        } else {
            #attempt
        };
        #settle
    }
}

/// Returns the setup before the loop, and the expression of the call, which is repeated wherever it is needed.
fn call_value(retried: &RetriedFunction, private: &TokenStream) -> (TokenStream, TokenStream) {
    let function = retried.function.sig.ident.unraw().to_string();
    // The library searches the path of the closure for this name.
    let own_name = Ident::new("__RETRIED", Span::mixed_site());
    let static_name = |value: TokenStream| quote!(static #own_name: #private::Name = #value;);
    let (name, name_setup) = match &retried.name {
        None => (own_name.clone(), static_name(quote!(#private::function_name!(#function)))),
        Some(Expr::Lit(text)) => (own_name.clone(), static_name(quote!(#private::Name::Given(#text)))),
        // Whether the type is right depends on the user's expression, so rustc points there.
        Some(expr) => {
            let name = local("name");
            let given = respan(quote!(#private::given_name), expr.span());
            let given = quote_spanned!(expr.span()=> #given(#expr));
            (name.clone(), quote!(let #name = #given;))
        }
    };
    let (strategy_setup, retried_call) = with_strategy(retried, &name, private);
    let (timer_setup, timer) = match (retried.blocking, &retried.timer) {
        (true, None) => (TokenStream::new(), quote!(.blocking())),
        (true, timer) => surrounding("blocking_timer", timer.as_ref(), private),
        (false, timer) => surrounding("timer", timer.as_ref(), private),
    };
    let (observer_setup, observer) = surrounding("observer", retried.observer.as_ref(), private);
    let setup = quote! {
        #strategy_setup
        #name_setup
        #timer_setup
        #observer_setup
    };
    (setup, quote!(#retried_call #timer #observer))
}

/// Returns the expression of the policy's directive for an outcome.
fn directive(
    retried: &RetriedFunction,
    [call, operation, outcome]: [&TokenStream; 3],
    private: &TokenStream,
) -> TokenStream {
    match &retried.policy {
        Policy::Standard { idempotent } => {
            let evaluated = match idempotent {
                None => quote!(#private::evaluate(#outcome)),
                Some(idempotent) => quote!(#private::evaluate_idempotent(#outcome, #idempotent)),
            };
            // Whether the policy can evaluate the outcome depends on the return type, too.
            respan(evaluated, retried.outcome.span())
        }
        Policy::Closure(closure) => quote!(#private::evaluate_by(#call, #operation, #outcome, #closure)),
        Policy::Value(policy) => {
            let evaluate = respan(quote!(#private::evaluate_with), policy.span());
            let evaluated = quote_spanned!(policy.span()=> #evaluate(#call, #operation, #outcome, &#policy));
            // A policy that is made here is dropped before the strategy gets the failure. So a panic of its `Drop`
            // loses no retry.
            let directive = local("directive");
            quote!({ let #directive = #evaluated; #directive })
        }
    }
}

/// The expressions that a turn of the loop consists of.
struct Parts<'a> {
    private: &'a TokenStream,
    operation: &'a Ident,
    call: &'a TokenStream,
    /// A reference to the place for the last outcome.
    last: &'a TokenStream,
    cut_off: &'a TokenStream,
    over: &'a Over,
    limits: &'a Limits,
}

impl Parts<'_> {
    /// Returns the code that waits until the attempt is due, with what follows a wait.
    fn wait(&self, after: Option<&TokenStream>) -> TokenStream {
        let Self { private, operation, call, limits, .. } = self;
        let wait = local("wait");
        let waited = awaited(limits, &wait.to_token_stream(), private);
        // A `while let` would store the wait twice in the future.
        quote! {
            if !#private::begin_if_due(#call, &mut #operation) {
                loop {
                    let ::core::option::Option::Some(#wait) = #private::wait(#call, &mut #operation) else { break };
                    #waited;
                }
                #after
            }
        }
    }

    /// Returns the setup before an attempt, and the attempt, which has a deadline if there are limits.
    fn within(
        &self,
        limits: bool,
        context: Option<&TokenStream>,
        body: &TokenStream,
    ) -> (Option<TokenStream>, TokenStream) {
        let Self { private, operation, call, cut_off, over: Over { value: over, .. }, .. } = self;
        if !limits {
            return (context.cloned(), quote!(#private::place(&#operation).run(#body).await));
        }
        let [deadline, sleep, attempted, result, cut] = ["deadline", "sleep", "attempted", "outcome", "cut"].map(local);
        let before = quote! {
            let (#deadline, #sleep) = #private::deadline(#call, &mut #operation);
        };
        // The attempt is dropped first, and with it what it borrows.
        let attempt = quote! {
            match #attempted {
                ::core::result::Result::Ok(#result) => #result,
                ::core::result::Result::Err(#cut) => match #cut_off {
                    ::core::ops::ControlFlow::Continue(#result) => #result,
                    ::core::ops::ControlFlow::Break(#result) => #over,
                },
            }
        };
        let attempting = quote! {
            #private::attempt(
                #deadline,
                ::core::pin::pin!(#sleep),
                ::core::pin::pin!(#private::place(&#operation).run(#body)),
            )
        };
        let attempting = awaited(self.limits, &attempting, private);
        let attempt = quote! {{
            let #attempted = #attempting;
            #attempt
        }};
        (Some(quote!(#before #context)), attempt)
    }

    /// Returns the code that blocks until the attempt is due, and the attempt, which is skipped if the time is over.
    fn block(&self, limits: bool, body: &TokenStream) -> (TokenStream, TokenStream) {
        let Self { private, operation, call, cut_off, over, .. } = self;
        let attempt = quote!(#private::place(&#operation).run_blocking(#body));
        let block = quote!(#private::block(#call, &mut #operation));
        if !limits {
            return (quote!(#block;), attempt);
        }
        let [result, cut] = ["outcome", "cut"].map(local);
        let either = quote!(::core::ops::ControlFlow::Continue(#result) | ::core::ops::ControlFlow::Break(#result));
        if !over.is_settled {
            let wait = quote! {
                if let ::core::option::Option::Some(#cut) = #block {
                    return #cut_off;
                }
            };
            return (wait, attempt);
        }
        let value = &over.value;
        let attempt = quote! {
            match #cut {
                ::core::option::Option::Some(#cut) => match #cut_off { #either => #value },
                ::core::option::Option::None => #attempt,
            }
        };
        (quote!(let #cut = #block;), attempt)
    }
}

/// Returns the body of one attempt: a future, or a closure if it blocks. rustc reports errors of the whole body at the user's braces.
fn attempt(retried: &RetriedFunction) -> TokenStream {
    let (rebound, body, outcome) = (rebound(retried), &retried.body.attempt, &retried.outcome);
    let private = private();
    // The hygiene is that of the expansion, so that no lint treats the block as the user's code.
    let place = Span::mixed_site().located_at(retried.body.braces);
    // Without a `;`, an `if` at the end of a block would be the value of the block.
    let end = body.is_empty().then(|| quote!(;));
    let block = |tokens| {
        let mut block = Group::new(Delimiter::Brace, tokens);
        block.set_span(place);
        block
    };
    if retried.blocking {
        let block = block(quote!(#rebound #(#body)*));
        return quote_spanned!(place=> || -> #outcome #block);
    }
    let borrows = borrows(retried);
    let context = match (&retried.hedge, &retried.context) {
        (Some(_), Some(name)) => Some(race::context(name, &private).1),
        _ => None,
    };
    let block = block(quote! {
        if false {
            #borrows
            return #private::unreached::<#outcome>();
        } #end
        #context
        #rebound
        #(#body)*
    });
    quote_spanned!(place=> async #block)
}

/// Returns the setup of the strategy before the loop, and the call with that strategy and this static as its name.
fn with_strategy(retried: &RetriedFunction, name: &Ident, private: &TokenStream) -> (TokenStream, TokenStream) {
    match &retried.strategy {
        Dependency::Own(own) => {
            let ty = match own {
                Own::Patient => quote!(#private::PatientRetryStrategy),
                Own::Standard => quote!(#private::StandardRetryStrategy),
                Own::Adaptive => quote!(#private::AdaptiveRetryStrategy),
            };
            let own = Ident::new("__RETRYABLE_STRATEGY", Span::mixed_site());
            (quote!(static #own: #ty = #ty::new();), quote!(#name.__call(&#own)))
        }
        // The tokens are the same everywhere, so that rustc reports a `const` once.
        Dependency::Static(path) => (TokenStream::new(), quote_spanned!(path.span()=> #name.__call(&#path))),
        Dependency::Place(place) => (TokenStream::new(), quote_spanned!(place.span()=> #name.__call_with(&#place))),
        Dependency::Whole(place) => {
            (TokenStream::new(), quote_spanned!(place.span()=> #name.__call_with_shared(&#place)))
        }
        Dependency::Once(expr) => {
            let once = local("strategy");
            let setup = quote_spanned!(expr.span()=> let #once = #private::shared(#expr););
            (setup, quote!(#name.__call_with(&#once)))
        }
    }
}

/// Returns the setup of a timer or an observer before the loop, and the method call that adds it to the call.
fn surrounding(name: &str, dependency: Option<&Dependency>, private: &TokenStream) -> (TokenStream, TokenStream) {
    let [method, static_method, with] = [name.to_owned(), format!("static_{name}"), format!("with_{name}")]
        .map(|name| Ident::new(&name, Span::call_site()));
    match dependency {
        None | Some(Dependency::Own(_)) => (TokenStream::new(), TokenStream::new()),
        Some(Dependency::Static(place)) => {
            let place = respan(quote!(#private::#static_method(&#place)), place.span());
            (TokenStream::new(), quote!(.#with(#place)))
        }
        Some(Dependency::Place(place) | Dependency::Whole(place)) => {
            let place = respan(quote!(#private::#method(&#place)), place.span());
            (TokenStream::new(), quote!(.#with(#place)))
        }
        Some(Dependency::Once(expr)) => {
            let once = local(name);
            // Whether the type is right depends on the user's expression, so rustc points there.
            let reference = respan(quote!(#private::#method(&#once)), expr.span());
            (quote!(let #once = #expr;), quote!(.#with(#reference)))
        }
    }
}
