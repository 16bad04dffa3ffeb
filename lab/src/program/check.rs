//! `lab check`: compares results with files that an earlier run wrote.

use super::run::workers;
use super::text::counted;
use super::{Selection, json};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn check(selection: &Selection, expected: &Path) -> Result<ExitCode, Box<dyn Error>> {
    let plan = selection.plan();
    let workers = workers(selection, &plan);
    let mut differ = false;
    for (index, scenario) in selection.scenarios().iter().enumerate() {
        workers.progress(|progress| progress.begin(index));
        let report = (scenario.study)(&plan, &workers)?;
        let file = expected.join(format!("{}.json", scenario.name));
        let before = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let now = json::to_string(&report)?;
        let lines = differences(&before, &now);
        if !lines.is_empty() {
            differ = true;
            eprintln!("{}: {}, the first ones are:", file.display(), counted(lines.len() as u64, "difference"));
            for (before, now) in lines.iter().take(10) {
                let same = before.chars().zip(now.chars()).take_while(|(before, now)| before == now).count();
                eprintln!("- {}\n+ {}", excerpt(before, same), excerpt(now, same));
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

/// Returns the part of a line around the first character that differs.
fn excerpt(line: &str, same: usize) -> String {
    line.chars().skip(same.saturating_sub(80)).take(160).collect::<String>().trim().to_owned()
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

#[cfg(test)]
mod tests {
    use super::differences;

    #[test]
    fn lines_that_differ_are_found() {
        assert!(differences("a\nb\n", "a\nb\n").is_empty());
        assert_eq!(differences("a\nb\nc\n", "a\nB\nc\nd\n"), [("b", "B"), ("", "d")]);
        assert_eq!(differences("a\nb\n", "a\n"), [("b", "")]);
    }
}
