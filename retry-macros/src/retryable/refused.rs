//! Writes a function that validation refused: unchanged, with the errors in its body.

use crate::retryable::attr::{self, Options, RetryableOption};
use crate::retryable::hedge_option::Hedge;
use crate::retryable::race;
use crate::tokens::local;
use darling::ast::NestedMeta;
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, Expr, ItemFn, Meta, parse_quote};

/// What the options of a refused function name.
pub(super) struct Named {
    /// Names that may be variables of the body: the context, and the values of unknown options, one of which may be a misspelled
    /// `context`.
    variables: Vec<Ident>,
    values: Vec<Expr>,
    /// A statement that is an error if the function has a hedge, and its feature is off.
    hedge_feature: Option<TokenStream>,
    /// Whether the function is a test, which exists only in tests.
    is_test: bool,
}

impl Named {
    pub(super) fn of(options: &mut Options, written: TokenStream, function: &ItemFn) -> Self {
        let mut values: Vec<Expr> = options.expressions().into_iter().map(|expr| expr.clone()).collect();
        if let Some(Hedge::Static(path)) = &options.hedge {
            values.push(parse_quote!(#path));
        }
        let is_test = |attr: &Attribute| attr.path().segments.last().is_some_and(|last| last.ident == "test");
        Self {
            hedge_feature: options.given.written(RetryableOption::Hedge).and_then(|option| {
                let usual = || (!options.given.gives(RetryableOption::Crate)).then(|| parse_quote!(::retry_core));
                // Without the path of the library, its macro would be a second error.
                let crate_path = options.crate_path.clone().or_else(usual)?;
                Some(race::in_feature(&crate_path, &option.name, TokenStream::new()))
            }),
            variables: options.context.iter().cloned().chain(names_of_unknown(written)).collect(),
            values,
            is_test: function.attrs.iter().any(is_test),
        }
    }

    /// Returns the function with the errors at the beginning of its body, so that rustc reports nothing that follows from them: the
    /// names in the options are used, and the variables exist. In a body with an error, rustc does not ask for the types of
    /// closures.
    pub(super) fn refuse(&self, item: &TokenStream, errors: &TokenStream) -> TokenStream {
        let Self { variables, values, hedge_feature, is_test } = self;
        let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
        let body = match tokens.pop() {
            Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace && !has_attributes(&body) => body,
            _ => return quote!(#errors #item),
        };
        if *is_test {
            return quote!(#errors #item);
        }
        // The value of a block is its last error, whose type fits everywhere.
        let error = local("error");
        let variables = (!variables.is_empty()).then(|| quote!(let #error = { #errors }; #(let #variables = #error;)*));
        let errors = variables.unwrap_or_else(|| errors.clone());
        let used = (!values.is_empty()).then(|| quote!(if false { #(let _ = &(#values);)* }));
        let stream = body.stream();
        let mut refused = Group::new(Delimiter::Brace, quote!(#errors #hedge_feature #used #stream));
        refused.set_span(body.span());
        quote!(#(#tokens)* #refused)
    }
}

/// Returns the names that are values of unknown options, without those of constants and statics.
fn names_of_unknown(tokens: TokenStream) -> Vec<Ident> {
    let is_variable = |name: &&Ident| name.to_string().starts_with(|first: char| first.is_lowercase());
    let items = NestedMeta::parse_meta_list(tokens).unwrap_or_default();
    let names = items.iter().filter_map(|item| match item {
        NestedMeta::Meta(Meta::NameValue(pair)) if !attr::is_known(&pair.path) => match &pair.value {
            Expr::Path(path) => path.path.get_ident().filter(is_variable).filter(|name| *name != "self").cloned(),
            _ => None,
        },
        _ => None,
    });
    names.collect()
}

/// Whether a body begins with inner attributes.
fn has_attributes(body: &Group) -> bool {
    let mut tokens = body.stream().into_iter();
    let is = |token: Option<TokenTree>, char| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == char);
    is(tokens.next(), '#') && is(tokens.next(), '!')
}
