//! Explains a list of options that can't be parsed.

use crate::diagnostics::Diagnostics;
use crate::option_table::OptionTable;
use crate::tokens::source;
use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};
use syn::Expr;

/// Reports what is wrong with a list: each `name: value`, `name value` and `!name`, or otherwise a value without a name, or otherwise the
/// error of the parser.
pub(crate) fn explain<O>(list: TokenStream, error: syn::Error, table: &OptionTable<O>, diagnostics: &mut Diagnostics) {
    let parts = parts(list);
    let values: Vec<_> = parts.iter().filter_map(|part| without_equals(part, table)).collect();
    for (name, value) in &values {
        let value = source(value);
        diagnostics.error(name, format!("write `=` between an option and its value: `{name} = {value}`"));
    }
    let negations: Vec<_> =
        parts.iter().filter_map(|part| Some((part, table.negation(&negated(part)?.to_string())?))).collect();
    for (part, advice) in &negations {
        diagnostics.error(part, format!("an option is not negated by `!`; {advice}"));
    }
    if !values.is_empty() || !negations.is_empty() {
        return;
    }
    let main = table.main.filter(|main| !parts.iter().filter_map(name).any(|name| name == main));
    let value = parts.first().filter(|part| name(part).is_none()).and_then(|part| syn::parse2(part.clone()).ok());
    match value {
        Some(Expr::Reference(place)) => diagnostics.error(&place, table.no_name(&place.expr, main)),
        Some(value) => diagnostics.error(&value, table.no_name(&value, main)),
        None => _ = diagnostics.ok::<()>(Err(error)),
    }
}

/// Returns the words of a list that are not in parentheses.
pub(crate) fn words(list: &TokenStream) -> Vec<Ident> {
    let words = list.clone().into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    });
    words.collect()
}

/// Whether each part of a list begins with the name of an option, or a word that resembles one.
pub(crate) fn has_names_only<O>(list: &TokenStream, table: &OptionTable<O>) -> bool {
    let is_mark = |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '!');
    parts(list.clone()).into_iter().filter(|part| !part.is_empty()).all(|part| {
        let first = part.into_iter().find(|token| !is_mark(token));
        matches!(first, Some(TokenTree::Ident(word)) if table.meaning(&word.to_string(), false).is_some())
    })
}

/// Returns the parts between commas.
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

/// Returns the name and the value of `name: value`, or of `name value` if this is not a missing comma.
fn without_equals<O>(part: &TokenStream, table: &OptionTable<O>) -> Option<(Ident, TokenStream)> {
    let mut tokens = part.clone().into_iter();
    let Some(TokenTree::Ident(name)) = tokens.next() else { return None };
    let (next, rest) = (tokens.next()?, tokens.collect::<TokenStream>());
    let value = match next {
        TokenTree::Punct(colon) if colon.as_char() == ':' && colon.spacing() == Spacing::Alone => rest,
        TokenTree::Ident(word) if rest.is_empty() && !table.knows(&word.to_string()) => TokenTree::from(word).into(),
        TokenTree::Literal(_) if rest.is_empty() => next.into(),
        _ => return None,
    };
    // Other names are those of a closure's arguments.
    table.knows(&name.to_string()).then_some((name, value))
}

/// Returns the name of `!name`.
fn negated(part: &TokenStream) -> Option<Ident> {
    let mut tokens = part.clone().into_iter();
    match (tokens.next(), tokens.next(), tokens.next()) {
        (Some(TokenTree::Punct(not)), Some(TokenTree::Ident(name)), None) if not.as_char() == '!' => Some(name),
        _ => None,
    }
}

/// Returns the name of `name = value`.
fn name(part: &TokenStream) -> Option<Ident> {
    let mut tokens = part.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Ident(name)), Some(TokenTree::Punct(equals))) if equals.as_char() == '=' => Some(name),
        _ => None,
    }
}
