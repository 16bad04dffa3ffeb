//! Questions about tokens.

use proc_macro2::{Ident, TokenStream, TokenTree};

/// Whether one of these names stands somewhere in the tokens.
pub(crate) fn mentions(tokens: &TokenStream, names: &[&Ident]) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&&ident),
        TokenTree::Group(group) => mentions(&group.stream(), names),
        _ => false,
    })
}
