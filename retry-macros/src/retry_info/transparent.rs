//! Checks `transparent`: finds its field, and reports options that can't be combined with it.

use crate::diagnostics::Diagnostics;
use crate::retry_info::attr::{self, Case};
use crate::retry_info::marks::{Marks, only};
use crate::retry_info::tables::CaseOption;

/// Reports other options beside `transparent`: they would override the field, or the field would override them.
pub(super) fn beside_transparent(case: &Case, diagnostics: &mut Diagnostics) {
    let instead = "remove it, or mark the field `#[retry(source)]` instead, which only fills in what is not given here";
    let gives_answers =
        |option: &CaseOption| !matches!(option, CaseOption::Transparent | CaseOption::Exhaustive | CaseOption::Crate);
    let on_case = case.options.written.iter().filter(|(option, _)| gives_answers(option)).map(|(_, written)| written);
    let on_fields = case.fields.iter().flat_map(|field| {
        let attr::Field { ident: _, ty: _, retry_after, http_status, error_code, safe, with, source, transparent: _ } =
            field;
        let others = [
            retry_after.as_ref().map(|(option, _)| option),
            http_status.as_ref(),
            error_code.as_ref(),
            safe.as_ref(),
            with.as_ref().map(|(option, _)| option),
        ];
        let others = others.into_iter().flatten().map(|option| (option, instead));
        others.chain(source.as_ref().map(|option| (option, "remove one of the two")))
    });
    for (option, mend) in on_case.map(|option| (option, instead)).chain(on_fields) {
        let name = &option.name;
        diagnostics.error(option, format!("`transparent` takes all answers from the field, also `{name}`; {mend}"));
    }
}

/// Returns the marked field, or the only field, or the field that is named `source`.
pub(super) fn transparent_field<'a>(
    case: &'a Case,
    marks: &Marks<'a>,
    diagnostics: &mut Diagnostics,
) -> Option<(usize, &'a attr::Field)> {
    let fields = || case.fields.iter().enumerate();
    let mend = "only one field can give the answers";
    let found = if let Some(mark) = only(&marks.transparent, mend, diagnostics) {
        Some((mark.index, mark.field))
    } else if case.fields.len() == 1 {
        fields().next()
    } else {
        fields().find(|(_, field)| field.ident.as_ref().is_some_and(|ident| ident == "source"))
    };
    if found.is_none() {
        let what = if case.fields.is_empty() { "has no field" } else { "has several fields, and none named `source`" };
        let mend = if case.fields.is_empty() {
            "label it instead, as in `#[retry(throttling)]`"
        } else {
            "mark one of them: `#[retry(transparent)]`"
        };
        diagnostics.error(
            case.options.option(CaseOption::Transparent),
            format!("`{}` {what} to take the answers from; {mend}", case.ident),
        );
    }
    found
}
