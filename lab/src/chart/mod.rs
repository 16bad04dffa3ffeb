//! Pictures of results, as SVG.
//!
//! A picture is text that depends on its reports alone, and has one claim: its title, which is stated only if the results have
//! it. All colours are in one table of `style`, for light and for dark backgrounds. They are those of Okabe and Ito, except for
//! a red that is farther from their orange, and dashes and markers tell the lines apart, too. A strategy has the same look in
//! all pictures.

mod bars;
mod changes;
mod in_bars;
mod in_lines;
pub mod lines;
pub(crate) mod parts;
mod ranked;
mod retry_loop;
pub mod scale;
pub mod style;
mod svg;
mod timeline;
pub(crate) mod worlds;

pub use in_bars::recovery;
pub use in_lines::schedule;
pub use parts::Missing;
pub use retry_loop::retry_loop;
pub use style::inlined;
pub use timeline::timeline;

use crate::report::Report;

/// The scenarios that have tables only.
pub const TABLES_ONLY: &[&str] = &["fleet", "fleet_limit", "fleet_outages", "many", "outlast", "untold", "weights"];

/// Draws the picture of a scenario's results, as the text of an SVG file.
///
/// # Errors
///
/// Returns an error if the report lacks a line or a table of the picture, or if its scenario has no picture.
pub fn picture(report: &Report) -> Result<String, Missing> {
    match report.scenario.as_str() {
        "changing" => in_lines::changing(report),
        "contention" => in_lines::contention(report),
        "copy" => in_bars::copy(report),
        "faults" => ranked::faults(report),
        "hedges" => changes::hedges(report),
        "layers" => in_lines::layers(report),
        "lengths" => in_lines::lengths(report),
        "outage" => in_bars::outage(report),
        "partial" => in_lines::partial(report),
        "restart" => in_lines::restart(report),
        "tail" => in_lines::tail(report),
        "worlds" => ranked::all_worlds(report),
        name => Err(Missing(format!("picture: {name} is not a scenario with one"))),
    }
}
