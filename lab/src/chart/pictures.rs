//! The picture of each scenario, by its name.

use super::copy::copy;
use super::curves::{changing, contention, layers, partial, restart};
use super::faults::faults;
use super::fleets::fleet_limit;
use super::lines::{Drawn, Panel};
use super::looks::{BLUE, GREEN, ORANGE, RED};
use super::parts::{Missing, drawn, line, panel, plot};
use super::rows::outage;
use super::tail::tail;
use super::worlds;
use crate::report::Report;

/// The scenarios that have tables only.
pub const TABLES_ONLY: &[&str] = &["fleet", "many", "weights"];

/// Draws the picture of a scenario's results, as the text of an SVG file.
///
/// # Errors
///
/// Returns an error if the report lacks a line or a table of the picture, or if its scenario has no picture.
pub fn picture(report: &Report) -> Result<String, Missing> {
    match report.scenario.as_str() {
        "contention" => contention(report),
        "restart" => restart(report),
        "copy" => copy(report),
        "outage" => outage(report),
        "partial" => partial(report),
        "changing" => changing(report),
        "layers" => layers(report),
        "faults" => faults(report),
        "fleet_limit" => fleet_limit(report),
        "worlds" => worlds::picture(report),
        "tail" => tail(report),
        name => Err(Missing(format!("picture: {name} is not a scenario with one"))),
    }
}

/// Draws the delays before each retry, from the report of [`settings`](crate::settings::report).
///
/// # Errors
///
/// Returns an error if the report is none of settings.
pub fn schedule(report: &Report) -> Result<String, Missing> {
    let plot = plot(report, "schedule")?;
    let names = ["throttling", "timeout", "conflict", "other"];
    let lines = names.iter().zip([BLUE, ORANGE, GREEN, RED]).filter_map(|(&name, look)| {
        let line = line(plot, name).ok()?;
        Some(Drawn { line, look, name: Some(name.to_owned()) })
    });
    let panel = Panel { lines: lines.collect(), ..panel((&plot.x, &plot.y), (64.0, 640.0), (92.0, 300.0)) };
    Ok(drawn("The delay before each retry", "Medians; bands: 10th to 90th percentile.", &[panel], 340.0, &[]))
}
