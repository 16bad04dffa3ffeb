//! Judges what was read: contradictions, fields that are not there, types that can't be meant.

use crate::diagnostics::Diagnostics;
use crate::options::Written;
use crate::retry_info::attr::{self, Case, CaseOptions, Input, Kind};
use crate::retry_info::bounds;
use crate::retry_info::model::{self, Answers, Field, Model, Options, Says, WaitField, With};
use proc_macro2::Span;
use syn::{ExprPath, GenericArgument, Index, Member, Path, PathArguments, Type, parse_quote};

pub(super) fn validate(input: Input, diagnostics: &mut Diagnostics) -> Model {
    let Input { ident, generics, crate_path, kind } = input;
    let (container, cases) = match kind {
        Kind::Enum { defaults, variants } => {
            contradictions(&defaults, diagnostics);
            if defaults.exhaustive.is_some() {
                exhaustive(&variants, diagnostics);
            }
            (defaults.answers, variants)
        }
        Kind::Struct(case) => (Answers::default(), vec![case]),
    };
    let cases = cases.into_iter().filter_map(|case| judge(case, container, diagnostics)).collect();
    let crate_path = crate_path.unwrap_or_else(default_crate);
    Model { ident, generics, crate_path, cases }
}

/// Where retry-core is found if nobody says otherwise.
pub(super) fn default_crate() -> Path {
    parse_quote!(::retry_core)
}

/// Under `exhaustive`, each variant says something.
fn exhaustive(variants: &[Case], diagnostics: &mut Diagnostics) {
    for silent in variants.iter().filter(|variant| !variant.labelled) {
        let name = &silent.ident;
        diagnostics.error(
            name,
            format!(
                "`{name}` has no `#[retry(...)]`, and the enum is `exhaustive`; say what it means, as in \
                 `#[retry(never)]` if it must not be retried"
            ),
        );
    }
}

fn judge(case: Case, container: Answers, diagnostics: &mut Diagnostics) -> Option<model::Case> {
    contradictions(&case.options, diagnostics);
    let marked = case.fields.iter().any(|field| field.transparent.is_some());
    let says = if marked || case.options.transparent.is_some() {
        beside_transparent(&case, diagnostics);
        let (index, field) = transparent_field(&case, diagnostics)?;
        if bounds::optional(&field.ty).is_some() {
            diagnostics.error(
                &field.ty,
                "`transparent` takes everything from the field, and an `Option` may hold nothing; mark the field \
                 `#[retry(source)]` instead, which leaves to the variant and the enum what is not there",
            );
        }
        Says::Transparent(Box::new(model_field(index, field)))
    } else {
        Says::Options(Box::new(options(&case, container, diagnostics)))
    };
    Some(model::Case { variant: case.variant, says })
}

fn contradictions(options: &CaseOptions, diagnostics: &mut Diagnostics) {
    if let (Some(_), Some(never)) = (&options.safe, &options.never) {
        diagnostics.error(never, "`never` contradicts `safe`; keep the one that is meant");
    }
}

fn options(case: &Case, container: Answers, diagnostics: &mut Diagnostics) -> Options {
    let field =
        |found: Option<(usize, &attr::Field, &Written)>| found.map(|(index, field, _)| model_field(index, field));
    let status = only(case, |field| field.http_status.as_ref(), "keep the one that holds the status", diagnostics);
    if let (Some((_, _, option)), Some(_)) = (status, &case.options.http_status) {
        let what = if case.variant.is_some() { "variant" } else { "struct" };
        diagnostics.error(option, format!("`http_status` stands on the {what} and on its field; keep one of the two"));
    }
    Options {
        said: case.options.answers,
        wait: wait_field(case, diagnostics),
        with: with(case, diagnostics),
        safe: field(only(case, |field| field.safe.as_ref(), "keep the one that holds the verdict", diagnostics)),
        code: field(only(case, |field| field.error_code.as_ref(), "keep the one that holds the code", diagnostics)),
        status: field(status),
        source: field(only(
            case,
            |field| field.source.as_ref(),
            "an error can take the answers of one only",
            diagnostics,
        )),
        container,
    }
}

