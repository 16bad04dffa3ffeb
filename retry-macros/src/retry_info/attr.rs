//! Reads the attributes of the item.

use crate::diagnostics::Diagnostics;
use crate::option_table::OptionTable;
use crate::options::{self, Written};
use crate::retry_info::model::{Answers, Fault, Safety, Unit};
use crate::retry_info::tables::{CaseOption, FieldOption, ON_ENUM, ON_FIELD, ON_STRUCT, ON_VARIANT};
use crate::tokens::ungrouped;
use darling::{FromDeriveInput, FromField, FromVariant, ast};
use syn::{Attribute, Data, DeriveInput, Expr, ExprPath, Generics, Ident, Meta, Path, Type};

#[derive(FromDeriveInput)]
#[darling(forward_attrs(retry, error, allow, warn, deny, forbid))]
struct ItemReceiver {
    ident: Ident,
    generics: Generics,
    attrs: Vec<Attribute>,
    data: ast::Data<VariantReceiver, FieldReceiver>,
}

#[derive(FromVariant)]
#[darling(forward_attrs(retry, error, allow, warn, deny, forbid))]
struct VariantReceiver {
    ident: Ident,
    attrs: Vec<Attribute>,
    fields: ast::Fields<FieldReceiver>,
}

#[derive(FromField)]
#[darling(forward_attrs(retry, from, source))]
struct FieldReceiver {
    ident: Option<Ident>,
    ty: Type,
    attrs: Vec<Attribute>,
}

/// The input of the derive, with its attributes.
pub(super) struct Input {
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    pub(super) crate_path: Option<Path>,
    /// The levels of lints that are set on the item.
    pub(super) lints: Vec<Attribute>,
    pub(super) kind: Kind,
}

impl Input {
    /// Returns the functions under `with`.
    pub(super) fn functions(&self) -> Vec<ExprPath> {
        let cases = match &self.kind {
            Kind::Enum { variants, .. } => variants.as_slice(),
            Kind::Struct(case) => std::slice::from_ref(case),
        };
        let of_cases = cases.iter().filter_map(|case| case.options.with.as_ref());
        let fields = cases.iter().flat_map(|case| &case.fields);
        let of_fields = fields.filter_map(|field| field.with.as_ref()).map(|(_, function)| function);
        of_cases.chain(of_fields).cloned().collect()
    }
}

pub(super) enum Kind {
    /// `is_read` says whether the options on the enum could be read.
    Enum {
        defaults: CaseOptions,
        is_read: bool,
        variants: Vec<Case>,
    },
    Struct(Case),
}

/// A variant, or a struct.
pub(super) struct Case {
    /// `None` for a struct.
    pub(super) variant: Option<Ident>,
    /// The tokens at which mistakes of the whole case are reported.
    pub(super) ident: Ident,
    /// Whether there is any `#[retry]`, on it or on one of its fields, other than the path of the crate.
    pub(super) labelled: bool,
    /// Whether the attributes of other derives, or the name of a field, say that there is an inner error.
    pub(super) has_inner_error: bool,
    /// The levels of lints that are set on the variant. They are empty for a struct.
    pub(super) lints: Vec<Attribute>,
    pub(super) options: CaseOptions,
    pub(super) fields: Vec<Field>,
}

/// The options of a variant, a struct or an enum.
#[derive(Default)]
pub(super) struct CaseOptions {
    /// The options that are given, in the order of the text.
    pub(super) written: Vec<(CaseOption, Written)>,
    /// The answers that they give as constants.
    pub(super) answers: Answers,
    /// The function under `with`.
    pub(super) with: Option<ExprPath>,
    pub(super) crate_path: Option<Path>,
}

impl CaseOptions {
    /// Returns this option, if it is given.
    pub(super) fn option(&self, option: CaseOption) -> Option<&Written> {
        self.written.iter().find(|(written, _)| *written == option).map(|(_, written)| written)
    }

    /// Returns the option that says that there is no retry, or otherwise `safe`.
    pub(super) fn never_or_safe(&self) -> Option<&Written> {
        self.option(CaseOption::Never).or_else(|| self.option(CaseOption::Safe))
    }

    /// Returns whether no option says what the error means.
    fn is_silent(&self) -> bool {
        self.written.iter().all(|(option, _)| *option == CaseOption::Crate)
    }
}

pub(super) struct Field {
    pub(super) ident: Option<Ident>,
    pub(super) ty: Type,
    pub(super) retry_after: Option<(Written, Option<Unit>)>,
    pub(super) http_status: Option<Written>,
    pub(super) error_code: Option<Written>,
    pub(super) safe: Option<Written>,
    pub(super) with: Option<(Written, ExprPath)>,
    pub(super) source: Option<Written>,
    pub(super) transparent: Option<Written>,
}

