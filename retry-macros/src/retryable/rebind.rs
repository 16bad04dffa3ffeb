//! The arguments, as each attempt finds them.

use crate::retryable::validate::Call;
use crate::tokens::mentions;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

/// What each attempt begins with, so that it starts from the arguments as they were passed: `mut` ones are bound anew,
/// `&mut` ones are reborrowed, and those that it uses up are cloned. What the body doesn't name stays out of it.
pub(super) fn rebound(call: &Call) -> TokenStream {
    let crate_path = &call.crate_path;
    let private = quote!(#crate_path::__private);
    let mut tokens = TokenStream::new();
    let shadows = quote! {
        #[allow(clippy::shadow_reuse, clippy::shadow_same, reason = "the body knows the argument by its name")]
    };
    let body = &call.body.attempt;
    let body = quote!(#(#body)*);
    // `#[tracing::instrument]` was here before, and moves the arguments into a future of its own.
    let in_span = mentions(&body, &[&Ident::new("__tracing_attr_span", Span::call_site())]);
    for argument in call.arguments.iter().filter(|argument| mentions(&body, &[&argument.ident])) {
        let (ident, mutability, cfg) = (&argument.ident, &argument.mutability, &argument.cfg);
        // Borrowed as what it was declared to be, so that no `mut` is called unused. No `allow` does that where a lint is
        // forbidden.
        let borrow =
            if argument.stays_mut { quote_spanned!(ident.span()=> &mut) } else { quote_spanned!(ident.span()=> &) };
        let value = if call.clone.contains(ident) {
            quote_spanned!(ident.span()=> ::core::clone::Clone::clone(#borrow #ident))
        } else if argument.mutable_reference {
            quote!(&mut *#ident)
        } else if mutability.is_some() {
            quote_spanned!(ident.span()=> #private::anew(#borrow #ident))
        } else if in_span {
            quote_spanned!(ident.span()=> #private::into_span(#borrow #ident))
        } else {
            continue;
        };
        tokens.extend(quote!(#(#cfg)* #shadows let #mutability #ident = #value;));
    }
    tokens
}
