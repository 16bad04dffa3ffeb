//! `lab run`: runs scenarios and prints their tables.

use super::progress::Progress;
use super::threads::{Threads, threads};
use super::{Selection, json, text};
use lab::report::Report;
use lab::scenario::Plan;
use std::error::Error;
use std::fs;

/// Creates the workers of the selected scenarios, and says how long these take.
pub(super) fn workers(selection: &Selection, plan: &Plan) -> Threads {
    let count = threads(selection.threads);
    let progress = Progress::new(selection.scenarios(), plan, count);
    progress.announce();
    Threads::new(count, progress)
}

/// Runs the selected scenarios, prints and writes their results, and calls a function with each result.
pub(super) fn run(
    selection: &Selection,
    plan: &Plan,
    mut ended: impl FnMut(Report) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let workers = workers(selection, plan);
    for (index, scenario) in selection.scenarios().iter().enumerate() {
        workers.progress(|progress| progress.begin(index));
        let report = (scenario.study)(plan, &workers).map_err(|error| format!("{}: {error}", scenario.name))?;
        text::print(&report, selection.brief)?;
        if let Some(directory) = &selection.json {
            fs::create_dir_all(directory)?;
            fs::write(directory.join(format!("{}.json", report.scenario)), json::to_string(&report)?)?;
        }
        ended(report)?;
    }
    Ok(())
}
