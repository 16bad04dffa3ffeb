//! Precedence: the sources of each answer of a case, in order.
//!
//! Labels of the case > what the case implies (`with`, field `safe` > code and status in a field > throttling,
//! timeout, conflict > a constant status > source) > the same for the enum > what follows from the fault > no.

use crate::retry_info::model::{Answers, Fault, Field, HintField, Options, Safety, Says, With};
use std::time::Duration;

/// Sources that may have no answer, in order, and a last one that always has an answer.
pub(super) struct Chain<'a, T> {
    pub(super) asked: Vec<Asked<'a>>,
    pub(super) last: Last<'a, T>,
}

pub(super) enum Asked<'a> {
    Hint(&'a HintField),
    With(&'a With),
    Safe(&'a Field),
    /// An error code, with the constant status of the case.
    Code(&'a Field, Option<u16>),
    /// An error code, or otherwise a status with its retry-after hint.
    Response {
        code: Option<&'a Field>,
        status: &'a Field,
        hint: Hint<'a>,
    },
    /// An inner error, if there is one.
    Source(&'a Field),
    /// An inner error, which gives all answers except perhaps the hint.
    Transparent(&'a Field),
}

pub(super) enum Last<'a, T> {
    Word(T),
    /// A constant status, and the hint that it is classified with.
    Status(u16, Hint<'a>),
    /// The inner error.
    Transparent(&'a Field),
}

/// The sources of the retry-after hint, in order. Each of them may have none, even an inner error.
pub(super) struct Hints<'a> {
    pub(super) asked: Vec<Asked<'a>>,
    pub(super) constant: Option<Duration>,
}

/// The retry-after hint that belongs to a status: a field, a constant, or none.
#[derive(Clone, Copy)]
pub(super) struct Hint<'a> {
    pub(super) field: Option<&'a HintField>,
    pub(super) constant: Option<Duration>,
}

/// The constants that the options give for one answer.
struct Words<T> {
    explicit: Option<T>,
    implied: Option<T>,
    container: Option<T>,
    container_implied: Option<T>,
    otherwise: T,
}

impl Says {
    pub(super) fn fault(&self) -> Chain<'_, Fault> {
        self.chain(None, |case, container| Words {
            explicit: case.fault,
            implied: None,
            container: container.fault,
            container_implied: None,
            otherwise: Fault::Other,
        })
    }

    pub(super) fn safety(&self) -> Chain<'_, Safety> {
        let safe = match self {
            Self::Options(options) => options.safe.as_ref(),
            Self::Transparent(_) => None,
        };
        self.chain(safe, |case, container| Words {
            explicit: case.safety,
            implied: case.implied_safety(),
            container: container.safety,
            container_implied: container.implied_safety(),
            // All other sources of a fault are sources of the safety as well, and come before.
            otherwise: match case.fault.or(container.fault) {
                Some(Fault::Server) => Safety::Maybe,
                _ => Safety::No,
            },
        })
    }

    pub(super) fn throttling(&self) -> Chain<'_, bool> {
        self.chain(None, |case, container| Words::flag(case.throttling, container.throttling))
    }

    pub(super) fn timeout(&self) -> Chain<'_, bool> {
        self.chain(None, |case, container| Words::flag(case.timeout, container.timeout))
    }

    pub(super) fn conflict(&self) -> Chain<'_, bool> {
        self.chain(None, |case, container| Words::flag(case.conflict, container.conflict))
    }

    pub(super) fn retry_after(&self) -> Hints<'_> {
        let options = match self {
            Self::Transparent(field) => return Hints { asked: vec![Asked::Transparent(field)], constant: None },
            Self::Options(options) => options,
        };
        let mut asked: Vec<_> = options.hint.iter().map(Asked::Hint).collect();
        if options.answers.retry_after.is_some() {
            return Hints { asked, constant: options.answers.retry_after };
        }
        asked.extend(options.with.iter().map(Asked::With));
        asked.extend(options.source.iter().map(Asked::Source));
        Hints { asked, constant: options.container.retry_after }
    }

    fn chain<'a, T>(
        &'a self,
        safe: Option<&'a Field>,
        words: impl FnOnce(&Answers, &Answers) -> Words<T>,
    ) -> Chain<'a, T> {
        match self {
            Self::Transparent(field) => Chain { asked: Vec::new(), last: Last::Transparent(field) },
            Self::Options(options) => options.chain(safe, words(&options.answers, &options.container)),
        }
    }
}

impl Options {
    fn chain<'a, T>(&'a self, safe: Option<&'a Field>, words: Words<T>) -> Chain<'a, T> {
        let mut asked = Vec::new();
        if let Some(word) = words.explicit {
            return Chain { asked, last: Last::Word(word) };
        }
        asked.extend(self.with.iter().map(Asked::With));
        asked.extend(safe.map(Asked::Safe));
        let own = Hint { field: self.hint.as_ref(), constant: self.answers.retry_after };
        match (self.code.as_ref(), self.status.as_ref()) {
            (code, Some(status)) => asked.push(Asked::Response { code, status, hint: own }),
            (Some(code), None) => asked.push(Asked::Code(code, self.answers.http_status)),
            (None, None) => {}
        }
        if let Some(word) = words.implied {
            return Chain { asked, last: Last::Word(word) };
        }
        if let Some(status) = self.answers.http_status {
            return Chain { asked, last: Last::Status(status, own) };
        }
        asked.extend(self.source.iter().map(Asked::Source));
        let last = if let Some(word) = words.container.or(words.container_implied) {
            Last::Word(word)
        } else if let Some(status) = self.container.http_status {
            Last::Status(status, Hint { constant: own.constant.or(self.container.retry_after), ..own })
        } else {
            Last::Word(words.otherwise)
        };
        Chain { asked, last }
    }
}

impl Words<bool> {
    fn flag(case: bool, container: bool) -> Self {
        Self {
            explicit: case.then_some(true),
            implied: None,
            container: container.then_some(true),
            container_implied: None,
            otherwise: false,
        }
    }
}

impl Answers {
    /// Returns the safety that follows from the kind of error.
    fn implied_safety(&self) -> Option<Safety> {
        match self {
            Self { throttling: true, .. } | Self { conflict: true, .. } => Some(Safety::Yes),
            Self { timeout: true, .. } => Some(Safety::Maybe),
            _ => None,
        }
    }
}
