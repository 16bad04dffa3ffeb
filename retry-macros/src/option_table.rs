//! The options of an attribute, and the messages for other words.

use crate::diagnostics::{Diagnostics, choices, likeness, nearest};
use crate::tokens::{source, ungrouped};
use quote::ToTokens;
use syn::{Expr, ExprLit, Lit, Meta, Path};

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

    /// Returns the names of the options.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.options.iter().map(|(name, _)| *name)
    }

    /// Returns whether the word is an option, here or elsewhere, or a synonym of one.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.names().chain(self.elsewhere.iter().chain(self.synonyms).map(|(name, _)| *name)).any(|name| name == word)
    }

    /// Returns what to write in place of a word that is preceded by `!`.
    pub(crate) fn negation(&self, name: &str) -> Option<String> {
        text_of(name, self.negated).map(|advice| self.annotated(advice, &[]))
    }

    /// Returns what a word, or the known word that resembles it, probably means.
    pub(crate) fn meaning(&self, word: &str, is_negated: bool) -> Option<Meaning> {
        let Some(name) = self.other(word) else { return nearest(word, self.names()).map(Meaning::Option) };
        if let Some(item) = text_of(name, self.elsewhere) {
            return Some(Meaning::Elsewhere(name, item));
        }
        let negated = text_of(name, self.negated).filter(|_| is_negated);
        Some(Meaning::Foreign(name, negated.or_else(|| text_of(name, self.synonyms))?))
    }

    /// Adds the item to each option in an advice that belongs on another item, and says which of the options are given already.
    fn annotated(&self, advice: &str, given: &[&str]) -> String {
        let mut parts = advice.split('`');
        let mut annotated = parts.next().unwrap_or_default().to_owned();
        while let (Some(code), Some(after)) = (parts.next(), parts.next()) {
            let name = first_word(code);
            let place = text_of(name, self.elsewhere).map(|place| format!(" on {place}")).unwrap_or_default();
            let already = if given.contains(&name) { " (given already)" } else { "" };
            annotated.extend(["`", code, "`", &place, already, after]);
        }
        annotated
    }

    /// Returns the word that is not an option here, but is known, and is this word or clearly more similar to it than each option.
    fn other(&self, word: &str) -> Option<&'static str> {
        let likeness = |name| likeness(word, name);
        let other = nearest(word, self.elsewhere.iter().chain(self.synonyms).map(|(name, _)| *name))?;
        let bar = nearest(word, self.names()).map_or(0.9, |option| {
            // A synonym of the option says nothing more than the option.
            let is_synonym =
                text_of(other, self.synonyms).is_some_and(|advice| codes(advice).any(|code| code == option));
            likeness(option) + if is_synonym { 0.05 } else { 0.03 }
        });
        (other == word || likeness(other) > bar).then_some(other)
    }

    /// Reports an unknown option, and returns what it probably means. `main` is the option that a value without a name is meant for.
    pub(crate) fn unknown(
        &self,
        meta: &Meta,
        main: Option<&'static str>,
        given: &[&str],
        diagnostics: &mut Diagnostics,
    ) -> Option<Meaning> {
        let path = meta.path();
        let (written, word, takes) = (source(path), last_name(path), self.takes());
        let main = main.filter(|_| !matches!(meta, Meta::NameValue(_)));
        let is_negated = matches!(meta, Meta::NameValue(pair) if is_false(&pair.value));
        // A path is the name of a value rather than a misspelled option.
        let is_value = main.is_some() && path.get_ident().is_none();
        let meaning = self.meaning(&word, is_negated).filter(|meaning| !is_value || meaning.name() == word);
        let message = match (meaning, main) {
            (Some(meaning), _) => {
                let advice = match meaning {
                    Meaning::Option(_) => None,
                    Meaning::Elsewhere(name, item) => Some(format!("`{name}` belongs on {item}, not on {}", self.what)),
                    Meaning::Foreign(_, advice) => Some(self.annotated(advice, given)),
                };
                match (meaning, advice) {
                    (Meaning::Elsewhere(name, _), Some(advice)) if name == word => format!("{advice}. {takes}"),
                    (_, Some(advice)) if meaning.name() == word => {
                        format!("unknown option `{written}`; {advice}. {takes}")
                    }
                    (_, advice) => {
                        let meant = self.annotated(&format!("did you mean `{}`?", meaning.name()), given);
                        let advice = advice.map(|advice| format!(" {}.", capitalized(&advice))).unwrap_or_default();
                        format!("unknown option `{written}`; {meant}{advice} {takes}")
                    }
                }
            }
            (None, Some(main)) => {
                format!("unknown option `{written}`; did you mean `{main} = {}`? {takes}", source(meta))
            }
            (None, None) => format!("unknown option `{written}`. {takes}"),
        };
        diagnostics.error(path, message);
        meaning.or(main.map(Meaning::Option))
    }
}

/// What an unknown word probably means.
#[derive(Clone, Copy)]
pub(crate) enum Meaning {
    /// This option.
    Option(&'static str),
    /// This option, which belongs on this other item.
    Elsewhere(&'static str, &'static str),
    /// This word of another library, in place of which this is to be written.
    Foreign(&'static str, &'static str),
}

impl Meaning {
    const fn name(self) -> &'static str {
        match self {
            Self::Option(name) | Self::Elsewhere(name, _) | Self::Foreign(name, _) => name,
        }
    }
}

/// Returns the last name of a path, which is the option in `retry_core::blocking`.
pub(crate) fn last_name(path: &Path) -> String {
    path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()
}

/// Returns the text with a capital letter.
fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Returns the parts of an advice that are code.
fn codes(advice: &str) -> impl Iterator<Item = &str> {
    advice.split('`').skip(1).step_by(2)
}

/// Returns the option in a code such as `stop = STOP`.
fn first_word(code: &str) -> &str {
    code.split(' ').next().unwrap_or_default()
}

fn text_of(name: &str, texts: &'static [(&str, &str)]) -> Option<&'static str> {
    texts.iter().find(|(it, _)| *it == name).map(|(_, text)| *text)
}

impl<O: Copy> OptionTable<O> {
    /// Returns the options that the advice for a word of another library names.
    pub(crate) fn advised(&self, advice: &str) -> Vec<O> {
        codes(advice).filter_map(|code| self.named(first_word(code))).collect()
    }

    /// Returns the option with this name.
    pub(crate) fn named(&self, name: &str) -> Option<O> {
        self.options.iter().find(|(known, _)| *known == name).map(|(_, option)| *option)
    }
}

/// Whether a value is `false`.
pub(crate) fn is_false(value: &Expr) -> bool {
    matches!(ungrouped(value), Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) if !value.value)
}
