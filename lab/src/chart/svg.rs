//! A writer of SVG, and the style of all pictures.

use std::fmt::Write as _;

/// The width of a picture: that of a README.
pub(super) const WIDTH: f64 = 800.0;

/// The background is drawn, because a page can be light while the system of its reader is dark.
const STYLE: &str = "\
text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#1f2328}\
.title{font-size:16px;font-weight:600}.small{font-size:12px;fill:#59636e}.label{paint-order:stroke;stroke-width:4px}\
.middle{text-anchor:middle}.end{text-anchor:end}\
.back{fill:#fff}.label{stroke:#fff}.grid{stroke:#d9dee3}.axis{stroke:#818b98}.shade{fill:#818b98;fill-opacity:.18}\
.grey{stroke:#818b98;fill:#818b98}.ink{stroke:#1f2328;fill:#1f2328}.blue{stroke:#0072b2;fill:#0072b2}\
.red{stroke:#d55e00;fill:#d55e00}.green{stroke:#009e73;fill:#009e73}.orange{stroke:#e69f00;fill:#e69f00}\
.purple{stroke:#cc79a7;fill:#cc79a7}.sky{stroke:#56b4e9;fill:#56b4e9}\
.line{fill:none;stroke-width:2.2px;stroke-linejoin:round}.band{stroke:none;fill-opacity:.16}.mark{stroke-width:1px}\
@media(prefers-color-scheme:dark){\
text{fill:#e6edf3}.small{fill:#9198a1}\
.back{fill:#0d1117}.label{stroke:#0d1117}.grid{stroke:#2a313c}.axis{stroke:#656c76}\
.ink{stroke:#e6edf3;fill:#e6edf3}.blue{stroke:#2f93d1;fill:#2f93d1}\
.line{fill:none}.band{stroke:none}}";

/// How a line or a group of markers looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The class of its colour.
    pub colour: &'static str,
    /// The dashes of its line; empty for a solid one.
    pub dashes: &'static str,
    /// The shape of its markers.
    pub marker: Marker,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    None,
}

/// A picture that is being drawn.
pub(super) struct Svg {
    body: String,
    height: f64,
}

impl Svg {
    /// Creates a picture with a title, a line below it, and a height.
    pub(super) fn new(title: &str, subtitle: &str, height: f64) -> Self {
        let mut svg = Self { body: format!("<title>{}</title>\n", escaped(title)), height };
        svg.rectangle("back", (0.0, 0.0), (WIDTH, height));
        svg.text("title", (16.0, 26.0), title);
        svg.text("small", (16.0, 46.0), subtitle);
        svg
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let _ = writeln!(self.body, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
    }

    /// Adds a text that reads from below.
    pub(super) fn text_up(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" transform=\"translate({x:.1} {y:.1}) rotate(-90)\">{text}</text>"
        );
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

    /// Adds an area between two lines.
    pub(super) fn band(&mut self, colour: &str, lower: &[(f64, f64)], upper: &[(f64, f64)]) {
        let border: Vec<_> = lower.iter().chain(upper.iter().rev()).copied().collect();
        let _ = writeln!(self.body, "<path class=\"{colour} band\" d=\"{}Z\"/>", joined(&border));
    }

    pub(super) fn marker(&mut self, look: Look, (x, y): (f64, f64)) {
        let corners: &[(f64, f64)] = match look.marker {
            Marker::None => return,
            Marker::Circle => {
                let _ =
                    writeln!(self.body, "<circle class=\"{} mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>", look.colour);
                return;
            }
            Marker::Square => &[(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)],
            Marker::Triangle => &[(0.0, -4.5), (4.5, 3.5), (-4.5, 3.5)],
            Marker::Diamond => &[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)],
            Marker::Cross => {
                for (dx, dy) in [(3.5, 3.5), (3.5, -3.5)] {
                    self.path(&format!("{} line", look.colour), "", &[(x - dx, y - dy), (x + dx, y + dy)]);
                }
                return;
            }
        };
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        let _ = writeln!(self.body, "<path class=\"{} mark\" d=\"{}Z\"/>", look.colour, joined(&corners));
    }

    /// Adds an example of a line with its marker and its name, for keys and labels.
    pub(super) fn sample(&mut self, look: Look, (x, y): (f64, f64), name: &str) {
        self.path(&format!("{} line", look.colour), look.dashes, &[(x, y), (x + SAMPLE, y)]);
        self.marker(look, (x + SAMPLE / 2.0, y));
        self.text("label", (x + SAMPLE + 6.0, y + 4.5), name);
    }

    /// Returns the file.
    pub(super) fn finish(self) -> String {
        let Self { body, height } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\">\n<style>{STYLE}</style>\n{body}</svg>\n"
        )
    }
}

/// The length of the line in an example.
const SAMPLE: f64 = 30.0;

/// Returns the width that a label with an example needs at most.
#[expect(clippy::cast_precision_loss, reason = "labels are short")]
pub(super) fn width_of_sample(name: &str) -> f64 {
    SAMPLE + 14.0 + 7.4 * name.chars().count() as f64
}

fn joined(points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let _ = write!(text, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
    }
    text
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
