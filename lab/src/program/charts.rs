//! `lab charts`: draws the pictures of results that an earlier run wrote.

use clap::Args;
use lab::chart::{PEERS, has_picture, inlined, peers, picture, recovery};
use lab::report::Report;
use lab::scenario::SCENARIOS;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where results are read and pictures are written.
#[derive(Debug, Args)]
pub(super) struct Charts {
    /// The directory of the results.
    #[arg(long, default_value = "lab/results/full", value_name = "DIRECTORY")]
    results: PathBuf,
    /// The directory of the results beside other crates.
    #[arg(long, default_value = "lab/results/peers", value_name = "DIRECTORY")]
    peers: PathBuf,
    /// The directory of the pictures.
    #[arg(long, default_value = "docs/pictures", value_name = "DIRECTORY")]
    pictures: PathBuf,
    /// The directory of the pictures that pages of rustdoc include.
    #[arg(long, default_value = "retry-core/docs", value_name = "DIRECTORY")]
    reference: PathBuf,
    /// Writes nothing, and exits with 1 if the files are not the pictures of the results.
    #[arg(long)]
    check: bool,
}

/// The pictures that pages of rustdoc include.
const REFERENCE: [&str; 2] = ["copy", "recovery"];

pub(super) fn charts(charts: &Charts) -> Result<ExitCode, Box<dyn Error>> {
    let mut differ = false;
    let mut files = Vec::new();
    for (name, drawn) in drawn(charts)? {
        let file = format!("{name}.svg");
        if REFERENCE.contains(&name) {
            files.push((charts.reference.join(&file), inlined(&drawn)));
        }
        files.push((charts.pictures.join(file), drawn));
    }
    for (file, drawn) in files {
        if !charts.check {
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&file, drawn)?;
        } else if fs::read_to_string(&file).ok().as_deref() != Some(&drawn) {
            differ = true;
            eprintln!("{} is not the picture of the results; write it with `lab charts`", file.display());
        }
    }
    if differ {
        return Ok(ExitCode::FAILURE);
    }
    println!("{}", if charts.check { "the pictures are those of the results" } else { "the pictures are written" });
    Ok(ExitCode::SUCCESS)
}

/// Draws all pictures, by name: one for each scenario, the first one of the README, and one beside other crates.
fn drawn(charts: &Charts) -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    let mut pictures = Vec::new();
    for scenario in SCENARIOS.iter().filter(|scenario| has_picture(scenario.name)) {
        let name = scenario.name;
        let report = read(&charts.results.join(format!("{name}.json")))?;
        pictures.push((name, picture(&report).map_err(|error| format!("{name}: {error}"))?));
    }
    let faults = read(&charts.results.join("faults.json"))?;
    pictures.push(("recovery", recovery(&faults).map_err(|error| format!("recovery: {error}"))?));
    let beside = PEERS.iter().map(|name| read(&charts.peers.join(format!("{name}.json"))));
    let drawn = peers(&beside.collect::<Result<Vec<_>, _>>()?).map_err(|error| format!("peers: {error}"))?;
    pictures.push(("peers", drawn));
    Ok(pictures)
}

fn read(file: &Path) -> Result<Report, Box<dyn Error>> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?)
}
