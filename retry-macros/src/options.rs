//! Reads the options between the parentheses of an attribute. This module checks their names and the form of their
//! values. The macros interpret them.

use crate::diagnostics::{Diagnostics, choices, nearest};
use crate::option_table::{OptionTable, last_name};
use crate::other::Other;
use crate::tokens::ungrouped;
use crate::unreadable;
use darling::ast::NestedMeta;
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use std::time::Duration;
use syn::{Expr, ExprLit, ExprPath, Lit, LitInt, LitStr, Meta, Path};

/// An option in the source text.
pub(crate) struct Written {
    pub(crate) name: Ident,
    meta: Meta,
}

impl ToTokens for Written {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.meta.to_tokens(tokens);
    }
}

/// The options in the attributes of an item.
pub(crate) struct ReadOptions<O> {
    /// The known options, each of them once.
    pub(crate) known: Vec<(O, Written)>,
    /// The parts that are misspelled or unreadable, which are reported already.
    pub(crate) others: Vec<Other<O>>,
}

/// Reads the options that all attributes of an item give.
pub(crate) fn read<O: Copy>(
    lists: impl IntoIterator<Item = TokenStream>,
    table: &OptionTable<O>,
    diagnostics: &mut Diagnostics,
) -> ReadOptions<O> {
    let mut others = Vec::new();
    let mut known: Vec<(O, Written)> = Vec::new();
    let mut items = Vec::new();
    for list in lists {
        match NestedMeta::parse_meta_list(list.clone()) {
            Ok(list) => items.extend(list),
            Err(error) => {
                others.push(Other::list(&list, table));
                unreadable::explain(list, error, table, diagnostics);
            }
        }
    }
    let named = |item: &NestedMeta, name: &str| matches!(item, NestedMeta::Meta(meta) if meta.path().is_ident(name));
    let given: Vec<&str> = table.names().filter(|name| items.iter().any(|item| named(item, name))).collect();
    let main = table.main.filter(|main| !given.contains(main));
    for item in items {
        let meta = match item {
            NestedMeta::Meta(meta) => meta,
            NestedMeta::Lit(literal) => {
                others.push(Other::literal(&literal, main, table));
                let unquoted = table.unquoted(&literal).map(|option| format!("write `{option}` without quotes"));
                diagnostics.error(&literal, unquoted.unwrap_or_else(|| table.no_name(&literal, main)));
                continue;
            }
            NestedMeta::NameValueInvalidExpr(pair) => {
                others.push(Other::new(&pair, table.meaning(&last_name(&pair.path), false), table));
                diagnostics.error(pair, "expected an expression after `=`");
                continue;
            }
        };
        let name = meta.path().get_ident().cloned();
        let Some((option, name)) = name.and_then(|name| Some((table.named(&name.to_string())?, name))) else {
            let meaning = table.unknown(&meta, main, &given, diagnostics);
            others.push(Other::meta(&meta, meaning, table));
            continue;
        };
        if known.iter().any(|(_, earlier)| earlier.name == name) {
            diagnostics.error(meta, format!("`{name}` is given twice; remove one"));
        } else {
            known.push((option, Written { name, meta }));
        }
    }
    ReadOptions { known, others }
}

impl Written {
    /// Reports a value of an option that takes none.
    pub(crate) fn flag(&self, diagnostics: &mut Diagnostics) {
        if !matches!(self.meta, Meta::Path(_)) {
            diagnostics.error(self, format!("`{0}` takes no value; write `{0}` alone", self.name));
        }
    }

    /// Whether the option has no value.
    pub(crate) fn is_bare(&self) -> bool {
        matches!(self.meta, Meta::Path(_))
    }

    /// Reports a value of an option that marks a field, because the field holds the value.
    pub(crate) fn mark(&self, constant: &str, diagnostics: &mut Diagnostics) {
        if !self.is_bare() {
            diagnostics.error(
                self,
                format!(
                    "on a field, write `{}` alone, because the field holds the value; a constant belongs on the \
                     variant: \
                     `{constant}`",
                    self.name
                ),
            );
        }
    }

    /// Returns the tokens in the parentheses.
    pub(crate) fn list(&self) -> Option<TokenStream> {
        match &self.meta {
            Meta::List(list) => Some(list.tokens.clone()),
            _ => None,
        }
    }

    /// Returns the expression after `=`.
    pub(crate) fn value(&self) -> Option<&Expr> {
        match &self.meta {
            Meta::NameValue(pair) => Some(ungrouped(&pair.value)),
            _ => None,
        }
    }

