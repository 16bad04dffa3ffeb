//! Which options are given, as they are written.

use crate::option_table::is_false;
use crate::options::{ReadOptions, Written};
use crate::other::Other;
use crate::retryable::attr::{NOT_TWICE, RetryableOption};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Expr;

/// Which options are given.
#[derive(Default)]
pub(super) struct Given {
    /// The known options, each of them once.
    pub(super) known: Vec<(RetryableOption, Written)>,
    /// The options that are misspelled or unreadable, which were reported already.
    meant: Vec<RetryableOption>,
    /// The options that the errors for words of other libraries advise, each with its word. One of them may be meant.
    advised: Vec<(RetryableOption, TokenStream)>,
    /// A misspelled or foreign option that means `idempotent = false`.
    not_twice: Option<TokenStream>,
    /// The value of a misspelled `policy`.
    pub(super) policy: Option<Expr>,
}

impl Given {
    pub(super) fn of(read: ReadOptions<RetryableOption>) -> Self {
        let ReadOptions { known, others } = read;
        let policy = others.iter().find(|other| other.meant.contains(&RetryableOption::Policy));
        Self {
            known,
            meant: others.iter().flat_map(|other| &other.meant).copied().collect(),
            not_twice: others.iter().find(|other| is_not_twice(other)).map(|other| other.written.clone()),
            policy: policy.and_then(|other| other.value.clone()),
            advised: others.into_iter().flat_map(|other| other.advised).collect(),
        }
    }

    /// Returns this option, if it is given, spelled correctly and readable.
    pub(super) fn written(&self, option: RetryableOption) -> Option<&Written> {
        self.known.iter().find(|(known, _)| *known == option).map(|(_, written)| written)
    }

    /// Returns whether an option is given, even if it could not be read.
    pub(super) fn gives(&self, option: RetryableOption) -> bool {
        self.written(option).is_some() || self.meant.contains(&option)
    }

    /// Returns whether the absence of an option is a mistake: it is not given, and no error advises it.
    pub(super) fn lacks(&self, option: RetryableOption) -> bool {
        !self.gives(option) && self.advising(option).is_none()
    }

    /// Returns the word of another library in place of which an error advises this option.
    pub(super) fn advising(&self, option: RetryableOption) -> Option<&TokenStream> {
        self.advised.iter().find(|(advised, _)| *advised == option).map(|(_, word)| word)
    }

    /// Returns the option that says that the function must not be executed twice, even if it is misspelled.
    pub(super) fn not_twice(&self) -> Option<TokenStream> {
        let written = self.written(RetryableOption::Idempotent).filter(|option| option.boolean() == Some(false));
        written.map(ToTokens::to_token_stream).or_else(|| self.not_twice.clone())
    }

    /// Returns an `idempotent` beside a policy, which knows this itself. Beside `hedge`, it says that two attempts may run at the same
    /// time, which no policy knows.
    pub(super) fn idempotent_beside_policy(&self) -> Option<&Written> {
        let is_contradiction = self.gives(RetryableOption::Policy) && self.lacks(RetryableOption::Hedge);
        self.written(RetryableOption::Idempotent).filter(|_| is_contradiction)
    }
}

/// Whether a misspelled or foreign option means `idempotent = false`.
fn is_not_twice(other: &Other<RetryableOption>) -> bool {
    let misspelled = other.meant.contains(&RetryableOption::Idempotent) && other.value.as_ref().is_some_and(is_false);
    misspelled || other.advice == Some(NOT_TWICE)
}
