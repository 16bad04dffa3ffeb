//! The options that an attribute takes, and what to say of other words.

use crate::diagnostics::{choices, likeness, nearest};

/// The options that an attribute takes on a kind of item. `O` is the enum of these options.
pub(crate) struct OptionTable<O: 'static> {
    /// The item, as it reads in a sentence: "a variant".
    pub(crate) what: &'static str,
    /// The item, as it begins a sentence: "A variant".
    pub(crate) subject: &'static str,
    /// The options that it takes, by name.
    pub(crate) options: &'static [(&'static str, O)],
    /// The option that a value is probably meant for if it stands alone.
    pub(crate) main: Option<&'static str>,
    /// Options that belong elsewhere, and where.
    pub(crate) elsewhere: &'static [(&'static str, &'static str)],
    /// Words that people use elsewhere for what we say differently, and what to write.
    pub(crate) synonyms: &'static [(&'static str, &'static str)],
    /// The same for words with `= false` behind them.
    pub(crate) negated: &'static [(&'static str, &'static str)],
}

impl<O> OptionTable<O> {
    /// A sentence that lists the options.
    pub(crate) fn takes(&self) -> String {
        format!("{} takes {}", self.subject, choices(self.names()))
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.options.iter().map(|(name, _)| *name)
    }

    /// What to say of an option that belongs on another item.
    pub(crate) fn elsewhere(&self, name: &str) -> Option<String> {
        Some(format!("`{name}` belongs on {}, not on {}", text_of(name, self.elsewhere)?, self.what))
    }

    /// What to say of a word that people use elsewhere.
    pub(crate) fn synonym(&self, name: &str, is_negated: bool) -> Option<&'static str> {
        let negated = text_of(name, self.negated).filter(|_| is_negated);
        negated.or_else(|| text_of(name, self.synonyms))
    }

    /// What to say of a word that resembles an option, or another word that is known if it resembles that one clearly more.
    pub(crate) fn resembling(&self, word: &str, is_negated: bool) -> Option<String> {
        let likeness = |name| likeness(word, name);
        let option = nearest(word, self.names());
        let bar = option.map_or(0.9, |option| likeness(option) + 0.05);
        let other = nearest(word, self.elsewhere.iter().chain(self.synonyms).map(|(name, _)| *name));
        if let Some(other) = other.filter(|other| likeness(other) > bar) {
            let synonym = || self.synonym(other, is_negated).map(capitalized);
            let advice = self.elsewhere(other).or_else(synonym)?;
            return Some(format!("did you mean `{other}`? {advice}."));
        }
        Some(format!("did you mean `{}`?", option?))
    }
}

/// The same text as the beginning of a sentence.
fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn text_of(name: &str, texts: &'static [(&str, &str)]) -> Option<&'static str> {
    texts.iter().find(|(it, _)| *it == name).map(|(_, text)| *text)
}
