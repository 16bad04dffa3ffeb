//! The meaning of the options, case by case, without contradictions.

use proc_macro2::Ident;
use std::time::Duration;
use syn::{Attribute, ExprPath, Generics, Member, Path, Type};

/// An enum or a struct.
pub(super) struct Model {
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    pub(super) crate_path: Path,
    pub(super) cases: Vec<Case>,
    pub(super) warnings: Vec<Warning>,
}

/// A warning about missing labels.
pub(super) struct Warning {
    /// The name of the case or the enum.
    pub(super) ident: Ident,
    pub(super) message: String,
    /// The levels of lints that are set on the item and on the variant.
    pub(super) lints: Vec<Attribute>,
}

/// A variant, or the whole of a struct.
pub(super) struct Case {
    /// `None` for a struct.
    pub(super) variant: Option<Ident>,
    pub(super) says: Says,
}

pub(super) enum Says {
    /// `transparent`: all answers are those of this field.
    Transparent(Box<Field>),
    /// Any other options.
    Options(Box<Options>),
}

/// All options of a case.
pub(super) struct Options {
    pub(super) answers: Answers,
    /// This field has precedence over the constant.
    pub(super) hint: Option<HintField>,
    pub(super) with: Option<With>,
    /// A field that holds whether a retry is safe.
    pub(super) safe: Option<Field>,
    pub(super) code: Option<Field>,
    /// A field that holds the status. If there is one, `answers` has no status.
    pub(super) status: Option<Field>,
    pub(super) source: Option<Field>,
    /// The answers of the enum, for those that the case does not give.
    pub(super) container: Answers,
    /// Whether no label says what the inner error of the case means.
    pub(super) is_unknown: bool,
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

/// A function under `with`, and its arguments.
pub(super) struct With {
    pub(super) path: ExprPath,
    pub(super) fields: Vec<Field>,
}

/// The answers that the options of an enum, a struct or a variant give as constants.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
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

/// The unit of a wait that is a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Secs,
    Millis,
}
