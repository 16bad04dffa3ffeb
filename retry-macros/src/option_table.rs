//! The options of an attribute, and the messages for other words.

use crate::diagnostics::{Diagnostics, choices, likeness, nearest};
use crate::tokens::{source, ungrouped};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Expr, ExprLit, Lit, Meta};

/// The options that an attribute takes on a kind of item. `O` is the enum of these options.
pub(crate) struct OptionTable<O: 'static> {
    /// The item, as it reads in a sentence: "a variant".
    pub(crate) what: &'static str,
    /// The item, as it begins a sentence: "A variant".
    pub(crate) subject: &'static str,
    /// The options that it takes, by name.
    pub(crate) options: &'static [(&'static str, O)],
    /// The option that a value without a name is probably meant for.
    pub(crate) main: Option<&'static str>,
    /// Options that belong on other items, and the names of these items.
    pub(crate) elsewhere: &'static [(&'static str, &'static str)],
    /// Words of other libraries, and what to write instead.
    pub(crate) synonyms: &'static [(&'static str, &'static str)],
    /// The same for words that are followed by `= false` or preceded by `!`.
    pub(crate) negated: &'static [(&'static str, &'static str)],
}

impl<O> OptionTable<O> {
    /// Returns a sentence that lists the options.
    pub(crate) fn takes(&self) -> String {
        format!("{} takes {}", self.subject, choices(self.names()))
    }

    /// Returns the message for a value without the name of an option. `main` is the option that it is probably meant for.
    pub(crate) fn no_name(&self, value: &impl ToTokens, main: Option<&str>) -> String {
        let meant = main.map_or_else(|| ".".to_owned(), |main| format!("; did you mean `{main} = {}`?", source(value)));
        format!("expected the name of an option{meant} {}", self.takes())
    }

    /// Returns the text of a literal such as `"throttling"`, if it is an option in quotes.
    pub(crate) fn unquoted(&self, literal: &Lit) -> Option<String> {
        let Lit::Str(text) = literal else { return None };
        let name = text.parse::<Meta>().ok()?.path().get_ident()?.to_string();
        self.names().any(|option| option == name).then(|| text.value())
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.options.iter().map(|(name, _)| *name)
    }

    /// Returns whether the word is an option, here or elsewhere, or a synonym of one.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.names().chain(self.elsewhere.iter().chain(self.synonyms).map(|(name, _)| *name)).any(|name| name == word)
    }

    /// Returns the message for an option that belongs on another item.
    pub(crate) fn elsewhere(&self, name: &str) -> Option<String> {
        Some(format!("`{name}` belongs on {}, not on {}", text_of(name, self.elsewhere)?, self.what))
    }

    /// Returns what to write in place of a word that is preceded by `!`.
    pub(crate) fn negation(&self, name: &str) -> Option<String> {
        text_of(name, self.negated).map(|advice| self.placed(advice))
    }

    /// Returns the message for a word of another library.
    pub(crate) fn synonym(&self, name: &str, is_negated: bool) -> Option<String> {
        let negated = is_negated.then(|| self.negation(name)).flatten();
        negated.or_else(|| text_of(name, self.synonyms).map(|advice| self.placed(advice)))
    }

    /// Adds the item to each option in an advice that belongs on another item.
    fn placed(&self, advice: &str) -> String {
        let mut parts = advice.split('`');
        let mut placed = parts.next().unwrap_or_default().to_owned();
        while let (Some(code), Some(after)) = (parts.next(), parts.next()) {
            let place =
                text_of(first_word(code), self.elsewhere).map(|place| format!(" on {place}")).unwrap_or_default();
            placed.extend(["`", code, "`", &place, after]);
        }
        placed
    }

    /// Returns the message for a word that resembles an option, or another known word.
    pub(crate) fn resembling(&self, word: &str, is_negated: bool) -> Option<String> {
        if let Some(other) = self.other(word) {
            let synonym = || self.synonym(other, is_negated).map(|advice| capitalized(&advice));
            let advice = self.elsewhere(other).or_else(synonym)?;
            return Some(format!("did you mean `{other}`? {advice}."));
        }
        Some(format!("did you mean `{}`?", nearest(word, self.names())?))
    }

    /// Returns the word that is not an option here, but is known, and is this word or clearly more similar to it than each option.
    fn other(&self, word: &str) -> Option<&'static str> {
        let likeness = |name| likeness(word, name);
        let bar = nearest(word, self.names()).map_or(0.9, |option| likeness(option) + 0.05);
        let other = nearest(word, self.elsewhere.iter().chain(self.synonyms).map(|(name, _)| *name))?;
        (other == word || likeness(other) > bar).then_some(other)
    }
}

/// Returns the text with a capital letter.
fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Returns the option in a code such as `stop = STOP`.
fn first_word(code: &str) -> &str {
    code.split(' ').next().unwrap_or_default()
}

fn text_of(name: &str, texts: &'static [(&str, &str)]) -> Option<&'static str> {
    texts.iter().find(|(it, _)| *it == name).map(|(_, text)| *text)
}

impl<O: Copy> OptionTable<O> {
    /// Returns the option with this name, or with the most similar one.
    pub(crate) fn meant(&self, word: &str) -> Option<O> {
        let resembling = || self.other(word).is_none().then(|| nearest(word, self.names())).flatten();
        self.named(word).or_else(|| self.named(resembling()?))
    }

    /// Returns the options that the advice for a word of another library names.
    pub(crate) fn advised(&self, word: &str) -> Vec<O> {
        let advice = self.other(word).and_then(|other| text_of(other, self.synonyms)).unwrap_or_default();
        advice.split('`').skip(1).step_by(2).filter_map(|code| self.named(first_word(code))).collect()
    }

    fn named(&self, name: &str) -> Option<O> {
        self.options.iter().find(|(known, _)| *known == name).map(|(_, option)| *option)
    }

    /// Returns an option and its name in the source text, or reports an unknown name. `main` is the option that a value
    /// without a name is meant for.
    pub(crate) fn known(&self, meta: &Meta, main: Option<&str>, diagnostics: &mut Diagnostics) -> Option<(O, Ident)> {
        let path = meta.path();
        let ident = path.get_ident();
        let name = ident.map(ToString::to_string).unwrap_or_default();
        if let (Some((_, option)), Some(ident)) = (self.options.iter().find(|(known, _)| *known == name), ident) {
            return Some((*option, ident.clone()));
        }
        let (written, takes) = (source(path), self.takes());
        let message = if let Some(advice) = self.elsewhere(&name) {
            format!("{advice}. {takes}")
        } else if let Some(advice) = self.synonym(&name, is_false(meta)) {
            format!("unknown option `{name}`; {advice}. {takes}")
        } else if let Some(advice) = self.resembling(&name, is_false(meta)) {
            format!("unknown option `{name}`; {advice} {takes}")
        } else if let (Some(main), Meta::Path(_) | Meta::List(_)) = (main, meta) {
            let value = source(meta);
            format!("unknown option `{written}`; did you mean `{main} = {value}`? {takes}")
        } else {
            format!("unknown option `{written}`. {takes}")
        };
        diagnostics.error(path, message);
        None
    }
}

/// Whether a name is followed by `= false`.
fn is_false(meta: &Meta) -> bool {
    matches!(meta, Meta::NameValue(pair)
        if matches!(ungrouped(&pair.value), Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) if !value.value))
}
