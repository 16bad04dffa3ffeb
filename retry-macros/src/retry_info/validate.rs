//! Checks the options: contradictions, missing fields, wrong types.

use crate::diagnostics::Diagnostics;
use crate::options::Written;
use crate::retry_info::attr::{Case, CaseOptions, Field, Input, Kind};
use crate::retry_info::bounds;
use crate::retry_info::marks::{Mark, Marks, model_field, only};
use crate::retry_info::model::{self, Answers, HintField, Model, Options, Safety, Says, Unit, Warning, With};
use crate::retry_info::precedence::Last;
use crate::retry_info::tables::CaseOption;
use crate::retry_info::transparent::{beside_transparent, transparent_field};
use proc_macro2::Ident;
use quote::quote;
use syn::{Attribute, ExprPath, GenericArgument, Path, PathArguments, PathSegment, Type, parse_quote};

pub(super) fn validate(input: Input, diagnostics: &mut Diagnostics) -> Model {
    let Input { ident, generics, crate_path, lints, kind } = input;
    // An option that could not be read may make an error retryable.
    let is_read = diagnostics.count() == 0;
    let (container, cases) = match kind {
        Kind::Enum { defaults, is_read, variants } => {
            (enum_answers(&defaults, &variants, is_read, diagnostics), variants)
        }
        Kind::Struct(case) => {
            cut_attempt_without_label(&case, diagnostics);
            (Answers::default(), vec![case])
        }
    };
    let warnings = warnings(&ident, &lints, &cases, container);
    let cases = cases.into_iter().filter_map(|case| check(case, container, is_read, diagnostics)).collect();
    let crate_path = crate_path.unwrap_or_else(default_crate);
    Model { ident, generics, crate_path, cases, warnings }
}

/// Returns the default path of retry-core.
pub(super) fn default_crate() -> Path {
    parse_quote!(::retry_core)
}

/// Checks the options on the enum.
fn enum_answers(defaults: &CaseOptions, variants: &[Case], is_read: bool, diagnostics: &mut Diagnostics) -> Answers {
    let answers = defaults.answers;
    contradictions(defaults, diagnostics);
    if defaults.option(CaseOption::Exhaustive).is_some() {
        exhaustive(variants, diagnostics);
    } else if is_read && answers == Answers::default() {
        for variant in variants {
            cut_attempt_without_label(variant, diagnostics);
        }
    }
    answers
}

/// Returns the warnings about cases that hold an inner error and have no label, or otherwise about an enum without any label.
fn warnings(ident: &Ident, lints: &[Attribute], cases: &[Case], container: Answers) -> Vec<Warning> {
    let inner = cases.iter().filter(|case| is_unlabelled(case, container)).map(|case| {
        let ident = &case.ident;
        let message = format!(
            "`{ident}` holds an inner error and has no `#[retry(...)]`, so nothing says what the error means, and it is not \
             retried; mark the field `#[retry(transparent)]` or `#[retry(source)]` if its type implements `RetryInfo`, or \
             `#[retry(with = path::of::classify)]` if not; write `#[retry(never)]` on `{ident}` if it must not be retried"
        );
        let lints = lints.iter().chain(&case.lints).cloned().collect();
        Warning { ident: ident.clone(), message, lints }
    });
    let mut warnings: Vec<Warning> = inner.collect();
    if warnings.is_empty() && is_enum_without_label(cases, container) {
        let inner = cases.iter().find(|case| matches!(&*case.fields, [Field { ident: None, .. }])).map(|case| {
            format!(
                "; if the field of `{}` is an inner error, mark it `#[retry(transparent)]` if its type implements `RetryInfo`, or \
                 `#[retry(with = path::of::classify)]` if not",
                case.ident
            )
        });
        let message = format!(
            "no variant of `{ident}` has a `#[retry(...)]`, so by default none of its errors is retried; label each variant that is \
             worth a retry, as in `#[retry(throttling)]`, `#[retry(timeout)]` or `#[retry(safe)]`{}; write `#[retry(never)]` on \
             `{ident}` if no error is worth a retry",
            inner.unwrap_or_default()
        );
        warnings.push(Warning { ident: ident.clone(), message, lints: lints.to_vec() });
    }
    warnings
}