    /// Returns the expression after `=`, which is required, as in this example.
    pub(crate) fn expr(&self, example: &str, diagnostics: &mut Diagnostics) -> Option<Expr> {
        let value = self.value().cloned();
        if value.is_none() {
            diagnostics.error(self, format!("write an expression: `{} = {example}`", self.name));
        }
        value
    }

    /// Returns a text after `=`.
    fn text(&self) -> Option<&LitStr> {
        match self.value()? {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
            _ => None,
        }
    }

    /// Returns the meaning of a text after `=`, which must be one of these words.
    pub(crate) fn word<T: Copy>(&self, words: &[(&str, T)], diagnostics: &mut Diagnostics) -> Option<T> {
        let list = choices(words.iter().map(|(word, _)| format!("{} = \"{word}\"", self.name)));
        let Some(text) = self.text() else {
            diagnostics.error(self, format!("write {list}"));
            return None;
        };
        let written = text.value();
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == written) {
            return Some(*meaning);
        }
        let message = match nearest(&written, words.iter().map(|(word, _)| *word)) {
            Some(meant) => format!("unknown value \"{written}\"; did you mean \"{meant}\"? Write {list}"),
            None => format!("unknown value \"{written}\"; write {list}"),
        };
        diagnostics.error(text, message);
        None
    }

    /// Returns `true` for an option without a value, otherwise the `true` or `false` after `=`.
    pub(crate) fn boolean(&self) -> Option<bool> {
        match (&self.meta, self.value()) {
            (Meta::Path(_), _) => Some(true),
            (_, Some(Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }))) => Some(value.value),
            _ => None,
        }
    }

    /// Returns the expression after `=`, unless it is a literal.
    pub(crate) fn computed(&self) -> Option<&Expr> {
        self.value().filter(|value| !matches!(value, Expr::Lit(_)))
    }

    /// Returns a path after `=`.
    pub(crate) fn path(&self, diagnostics: &mut Diagnostics) -> Option<Path> {
        if let Some(Expr::Path(path)) = self.value() {
            return Some(path.path.clone());
        }
        diagnostics.error(self, format!("write a path: `{0} = ::the::path`, without quotes", self.name));
        None
    }

    /// Returns a whole number after `=`.
    pub(crate) fn number(&self) -> Option<&LitInt> {
        match self.value()? {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => Some(number),
            _ => None,
        }
    }

    /// Returns the path of a function after `=`.
    pub(crate) fn function(&self, diagnostics: &mut Diagnostics) -> Option<ExprPath> {
        if let Some(Expr::Path(path)) = self.value() {
            return Some(path.clone());
        }
        diagnostics
            .error(self, format!("write the path of a fn, without quotes: `{} = path::of::classify`", self.name));
        None
    }

    /// Returns a duration, which is a text after `=`.
    pub(crate) fn duration(&self, diagnostics: &mut Diagnostics) -> Option<Duration> {
        let how = "a whole number and its unit, `ns`, `us`, `ms`, `s`, `m` or `h`, as in \"1500ms\"";
        let Some(text) = self.text() else {
            diagnostics.error(self, format!("`{}` takes a duration as a text: {how}", self.name));
            return None;
        };
        let duration = parse_duration(&text.value());
        if duration.is_none() {
            diagnostics.error(text, format!("\"{}\" is not a duration; write {how}", text.value()));
        }
        duration
    }
}

/// Returns the duration that a text says.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    const NANOS_PER_SEC: u128 = 1_000_000_000;
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let unit = match unit {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => NANOS_PER_SEC,
        "m" => 60 * NANOS_PER_SEC,
        "h" => 3600 * NANOS_PER_SEC,
        _ => return None,
    };
    let nanos = number.parse::<u128>().ok()?.checked_mul(unit)?;
    let subsec = u32::try_from(nanos % NANOS_PER_SEC).ok()?;
    Some(Duration::new(u64::try_from(nanos / NANOS_PER_SEC).ok()?, subsec))
}

#[cfg(test)]
#[test]
fn durations_are_parsed_as_the_table_says() {
    let mut rows = 0;
    for row in include_str!("../../tests/vectors/durations.txt").lines().filter(|row| !row.starts_with('#')) {
        let (text, nanos) = row.rsplit_once(' ').unwrap();
        let nanos = nanos.parse::<u128>().ok();
        assert_eq!(parse_duration(text.trim_matches('"')).map(|time| time.as_nanos()), nanos, "{row}");
        rows += 1;
    }
    assert!(rows > 30);
}
