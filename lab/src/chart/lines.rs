//! Lines over common axes, in one panel or in two beside each other.

use super::parts::{Missing, points};
use super::scale::{Scale, number};
use super::style::{Look, YOURS, look};
use super::svg::{Svg, WIDTH};
use crate::report::{Plot, Point};

/// A line with its look, and the name right of its end, unless it is empty.
pub(super) struct Series {
    pub points: Vec<Point>,
    pub look: Look,
    pub name: String,
    /// Whether it is not a line, but hollow markers: points that have no value on the vertical axis.
    pub is_hollow: bool,
}

impl Series {
    pub(super) fn new(name: &str, points: Vec<Point>) -> Self {
        Self { points, look: look(name), name: name.to_owned(), is_hollow: false }
    }

    /// Returns a line of a plot.
    pub(super) fn of(plot: &Plot, line: &str) -> Result<Self, Missing> {
        Ok(Self::new(line, points(plot, line)?.to_vec()))
    }
}

/// Returns lines of a plot, and the user's own line if there is one.
pub(super) fn series(plot: &Plot, lines: &[&str]) -> Result<Vec<Series>, Missing> {
    let shown = lines.iter().map(|line| Series::of(plot, line));
    shown.chain(Series::of(plot, YOURS).ok().map(Ok)).collect()
}

/// Axes with lines.
pub(super) struct Panel<'a> {
    /// The names of the horizontal and the vertical axis. That of the vertical one is above it.
    pub names: (&'a str, &'a str),
    pub series: Vec<Series>,
    pub is_logarithmic: bool,
    /// The lower end of the vertical axis, and the least upper one.
    pub bounds: (f64, f64),
    /// A span of the horizontal axis that is shaded, with its name.
    pub shade: Option<(f64, f64, &'a str)>,
    /// Texts at points that are given as values, in the colour of a look.
    pub texts: Vec<(String, Look, (f64, f64))>,
}

/// The upper and the lower end of a vertical axis, and the room for its labels.
const HEIGHT: (f64, f64) = (98.0, 310.0);
const LABELS: f64 = 48.0;
const MARGIN: f64 = 16.0;
/// The least distance between the names at the ends of lines.
const LEADING: f64 = 19.0;

