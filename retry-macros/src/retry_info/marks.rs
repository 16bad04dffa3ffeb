//! The fields that options mark.

use crate::diagnostics::Diagnostics;
use crate::options::Written;
use crate::retry_info::attr;
use crate::retry_info::model::{Field, Unit};
use proc_macro2::Span;
use syn::{ExprPath, Index, Member};

/// A field with an option on it.
#[derive(Clone, Copy)]
pub(super) struct Mark<'a> {
    pub(super) index: usize,
    pub(super) field: &'a attr::Field,
    pub(super) option: &'a Written,
}

/// The marked fields of a case by option, in order.
#[derive(Default)]
pub(super) struct Marks<'a> {
    pub(super) retry_after: Vec<(Mark<'a>, Option<Unit>)>,
    pub(super) http_status: Vec<Mark<'a>>,
    pub(super) error_code: Vec<Mark<'a>>,
    pub(super) safe: Vec<Mark<'a>>,
    pub(super) with: Vec<(Mark<'a>, &'a ExprPath)>,
    pub(super) source: Vec<Mark<'a>>,
    pub(super) transparent: Vec<Mark<'a>>,
}

impl<'a> Marks<'a> {
    pub(super) fn of(fields: &'a [attr::Field]) -> Self {
        let mut marks = Self::default();
        for (index, field) in fields.iter().enumerate() {
            let mark = |option| Mark { index, field, option };
            let attr::Field { ident: _, ty: _, retry_after, http_status, error_code, safe, with, source, transparent } =
                field;
            marks.retry_after.extend(retry_after.iter().map(|(option, unit)| (mark(option), *unit)));
            marks.http_status.extend(http_status.iter().map(mark));
            marks.error_code.extend(error_code.iter().map(mark));
            marks.safe.extend(safe.iter().map(mark));
            marks.with.extend(with.iter().map(|(option, path)| (mark(option), path)));
            marks.source.extend(source.iter().map(mark));
            marks.transparent.extend(transparent.iter().map(mark));
        }
        marks
    }
}

impl Mark<'_> {
    /// Returns the marked field for the model.
    pub(super) fn model(&self) -> Field {
        model_field(self.index, self.field)
    }
}

/// Returns the field that an option marks, and reports a second field.
pub(super) fn only<'a>(marks: &[Mark<'a>], mend: &str, diagnostics: &mut Diagnostics) -> Option<Mark<'a>> {
    let (first, others) = marks.split_first()?;
    for Mark { option, .. } in others {
        diagnostics.error(option, format!("`{}` marks two fields; {mend}", option.name));
    }
    Some(*first)
}

pub(super) fn model_field(index: usize, field: &attr::Field) -> Field {
    let member = match &field.ident {
        Some(ident) => Member::Named(ident.clone()),
        None => Member::Unnamed(Index { index: u32::try_from(index).unwrap_or(u32::MAX), span: Span::call_site() }),
    };
    Field { index, member, ty: field.ty.clone() }
}
