//! Bars with a name, what it means, and a value in words: for pictures with one claim.

use super::scale::Scale;
use super::svg::{Look, Marker, Svg, WIDTH};

/// A row.
pub(super) struct Bar {
    pub name: String,
    /// What the name means.
    pub meaning: &'static str,
    pub look: Look,
    /// Whether the name is bold: what the picture is about.
    pub is_strong: bool,
    /// The length; `None` is beyond the axis.
    pub value: Option<f64>,
    /// The value in words.
    pub text: String,
}

const TOP: f64 = 70.0;
const HEIGHT: f64 = 46.0;
const THICKNESS: f64 = 22.0;
/// Where the bars begin.
const LEFT: f64 = 268.0;
/// The room to the right of the longest bar.
const VALUE: f64 = 190.0;

/// Draws bars on an axis from zero to `end`, and returns where they end.
#[expect(clippy::cast_precision_loss, reason = "a picture has few bars")]
pub(super) fn draw(svg: &mut Svg, bars: &[Bar], end: f64) -> f64 {
    let scale = Scale::linear((0.0, end), (LEFT, WIDTH - VALUE), false);
    for (index, bar) in bars.iter().enumerate() {
        let middle = TOP + HEIGHT * (index as f64 + 0.5);
        svg.text(if bar.is_strong { "strong" } else { "" }, (16.0, middle - 3.0), &bar.name);
        svg.text("small", (16.0, middle + 14.0), bar.meaning);
        let to = scale.at(bar.value.unwrap_or(f64::MAX));
        svg.rectangle(bar.look.colour, (LEFT, middle - THICKNESS / 2.0), ((to - LEFT).max(2.0), THICKNESS));
        if bar.value.is_none() {
            svg.marker(Look { marker: Marker::Beyond, ..bar.look }, (to + 6.0, middle));
        }
        let gap = if bar.value.is_some() { 9.0 } else { 19.0 };
        svg.text(&format!("label {}", bar.look.colour), (to + gap, middle + 4.5), &bar.text);
    }
    TOP + bars.len() as f64 * HEIGHT
}
