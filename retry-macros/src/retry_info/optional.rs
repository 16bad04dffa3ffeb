//! Writes answers that may be missing.

use proc_macro2::TokenStream;
use quote::quote;
use std::time::Duration;

/// Returns the answer of the fields, or otherwise the constant.
pub(super) fn or_constant(asked: Option<TokenStream>, constant: Option<Duration>) -> TokenStream {
    let constant = constant.map(|constant| {
        let (secs, nanos) = (constant.as_secs(), constant.subsec_nanos());
        quote!(::core::time::Duration::new(#secs, #nanos))
    });
    match (asked, constant) {
        (Some(asked), None) => asked,
        (None, constant) => some(constant),
        (Some(asked), constant) => {
            let constant = some(constant);
            quote!(#asked.or(#constant))
        }
    }
}

/// Returns the expression of an optional value.
pub(super) fn some(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote!(::core::option::Option::None), |value| quote!(::core::option::Option::Some(#value)))
}
