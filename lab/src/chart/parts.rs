//! What the pictures share: looks, and access to the parts of a report.

use super::dots::{self, Dots};
use super::lines::{Drawn, Label, Panel};
use super::scale::number;
use super::svg::{Look, Marker, Svg};
use crate::report::{Line, Plot, Report, Row, Spread, Table};
use std::error::Error;
use std::fmt;

pub(super) const INK: Look = Look { colour: "ink", dashes: "5 4", marker: Marker::None };
pub(super) const GREY: Look = Look { colour: "grey", dashes: "", marker: Marker::Cross };
pub(super) const BLUE: Look = Look { colour: "blue", dashes: "", marker: Marker::Circle };
pub(super) const RED: Look = Look { colour: "red", dashes: "9 4", marker: Marker::Triangle };
pub(super) const GREEN: Look = Look { colour: "green", dashes: "10 3 2 3", marker: Marker::Square };
pub(super) const ORANGE: Look = Look { colour: "orange", dashes: "", marker: Marker::Diamond };
pub(super) const PURPLE: Look = Look { colour: "purple", dashes: "6 3", marker: Marker::Square };
pub(super) const SKY: Look = Look { colour: "sky", dashes: "3 3", marker: Marker::Triangle };

/// The name of a policy with the user's own settings, which every picture shows if it is there.
pub(super) const YOURS: &str = "yours";

/// A part of a report that its picture needs and that does not exist.
#[derive(Debug)]
pub struct Missing(pub(super) String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the results have no {}", self.0)
    }
}

impl Error for Missing {}

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

/// Returns an empty panel with the names of a plot's axes.
pub(super) fn panel(plot: &Plot, x: (f64, f64), y: (f64, f64)) -> Panel<'_> {
    Panel { x, y, names: (&plot.x, &plot.y), is_logarithmic: false, bounds: None, shade: None, lines: Vec::new() }
}

pub(super) fn drawn(title: &str, subtitle: &str, height: f64, panels: &[Panel<'_>]) -> String {
    let mut svg = Svg::new(title, subtitle, height);
    for panel in panels {
        panel.draw(&mut svg);
    }
    svg.finish()
}

pub(super) fn dotted(
    title: &str,
    subtitle: &str,
    rows: Vec<String>,
    groups: Vec<String>,
    panels: Vec<dots::Panel<'_>>,
) -> String {
    let groups = groups.into_iter().zip([BLUE, RED, GREEN, ORANGE]).collect();
    let dots = Dots { rows, groups, panels };
    let mut svg = Svg::new(title, subtitle, dots.height());
    dots.draw(&mut svg);
    svg.finish()
}

pub(super) fn with_seeds(subtitle: &str, report: &Report) -> String {
    format!("{subtitle}. Median of {} runs.", report.seeds)
}

/// Returns lines with labels at their ends, and the user's own line.
pub(super) fn ends<'a>(plot: &'a Plot, shown: &[(&str, Look)]) -> Result<Vec<Drawn<'a>>, Missing> {
    let drawn =
        |&(name, look): &(&str, Look)| Ok(Drawn { line: line(plot, name)?, look, label: Label::End(name.to_owned()) });
    let mut lines = shown.iter().map(drawn).collect::<Result<Vec<_>, _>>()?;
    lines.extend(optional(plot, YOURS, SKY));
    Ok(lines)
}

pub(super) fn optional<'a>(plot: &'a Plot, name: &str, look: Look) -> Option<Drawn<'a>> {
    let line = line(plot, name).ok()?;
    Some(Drawn { line, look, label: Label::End(name.to_owned()) })
}

/// Returns names of policies, with the user's own if the table has it.
pub(super) fn with_yours(table: &Table, names: &[&str]) -> Vec<String> {
    let yours = distinct(table, 0).into_iter().filter(|name| name == YOURS);
    names.iter().map(|&name| name.to_owned()).chain(yours).collect()
}

/// Returns the values of a key column, each once.
pub(super) fn distinct(table: &Table, key: usize) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for value in table.rows.iter().filter_map(|row: &Row| row.keys.get(key)) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values
}

pub(super) fn labels(groups: &[String], unit: &str) -> Vec<String> {
    let name = |group: &String| group.parse().map_or_else(|_| group.clone(), number);
    groups.iter().map(|group| format!("{}{unit}", name(group))).collect()
}

pub(super) fn collect(
    rows: &[String],
    groups: &[String],
    value: impl Fn(&str, &str) -> Result<Spread, Missing>,
) -> Result<Vec<Vec<Spread>>, Missing> {
    rows.iter().map(|row| groups.iter().map(|group| value(row, group)).collect()).collect()
}

pub(super) fn scaled(spread: Spread, factor: f64) -> Spread {
    let scale = |value: Option<f64>| value.map(|value| value * factor);
    Spread { low: scale(spread.low), mid: scale(spread.mid), high: scale(spread.high) }
}

pub(super) fn highest(values: &[Vec<Spread>]) -> f64 {
    values.iter().flatten().filter_map(|spread| spread.high).fold(0.0, f64::max)
}

pub(super) fn plot<'a>(report: &'a Report, name: &str) -> Result<&'a Plot, Missing> {
    report.plot(name).ok_or_else(|| Missing(format!("plot {name:?}")))
}

pub(super) fn table<'a>(report: &'a Report, name: &str) -> Result<&'a Table, Missing> {
    report.table(name).ok_or_else(|| Missing(format!("table {name:?}")))
}

pub(super) fn line<'a>(plot: &'a Plot, name: &str) -> Result<&'a Line, Missing> {
    plot.lines
        .iter()
        .find(|line| line.name == name)
        .ok_or_else(|| Missing(format!("line {name:?} in the plot {:?}", plot.name)))
}

pub(super) fn value(table: &Table, keys: &[&str], measure: &str) -> Result<Spread, Missing> {
    table.value(keys, measure).ok_or_else(|| Missing(format!("{measure:?} for {keys:?} in the table {:?}", table.name)))
}
