//! Lines over a common horizontal axis.

use super::scale::{Scale, number};
use super::svg::{Look, Svg};
use crate::report::{Line, Point};

/// A rectangle with axes and lines in it.
pub(super) struct Panel<'a> {
    /// The left and the right end of the horizontal axis.
    pub x: (f64, f64),
    /// The upper and the lower end of the vertical axis.
    pub y: (f64, f64),
    /// The names of the two axes. That of the vertical one is above it.
    pub names: (String, String),
    pub is_logarithmic: bool,
    /// The ends of the vertical axis, if they are not 0 and the largest value. Points above it are left out.
    pub bounds: Option<(f64, f64)>,
    /// A span of the horizontal axis that is shaded, with its name.
    pub shade: Option<(f64, f64, &'a str)>,
    pub lines: Vec<Drawn<'a>>,
    /// Texts at points that are given as values, in the colour of a look.
    pub texts: Vec<(String, Look, (f64, f64))>,
}

/// A line with its look, and the name right of its end, which is moved up or down where names would overlap.
pub(super) struct Drawn<'a> {
    pub line: &'a Line,
    pub look: Look,
    pub name: Option<String>,
}

/// The least distance between the names at the ends of lines.
const LEADING: f64 = 19.0;

impl Panel<'_> {
    pub(super) fn draw(&self, svg: &mut Svg) {
        let (horizontal, vertical) = self.scales();
        self.draw_axes(svg, &horizontal, &vertical);
        let at = |point: &Point, value: Option<f64>| (horizontal.at(point.x), vertical.at(value.unwrap_or(f64::MAX)));
        for drawn in &self.lines {
            let points = &drawn.line.points;
            let border = |value: fn(&Point) -> Option<f64>| -> Vec<_> {
                points.iter().map(|point| at(point, value(point))).collect()
            };
            svg.band(drawn.look.colour, &border(|point| point.y.low), &border(|point| point.y.high));
        }
        for (index, drawn) in self.lines.iter().enumerate() {
            let highest = self.bounds.map_or(f64::MAX, |bounds| bounds.1);
            let points = drawn.line.points.iter().filter(|point| point.y.mid.is_some_and(|value| value <= highest));
            let points: Vec<_> = points.map(|point| at(point, point.y.mid)).collect();
            svg.path(&drawn.look.line(), drawn.look.dashes, &points);
            // The markers of lines that lie on each other are beside each other.
            let every = points.len().div_ceil(7).max(1);
            for &point in points.iter().skip(index * 2 % every).step_by(every) {
                svg.marker(drawn.look, point);
            }
        }
        self.draw_names(svg, &horizontal, &vertical);
    }

    fn scales(&self) -> (Scale, Scale) {
        let points = || self.lines.iter().flat_map(|drawn| &drawn.line.points);
        let bounds = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
        };
        let (from, to) = bounds(&mut points().map(|point| point.x));
        let (low, high) = bounds(&mut points().filter_map(|point| point.y.mid).filter(|&value| value > 0.0));
        let (top, bottom) = self.y;
        let vertical = if self.is_logarithmic {
            Scale::logarithmic((low, high), (bottom, top))
        } else {
            Scale::linear(self.bounds.unwrap_or((0.0, high)), (bottom, top), true)
        };
        (Scale::linear((if from < 5.0 { 0.0 } else { from }, to.max(from)), self.x, false), vertical)
    }

    fn draw_axes(&self, svg: &mut Svg, horizontal: &Scale, vertical: &Scale) {
        let ((left, right), (top, bottom)) = (self.x, self.y);
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
        svg.text("small middle", (f64::midpoint(left, right), bottom + 37.0), &self.names.0);
        svg.text("", (left - 48.0, top - 14.0), &self.names.1);
    }

    fn draw_names(&self, svg: &mut Svg, horizontal: &Scale, vertical: &Scale) {
        for (text, look, (x, y)) in &self.texts {
            svg.text(&format!("label {}", look.colour), (horizontal.at(*x), vertical.at(*y)), text);
        }
        let named = self.lines.iter().filter_map(|drawn| Some((drawn, drawn.name.as_ref()?)));
        let mut ends: Vec<_> = named
            .map(|(drawn, name)| {
                let last = drawn.line.points.last().and_then(|point| point.y.mid).unwrap_or(f64::MAX);
                (vertical.at(last), drawn.look, name)
            })
            .collect();
        ends.sort_by(|left, right| left.0.total_cmp(&right.0));
        let wanted: Vec<f64> = ends.iter().map(|end| end.0).collect();
        for (y, (_, look, name)) in spread_out(&wanted, self.y).into_iter().zip(ends) {
            svg.name(look, (self.x.1 + 16.0, y), name);
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

#[cfg(test)]
mod tests {
    use super::spread_out;

    #[test]
    fn names_keep_their_distance() {
        assert_eq!(spread_out(&[50.0, 52.0, 100.0], (0.0, 200.0)), [50.0, 69.0, 100.0]);
        assert_eq!(spread_out(&[198.0, 199.0, 200.0], (0.0, 200.0)), [162.0, 181.0, 200.0]);
    }
}
