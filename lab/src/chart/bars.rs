//! Bars with a name, what it means, and a value in words.

use super::parts::Missing;
use super::scale::{Scale, number};
use super::style::{Look, Marker, look};
use super::svg::{Svg, WIDTH};
use crate::report::Spread;

/// A row.
pub(super) struct Bar {
    pub name: String,
    /// What the name means.
    pub meaning: &'static str,
    pub look: Look,
    /// The length; `None` is beyond the axis.
    pub value: Option<f64>,
    /// The value in words.
    pub text: String,
}

impl Bar {
    /// Creates the bar of a time until a server works again, which was measured for some seconds.
    pub(super) fn recovery(
        (name, meaning, strategy): (&str, &'static str, &str),
        measured: Result<Spread, Missing>,
        longest: f64,
    ) -> Result<Self, Missing> {
        let value = measured?.mid;
        let never = || format!("still down after {} s", number(longest));
        let text = value.map_or_else(never, |seconds| format!("{} s", number(seconds)));
        Ok(Self { name: name.to_owned(), meaning, look: look(strategy), value, text })
    }
}

/// The name that is bold.
pub(super) const BOLD: &str = "this library";

const TOP: f64 = 70.0;
const HEIGHT: f64 = 46.0;
const THICKNESS: f64 = 22.0;
/// Where the bars begin, and where the longest one ends.
const AXIS: (f64, f64) = (268.0, WIDTH - 190.0);

/// Draws bars on an axis from zero to `end`.
pub(super) fn draw(title: &str, subtitle: &str, bars: &[Bar], end: f64, note: &str) -> String {
    let (mut svg, scale) = (Svg::new(title, subtitle), Scale::linear((0.0, end), AXIS, false));
    let mut top = TOP;
    for bar in bars {
        let middle = top + HEIGHT / 2.0;
        svg.text(if bar.name == BOLD { "strong" } else { "" }, (16.0, middle - 3.0), &bar.name);
        svg.text("small", (16.0, middle + 14.0), bar.meaning);
        let to = scale.at(bar.value.unwrap_or(f64::MAX));
        let size = ((to - AXIS.0).max(2.0), THICKNESS);
        svg.rectangle(bar.look.colour, (AXIS.0, middle - THICKNESS / 2.0), size);
        let gap = if bar.value.is_some() { 9.0 } else { 19.0 };
        if bar.value.is_none() {
            svg.marker("mark", Look { marker: Marker::Beyond, ..bar.look }, (to + 6.0, middle));
        }
        svg.text(&format!("label {}", bar.look.colour), (to + gap, middle + 4.5), &bar.text);
        top += HEIGHT;
    }
    svg.finish(top, note)
}
