//! The macros of `retry-core`. Depend on that crate, which re-exports them.
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::exit,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::panic_in_result_fn,
        clippy::string_slice,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::unwrap_in_result,
        clippy::unwrap_used
    )
)]

mod diagnostics;
mod option_table;
mod options;
mod other;
mod retry_info;
mod retryable;
#[cfg(test)]
mod snapshots;
mod tokens;
mod unreadable;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

#[doc = include_str!("../docs/retry_info.md")]
#[proc_macro_derive(RetryInfo, attributes(retry))]
pub fn derive_retry_info(input: TokenStream) -> TokenStream {
    retry_info::derive(&parse_macro_input!(input as DeriveInput)).into()
}

#[doc = include_str!("../docs/retryable.md")]
#[proc_macro_attribute]
pub fn retryable(options: TokenStream, item: TokenStream) -> TokenStream {
    retryable::attribute(options.into(), &item.into()).into()
}
