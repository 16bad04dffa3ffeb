//! `#[derive(RetryInfo)]`: reads the attributes, checks them together, and writes the impls.

mod arm;
mod attr;
mod bounds;
mod expand;
mod marks;
mod model;
mod precedence;
#[cfg(test)]
mod snapshots;
mod tables;
mod transparent;
mod validate;

use crate::diagnostics::Diagnostics;
use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let mut crate_path = None;
    let model = Diagnostics::collect(|diagnostics| {
        let input = attr::read(input, diagnostics)?;
        crate_path.clone_from(&input.crate_path);
        Some(validate::validate(input, diagnostics))
    });
    match model {
        Ok(model) => expand::expand(&model),
        Err(error) => {
            // Empty impls, so that rustc does not report missing impls in the rest of the program.
            let errors = error.to_compile_error();
            let fallback = expand::fallback(input, &crate_path.unwrap_or_else(validate::default_crate));
            quote!(#errors #fallback)
        }
    }
}