/// Whether neither an enum nor one of its variants has a label. An enum without variants has no errors.
fn is_enum_without_label(cases: &[Case], container: Answers) -> bool {
    let is_silent = |case: &Case| case.variant.is_some() && !case.labelled;
    container == Answers::default() && !cases.is_empty() && cases.iter().all(is_silent)
}

/// Whether a case holds an inner error, and no label says what it means.
fn is_unlabelled(case: &Case, container: Answers) -> bool {
    case.has_inner_error && !case.labelled && container == Answers::default()
}

/// Reports variants without a label under `exhaustive`.
fn exhaustive(variants: &[Case], diagnostics: &mut Diagnostics) {
    for silent in variants.iter().filter(|variant| !variant.labelled) {
        let name = &silent.ident;
        diagnostics.error(
            name,
            format!(
                "`{name}` has no `#[retry(...)]`, and the enum is `exhaustive`; add a label, as in \
                 `#[retry(never)]` if it must not be retried"
            ),
        );
    }
}

/// Reports a `TimedOut` of which no label says what it means.
fn cut_attempt_without_label(case: &Case, diagnostics: &mut Diagnostics) {
    let timed_out =
        case.fields.iter().find(|field| last_segment(&field.ty).is_some_and(|last| last.ident == "TimedOut"));
    if let Some(field) = timed_out.filter(|_| !case.labelled) {
        let message = format!(
            "`{}` has no label, so an attempt that `attempt_timeout` cuts is not retried; mark this field \
             `#[retry(transparent)]`, or label `{0}` `#[retry(never)]` if that is intended",
            case.ident
        );
        diagnostics.error(&field.ty, message);
    }
}

fn check(case: Case, container: Answers, is_read: bool, diagnostics: &mut Diagnostics) -> Option<model::Case> {
    let found = diagnostics.count();
    contradictions(&case.options, diagnostics);
    let marks = Marks::of(&case.fields);
    let says = if case.options.option(CaseOption::Transparent).is_some() || !marks.transparent.is_empty() {
        beside_transparent(&case, diagnostics);
        let (index, field) = transparent_field(&case, &marks, diagnostics)?;
        if bounds::optional(&field.ty).is_some() {
            diagnostics.error(
                &field.ty,
                "`transparent` takes all answers from the field, and an `Option` can be empty; mark the field \
                 `#[retry(source)]` instead, so that the variant and the enum answer for `None`",
            );
        }
        Says::Transparent(Box::new(model_field(index, field)))
    } else {
        let says = Says::Options(Box::new(options(&case, &marks, container, diagnostics)));
        overridden_safe_field(&case, &marks, diagnostics);
        if is_read && diagnostics.count() == found {
            wait_without_retry(&case, &marks, &says, diagnostics);
        }
        says
    };
    Some(model::Case { variant: case.variant, says })
}

