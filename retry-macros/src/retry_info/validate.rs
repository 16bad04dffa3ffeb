//! Judges what was read: contradictions, fields that are not there, types that can't be meant.

use crate::diagnostics::Diagnostics;
use crate::options::Written;
use crate::retry_info::attr::{Case, CaseOptions, Field, Input, Kind};
use crate::retry_info::model::{self, Answers, Model, Says, WaitField};
use proc_macro2::Span;
use syn::{GenericArgument, Index, Member, PathArguments, Type, parse_quote};

pub(super) fn validate(input: Input, diagnostics: &mut Diagnostics) -> Model {
    let Input { ident, generics, crate_path, kind } = input;
    let (container, cases) = match kind {
        Kind::Enum { defaults, variants } => {
            contradictions(&defaults, diagnostics);
            (defaults.answers, variants)
        }
        Kind::Struct(case) => (Answers::default(), vec![case]),
    };
    let cases = cases.into_iter().filter_map(|case| judge(case, &container, diagnostics)).collect();
    let crate_path = crate_path.unwrap_or_else(|| parse_quote!(::retry_core));
    Model { ident, generics, crate_path, cases }
}

fn judge(case: Case, container: &Answers, diagnostics: &mut Diagnostics) -> Option<model::Case> {
    contradictions(&case.options, diagnostics);
    let marked = case.fields.iter().any(|field| field.transparent.is_some());
    let says = if marked || case.options.transparent.is_some() {
        beside_transparent(&case, diagnostics);
        let (member, field) = transparent_field(&case, diagnostics)?;
        Says::Transparent(member, field.ty.clone())
    } else {
        let wait_field = wait_field(&case.fields, diagnostics);
        Says::Constants(case.options.answers.complete(container, wait_field))
    };
    Some(model::Case { variant: case.variant, says })
}

fn contradictions(options: &CaseOptions, diagnostics: &mut Diagnostics) {
    if let (Some(_), Some(never)) = (&options.safe, &options.never) {
        diagnostics.error(never, "`never` contradicts `safe`; keep the one that is meant");
    }
}

/// Nothing may stand beside `transparent`: it would override what the field says, or be overridden.
fn beside_transparent(case: &Case, diagnostics: &mut Diagnostics) {
    let CaseOptions { answers: _, throttling, timeout, safe, never, fault, retry_after, transparent: _, crate_path: _ } =
        &case.options;
    let waits = case.fields.iter().filter_map(|field| field.retry_after.as_ref().map(|(option, _)| option));
    let said = [throttling, timeout, safe, never, fault, retry_after].into_iter().flatten();
    for option in said.chain(waits) {
        diagnostics.error(
            option,
            format!("`transparent` takes everything from the field, `{}` too; remove one of the two", option.name),
        );
    }
}

/// The marked field, else the only one, else the one that is named `source`.
fn transparent_field<'a>(case: &'a Case, diagnostics: &mut Diagnostics) -> Option<(Member, &'a Field)> {
    let fields = || case.fields.iter().enumerate();
    let mut marked = fields().filter(|(_, field)| field.transparent.is_some());
    let found = if let Some(first) = marked.next() {
        for option in marked.filter_map(|(_, field)| field.transparent.as_ref()) {
            diagnostics.error(option, "`transparent` marks two fields; an error can take the answers of one only");
        }
        Some(first)
    } else if case.fields.len() == 1 {
        fields().next()
    } else {
        fields().find(|(_, field)| field.ident.as_ref().is_some_and(|ident| ident == "source"))
    };
    if found.is_none() {
        let what = if case.fields.is_empty() { "has no field" } else { "has several fields, and none named `source`" };
        let mend = if case.fields.is_empty() {
            "say what it means itself, as in `#[retry(throttling)]`"
        } else {
            "mark the one that is meant: `#[retry(transparent)]`"
        };
        diagnostics
            .error(&case.options.transparent, format!("`{}` {what} to take the answers from; {mend}", case.ident));
    }
    found.map(|(index, field)| (member(index, field), field))
}

fn wait_field(fields: &[Field], diagnostics: &mut Diagnostics) -> Option<WaitField> {
    let mut found = None;
    for (index, field) in fields.iter().enumerate() {
        let Some((option, unit)) = &field.retry_after else { continue };
        if found.is_some() {
            diagnostics.error(option, "`retry_after` marks two fields; keep the one that holds the wait");
        }
        integer_without_unit(option, &field.ty, unit.is_some(), diagnostics);
        found.get_or_insert(WaitField { member: member(index, field), ty: field.ty.clone(), unit: *unit });
    }
    found
}

fn integer_without_unit(option: &Written, ty: &Type, has_unit: bool, diagnostics: &mut Diagnostics) {
    if option.is_bare() && !has_unit && is_integer(ty) {
        diagnostics.error(option, "a whole number needs its unit: `retry_after(secs)` or `retry_after(millis)`");
    }
}

/// Whether a type is spelled as an integer or an `Option` of one.
fn is_integer(ty: &Type) -> bool {
    const INTEGERS: [&str; 12] =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    match &last.arguments {
        PathArguments::None => INTEGERS.iter().any(|name| last.ident == name),
        PathArguments::AngleBracketed(arguments) if last.ident == "Option" => {
            arguments.args.iter().any(|argument| matches!(argument, GenericArgument::Type(ty) if is_integer(ty)))
        }
        _ => false,
    }
}

fn member(index: usize, field: &Field) -> Member {
    match &field.ident {
        Some(ident) => Member::Named(ident.clone()),
        None => Member::Unnamed(Index { index: u32::try_from(index).unwrap_or(u32::MAX), span: Span::call_site() }),
    }
}
