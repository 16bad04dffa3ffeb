//! Access to the parts of a report.

use super::scale::number;
use super::style::YOURS;
use crate::report::{Plot, Point, Report, Spread, Table};
use std::error::Error;
use std::fmt;

/// A part of a report that its picture needs and that does not exist.
#[derive(Debug)]
pub struct Missing(pub(crate) String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the results have no {}", self.0)
    }
}

impl Error for Missing {}

/// Returns an option that is a number, or 0 if there is none.
pub(super) fn option(report: &Report, name: &str) -> f64 {
    report.options[name].as_f64().unwrap_or(0.0)
}

/// Returns an option that is a number as text.
pub(super) fn text(report: &Report, name: &str) -> String {
    number(option(report, name))
}

/// Returns what a title claims if the results have it, or else the title of the scenario.
pub(super) fn claim(report: &Report, is_found: bool, finding: String) -> String {
    if is_found { finding } else { report.title.clone() }
}

/// Returns whether a table has the user's own settings.
pub(super) fn has_yours(table: &Table) -> bool {
    table.rows.iter().any(|row| row.keys.iter().any(|key| key == YOURS))
}

/// Returns the values of a key column, each once.
pub(crate) fn distinct(table: &Table, key: usize) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for value in table.rows.iter().filter_map(|row| row.keys.get(key)) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

pub(super) fn plot<'a>(report: &'a Report, name: &str) -> Result<&'a Plot, Missing> {
    report.plot(name).ok_or_else(|| Missing(format!("plot {name:?}")))
}

pub(crate) fn table<'a>(report: &'a Report, name: &str) -> Result<&'a Table, Missing> {
    report.table(name).ok_or_else(|| Missing(format!("table {name:?}")))
}

/// Returns the points of a line.
pub(super) fn points<'a>(plot: &'a Plot, line: &str) -> Result<&'a [Point], Missing> {
    let found = plot.lines.iter().find(|each| each.name == line);
    found.map(|line| &line.points[..]).ok_or_else(|| Missing(format!("line {line:?} in the plot {:?}", plot.name)))
}

/// Returns the last median of a line.
pub(super) fn last(plot: &Plot, line: &str) -> Result<f64, Missing> {
    Ok(points(plot, line)?.last().and_then(|point| point.y.mid).unwrap_or(0.0))
}

/// Returns the point with the largest median, as numbers.
pub(super) fn peak(points: &[Point]) -> (f64, f64) {
    let points = points.iter().map(|point| (point.x, point.y.mid.unwrap_or(0.0)));
    points.fold((0.0, 0.0), |highest, point| if point.1 > highest.1 { point } else { highest })
}

pub(crate) fn value(table: &Table, keys: &[&str], measure: &str) -> Result<Spread, Missing> {
    table.value(keys, measure).ok_or_else(|| Missing(format!("{measure:?} for {keys:?} in the table {:?}", table.name)))
}
