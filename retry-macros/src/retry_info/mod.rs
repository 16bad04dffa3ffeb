//! `#[derive(RetryInfo)]`: reads the attributes, checks them together, and writes the impls.

mod arm;
mod attr;
mod bounds;
mod expand;
mod marks;
mod model;
mod optional;
mod precedence;
mod said;
#[cfg(test)]
mod snapshots;
mod tables;
mod transparent;
mod validate;

use crate::diagnostics::Diagnostics;
use proc_macro2::TokenStream;
use syn::DeriveInput;

pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let (mut crate_path, mut functions) = (None, Vec::new());
    let model = Diagnostics::collect(|diagnostics| {
        let input = attr::read(input, diagnostics)?;
        crate_path.clone_from(&input.crate_path);
        functions = input.functions();
        Some(validate::validate(input, diagnostics))
    });
    match model {
        Ok(model) => expand::expand(&model),
        Err(error) => {
            // Impls that say nothing, so that rustc does not report missing impls in the rest of the program.
            let krate = crate_path.unwrap_or_else(validate::default_crate);
            expand::fallback(input, &krate, &error.to_compile_error(), &functions)
        }
    }
}