pub(super) fn read(input: &DeriveInput, diagnostics: &mut Diagnostics) -> Option<Input> {
    if let Data::Union(data) = &input.data {
        diagnostics.error(data.union_token, "`RetryInfo` can be derived for an enum or a struct, not for a union");
        return None;
    }
    let item = diagnostics.ok(ItemReceiver::from_derive_input(input).map_err(syn::Error::from))?;
    let Attributes { retry: on_item, lints, is_transparent } = Attributes::of(item.attrs);
    let found = diagnostics.count();
    let (crate_path, kind) = match item.data {
        ast::Data::Enum(variants) => {
            let mut defaults = read_case(&on_item, &ON_ENUM, diagnostics);
            let is_read = diagnostics.count() == found;
            let crate_path = defaults.crate_path.take();
            let variants = variants.into_iter().map(|variant| read_variant(variant, diagnostics)).collect();
            (crate_path, Kind::Enum { defaults, is_read, variants })
        }
        ast::Data::Struct(fields) => {
            let mut options = read_case(&on_item, &ON_STRUCT, diagnostics);
            let crate_path = options.crate_path.take();
            let is_path_only = crate_path.is_some() && options.is_silent() && diagnostics.count() == found;
            let case = Case {
                variant: None,
                ident: item.ident.clone(),
                labelled: labelled(if is_path_only { &[] } else { &on_item }, &fields),
                has_inner_error: is_transparent || fields.iter().any(FieldReceiver::is_inner_error),
                lints: Vec::new(),
                options,
                fields: read_fields(fields, diagnostics),
            };
            (crate_path, Kind::Struct(case))
        }
    };
    Some(Input { ident: item.ident, generics: item.generics, crate_path, lints, kind })
}

fn read_variant(variant: VariantReceiver, diagnostics: &mut Diagnostics) -> Case {
    let VariantReceiver { ident, attrs, fields } = variant;
    let Attributes { retry, lints, is_transparent } = Attributes::of(attrs);
    Case {
        variant: Some(ident.clone()),
        ident,
        labelled: labelled(&retry, &fields),
        has_inner_error: is_transparent || fields.iter().any(FieldReceiver::is_inner_error),
        lints,
        options: read_case(&retry, &ON_VARIANT, diagnostics),
        fields: read_fields(fields, diagnostics),
    }
}

/// The attributes of an item or a variant, by what they are for.
struct Attributes {
    retry: Vec<Attribute>,
    /// The levels of lints.
    lints: Vec<Attribute>,
    /// Whether there is `#[error(transparent)]`, as the crate `thiserror` reads it.
    is_transparent: bool,
}

impl Attributes {
    fn of(attrs: Vec<Attribute>) -> Self {
        let is_transparent = attrs.iter().any(|attr| {
            attr.path().is_ident("error") && attr.parse_args::<Ident>().is_ok_and(|word| word == "transparent")
        });
        let (retry, others): (Vec<_>, Vec<_>) = attrs.into_iter().partition(|attr| attr.path().is_ident("retry"));
        let lints = others.into_iter().filter(|attr| !attr.path().is_ident("error")).collect();
        Self { retry, lints, is_transparent }
    }
}

impl FieldReceiver {
    fn retry_attrs(&self) -> impl Iterator<Item = &Attribute> {
        self.attrs.iter().filter(|attr| attr.path().is_ident("retry"))
    }

    /// Whether other derives take the field for the source of the error.
    fn is_inner_error(&self) -> bool {
        self.ident.as_ref().is_some_and(|ident| ident == "source") || self.retry_attrs().count() < self.attrs.len()
    }
}

fn labelled(attrs: &[Attribute], fields: &ast::Fields<FieldReceiver>) -> bool {
    !attrs.is_empty() || fields.iter().any(|field| field.retry_attrs().next().is_some())
}

/// The options of all `#[retry(...)]` of one item.
fn read_options<'a, O: Copy>(
    attrs: impl IntoIterator<Item = &'a Attribute>,
    table: &OptionTable<O>,
    diagnostics: &mut Diagnostics,
) -> Vec<(O, Written)> {
    let mut lists = Vec::new();
    for attr in attrs {
        match &attr.meta {
            Meta::List(list) if !list.tokens.is_empty() => lists.push(list.tokens.clone()),
            Meta::NameValue(pair) => {
                let option = match ungrouped(&pair.value) {
                    Expr::Lit(literal) => table.unquoted(&literal.lit),
                    _ => None,
                };
                let message = option.map_or_else(
                    || format!("write an option in parentheses: `#[retry(...)]`. {}", table.takes()),
                    |option| format!("write `#[retry({option})]`, with parentheses and without quotes"),
                );
                diagnostics.error(attr, message);
            }
            Meta::List(_) | Meta::Path(_) => {
                diagnostics
                    .error(attr, format!("empty `#[retry]`; name an option: `#[retry(...)]`. {}", table.takes()));
            }
        }
    }
    options::read(lists, table, diagnostics).known
}