/// The field that an option marks, which must be one.
fn only<'a>(
    case: &'a Case,
    option: impl Fn(&'a attr::Field) -> Option<&'a Written>,
    mend: &str,
    diagnostics: &mut Diagnostics,
) -> Option<(usize, &'a attr::Field, &'a Written)> {
    let mut marked =
        case.fields.iter().enumerate().filter_map(|(index, field)| option(field).map(|option| (index, field, option)));
    let first = marked.next();
    for (_, _, option) in marked {
        diagnostics.error(option, format!("`{}` marks two fields; {mend}", option.name));
    }
    first
}

/// Nothing may stand beside `transparent`: it would override what the field says, or be overridden.
fn beside_transparent(case: &Case, diagnostics: &mut Diagnostics) {
    let CaseOptions {
        answers: _,
        throttling,
        timeout,
        conflict,
        safe,
        never,
        fault,
        retry_after,
        http_status,
        with,
        transparent: _,
        exhaustive: _,
        crate_path: _,
    } = &case.options;
    let with = with.as_ref().map(|(option, _)| option);
    let said: [Option<&Written>; 9] = [
        throttling.as_ref(),
        timeout.as_ref(),
        conflict.as_ref(),
        safe.as_ref(),
        never.as_ref(),
        fault.as_ref(),
        retry_after.as_ref(),
        http_status.as_ref(),
        with,
    ];
    let on_fields = case.fields.iter().flat_map(|field| {
        let attr::Field { ident: _, ty: _, retry_after, http_status, error_code, safe, with, source, transparent: _ } =
            field;
        [
            retry_after.as_ref().map(|(option, _)| option),
            http_status.as_ref(),
            error_code.as_ref(),
            safe.as_ref(),
            with.as_ref().map(|(option, _)| option),
            source.as_ref(),
        ]
    });
    for option in said.into_iter().chain(on_fields).flatten() {
        let name = &option.name;
        let mend = if name == "source" {
            "remove one of the two"
        } else {
            "remove it, or mark the field `#[retry(source)]` instead, which answers only what is not said here"
        };
        diagnostics.error(option, format!("`transparent` takes everything from the field, `{name}` too; {mend}"));
    }
}

/// The marked field, else the only one, else the one that is named `source`.
fn transparent_field<'a>(case: &'a Case, diagnostics: &mut Diagnostics) -> Option<(usize, &'a attr::Field)> {
    let fields = || case.fields.iter().enumerate();
    let mend = "an error can take the answers of one only";
    let found = if let Some((index, field, _)) = only(case, |field| field.transparent.as_ref(), mend, diagnostics) {
        Some((index, field))
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
    found
}

/// The fn that judges, on the variant or on one of its fields.
fn with(case: &Case, diagnostics: &mut Diagnostics) -> Option<With> {
    let fields = || case.fields.iter().enumerate().map(|(index, field)| model_field(index, field));
    let on_variant = case.options.with.iter().map(|(option, path)| (option, path, fields().collect()));
    let on_fields = case.fields.iter().zip(fields()).filter_map(|(read, field)| {
        let (option, path) = read.with.as_ref()?;
        Some((option, path, vec![field]))
    });
    let mut all = on_variant.chain(on_fields);
    let (_, path, fields): (&Written, &ExprPath, Vec<Field>) = all.next()?;
    for (option, ..) in all {
        diagnostics.error(
            option,
            "`with` stands twice; only one fn can judge: on the variant it is handed a reference to each field, in order",
        );
    }
    Some(With { path: path.clone(), fields })
}

fn wait_field(case: &Case, diagnostics: &mut Diagnostics) -> Option<WaitField> {
    for field in &case.fields {
        if let Some((option, unit)) = &field.retry_after {
            integer_without_unit(option, &field.ty, unit.is_some(), diagnostics);
        }
    }
    let (index, field, _) = only(
        case,
        |field| field.retry_after.as_ref().map(|(option, _)| option),
        "keep the one that holds the wait",
        diagnostics,
    )?;
    let unit = field.retry_after.as_ref().and_then(|(_, unit)| *unit);
    Some(WaitField { field: model_field(index, field), unit })
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

fn model_field(index: usize, field: &attr::Field) -> Field {
    let member = match &field.ident {
        Some(ident) => Member::Named(ident.clone()),
        None => Member::Unnamed(Index { index: u32::try_from(index).unwrap_or(u32::MAX), span: Span::call_site() }),
    };
    Field { index, member, ty: field.ty.clone() }
}
