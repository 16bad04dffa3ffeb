//! Explains a list of options that can't be parsed.

use super::{OptionTable, no_name, source};
use crate::diagnostics::Diagnostics;
use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};
use syn::Expr;

/// Reports what is wrong with a list: each `name: value`, else a value without a name, else what the parser said.
pub(super) fn explain<O>(
    list: TokenStream,
    error: syn::Error,
    table: &OptionTable<O>,
    diagnostics: &mut Diagnostics,
) {
    let parts = parts(list);
    let colons: Vec<_> = parts.iter().filter_map(|part| colon(part)).collect();
    for (name, value) in &colons {
        let value = source(value);
        diagnostics.error(name, format!("write `=` between an option and its value: `{name} = {value}`"));
    }
    if !colons.is_empty() {
        return;
    }
    // A list that begins with the name of an option is another matter.
    let value = parts.first().filter(|part| !is_named(part)).and_then(|part| syn::parse2::<Expr>(part.clone()).ok());
    match value {
        Some(Expr::Reference(place)) if table.main.is_some() => {
            diagnostics.error(&place, no_name(&place.expr, table.main, table));
        }
        Some(value) if table.main.is_some() => diagnostics.error(&value, no_name(&value, table.main, table)),
        _ => _ = diagnostics.ok::<()>(Err(error)),
    }
}

/// The parts between commas.
fn parts(list: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in list {
        match (&token, parts.last_mut()) {
            (TokenTree::Punct(comma), _) if comma.as_char() == ',' => parts.push(TokenStream::new()),
            (_, Some(part)) => part.extend([token]),
            (_, None) => {}
        }
    }
    parts
}

/// The name and the value of `name: value`.
fn colon(part: &TokenStream) -> Option<(Ident, TokenStream)> {
    let mut tokens = part.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(name)), Some(TokenTree::Punct(colon)))
            if colon.as_char() == ':' && colon.spacing() == Spacing::Alone =>
        {
            Some((name, tokens.collect()))
        }
        _ => None,
    }
}

/// Whether a part has the form `name = ...`.
fn is_named(part: &TokenStream) -> bool {
    matches!(part.clone().into_iter().nth(1), Some(TokenTree::Punct(equals)) if equals.as_char() == '=')
}
