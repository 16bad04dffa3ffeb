//! Explains a list of options that can't be parsed.

use crate::diagnostics::Diagnostics;
use crate::option_table::OptionTable;
use crate::tokens::source;
use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};
use std::iter;
use syn::{Expr, parse_quote};

/// Reports what is wrong with a list: each `name: value`, `name value` and `!name`, or otherwise a value without a name, or otherwise the
/// error of the parser.
pub(crate) fn explain<O>(list: TokenStream, error: syn::Error, table: &OptionTable<O>, diagnostics: &mut Diagnostics) {
    let parts = parts(list);
    let given: Vec<&str> =
        table.names().filter(|option| parts.iter().filter_map(name).any(|name| name == option)).collect();
    let values: Vec<_> = parts.iter().flat_map(|part| without_equals(part, table)).collect();
    for (name, value) in &values {
        let expr = syn::parse2::<Expr>(value.clone()).ok();
        if table.names().any(|option| name == option) {
            let value = expr.map_or_else(|| "..".to_owned(), |expr| source(&expr));
            diagnostics.error(name, format!("write `=` between an option and its value: `{name} = {value}`"));
        } else {
            let meta = expr.map_or_else(|| parse_quote!(#name), |expr| parse_quote!(#name = #expr));
            table.unknown(&meta, None, &given, diagnostics);
        }
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

/// Returns the name and the value of `name: value` and `name value`. Where commas are missing, too, there are several.
fn without_equals<O>(part: &TokenStream, table: &OptionTable<O>) -> Vec<(Ident, TokenStream)> {
    let complete = |part| pair(part, table).filter(|(_, value)| syn::parse2::<Expr>(value.clone()).is_ok());
    let pieces = pieces(part, table);
    if let Some(pair) = complete(part) {
        vec![pair]
    } else if let Some(pairs) = pieces.iter().map(complete).collect() {
        pairs
    } else {
        // A comma between the arguments of a closure cuts the part.
        let is_cut = |token: TokenTree| matches!(token, TokenTree::Punct(mark) if [':', '|'].contains(&mark.as_char()));
        let is_cut = part.clone().into_iter().nth(1).is_some_and(is_cut);
        pair(part, table).filter(|_| is_cut).into_iter().collect()
    }
}

/// Returns a part in pieces that begin with a known word.
fn pieces<O>(part: &TokenStream, table: &OptionTable<O>) -> Vec<TokenStream> {
    let mut pieces = vec![TokenStream::new()];
    for token in part.clone() {
        let begins = matches!(&token, TokenTree::Ident(word) if table.knows(&word.to_string()));
        match pieces.last_mut() {
            Some(piece) if !begins || piece.is_empty() => piece.extend([token]),
            _ => pieces.push(token.into()),
        }
    }
    pieces
}

/// Returns the name and the value of `name: value` or `name value`. A known word after the name shows that a comma is missing.
fn pair<O>(part: &TokenStream, table: &OptionTable<O>) -> Option<(Ident, TokenStream)> {
    let mut tokens = part.clone().into_iter();
    // Other names are those of a closure's arguments.
    let name = match tokens.next()? {
        TokenTree::Ident(name) if table.knows(&name.to_string()) => name,
        _ => return None,
    };
    let value = match tokens.next()? {
        TokenTree::Punct(colon) if colon.as_char() == ':' && colon.spacing() == Spacing::Alone => tokens.collect(),
        TokenTree::Ident(word) if table.knows(&word.to_string()) => return None,
        first @ (TokenTree::Ident(_) | TokenTree::Literal(_)) => iter::once(first).chain(tokens).collect(),
        TokenTree::Punct(sign) if matches!(sign.as_char(), '-' | '&' | '*' | '|') => {
            iter::once(TokenTree::from(sign)).chain(tokens).collect()
        }
        _ => return None,
    };
    Some((name, value))
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
