//! Markers in rows: a row for each strategy, a lane in it for each group.

use super::scale::{Scale, fixed, number};
use super::svg::{Look, Marker, Svg, WIDTH};
use crate::report::Spread;

/// Panels side by side, whose rows are the same strategies.
pub(super) struct Dots<'a> {
    pub rows: Vec<Row<'a>>,
    /// The names of the lanes of each row.
    pub lanes: Vec<String>,
    pub panels: Vec<Panel<'a>>,
}

pub(super) struct Row<'a> {
    pub name: String,
    pub look: Look,
    /// A heading above the row.
    pub section: Option<&'a str>,
}

/// A measure of all rows and lanes.
pub(super) struct Panel<'a> {
    /// A heading above the name, which may reach over the panels that follow.
    pub section: Option<String>,
    /// The measure, with its unit.
    pub name: String,
    /// The values by row and lane.
    pub values: Vec<Vec<Spread>>,
    /// The ends of the axis.
    pub bounds: (f64, f64),
    /// The number of decimals of all values.
    pub decimals: usize,
    /// What is said of a value that is "never".
    pub never: &'a str,
    /// A value to compare with, and its name.
    pub reference: Option<(f64, String)>,
}

const LANE: f64 = 17.0;
const GAP: f64 = 9.0;
const SECTION: f64 = 24.0;
/// Where the title and the subtitle of a picture end.
pub(super) const TOP: f64 = 46.0;
/// The place for the name of a panel above the rows.
const HEAD: f64 = 46.0;
/// The place for a heading above that name.
const HEADING: f64 = 20.0;
/// The width of the names of rows and lanes.
const NAMES: f64 = 214.0;
/// The place for a value right of its axis.
const VALUE: f64 = 44.0;
/// The gap between two panels.
const BETWEEN: f64 = 26.0;

impl Dots<'_> {
    /// Draws all rows below a position, and returns where they end.
    #[expect(clippy::cast_precision_loss, reason = "a picture has few rows")]
    pub(super) fn draw(&self, svg: &mut Svg, above: f64) -> f64 {
        let height = self.lanes.len() as f64 * LANE + GAP;
        let has_headings = self.panels.iter().any(|panel| panel.section.is_some());
        let top = above + HEAD + if has_headings { HEADING } else { 0.0 };
        let (mut tops, mut bottom) = (Vec::new(), top);
        for row in &self.rows {
            if let Some(section) = row.section {
                bottom += SECTION;
                svg.text("strong", (16.0, bottom - GAP - 2.0), section);
            }
            svg.path("grid", "", &[(16.0, bottom - GAP / 2.0), (NAMES - 8.0, bottom - GAP / 2.0)]);
            svg.text("", (16.0, bottom + (height - GAP) / 2.0 + 4.0), &row.name);
            for (lane, name) in self.lanes.iter().enumerate() {
                svg.text("small end", (NAMES - 12.0, bottom + (lane as f64 + 0.5) * LANE + 4.0), name);
            }
            tops.push(bottom);
            bottom += height;
        }
        let width = (WIDTH - NAMES - 16.0 + BETWEEN) / self.panels.len() as f64;
        for (index, panel) in self.panels.iter().enumerate() {
            let left = NAMES + index as f64 * width;
            panel.draw(svg, &self.rows, &tops, (left, left + width - BETWEEN), (top, bottom));
        }
        let has_texts_below = self.panels.iter().any(|panel| panel.reference.is_some());
        bottom + if has_texts_below { 44.0 } else { 24.0 }
    }
}

impl Panel<'_> {
    /// Creates a panel from zero to `end`, with bars and one decimal.
    pub(super) fn new(name: &str, values: Vec<Vec<Spread>>, end: f64) -> Self {
        let (name, bounds) = (name.to_owned(), (0.0, end));
        Self { section: None, name, values, bounds, decimals: 1, never: "", reference: None }
    }

    fn draw(&self, svg: &mut Svg, rows: &[Row<'_>], tops: &[f64], x: (f64, f64), (top, bottom): (f64, f64)) {
        let (left, right) = x;
        let positions = (left, right - VALUE.max(16.0 + 6.8 * length(self.never)));
        let scale = Scale::linear(self.bounds, positions, false);
        svg.text("strong", (left - 4.0, top - 14.0 - HEADING), self.section.as_deref().unwrap_or(""));
        svg.text("", (left - 4.0, top - 14.0), &self.name);
        for &top in tops {
            svg.path("grid", "", &[(left - 4.0, top - GAP / 2.0), (right, top - GAP / 2.0)]);
        }
        for &tick in &scale.ticks {
            let x = scale.at(tick);
            svg.path("grid", "", &[(x, top - GAP / 2.0), (x, bottom)]);
            svg.text("small middle", (x, bottom + 18.0), &number(tick));
        }
        if let Some((value, name)) = &self.reference {
            let x = scale.at(*value);
            svg.path("ink line", "5 4", &[(x, top - GAP / 2.0), (x, bottom)]);
            svg.text("middle", (x, bottom + 38.0), name);
        }
        for ((values, row), top) in self.values.iter().zip(rows).zip(tops) {
            let mut y = top + LANE / 2.0;
            for value in values {
                self.draw_value(svg, value, row.look, &scale, y);
                y += LANE;
            }
        }
    }

    fn draw_value(&self, svg: &mut Svg, spread: &Spread, look: Look, scale: &Scale, y: f64) {
        let at = |value: Option<f64>| scale.at(value.unwrap_or(f64::MAX));
        let (low, mid, high) = (at(spread.low), at(spread.mid), at(spread.high));
        let from = scale.at(self.bounds.0);
        svg.rectangle(&format!("{} bar", look.colour), (from, y - 6.0), (mid - from, 12.0));
        svg.path(&look.line(), "", &[(low, y), (high, y)]);
        match spread.mid {
            None => svg.marker(Look { marker: Marker::Beyond, ..look }, (mid, y)),
            Some(_) => svg.marker(look, (mid, y)),
        }
        let text = spread.mid.map_or_else(|| self.never.to_owned(), |value| fixed(value, self.decimals));
        let (start, width) = (high.max(mid) + if spread.mid.is_some() { 9.0 } else { 13.0 }, 6.8 * length(&text));
        // A value that would lie on the reference, or beyond it, is left of its marker.
        let is_crossed =
            self.reference.as_ref().is_some_and(|(value, _)| (mid + 1.0..start + width).contains(&scale.at(*value)));
        if is_crossed {
            svg.text("small label end", (low - 9.0, y + 4.0), &text);
        } else {
            svg.text("small label", (start, y + 4.0), &text);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "names are short")]
fn length(text: &str) -> f64 {
    text.chars().count() as f64
}
