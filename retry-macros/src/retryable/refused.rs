//! Writes a function that validation refused: unchanged, with the errors in its body.

use crate::retryable::attr::{self, Options, RetryableOption, Strategy};
use crate::retryable::hedge_option::Hedge;
use crate::retryable::limits::{Attempts, Limit, Limits};
use crate::retryable::race;
use crate::retryable::weight::Weighing;
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
    pub(super) fn of(options: &Options, written: TokenStream, function: &ItemFn) -> Self {
        let is_test = |attr: &Attribute| attr.path().segments.last().is_some_and(|last| last.ident == "test");
        Self {
            hedge_feature: options.hedge_option.as_ref().and_then(|option| {
                let usual = || (!options.gives(RetryableOption::Crate)).then(|| parse_quote!(::retry_core));
                // Without the path of the library, its macro would be a second error.
                let crate_path = options.crate_path.clone().or_else(usual)?;
                Some(race::in_feature(&crate_path, &option.name, TokenStream::new()))
            }),
            variables: options.context.iter().cloned().chain(names_of_unknown(written)).collect(),
            values: values(options),
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

/// Returns the values of options that are expressions.
fn values(options: &Options) -> Vec<Expr> {
    let Options {
        strategy,
        policy,
        idempotent: _,
        idempotent_option: _,
        hedge,
        hedge_option: _,
        weighing: Weighing { weight, used },
        limits:
            Limits {
                max_time,
                deadline,
                attempt_timeout,
                timed_out,
                max_attempts,
                unlimited_attempts: _,
                stop,
                stop_when,
                cut_on_stop: _,
            },
        attempt_timeout_option: _,
        stop_when_option: _,
        timed_out_option: _,
        max_attempts_option: _,
        name,
        context: _,
        clone: _,
        observer,
        on_retry,
        on_end,
        timer,
        blocking: _,
        crate_path: _,
        given: _,
    } = options;
    let strategy = strategy.iter().filter_map(|strategy| match strategy {
        Strategy::Expr(expr) => Some(expr),
        Strategy::Own(_) => None,
    });
    let limits = [max_time, attempt_timeout].into_iter().flatten().filter_map(|limit| match limit {
        Limit::Expr(expr) => Some(expr),
        Limit::Constant(_) => None,
    });
    let attempts = max_attempts.iter().filter_map(|attempts| match attempts {
        Attempts::Expr(expr) => Some(expr),
        Attempts::Constant(_) => None,
    });
    let others = [policy, weight, used, deadline, timed_out, stop, stop_when, name, observer, on_retry, on_end, timer];
    let mut values: Vec<Expr> =
        strategy.chain(limits).chain(attempts).chain(others.into_iter().flatten()).cloned().collect();
    if let Some(Hedge::Static(path)) = hedge {
        values.push(parse_quote!(#path));
    }
    values
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
