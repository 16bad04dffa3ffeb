//! A writer of SVG, and the style of all pictures.

use std::fmt::Write as _;

/// The width of a picture: that of a README.
pub(super) const WIDTH: f64 = 800.0;

/// The background is drawn, because a page can be light while the system of its reader is dark. Text in the colour of a
/// series is darker than the series on the light background, so that it is readable.
const STYLE: &str = "\
text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#1f2328}\
.title{font-size:16px;font-weight:600}.small{font-size:12px;fill:#59636e}.strong{font-weight:600}\
.middle{text-anchor:middle}.end{text-anchor:end}\
.back{fill:#fff}.grid{stroke:#d9dee3}.axis{stroke:#818b98}.shade{fill:#818b98;fill-opacity:.13}\
.grey{stroke:#818b98;fill:#818b98}.ink{stroke:#1f2328;fill:#1f2328}.blue{stroke:#0072b2;fill:#0072b2}\
.red{stroke:#cc3311;fill:#cc3311}.green{stroke:#009e73;fill:#009e73}.orange{stroke:#e69f00;fill:#e69f00}\
.purple{stroke:#cc79a7;fill:#cc79a7}.sky{stroke:#56b4e9;fill:#56b4e9}\
text.label{stroke:#fff;stroke-width:4px;paint-order:stroke}text.grey{fill:#59636e}text.green{fill:#00704f}\
text.orange{fill:#8a5a00}text.purple{fill:#9c4577}text.sky{fill:#0f6ea3}\
.line,.wide{fill:none;stroke-width:2.2px;stroke-linejoin:round}.wide{stroke-width:8px;stroke-opacity:.4}\
.band,.bar{stroke:none;fill-opacity:.16}.bar{fill-opacity:.3}.mark{stroke-width:1px}.hollow{fill:#fff;stroke-width:1.6px}\
@media(prefers-color-scheme:dark){\
text{fill:#e6edf3}.small{fill:#9198a1}\
.back{fill:#0d1117}.grid{stroke:#2a313c}.axis{stroke:#656c76}\
.ink{stroke:#e6edf3;fill:#e6edf3}.blue{stroke:#2f93d1;fill:#2f93d1}.red{stroke:#ee5a3a;fill:#ee5a3a}\
text.label{stroke:#0d1117}text.grey{fill:#9198a1}text.green{fill:#009e73}text.orange{fill:#e69f00}\
text.purple{fill:#cc79a7}text.sky{fill:#56b4e9}\
.line,.wide{fill:none}.band,.bar{stroke:none}.hollow{fill:#0d1117}}";

/// How a line or a group of markers looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The class of its colour.
    pub colour: &'static str,
    /// The dashes of its line; empty for a solid one.
    pub dashes: &'static str,
    /// The shape of its markers.
    pub marker: Marker,
    /// Whether its line is wide and pale, for a bound that other lines lie on.
    pub is_wide: bool,
}

impl Look {
    pub(super) const fn new(colour: &'static str, dashes: &'static str, marker: Marker) -> Self {
        Self { colour, dashes, marker, is_wide: false }
    }

    pub(super) const fn wide(self) -> Self {
        Self { marker: Marker::None, is_wide: true, ..self }
    }

    /// Returns the classes of its line.
    pub(super) fn line(self) -> String {
        format!("{} {}", self.colour, if self.is_wide { "wide" } else { "line" })
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    /// A triangle with its point below.
    Drop,
    Diamond,
    /// A triangle that points right, where a value lies beyond the axis.
    Beyond,
    None,
}

/// A picture that is being drawn.
pub(super) struct Svg {
    title: String,
    body: String,
}

impl Svg {
    /// Creates a picture with a title and a line below it.
    pub(super) fn new(title: &str, subtitle: &str) -> Self {
        let mut svg = Self { title: escaped(title), body: String::new() };
        svg.text("title", (16.0, 26.0), title);
        svg.text("small", (16.0, 46.0), subtitle);
        svg
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        if text.is_empty() {
            return;
        }
        let _ = writeln!(self.body, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
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

    pub(super) fn marker(&mut self, look: Look, at: (f64, f64)) {
        self.marker_of(&format!("{} mark", look.colour), look.marker, at);
    }

    /// Adds a marker with a border only.
    pub(super) fn hollow_marker(&mut self, look: Look, at: (f64, f64)) {
        self.marker_of(&format!("{} hollow", look.colour), look.marker, at);
    }

    fn marker_of(&mut self, class: &str, marker: Marker, (x, y): (f64, f64)) {
        let corners: &[(f64, f64)] = match marker {
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
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{}Z\"/>", joined(&corners));
    }

    /// Adds a name in the colour of its series, after the marker of the series.
    pub(super) fn name(&mut self, look: Look, (x, y): (f64, f64), name: &str) {
        self.marker(look, (x, y));
        self.text(&format!("label {}", look.colour), (x + 10.0, y + 4.5), name);
    }

    /// Returns the file, with notes below the position at which the picture ends.
    pub(super) fn finish(mut self, bottom: f64, notes: &[String]) -> String {
        let mut y = bottom;
        for note in notes {
            y += 4.0;
            for line in wrapped(note) {
                y += 17.0;
                self.text("small", (16.0, y), &line);
            }
        }
        let Self { title, body } = self;
        let height = y + 14.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\">\n<style>{STYLE}</style>\n<title>{title}</title>\n\
             <rect class=\"back\" x=\"0\" y=\"0\" width=\"{WIDTH}\" height=\"{height}\"/>\n{body}</svg>\n"
        )
    }
}

/// Breaks a note into lines that fit into the width of a picture.
fn wrapped(note: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in note.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= 114 => {
                let _ = write!(line, " {word}");
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
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

/// Returns a picture for a page of rustdoc, which has it among its own elements: its style holds only within the picture, and
/// it follows the theme of the page instead of the system's.
pub fn inlined(picture: &str) -> String {
    const DARK: &str = "@media(prefers-color-scheme:dark){";
    const THEMES: [&str; 2] = ["[data-theme=dark] .retry-picture", "[data-theme=ayu] .retry-picture"];
    let (light, dark) = STYLE.split_once(DARK).unwrap_or((STYLE, ""));
    let style = scoped(light, &[".retry-picture"]) + &scoped(dark.strip_suffix('}').unwrap_or(dark), &THEMES);
    let sized = "class=\"retry-picture\" style=\"max-width:100%;height:auto\" role=\"img\"";
    picture.replace(STYLE, &style).replacen("role=\"img\"", sized, 1)
}

/// Puts prefixes before each selector of a style sheet without nested rules.
fn scoped(style: &str, prefixes: &[&str]) -> String {
    let mut scoped = String::new();
    for rule in style.split_inclusive('}') {
        let Some((selectors, body)) = rule.split_once('{') else { continue };
        let each =
            selectors.split(',').flat_map(|selector| prefixes.iter().map(move |prefix| format!("{prefix} {selector}")));
        let _ = write!(scoped, "{}{{{body}", each.collect::<Vec<_>>().join(","));
    }
    scoped
}
