//! The arguments, as each attempt finds them.

use crate::retryable::arguments::{self, Lending};
use crate::retryable::strategy::Dependency;
use crate::retryable::validate::RetriedFunction;
use crate::tokens::{formats, mentions};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, FnArg, Token};

/// Decides which arguments each attempt borrows mutably, and declares those `mut`.
///
/// A future that holds `&T` is `Send` only if `T` is `Sync`; one that holds `&mut T` is `Send` if `T` is. What the body
/// doesn't name is not borrowed at all, and what an option has borrowed for the whole call can't be borrowed mutably.
pub(super) fn lend(retried: &mut RetriedFunction) {
    let body = statements(retried);
    let dependencies = [Some(&retried.strategy), retried.timer.as_ref(), retried.observer.as_ref()];
    let held: TokenStream =
        dependencies.into_iter().flatten().filter_map(Dependency::held).map(ToTokens::to_token_stream).collect();
    let may_be_unique = !retried.blocking && retried.body.owns_arguments();
    let is_lent = |ident: &Ident| (mentions(&body, &[ident]) || formats(&body, ident)) && !mentions(&held, &[ident]);

    for argument in &mut retried.arguments {
        argument.unique = argument.lending == Lending::Owned && may_be_unique && is_lent(&argument.ident);
        let holds_reference = !matches!(argument.lending, Lending::Shared | Lending::Owned | Lending::Reference);
        if argument.unique || (holds_reference && mentions(&body, &[&argument.ident])) {
            retried.body.declare_mut(&mut retried.function.sig, &argument.ident);
            argument.is_mut = true;
        }
    }
    if arguments::receiver(&retried.function.sig) == Lending::Owned
        && let Some(FnArg::Receiver(receiver)) = retried.function.sig.inputs.first_mut()
    {
        let span = receiver.self_token.span;
        retried.receiver = Some(Ident::new("self", span)).filter(|receiver| may_be_unique && is_lent(receiver));
        receiver.mutability = retried.receiver.as_ref().map(|_| Token![mut](span));
    }
}

/// Borrows mutably what each attempt shall borrow in that way. It stands where nothing is executed.
pub(super) fn borrows(retried: &RetriedFunction) -> TokenStream {
    let borrow = |cfg: &[Attribute], ident: &Ident| quote!(#(#cfg)* let _ = &mut #ident;);
    let unique = retried.arguments.iter().filter(|argument| argument.unique);
    let receiver = retried.receiver.iter().map(|receiver| borrow(&[], receiver));
    receiver.chain(unique.map(|argument| borrow(&argument.cfg, &argument.ident))).collect()
}

/// What each attempt begins with, so that it starts from the arguments as they were passed: `mut` ones are bound anew,
/// `&mut` ones are reborrowed, and those that it uses up are cloned. What the body doesn't name stays out of it.
pub(super) fn rebound(retried: &RetriedFunction) -> TokenStream {
    let crate_path = &retried.crate_path;
    let private = quote!(#crate_path::__private);
    let mut tokens = TokenStream::new();
    let shadows = quote! {
        #[allow(clippy::shadow_reuse, clippy::shadow_same, reason = "the body knows the argument by its name")]
    };
    let (body, on_retry) = (statements(retried), retried.on_retry.to_token_stream());
    // `#[tracing::instrument]` was here before, and moves the arguments into a future of its own.
    let in_span = mentions(&body, &[&Ident::new("__tracing_attr_span", Span::call_site())]);
    for argument in retried.arguments.iter().filter(|argument| mentions(&body, &[&argument.ident])) {
        let (ident, mutability, cfg) = (&argument.ident, &argument.mutability, &argument.cfg);
        // Borrowed as what it is declared to be, so that no `mut` is called unused. No `allow` does that where a lint is
        // forbidden.
        let needs_mut = argument.is_mut && !argument.unique;
        let borrow = if needs_mut { quote_spanned!(ident.span()=> &mut) } else { quote_spanned!(ident.span()=> &) };
        let value = if retried.clone.contains(ident) {
            quote_spanned!(ident.span()=> ::core::clone::Clone::clone(#borrow #ident))
        } else if let Some(reborrow) = argument.lending.reborrow(ident) {
            reborrow
        } else if mutability.is_some() {
            quote_spanned!(ident.span()=> #private::anew(#borrow #ident))
        } else if in_span {
            quote_spanned!(ident.span()=> #private::into_span(#borrow #ident))
        } else {
            continue;
        };
        // A `mut` that only `on_retry` needs is not unused.
        let used =
            (mutability.is_some() && mentions(&on_retry, &[ident])).then(|| quote!(#(#cfg)* let _ = &mut #ident;));
        tokens.extend(quote!(#(#cfg)* #shadows let #mutability #ident = #value; #used));
    }
    tokens
}

fn statements(retried: &RetriedFunction) -> TokenStream {
    let body = &retried.body.attempt;
    quote!(#(#body)*)
}
