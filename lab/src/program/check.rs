//! `lab check`: compares results with files that an earlier run wrote.

use super::threads::Threads;
use super::{Selection, json};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn check(selection: &Selection, expected: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let workers = Threads::new(selection.threads);
    let mut differ = false;
    for scenario in selection.scenarios() {
        let report = (scenario.study)(&selection.plan(), &workers)?;
        let file = expected.join(format!("{}.json", scenario.name));
        let before = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let now = json::to_string(&report)?;
        let lines = differences(&before, &now);
        if !lines.is_empty() {
            differ = true;
            eprintln!("{}: {} lines differ, the first ones are:", file.display(), lines.len());
            for (before, now) in lines.iter().take(10) {
                eprintln!("- {}\n+ {}", before.trim(), now.trim());
            }
        }
    }
    if differ {
        eprintln!("the results differ; if they should, run `lab run` with the same options and `--json`");
        return Ok(ExitCode::FAILURE);
    }
    println!("the results are as expected");
    Ok(ExitCode::SUCCESS)
}

/// Returns the lines that differ, paired by their number.
fn differences<'a>(before: &'a str, now: &'a str) -> Vec<(&'a str, &'a str)> {
    let (mut before, mut now) = (before.lines(), now.lines());
    let mut different = Vec::new();
    loop {
        match (before.next(), now.next()) {
            (None, None) => return different,
            (before, now) if before != now => different.push((before.unwrap_or(""), now.unwrap_or(""))),
            _ => {}
        }
    }
}
