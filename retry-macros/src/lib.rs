//! The macros of [retry-core](https://docs.rs/retry-core): depend on that crate, which re-exports them.

mod diagnostics;
mod options;
mod retry_info;
mod retryable;
#[cfg(test)]
mod snapshots;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Says what an error means for a retry.
#[proc_macro_derive(RetryInfo, attributes(retry))]
pub fn derive_retry_info(input: TokenStream) -> TokenStream {
    retry_info::derive(&parse_macro_input!(input as DeriveInput)).into()
}

/// Retries an async function.
#[proc_macro_attribute]
pub fn retryable(options: TokenStream, item: TokenStream) -> TokenStream {
    retryable::attribute(options.into(), &item.into()).into()
}
