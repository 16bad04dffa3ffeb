//! What an error says, case by case: each option by its meaning, and none that contradicts another.

use proc_macro2::Ident;
use std::time::Duration;
use syn::{ExprPath, Generics, Member, Path, Type};

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
    Transparent(Box<Field>),
    /// What the attributes say.
    Options(Box<Options>),
}

/// All that is written of a case.
pub(super) struct Options {
    pub(super) answers: Answers,
    /// It beats the constant.
    pub(super) hint: Option<HintField>,
    pub(super) with: Option<With>,
    /// A field that holds the verdict.
    pub(super) safe: Option<Field>,
    pub(super) code: Option<Field>,
    /// It holds the status, so there is none in `answers`.
    pub(super) status: Option<Field>,
    pub(super) source: Option<Field>,
    /// What the enum says where the case is silent.
    pub(super) container: Answers,
}

#[derive(Clone)]
pub(super) struct Field {
    pub(super) index: usize,
    pub(super) member: Member,
    pub(super) ty: Type,
}

/// A field that holds the retry-after hint.
pub(super) struct HintField {
    pub(super) field: Field,
    pub(super) unit: Option<Unit>,
}

/// A fn that judges, and what it is handed.
pub(super) struct With {
    pub(super) path: ExprPath,
    pub(super) fields: Vec<Field>,
}

/// The answers that the options of an enum, a struct or a variant give as constants.
#[derive(Clone, Copy, Default)]
pub(super) struct Answers {
    pub(super) throttling: bool,
    pub(super) timeout: bool,
    pub(super) conflict: bool,
    pub(super) safety: Option<Safety>,
    pub(super) fault: Option<Fault>,
    pub(super) retry_after: Option<Duration>,
    pub(super) http_status: Option<u16>,
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
