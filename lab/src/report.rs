//! Results as plain data, for tables, charts and comparisons.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The results of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The name of the scenario.
    pub scenario: String,
    /// The scenario in one sentence.
    pub title: String,
    /// The options of the scenario, as the module of the scenario documents them.
    pub options: Value,
    /// The number of seeds.
    pub seeds: u64,
    /// The tables.
    pub tables: Vec<Table>,
    /// The data of charts.
    pub plots: Vec<Plot>,
}

/// A table: each row is a case, each column a measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The name, unique in the report.
    pub name: String,
    /// The names of the columns that tell the cases apart.
    pub keys: Vec<String>,
    /// The names of the columns that are measured, with their units.
    pub measures: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row of a [`Table`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// A value for each key of the table.
    pub keys: Vec<String>,
    /// A value for each measure of the table.
    pub values: Vec<Spread>,
}

/// Lines over a common horizontal axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// The name, unique in the report.
    pub name: String,
    /// What the plot shows.
    pub title: String,
    /// The label of the horizontal axis, with its unit.
    pub x: String,
    /// The label of the vertical axis, with its unit.
    pub y: String,
    /// The lines.
    pub lines: Vec<Line>,
}

/// A line of a [`Plot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The name for the legend.
    pub name: String,
    /// The points, from left to right.
    pub points: Vec<Point>,
}

/// A point of a [`Line`]. In JSON it is the list of its position and its spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(f64, Spread)", into = "(f64, Spread)")]
pub struct Point {
    /// The horizontal position.
    pub x: f64,
    /// The vertical position, with its spread over the seeds.
    pub y: Spread,
}

impl From<(f64, Spread)> for Point {
    fn from((x, y): (f64, Spread)) -> Self {
        Self { x, y }
    }
}

impl From<Point> for (f64, Spread) {
    fn from(Point { x, y }: Point) -> Self {
        (x, y)
    }
}

/// A measure over all seeds. `None` stands for "never", which is larger than every number.
///
/// The numbers are rounded to six significant digits, so that reports can be compared exactly. In JSON a spread is the
/// list of its three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "[Option<f64>; 3]", into = "[Option<f64>; 3]")]
pub struct Spread {
    /// The 10th percentile.
    pub low: Option<f64>,
    /// The median.
    pub mid: Option<f64>,
    /// The 90th percentile.
    pub high: Option<f64>,
}

impl From<[Option<f64>; 3]> for Spread {
    fn from([low, mid, high]: [Option<f64>; 3]) -> Self {
        Self { low, mid, high }
    }
}

impl From<Spread> for [Option<f64>; 3] {
    fn from(Spread { low, mid, high }: Spread) -> Self {
        [low, mid, high]
    }
}

impl Spread {
    /// Creates the spread of measures that always exist.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        Self::of_optional(values.into_iter().map(Some))
    }

    /// Creates the spread of measures, some of which are "never".
    pub fn of_optional(values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let mut values: Vec<f64> = values.into_iter().map(|value| value.unwrap_or(f64::INFINITY)).collect();
        values.sort_by(f64::total_cmp);
        let at = |quantile| quantile_of(&values, quantile).filter(|value| value.is_finite()).map(rounded);
        Self { low: at(0.1), mid: at(0.5), high: at(0.9) }
    }

    /// Creates the spread of a value that does not depend on the seed.
    pub fn exactly(value: f64) -> Self {
        Self::of([value])
    }
}

/// Returns a quantile of sorted values by linear interpolation, or `None` if there are no values.
pub fn quantile_of(sorted: &[f64], quantile: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    #[expect(clippy::cast_precision_loss, reason = "the number of values is small")]
    let position = quantile * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the position is in the list")]
    let below = position as usize;
    let (left, right) = (sorted[below], sorted[(below + 1).min(last)]);
    let fraction = position.fract();
    Some(if fraction == 0.0 { left } else { left + (right - left) * fraction })
}

/// Rounds to six significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

impl Report {
    /// Returns the table of this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// Returns the plot of this name.
    pub fn plot(&self, name: &str) -> Option<&Plot> {
        self.plots.iter().find(|plot| plot.name == name)
    }
}

impl Table {
    /// Creates a table without rows.
    pub fn new(name: &str, keys: &[&str], measures: &[&str]) -> Self {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self { name: name.to_owned(), keys: owned(keys), measures: owned(measures), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn add(&mut self, keys: Vec<String>, values: Vec<Spread>) {
        self.rows.push(Row { keys, values });
    }

    /// Returns the value in the row with these keys and the column of this measure.
    pub fn value(&self, keys: &[&str], measure: &str) -> Option<Spread> {
        let column = self.measures.iter().position(|name| name == measure)?;
        let row = self.rows.iter().find(|row| row.keys.iter().map(String::as_str).eq(keys.iter().copied()))?;
        row.values.get(column).copied()
    }
}

impl Plot {
    /// Creates a plot without lines.
    pub fn new(name: &str, title: &str, x: &str, y: &str) -> Self {
        let [name, title, x, y] = [name, title, x, y].map(str::to_owned);
        Self { name, title, x, y, lines: Vec::new() }
    }

    /// Adds a point to the line of this name, which is created if it does not exist yet.
    pub fn add(&mut self, line: &str, x: f64, y: Spread) {
        let point = Point { x, y };
        match self.lines.iter_mut().find(|existing| existing.name == line) {
            Some(existing) => existing.points.push(point),
            None => self.lines.push(Line { name: line.to_owned(), points: vec![point] }),
        }
    }
}
