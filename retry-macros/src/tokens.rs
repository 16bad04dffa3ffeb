//! Searches in tokens, and small changes to them.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Expr;
use syn::ext::IdentExt;

/// Whether tokens contain one of these names.
pub(crate) fn mentions(tokens: &TokenStream, names: &[&Ident]) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&&ident),
        TokenTree::Group(group) => mentions(&group.stream(), names),
        _ => false,
    })
}

/// Whether a text in the tokens contains the name in braces, as a format string does.
pub(crate) fn formats(tokens: &TokenStream, name: &Ident) -> bool {
    fn search(tokens: &TokenStream, name: &str) -> bool {
        tokens.clone().into_iter().any(|token| match token {
            TokenTree::Literal(literal) => is_in_braces(&literal.to_string(), name),
            TokenTree::Group(group) => search(&group.stream(), name),
            _ => false,
        })
    }

    search(tokens, &name.unraw().to_string())
}

fn is_in_braces(text: &str, name: &str) -> bool {
    text.split('{').skip(1).any(|rest| {
        let rest = rest.strip_prefix("r#").unwrap_or(rest).strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(['}', ':']))
    })
}

/// Replaces a name in tokens.
pub(crate) fn rename(tokens: TokenStream, name: &str, new: &Ident) -> TokenStream {
    let renamed = |token| match token {
        TokenTree::Ident(ident) if ident == name => TokenTree::Ident(Ident::new(&new.to_string(), new.span())),
        TokenTree::Group(group) => {
            let mut copy = Group::new(group.delimiter(), rename(group.stream(), name, new));
            copy.set_span(group.span());
            TokenTree::Group(copy)
        }
        other => other,
    };
    tokens.into_iter().map(renamed).collect()
}

/// Returns a name that the user's code can't see.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(&format!("__{name}"), Span::mixed_site())
}

/// Returns the tokens with another location, where rustc reports errors.
pub(crate) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let respanned = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let mut group = Group::new(group.delimiter(), respan(group.stream(), span));
            group.set_span(span);
            TokenTree::Group(group)
        }
        mut token => {
            token.set_span(token.span().located_at(span));
            token
        }
    });
    respanned.collect()
}

/// Returns the text of tokens with the usual spaces.
pub(crate) fn source(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    ["&", "(", ")", ".", "::"]
        .iter()
        .fold(text, |text, token| text.replace(&format!(" {token}"), token).replace(&format!("{token} "), token))
}

/// Returns an expression without parentheses, and without the invisible group that a `macro_rules!` fragment adds.
pub(crate) fn ungrouped(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => ungrouped(&group.expr),
        Expr::Paren(paren) => ungrouped(&paren.expr),
        other => other,
    }
}

/// Returns the name under which an expansion of `#[retryable]` imports the library's module `__private`. Its path in each place would make
/// the expansion a quarter longer.
pub(crate) fn private() -> TokenStream {
    quote!(__retry)
}