/// Draws panels.
pub(super) fn draw(title: &str, subtitle: &str, panels: &[Panel<'_>]) -> String {
    let mut svg = Svg::new(title, subtitle);
    let names: Vec<f64> = panels.iter().map(Panel::width_of_names).collect();
    let each = (WIDTH - names.iter().sum::<f64>() - MARGIN) / length(panels.len()) - LABELS - MARGIN;
    let mut left = MARGIN + LABELS;
    for (panel, names) in panels.iter().zip(names) {
        panel.draw(&mut svg, (left, left + each));
        left += each + names + LABELS + MARGIN;
    }
    svg.finish(350.0, "")
}

impl<'a> Panel<'a> {
    pub(super) fn new(names: (&'a str, &'a str), series: Vec<Series>) -> Self {
        Self { names, series, is_logarithmic: false, bounds: (0.0, 0.0), shade: None, texts: Vec::new() }
    }

    fn width_of_names(&self) -> f64 {
        let longest = self.series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
        if longest == 0 { 0.0 } else { 14.0 + 7.3 * length(longest) }
    }

    fn draw(&self, svg: &mut Svg, x: (f64, f64)) {
        let (horizontal, vertical) = self.scales(x);
        self.draw_axes(svg, x, &horizontal, &vertical);
        let at = |point: &Point, value: Option<f64>| (horizontal.at(point.x), vertical.at(value.unwrap_or(f64::MAX)));
        let spreads = |series: &&Series| series.points.iter().any(|point| point.y.low != point.y.high);
        for Series { points, look, .. } in self.series.iter().filter(spreads) {
            let lower = points.iter().map(|point| at(point, point.y.low));
            let upper = points.iter().rev().map(|point| at(point, point.y.high));
            svg.area(&format!("{} band", look.colour), &lower.chain(upper).collect::<Vec<_>>());
        }
        for (index, Series { points, look, is_hollow, .. }) in self.series.iter().enumerate() {
            let points: Vec<_> = points.iter().map(|point| at(point, point.y.mid)).collect();
            if *is_hollow {
                for &point in &points {
                    svg.marker("hollow", *look, point);
                }
                continue;
            }
            svg.path(&look.line(), look.dashes, &points);
            // The markers of lines that lie on each other are beside each other.
            let every = points.len().div_ceil(7).max(1);
            for &point in points.iter().skip(index * 2 % every).step_by(every) {
                svg.marker("mark", *look, point);
            }
        }
        for (text, look, (x, y)) in &self.texts {
            svg.text(&format!("label {}", look.colour), (horizontal.at(*x), vertical.at(*y)), text);
        }
        self.draw_names(svg, x.1 + 16.0, &vertical);
    }

    fn scales(&self, x: (f64, f64)) -> (Scale, Scale) {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let bounds = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
        };
        let (from, to) = bounds(&mut points().map(|point| point.x));
        let (low, high) = bounds(&mut points().filter_map(|point| point.y.mid).filter(|&value| value > 0.0));
        let y = (HEIGHT.1, HEIGHT.0);
        let vertical = if self.is_logarithmic {
            Scale::logarithmic((low.max(self.bounds.0), high.max(self.bounds.1)), y)
        } else {
            Scale::linear((self.bounds.0, high.max(self.bounds.1)), y, true)
        };
        (Scale::linear((if from < 5.0 { 0.0 } else { from }, to.max(from)), x, false), vertical)
    }

    fn draw_axes(&self, svg: &mut Svg, (left, right): (f64, f64), horizontal: &Scale, vertical: &Scale) {
        let (top, bottom) = HEIGHT;
        if let Some((from, to, name)) = self.shade {
            let (from, to) = (horizontal.at(from), horizontal.at(to));
            svg.rectangle("shade", (from, top), (to - from, bottom - top));
            svg.text("small middle", (f64::midpoint(from, to), bottom - 10.0), name);
        }
        for &tick in &vertical.ticks {
            let y = vertical.at(tick);
            svg.path("grid", "", &[(left, y), (right, y)]);
            svg.text("small end", (left - 7.0, y + 4.0), &number(tick));
        }
        svg.path("axis", "", &[(left, bottom), (right, bottom)]);
        for &tick in &horizontal.ticks {
            let x = horizontal.at(tick);
            svg.path("axis", "", &[(x, bottom), (x, bottom + 4.0)]);
            svg.text("small middle", (x, bottom + 18.0), &number(tick));
        }
        svg.text("small middle", (f64::midpoint(left, right), bottom + 37.0), self.names.0);
        svg.text("", (left - LABELS, top - 14.0), self.names.1);
    }

    /// Draws the names of lines right of their ends, moved up or down where they would overlap.
    fn draw_names(&self, svg: &mut Svg, x: f64, vertical: &Scale) {
        let end = |series: &Series| vertical.at(series.points.last().and_then(|point| point.y.mid).unwrap_or(f64::MAX));
        let named = self.series.iter().filter(|series| !series.name.is_empty());
        let mut named: Vec<_> = named.map(|series| (end(series), series)).collect();
        named.sort_by(|left, right| left.0.total_cmp(&right.0));
        let wanted: Vec<f64> = named.iter().map(|named| named.0).collect();
        for (y, (_, series)) in spread_out(&wanted, HEIGHT).into_iter().zip(named) {
            svg.marker("mark", series.look, (x, y));
            svg.text(&format!("label {}", series.look.colour), (x + 10.0, y + 4.5), &series.name);
        }
    }
}

/// Moves sorted positions apart until each pair has the least distance, within bounds.
fn spread_out(wanted: &[f64], (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut positions: Vec<f64> = Vec::new();
    for &position in wanted {
        let least = positions.last().map_or(top, |above| above + LEADING);
        positions.push(position.max(least));
    }
    let mut most = bottom;
    for position in positions.iter_mut().rev() {
        *position = position.min(most);
        most = *position - LEADING;
    }
    positions
}

/// Returns the number of parts of something, such as the characters of a text.
#[expect(clippy::cast_precision_loss, reason = "nothing here has many parts")]
pub fn length(count: usize) -> f64 {
    count as f64
}
