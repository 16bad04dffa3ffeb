//! What an error says, case by case: the attributes with all precedence applied.

use proc_macro2::Ident;
use std::time::Duration;
use syn::{Generics, Member, Path, Type};

/// An enum or a struct.
pub(super) struct Model {
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    pub(super) crate_path: Path,
    pub(super) cases: Vec<Case>,
}

/// A variant, or the whole of a struct.
pub(super) struct Case {
    /// None for a struct.
    pub(super) variant: Option<Ident>,
    pub(super) says: Says,
}

pub(super) enum Says {
    /// All that this field says.
    Transparent(Member, Type),
    /// What the attributes say.
    Constants(Constants),
}

pub(super) struct Constants {
    pub(super) fault: Fault,
    pub(super) safety: Safety,
    pub(super) throttling: bool,
    pub(super) timeout: bool,
    pub(super) retry_after: Option<Duration>,
    /// A field that holds the wait; it beats the constant.
    pub(super) wait_field: Option<WaitField>,
}

pub(super) struct WaitField {
    pub(super) member: Member,
    pub(super) ty: Type,
    pub(super) unit: Option<Unit>,
}

/// What one place says in so many words.
#[derive(Clone, Copy, Default)]
pub(super) struct Answers {
    pub(super) throttling: bool,
    pub(super) timeout: bool,
    pub(super) safety: Option<Safety>,
    pub(super) fault: Option<Fault>,
    pub(super) retry_after: Option<Duration>,
}

impl Answers {
    /// What follows about safety from what is said: the words themselves, else what the kind of error implies.
    fn implied_safety(&self) -> Option<Safety> {
        self.safety.or(match self {
            Self { throttling: true, .. } => Some(Safety::Yes),
            Self { timeout: true, .. } => Some(Safety::Maybe),
            _ => None,
        })
    }

    /// Completes what a case says with what its container says, and that with what follows from the fault.
    pub(super) fn complete(&self, container: &Self, wait_field: Option<WaitField>) -> Constants {
        let fault = self.fault.or(container.fault).unwrap_or(Fault::Other);
        let by_fault = if fault == Fault::Server { Safety::Maybe } else { Safety::No };
        Constants {
            fault,
            safety: self.implied_safety().or(container.implied_safety()).unwrap_or(by_fault),
            throttling: self.throttling || container.throttling,
            timeout: self.timeout || container.timeout,
            retry_after: self.retry_after.or(container.retry_after),
            wait_field,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Fault {
    Client,
    Server,
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Safety {
    Yes,
    No,
    Maybe,
}

/// The unit of a number that is a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Secs,
    Millis,
}
