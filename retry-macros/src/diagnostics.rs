//! Collects all mistakes, so that one compile reports all of them.

use proc_macro2::Span;
use quote::ToTokens;
use std::fmt::Display;

/// The mistakes found so far.
pub(crate) struct Diagnostics {
    errors: Vec<syn::Error>,
}

impl Diagnostics {
    /// Runs a stage, and returns its result if it reported no mistake. So no mistake is lost.
    pub(crate) fn collect<T>(stage: impl FnOnce(&mut Self) -> Option<T>) -> Result<T, syn::Error> {
        let mut diagnostics = Self { errors: Vec::new() };
        let result = stage(&mut diagnostics);
        let error = diagnostics.errors.into_iter().reduce(|mut all, next| {
            all.combine(next);
            all
        });
        match (error, result) {
            (Some(error), _) => Err(error),
            (None, Some(result)) => Ok(result),
            (None, None) => Err(syn::Error::new(Span::call_site(), "this item can't be read")),
        }
    }

    /// The number of mistakes found so far.
    pub(crate) fn count(&self) -> usize {
        self.errors.len()
    }

    /// Reports a mistake at the tokens that cause it.
    pub(crate) fn error(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.errors.push(syn::Error::new_spanned(tokens, message));
    }

    /// Reports a mistake that has no tokens, such as a missing option, at the name of the macro.
    pub(crate) fn error_here(&mut self, message: impl Display) {
        self.errors.push(syn::Error::new(Span::call_site(), message));
    }

    /// Returns the result of a parser, or reports its error.
    pub(crate) fn ok<T>(&mut self, parsed: syn::Result<T>) -> Option<T> {
        parsed.map_err(|error| self.errors.push(error)).ok()
    }
}

/// Returns a list in words: `` `a`, `b` or `c` ``.
pub(crate) fn choices(names: impl IntoIterator<Item = impl Display>) -> String {
    let mut names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.pop() {
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} or {last}", names.join(", ")),
        None => String::new(),
    }
}

/// Returns the name that was probably meant.
pub(crate) fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |name| likeness(written, name);
    let resembling = names.into_iter().filter(|name| likeness(name) > 0.8);
    resembling.max_by(|left, right| likeness(left).total_cmp(&likeness(right)))
}

/// Returns the similarity of two words, from 0 to 1.
pub(crate) fn likeness(written: &str, name: &str) -> f64 {
    strsim::jaro_winkler(written, name)
}
