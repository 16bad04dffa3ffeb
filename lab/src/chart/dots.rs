//! Markers in rows: a row for each strategy, a lane in it for each group.

use super::scale::{Scale, number};
use super::svg::{Look, Svg, WIDTH};
use crate::report::Spread;

/// Panels side by side, whose rows are the same strategies.
pub(super) struct Dots<'a> {
    pub rows: Vec<String>,
    /// The groups, by the order of their lanes.
    pub groups: Vec<(String, Look)>,
    pub panels: Vec<Panel<'a>>,
}

/// A measure of all rows and groups.
pub(super) struct Panel<'a> {
    /// The measure, with its unit.
    pub name: &'a str,
    /// The values by row and group.
    pub values: Vec<Vec<Spread>>,
    /// The ends of the axis.
    pub bounds: (f64, f64),
    /// A value to compare with, and its name.
    pub reference: Option<(f64, String)>,
}

const LANE: f64 = 17.0;
const GAP: f64 = 9.0;
/// The place of the first row below the title and the key.
const TOP: f64 = 112.0;
/// The width of the names of the rows.
const NAMES: f64 = 160.0;
/// The place for a value right of its marker.
const VALUE: f64 = 52.0;

impl Dots<'_> {
    /// Returns the height of the picture.
    #[expect(clippy::cast_precision_loss, reason = "a picture has few rows")]
    pub(super) fn height(&self) -> f64 {
        TOP + self.rows.len() as f64 * self.row() + 52.0
    }

    #[expect(clippy::cast_precision_loss, reason = "a picture has few rows")]
    fn row(&self) -> f64 {
        self.groups.len() as f64 * LANE + GAP
    }

    #[expect(clippy::cast_precision_loss, reason = "a picture has few rows")]
    pub(super) fn draw(&self, svg: &mut Svg) {
        let mut x = 24.0;
        for (name, look) in &self.groups {
            svg.marker(*look, (x, 68.0));
            svg.text("", (x + 10.0, 72.5), name);
            x += 34.0 + 7.4 * name.chars().count() as f64;
        }
        let bottom = self.height() - 52.0;
        for (index, name) in self.rows.iter().enumerate() {
            let top = TOP + index as f64 * self.row();
            svg.text("end", (NAMES - 12.0, top + (self.row() - GAP) / 2.0 + 4.0), name);
            svg.path("grid", "", &[(16.0, top - GAP / 2.0), (WIDTH - 12.0, top - GAP / 2.0)]);
        }
        let width = (WIDTH - NAMES) / self.panels.len() as f64;
        for (index, panel) in self.panels.iter().enumerate() {
            let left = NAMES + index as f64 * width;
            let scale = Scale::linear(panel.bounds, (left, left + width - VALUE - 14.0), true);
            svg.text("", (left - 4.0, TOP - 14.0), panel.name);
            for &tick in &scale.ticks {
                svg.path("grid", "", &[(scale.at(tick), TOP - GAP / 2.0), (scale.at(tick), bottom)]);
                svg.text("small middle", (scale.at(tick), bottom + 18.0), &number(tick));
            }
            if let Some((value, name)) = &panel.reference {
                let x = scale.at(*value);
                svg.path("ink line", "5 4", &[(x, TOP - GAP / 2.0), (x, bottom)]);
                svg.text("middle", (x, bottom + 38.0), name);
            }
            self.draw_values(svg, panel, &scale);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a picture has few rows")]
    fn draw_values(&self, svg: &mut Svg, panel: &Panel<'_>, scale: &Scale) {
        for (row, values) in panel.values.iter().enumerate() {
            for (lane, (spread, (_, look))) in values.iter().zip(&self.groups).enumerate() {
                let y = TOP + row as f64 * self.row() + (lane as f64 + 0.5) * LANE;
                let at = |value: Option<f64>| scale.at(value.unwrap_or(f64::MAX));
                let (low, mid, high) = (at(spread.low), at(spread.mid), at(spread.high));
                svg.path(&format!("{} line", look.colour), "", &[(low, y), (high, y)]);
                svg.marker(*look, (mid, y));
                let text = spread.mid.map_or_else(|| "never".to_owned(), number);
                svg.text("small label", (high.max(mid) + 8.0, y + 4.0), &text);
            }
        }
    }
}