/// Reports `never` beside a `safe` field, which it would override.
fn overridden_safe_field(case: &Case, marks: &Marks<'_>, diagnostics: &mut Diagnostics) {
    let word = case.options.never_or_safe().filter(|_| case.options.answers.safety == Some(Safety::No));
    if let (Some(word), Some(field)) = (word, marks.safe.first()) {
        let word = quote!(#word);
        diagnostics
            .error(field.option, format!("`{word}` overrides the field that is marked `safe`; keep one of the two"));
    }
}

/// Reports `retry_after` on an error that is never retried.
fn wait_without_retry(case: &Case, marks: &Marks<'_>, says: &Says, diagnostics: &mut Diagnostics) {
    let is_never_retried = {
        let safety = says.safety();
        safety.asked.is_empty() && matches!(safety.last, Last::Word(Safety::No))
    };
    let wait = case.options.option(CaseOption::RetryAfter).or(marks.retry_after.first().map(|(mark, _)| mark.option));
    if let Some(wait) = wait.filter(|_| is_never_retried) {
        let message = match case.options.never_or_safe() {
            Some(word) => {
                format!("an error that is never retried needs no wait; remove `retry_after`, or `{}`", word.name)
            }
            None => format!(
                "`{}` is not retryable, so `retry_after` has no effect; add a label, such as \
                 `#[retry(throttling)]` or `#[retry(safe)]`, or remove `retry_after`",
                case.ident
            ),
        };
        diagnostics.error(wait, message);
    }
}

fn contradictions(options: &CaseOptions, diagnostics: &mut Diagnostics) {
    if let (Some(_), Some(never)) = (options.option(CaseOption::Safe), options.option(CaseOption::Never)) {
        diagnostics.error(never, "`never` contradicts `safe`; keep one of the two");
    }
}

fn options(case: &Case, marks: &Marks<'_>, container: Answers, diagnostics: &mut Diagnostics) -> Options {
    let Marks { retry_after, http_status: status, error_code, safe, with: on_fields, source, transparent: _ } = marks;
    let status = only(status, "keep the one that holds the status", diagnostics);
    if let (Some(mark), Some(_)) = (status, case.options.option(CaseOption::HttpStatus)) {
        let what = if case.variant.is_some() { "variant" } else { "struct" };
        let message = format!("`http_status` is given on the {what} and on its field; keep one of the two");
        diagnostics.error(mark.option, message);
    }
    let hint = hint_field(retry_after, diagnostics);
    let with = with(case, on_fields, diagnostics);
    let mut field = |marks: &[Mark<'_>], mend: &str| only(marks, mend, diagnostics).map(|mark| mark.model());
    Options {
        answers: case.options.answers,
        hint,
        with,
        safe: field(safe, "keep the one that holds the answer"),
        code: field(error_code, "keep the one that holds the code"),
        status: status.map(|mark| mark.model()),
        source: field(source, "only one field can give the answers"),
        container,
        is_unknown: is_unlabelled(case, container),
    }
}

/// Returns the function under `with`, on the variant or on one of its fields.
fn with(case: &Case, on_fields: &[(Mark<'_>, &ExprPath)], diagnostics: &mut Diagnostics) -> Option<With> {
    let all_fields = || case.fields.iter().enumerate().map(|(index, field)| model_field(index, field)).collect();
    let on_case = case.options.option(CaseOption::With).zip(case.options.with.as_ref());
    let on_case = on_case.into_iter().map(|(option, path)| (option, path, all_fields()));
    let on_fields = on_fields.iter().map(|(mark, path)| (mark.option, *path, vec![mark.model()]));
    let mut all = on_case.chain(on_fields);
    let (_, path, fields) = all.next()?;
    for (option, ..) in all {
        diagnostics.error(
            option,
            "`with` is given twice; only one fn can classify: on the variant it receives a reference to each field, in \
             order",
        );
    }
    Some(With { path: path.clone(), fields })
}

fn hint_field(marks: &[(Mark<'_>, Option<Unit>)], diagnostics: &mut Diagnostics) -> Option<HintField> {
    for (mark, unit) in marks {
        integer_without_unit(mark.option, &mark.field.ty, unit.is_some(), diagnostics);
    }
    let (_, unit) = marks.first()?;
    let marks: Vec<_> = marks.iter().map(|(mark, _)| *mark).collect();
    let mark = only(&marks, "keep the one that holds the wait", diagnostics)?;
    Some(HintField { field: mark.model(), unit: *unit })
}

fn integer_without_unit(option: &Written, ty: &Type, has_unit: bool, diagnostics: &mut Diagnostics) {
    if option.is_bare() && !has_unit && is_integer(ty) {
        diagnostics.error(option, "a whole number needs its unit: `retry_after(secs)` or `retry_after(millis)`");
    }
}

/// Whether a type is written as an integer or an `Option` of one.
fn is_integer(ty: &Type) -> bool {
    const INTEGERS: [&str; 12] =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
    let Some(last) = last_segment(ty) else { return false };
    match &last.arguments {
        PathArguments::None => INTEGERS.iter().any(|name| last.ident == name),
        PathArguments::AngleBracketed(arguments) if last.ident == "Option" => {
            arguments.args.iter().any(|argument| matches!(argument, GenericArgument::Type(ty) if is_integer(ty)))
        }
        _ => false,
    }
}

/// Returns the last segment of a path, which may be in parentheses or come from a macro.
fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(parenthesized) => last_segment(&parenthesized.elem),
        _ => None,
    }
}
