//! A writer of SVG.

use super::style::{CLASS, Look, Marker, style};
use std::fmt::Write as _;

/// The width of a picture: that of a README.
pub(super) const WIDTH: f64 = 800.0;

/// A picture that is being drawn.
pub(super) struct Svg {
    title: String,
    body: String,
}

impl Svg {
    /// Creates a picture with a title, which says what there is to see, and a line below it.
    pub(super) fn new(title: &str, subtitle: &str) -> Self {
        let mut svg = Self { title: escaped(title), body: String::new() };
        svg.text("title", (16.0, 26.0), title);
        svg.text("small", (16.0, 46.0), subtitle);
        svg
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        if !text.is_empty() {
            let _ = writeln!(self.body, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
        }
    }

    pub(super) fn rectangle(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        );
    }

    /// Adds a line through points, with the dashes of a look.
    pub(super) fn path(&mut self, class: &str, dashes: &str, points: &[(f64, f64)]) {
        let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        let _ = writeln!(self.body, "<path class=\"{class}\"{dashes} d=\"{}\"/>", joined(points));
    }

    /// Adds an area within points.
    pub(super) fn area(&mut self, class: &str, points: &[(f64, f64)]) {
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{}Z\"/>", joined(points));
    }

    /// Adds a marker of a class: `mark`, or `hollow` for one with a border only.
    pub(super) fn marker(&mut self, class: &str, look: Look, (x, y): (f64, f64)) {
        let class = format!("{} {class}", look.colour);
        let corners: &[(f64, f64)] = match look.marker {
            Marker::None => return,
            Marker::Circle => {
                let _ = writeln!(self.body, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>");
                return;
            }
            Marker::Square => &[(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)],
            Marker::Triangle => &[(0.0, -4.5), (4.5, 3.5), (-4.5, 3.5)],
            Marker::Drop => &[(0.0, 4.5), (4.5, -3.5), (-4.5, -3.5)],
            Marker::Diamond => &[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)],
            Marker::Beyond => &[(-3.0, -7.0), (8.0, 0.0), (-3.0, 7.0)],
        };
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        self.area(&class, &corners);
    }

    /// Returns the file, with a line of text below the position at which the picture ends, unless it is empty.
    pub(super) fn finish(mut self, bottom: f64, note: &str) -> String {
        let bottom = if note.is_empty() { bottom } else { bottom + 21.0 };
        self.text("small", (16.0, bottom), note);
        let (Self { title, body }, height, style) = (self, bottom + 14.0, style());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{CLASS}\" role=\"img\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\">\n<style>{style}</style>\n<title>{title}</title>\n\
             <rect class=\"back\" x=\"0\" y=\"0\" width=\"{WIDTH}\" height=\"{height}\"/>\n{body}</svg>\n"
        )
    }
}

fn joined(points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let _ = write!(text, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
