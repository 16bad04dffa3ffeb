//! What a part of an attribute that is misspelled or unreadable was probably meant for.

use crate::option_table::{Meaning, OptionTable, last_name};
use crate::tokens::ungrouped;
use crate::unreadable;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, Lit, Meta};

/// A part that is misspelled or unreadable, or a list that can't be parsed.
pub(crate) struct Other<O> {
    /// The options that were probably meant: at most one, or several in a list.
    pub(crate) meant: Vec<O>,
    /// The options that the advice for a word of another library names, each with the part or the word.
    pub(crate) advised: Vec<(O, TokenStream)>,
    /// The advice for a word of another library, except in a list.
    pub(crate) advice: Option<&'static str>,
    /// The expression after `=`, if it can be read.
    pub(crate) value: Option<Expr>,
    /// The tokens of the part.
    pub(crate) written: TokenStream,
}

impl<O: Copy> Other<O> {
    pub(crate) fn new(written: &impl ToTokens, meaning: Option<Meaning>, table: &OptionTable<O>) -> Self {
        let advice = match meaning {
            Some(Meaning::Foreign(_, advice)) => Some(advice),
            _ => None,
        };
        let meant = match meaning {
            Some(Meaning::Option(name)) => table.named(name),
            _ => None,
        };
        let written = written.to_token_stream();
        let advised = advice.map(|advice| table.advised(advice)).unwrap_or_default();
        Self {
            meant: meant.into_iter().collect(),
            advised: advised.into_iter().map(|option| (option, written.clone())).collect(),
            advice,
            value: None,
            written,
        }
    }

    /// Reads all words of a list, since it is not known which of them are options.
    pub(crate) fn list(list: &TokenStream, table: &OptionTable<O>) -> Self {
        let words = unreadable::words(list).into_iter();
        let others = words.map(|word| Self::new(&word, table.meaning(&word.to_string(), false), table));
        let mut all = Self::new(list, None, table);
        for other in others {
            all.meant.extend(other.meant);
            all.advised.extend(other.advised);
        }
        // A part without a name is probably the value of the main option.
        let main = table.main.filter(|_| !unreadable::has_names_only(list, table));
        all.meant.extend(main.and_then(|main| table.named(main)));
        all
    }

    pub(crate) fn meta(meta: &Meta, meaning: Option<Meaning>, table: &OptionTable<O>) -> Self {
        let value = match meta {
            Meta::NameValue(pair) => Some(ungrouped(&pair.value).clone()),
            Meta::Path(_) | Meta::List(_) => None,
        };
        Self { value, ..Self::new(meta, meaning, table) }
    }

    /// Reads an option in quotes. Another literal is probably the value of the main option.
    pub(crate) fn literal(literal: &Lit, main: Option<&'static str>, table: &OptionTable<O>) -> Self {
        let quoted = if let Lit::Str(text) = literal { text.parse::<Meta>().ok() } else { None };
        let mut other = match &quoted {
            Some(meta) => Self::meta(meta, table.meaning(&last_name(meta.path()), false), table),
            None => Self::new(literal, None, table),
        };
        let main = main.filter(|_| table.unquoted(literal).is_none());
        other.meant.extend(main.and_then(|main| table.named(main)));
        Self { written: literal.to_token_stream(), ..other }
    }
}
