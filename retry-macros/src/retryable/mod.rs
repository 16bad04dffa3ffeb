//! `#[retryable]`: reads the options and the signature, checks them together, and writes the loop around the body.

mod arguments;
mod attr;
mod body;
mod expand;
mod given;
mod hedge_option;
mod limits;
mod model;
mod moved;
mod policy_option;
mod race;
mod rebind;
mod refused;
mod settle;
mod signature;
mod strategy;
mod tail;
mod validate;
mod weight;

use crate::diagnostics::Diagnostics;
use crate::retryable::attr::RetryableOption;
use crate::retryable::refused::Named;
use proc_macro2::TokenStream;
use quote::quote;

pub(crate) fn attribute(options: TokenStream, item: &TokenStream) -> TokenStream {
    let mut named = None;
    let retried = Diagnostics::collect(|diagnostics| {
        let written = options.clone();
        let mut options = attr::read(options, diagnostics);
        let function = signature::parse(item.clone(), !options.given.lacks(RetryableOption::Blocking), diagnostics)?;
        named = Some(Named::of(&mut options, written, &function));
        validate::validate(options, function, diagnostics)
    });
    match (retried, named) {
        (Ok(retried), _) => expand::expand(&retried),
        // The item is kept, so that rustc does not report its callers as well.
        (Err(error), Some(named)) => named.refuse(item, &error.to_compile_error()),
        (Err(error), None) => {
            let errors = error.to_compile_error();
            quote!(#errors #item)
        }
    }
}
