//! What the pictures share: access to the parts of a report.

use super::dots::Row;
use super::lines::{Drawn, Panel};
use super::looks::{YOURS, look};
use super::svg::Svg;
use crate::report::{Line, Plot, Report, Spread, Table};
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

/// Moves means over spans of time from the beginning of the span to its middle, except those of some lines.
pub(super) fn centred(plot: &Plot, except: &[&str]) -> Plot {
    let mut plot = plot.clone();
    for line in plot.lines.iter_mut().filter(|line| !except.contains(&line.name.as_str())) {
        if let [first, second, ..] = line.points[..] {
            line.points.iter_mut().for_each(|point| point.x += (second.x - first.x) / 2.0);
        }
    }
    plot
}

/// Returns an empty panel with the names of its axes.
pub(super) fn panel<'a>(names: (&str, &str), x: (f64, f64), y: (f64, f64)) -> Panel<'a> {
    let names = (names.0.to_owned(), names.1.to_owned());
    Panel { x, y, names, is_logarithmic: false, bounds: None, shade: None, lines: Vec::new(), texts: Vec::new() }
}

/// Draws panels that end above `bottom`, with notes below.
pub(super) fn drawn(title: &str, subtitle: &str, panels: &[Panel<'_>], bottom: f64, notes: &[String]) -> String {
    let mut svg = Svg::new(title, subtitle);
    for panel in panels {
        panel.draw(&mut svg);
    }
    svg.finish(bottom, notes)
}

/// Returns lines by strategy with their names, and the user's own line if there is one.
pub(super) fn lines<'a>(plot: &'a Plot, shown: &[(&str, Option<&str>)]) -> Result<Vec<Drawn<'a>>, Missing> {
    let drawn = |&(strategy, name): &(&str, Option<&str>)| {
        Ok(Drawn { line: line(plot, strategy)?, look: look(strategy), name: name.map(str::to_owned) })
    };
    let mut lines = shown.iter().map(drawn).collect::<Result<Vec<_>, _>>()?;
    let yours = line(plot, YOURS).ok();
    lines.extend(yours.map(|line| Drawn { line, look: look(YOURS), name: Some(YOURS.to_owned()) }));
    Ok(lines)
}

/// Returns rows for the strategies of sections, and for the user's own settings if they are there.
pub(super) fn rows<'a>(table: &Table, sections: &[(&'a str, &[&str])]) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for (section, names) in sections {
        for (index, &name) in names.iter().enumerate() {
            rows.push(Row { name: name.to_owned(), look: look(name), section: (index == 0).then_some(*section) });
        }
    }
    if has_yours(table) {
        rows.push(Row { name: YOURS.to_owned(), look: look(YOURS), section: Some("your settings") });
    }
    rows
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

/// Returns the values of rows and lanes.
pub(super) fn collect(
    rows: &[Row<'_>],
    lanes: &[String],
    value: impl Fn(&str, &str) -> Result<Spread, Missing>,
) -> Result<Vec<Vec<Spread>>, Missing> {
    rows.iter().map(|row| lanes.iter().map(|lane| value(&row.name, lane)).collect()).collect()
}

pub(super) fn highest(values: &[Vec<Spread>]) -> f64 {
    values.iter().flatten().filter_map(|spread| spread.high).fold(0.0, f64::max)
}

/// Returns the largest median; "never" is infinite.
pub(super) fn worst<'a>(values: impl IntoIterator<Item = &'a Spread>) -> f64 {
    values.into_iter().map(|spread| spread.mid.unwrap_or(f64::INFINITY)).fold(0.0, f64::max)
}

pub(super) fn plot<'a>(report: &'a Report, name: &str) -> Result<&'a Plot, Missing> {
    report.plot(name).ok_or_else(|| Missing(format!("plot {name:?}")))
}

pub(crate) fn table<'a>(report: &'a Report, name: &str) -> Result<&'a Table, Missing> {
    report.table(name).ok_or_else(|| Missing(format!("table {name:?}")))
}

pub(super) fn line<'a>(plot: &'a Plot, name: &str) -> Result<&'a Line, Missing> {
    plot.lines
        .iter()
        .find(|line| line.name == name)
        .ok_or_else(|| Missing(format!("line {name:?} in the plot {:?}", plot.name)))
}

pub(crate) fn value(table: &Table, keys: &[&str], measure: &str) -> Result<Spread, Missing> {
    table.value(keys, measure).ok_or_else(|| Missing(format!("{measure:?} for {keys:?} in the table {:?}", table.name)))
}