fn read_case(attrs: &[Attribute], table: &OptionTable<CaseOption>, diagnostics: &mut Diagnostics) -> CaseOptions {
    let written = read_options(attrs, table, diagnostics);
    let (mut answers, mut with, mut crate_path) = (Answers::default(), None, None);
    for (name, option) in &written {
        match name {
            CaseOption::Throttling => {
                option.flag(diagnostics);
                answers.throttling = true;
            }
            CaseOption::Timeout => {
                option.flag(diagnostics);
                answers.timeout = true;
            }
            CaseOption::Conflict => {
                option.flag(diagnostics);
                answers.conflict = true;
            }
            CaseOption::Safe => {
                let words = [("yes", Safety::Yes), ("no", Safety::No), ("maybe", Safety::Maybe)];
                answers.safety = if option.is_bare() { Some(Safety::Yes) } else { option.word(&words, diagnostics) };
            }
            CaseOption::Never => {
                option.flag(diagnostics);
                answers.safety = Some(Safety::No);
            }
            CaseOption::Fault => {
                let words = [("client", Fault::Client), ("server", Fault::Server), ("other", Fault::Other)];
                answers.fault = option.word(&words, diagnostics);
            }
            CaseOption::RetryAfter => answers.retry_after = option.duration(diagnostics),
            CaseOption::HttpStatus => answers.http_status = read_status(option, diagnostics),
            CaseOption::With => with = option.function(diagnostics),
            CaseOption::Transparent | CaseOption::Exhaustive => option.flag(diagnostics),
            CaseOption::Crate => crate_path = option.path(diagnostics),
        }
    }
    CaseOptions { written, answers, with, crate_path }
}

fn read_fields(fields: ast::Fields<FieldReceiver>, diagnostics: &mut Diagnostics) -> Vec<Field> {
    fields.into_iter().map(|field| read_field(field, diagnostics)).collect()
}

fn read_field(field: FieldReceiver, diagnostics: &mut Diagnostics) -> Field {
    let options = read_options(field.retry_attrs(), &ON_FIELD, diagnostics);
    let mut read = Field {
        ident: field.ident,
        ty: field.ty,
        retry_after: None,
        http_status: None,
        error_code: None,
        safe: None,
        with: None,
        source: None,
        transparent: None,
    };
    for (name, option) in options {
        match name {
            FieldOption::RetryAfter => {
                let unit = read_unit(&option, diagnostics);
                read.retry_after = Some((option, unit));
            }
            FieldOption::HttpStatus => {
                option.mark("http_status = 429", diagnostics);
                read.http_status = Some(option);
            }
            FieldOption::ErrorCode => {
                option.flag(diagnostics);
                read.error_code = Some(option);
            }
            FieldOption::Safe => {
                option.mark("safe = \"yes\"", diagnostics);
                read.safe = Some(option);
            }
            FieldOption::With => read.with = option.function(diagnostics).map(|path| (option, path)),
            FieldOption::Source => {
                option.flag(diagnostics);
                read.source = Some(option);
            }
            FieldOption::Transparent => {
                option.flag(diagnostics);
                read.transparent = Some(option);
            }
        }
    }
    read
}

fn read_status(option: &Written, diagnostics: &mut Diagnostics) -> Option<u16> {
    let Some(number) = option.number() else {
        diagnostics.error(
            option,
            "write the status as a number: `http_status = 429`; if it is in a field, mark that field: \
             `#[retry(http_status)]`",
        );
        return None;
    };
    let status = number.base10_parse().ok().filter(|status| (400..=999).contains(status));
    if status.is_none() {
        diagnostics.error(
            number,
            format!(
                "{number} is not the HTTP status of an error; write one from 400 to 999, as in `http_status = 429`"
            ),
        );
    }
    status
}

fn read_unit(option: &Written, diagnostics: &mut Diagnostics) -> Option<Unit> {
    if option.is_bare() {
        return None;
    }
    let unit = match option.list().map(|unit| unit.to_string()).as_deref() {
        Some("secs") => Some(Unit::Secs),
        Some("millis") => Some(Unit::Millis),
        _ => None,
    };
    if unit.is_none() {
        diagnostics.error(
            option,
            "on a field, write `retry_after`, or for a whole number `retry_after(secs)` or `retry_after(millis)`; \
             a constant belongs on the variant: `retry_after = \"1500ms\"`",
        );
    }
    unit
}
