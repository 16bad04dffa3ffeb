//! The cases in which settings are better or worse than the default.

use super::text;
use lab::judgement::{Best, Case};

/// The title and the header of the cases that differ.
pub(super) const DIFFERENCES: (&str, [&str; 3]) =
    ("Cases that differ: yours / default", ["case", "failed, %", "time or load"]);

/// Returns the cells of a case, if either the settings or the default are better in it.
pub(super) fn cells(case: &Case) -> Option<(Best, Vec<String>)> {
    let (best, default) = (case.best()?, case.default?);
    let both = |yours: Option<f64>, default: Option<f64>| match yours.zip(default) {
        Some((yours, default)) => format!("{} / {}", text::number(Some(yours)), text::number(Some(default))),
        None => String::new(),
    };
    let (failed, cost) = (both(case.yours.failed, default.failed), both(case.yours.cost, default.cost));
    matches!(best, Best::Yours | Best::Default).then(|| (best, vec![case.name.clone(), failed, cost]))
}
