//! `lab run`: runs scenarios and prints their tables.

use super::threads::Threads;
use super::{Selection, json, text};
use lab::report::Report;
use lab::scenario::Plan;
use std::error::Error;
use std::fs;

/// Runs the selected scenarios, prints and writes their results, and returns them.
pub(super) fn run(selection: &Selection, plan: &Plan) -> Result<Vec<Report>, Box<dyn Error>> {
    let mut reports = Vec::new();
    let workers = Threads::new(selection.threads);
    for scenario in selection.scenarios() {
        let report = (scenario.study)(plan, &workers).map_err(|error| format!("{}: {error}", scenario.name))?;
        text::print(&report)?;
        if let Some(directory) = &selection.json {
            fs::create_dir_all(directory)?;
            fs::write(directory.join(format!("{}.json", report.scenario)), json::to_string(&report)?)?;
        }
        reports.push(report);
    }
    Ok(reports)
}
