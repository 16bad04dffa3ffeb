//! How each attempt binds the arguments.

use crate::retryable::arguments::{self, Argument, Lending};
use crate::retryable::model::RetriedFunction;
use crate::retryable::strategy::Dependency;
use crate::tokens::{formats, mentions, private};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, FnArg, Token};

/// Decides which arguments each attempt borrows mutably, and declares these as `mut`.
///
/// A future that holds `&T` is `Send` only if `T` is `Sync`. A future that holds `&mut T` is `Send` if `T` is.
/// Arguments that the body does not name are not borrowed. What an option borrows for the whole call can't be
/// borrowed mutably.
pub(super) fn lend(retried: &mut RetriedFunction) {
    let body = statements(retried);
    let dependencies = [Some(&retried.strategy), retried.timer.as_ref(), retried.observer.as_ref()];
    let held = dependencies
        .into_iter()
        .flatten()
        .filter_map(Dependency::held)
        .chain(&retried.limits.stop)
        .chain(&retried.limits.stop_when);
    let held: TokenStream = held.map(ToTokens::to_token_stream).collect();
    // Two attempts share what they borrow.
    let may_be_unique = !retried.blocking && retried.hedge.is_none() && retried.body.owns_arguments();
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

/// Returns the mutable borrows of an attempt. They are in code that is never executed.
pub(super) fn borrows(retried: &RetriedFunction) -> TokenStream {
    let borrow = |cfg: &[Attribute], ident: &Ident| quote!(#(#cfg)* let _ = &mut #ident;);
    let unique = retried.arguments.iter().filter(|argument| argument.unique);
    let receiver = retried.receiver.iter().map(|receiver| borrow(&[], receiver));
    receiver.chain(unique.map(|argument| borrow(&argument.cfg, &argument.ident))).collect()
}

/// Returns borrows of the arguments that are declared as `mut`, because attempts that run at the same time don't borrow them
/// mutably. Without them, rustc would report an unused `mut`.
pub(super) fn used(retried: &RetriedFunction) -> TokenStream {
    let declared = retried.arguments.iter().filter(|argument| argument.is_mut);
    declared.map(|Argument { ident, cfg, .. }| quote!(#(#cfg)* let _ = &mut #ident;)).collect()
}

/// Returns the statements at the beginning of each attempt, so that it starts from the arguments as they were passed:
/// `mut` arguments are bound again, `&mut` arguments are reborrowed, and those in `clone` are cloned. Arguments that
/// the body does not name are left out.
pub(super) fn rebound(retried: &RetriedFunction) -> TokenStream {
    let private = private();
    let mut tokens = TokenStream::new();
    let shadows = quote! {
        #[allow(clippy::shadow_reuse, clippy::shadow_same, reason = "the body knows the argument by its name")]
    };
    let (on_retry, on_end, timed_out) = (&retried.on_retry, &retried.on_end, &retried.limits.timed_out);
    let (body, closures) = (statements(retried), quote!(#on_retry #on_end #timed_out));
    // `#[tracing::instrument]` was expanded before, and moves the arguments into its own future.
    let in_span = mentions(&body, &[&Ident::new("__tracing_attr_span", Span::call_site())]);
    for argument in retried.arguments.iter().filter(|argument| mentions(&body, &[&argument.ident])) {
        let (ident, mutability, cfg) = (&argument.ident, &argument.mutability, &argument.cfg);
        // The borrow is `&mut` if the declaration is `mut`, so that rustc does not report an unused `mut`. An `allow`
        // would not work where the lint is forbidden.
        let needs_mut = argument.is_mut && !argument.unique && retried.hedge.is_none();
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
        // If only one of these closures needs the `mut`, rustc would report it as unused here.
        let used =
            (mutability.is_some() && mentions(&closures, &[ident])).then(|| quote!(#(#cfg)* let _ = &mut #ident;));
        tokens.extend(quote!(#(#cfg)* #shadows let #mutability #ident = #value; #used));
    }
    tokens
}

fn statements(retried: &RetriedFunction) -> TokenStream {
    let body = &retried.body.attempt;
    quote!(#(#body)*)
}
