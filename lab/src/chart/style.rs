//! How everything looks: the style sheet with all colours, and the looks of strategies.

/// Everything that has a colour: its selector, what is coloured, and the colours on a light and on a dark background.
/// Text in the colour of a series is darker than the series on a light background, so that it is readable.
pub const COLOURS: [(&str, &str, &str, &str); 20] = [
    ("text", "color", "#1f2328", "#e6edf3"),
    (".small", "color", "#59636e", "#9198a1"),
    (".back", "color", "#ffffff", "#0d1117"),
    (".hollow", "fill", "#ffffff", "#0d1117"),
    (".label", "stroke", "#ffffff", "#0d1117"),
    (".grid", "color", "#d9dee3", "#2a313c"),
    (".axis,.shade", "color", "#818b98", "#656c76"),
    (".grey", "color", "#818b98", "#818b98"),
    (".ink", "color", "#1f2328", "#e6edf3"),
    (".blue", "color", "#0072b2", "#2f93d1"),
    (".red", "color", "#cc3311", "#ee5a3a"),
    (".green", "color", "#009e73", "#009e73"),
    (".orange", "color", "#e69f00", "#e69f00"),
    (".purple", "color", "#cc79a7", "#cc79a7"),
    (".sky", "color", "#56b4e9", "#56b4e9"),
    ("text.grey", "color", "#59636e", "#9198a1"),
    ("text.green", "color", "#00704f", "#009e73"),
    ("text.orange", "color", "#8a5a00", "#e69f00"),
    ("text.purple", "color", "#9c4577", "#cc79a7"),
    ("text.sky", "color", "#0f6ea3", "#56b4e9"),
];

/// The rules without colours.
const RULES: [(&str, &str); 15] = [
    ("text", "font:13px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:currentColor"),
    (".title", "font-size:16px;font-weight:600"),
    (".small", "font-size:12px"),
    (".strong", "font-weight:600"),
    (".middle", "text-anchor:middle"),
    (".end", "text-anchor:end"),
    (".label", "stroke-width:4px;paint-order:stroke"),
    ("path", "fill:none;stroke:currentColor"),
    (".line", "stroke-width:2.2px;stroke-linejoin:round"),
    (".wide", "stroke-width:8px;stroke-opacity:.4"),
    ("rect,.mark,.band", "fill:currentColor"),
    (".hollow", "stroke:currentColor;stroke-width:1.6px"),
    (".band", "stroke:none;fill-opacity:.16"),
    (".bar", "fill-opacity:.3"),
    (".shade", "fill-opacity:.13"),
];

/// The class of a picture. All rules hold within it, so that pictures can be parts of a page.
pub const CLASS: &str = "retry-picture";

/// The pages around a picture that are dark: two themes of rustdoc, and three of mdBook.
const DARK_PAGES: &str = ":is([data-theme=dark],[data-theme=ayu],html.coal,html.navy,html.ayu) ";

/// Returns the style sheet of a picture file, which follows the reader's system.
pub fn style() -> String {
    format!("{}@media(prefers-color-scheme:dark){{{}}}", light(), dark(""))
}

/// Returns a picture for a page that has it among its own elements: the picture follows the theme of the page, and adapts to its width.
pub fn inlined(picture: &str) -> String {
    let class = format!("class=\"{CLASS}\"");
    picture.replacen(&style(), &(light() + &dark(DARK_PAGES)), 1).replacen(
        &class,
        &format!("{class} style=\"max-width:100%;height:auto\""),
        1,
    )
}

fn light() -> String {
    let rules: String = RULES.iter().map(|(selectors, body)| rule("", selectors, body)).collect();
    rules + &COLOURS.map(|(selectors, what, light, _)| rule("", selectors, &format!("{what}:{light}"))).concat()
}

fn dark(page: &str) -> String {
    COLOURS.map(|(selectors, what, _, dark)| rule(page, selectors, &format!("{what}:{dark}"))).concat()
}

/// Returns a rule within pictures on some pages.
fn rule(page: &str, selectors: &str, body: &str) -> String {
    let selectors: Vec<_> = selectors.split(',').map(|selector| format!("{page}.{CLASS} {selector}")).collect();
    format!("{}{{{body}}}", selectors.join(","))
}

/// How a line or a group of markers looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The class of its colour.
    pub colour: &'static str,
    /// The dashes of its line; empty for a solid one.
    pub dashes: &'static str,
    pub marker: Marker,
    /// Whether its line is wide and pale, for a bound that other lines lie on.
    pub is_wide: bool,
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

impl Look {
    const fn new(colour: &'static str, dashes: &'static str, marker: Marker) -> Self {
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

/// The name of a strategy with the user's own settings, which every picture shows if it is there.
pub(super) const YOURS: &str = "yours";

pub(super) const BLUE: Look = Look::new("blue", "", Marker::Circle);
pub(super) const GREY: Look = Look::new("grey", "", Marker::Drop);
pub(super) const INK: Look = Look::new("ink", "5 4", Marker::None);

/// Returns the look of a strategy, or of another line: the same one in each picture.
pub(super) fn look(name: &str) -> Look {
    match name {
        "no retries" | "no jitter" | "limit" => GREY,
        "patient" => Look::new("green", "", Marker::Square),
        YOURS => Look::new("sky", "3 3", Marker::Triangle),
        "adaptive" | "timeout" => Look::new("orange", "", Marker::Diamond),
        "evidence" | "paced" | "p95" | "equal jitter" | "conflict" => Look::new("green", "6 3", Marker::Square),
        "aws_2_1()" => Look::new("purple", "10 3 2 3", Marker::Diamond),
        "new(), as shipped" => Look { dashes: "6 3", ..BLUE },
        "the best other" => Look::new("ink", "2 2", Marker::Circle),
        "ideal" => INK,
        "three retries" | "no quota" | "no backoff" | "other" => Look::new("red", "9 4", Marker::Triangle),
        _ if name.starts_with("no hedge") => GREY,
        _ if name.ends_with(", no quota") => look("no quota"),
        _ => BLUE,
    }
}
