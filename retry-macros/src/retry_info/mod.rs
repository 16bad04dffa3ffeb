//! `#[derive(RetryInfo)]`: attributes are read, judged together, and expanded.

mod arm;
mod attr;
mod expand;
mod model;
mod places;
mod precedence;
#[cfg(test)]
mod snapshots;
mod validate;

use crate::diagnostics::Diagnostics;
use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let model = Diagnostics::collect(|diagnostics| {
        let input = attr::read(input, diagnostics)?;
        Some(validate::validate(input, diagnostics))
    });
    match model {
        Ok(model) => expand::expand(&model),
        Err(error) => {
            // Empty impls, so that the rest of the program isn't told that they are missing too.
            let errors = error.to_compile_error();
            let fallback = expand::fallback(input);
            quote!(#errors #fallback)
        }
    }
}
