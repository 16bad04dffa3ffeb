//! `#[retryable]`: reads the options and the signature, checks them together, and writes the loop around the body.

mod arguments;
mod attr;
mod body;
mod expand;
mod hedge;
mod limits;
mod model;
mod moved;
mod rebind;
mod settle;
mod signature;
mod strategy;
mod tail;
mod validate;
mod weight;

use crate::diagnostics::Diagnostics;
use proc_macro2::TokenStream;
use quote::quote;

pub(crate) fn attribute(options: TokenStream, item: &TokenStream) -> TokenStream {
    let retried = Diagnostics::collect(|diagnostics| {
        let options = attr::read(options, diagnostics);
        let function = signature::parse(item.clone(), options.blocking.is_some(), diagnostics)?;
        validate::validate(options, function, diagnostics)
    });
    match retried {
        Ok(retried) => expand::expand(&retried),
        Err(error) => {
            // The item is kept, so that rustc does not report its callers as well.
            let errors = error.to_compile_error();
            quote!(#errors #item)
        }
    }
}
