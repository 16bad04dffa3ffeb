//! `lab charts`: draws the pictures of results that an earlier run wrote, and fills the tables of pages with them.

use clap::Args;
use lab::chart::{TABLES_ONLY, inlined, picture, recovery, retry_loop, timeline};
use lab::report::Report;
use lab::scenario::SCENARIOS;
use lab::tables::{PEERS, Results, filled};
use lab::timeline::{EXAMPLE, example};
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
    /// The file of the results of real processes.
    #[arg(long, default_value = "lab/results/processes.json", value_name = "FILE")]
    processes: PathBuf,
    /// The directory of the pictures.
    #[arg(long, default_value = "docs/pictures", value_name = "DIRECTORY")]
    pictures: PathBuf,
    /// The directory of the crates, which have the pictures that their pages of rustdoc include.
    #[arg(long, default_value = ".", value_name = "DIRECTORY")]
    reference: PathBuf,
    /// The pages with tables and numbers of results, between markers.
    #[arg(
        long,
        default_values = ["docs/choosing.md", "docs/comparison.md", "docs/performance.md", "lab/results/README.md", "retry-fleet/README.md"],
        value_name = "FILE"
    )]
    pages: Vec<PathBuf>,
    /// Writes nothing, and exits with 1 if the files are not those of the results.
    #[arg(long)]
    check: bool,
}

/// The pictures that pages of rustdoc include, and the crates of these pages.
const REFERENCE: [(&str, &str); 4] =
    [("copy", "retry-limits"), ("loop", "retry-core"), ("recovery", "retry-core"), ("timeline", "retry-core")];

pub(super) fn charts(charts: &Charts) -> Result<ExitCode, Box<dyn Error>> {
    let mut differ = false;
    let mut files = Vec::new();
    let results = results(charts)?;
    for (name, drawn) in drawn(&results)? {
        let file = format!("{name}.svg");
        if let Some((_, package)) = REFERENCE.iter().find(|(picture, _)| *picture == name) {
            files.push((charts.reference.join(package).join("docs").join(&file), inlined(&drawn)));
        }
        files.push((charts.pictures.join(file), drawn));
    }
    for page in &charts.pages {
        let text = fs::read_to_string(page).map_err(|error| format!("{}: {error}", page.display()))?;
        files.push((page.clone(), filled(&text, &results).map_err(|error| format!("{}: {error}", page.display()))?));
    }
    for (file, drawn) in files {
        if !charts.check {
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&file, drawn)?;
        } else if fs::read_to_string(&file).ok().as_deref() != Some(&drawn) {
            differ = true;
            eprintln!("{} is not that of the results; write it with `lab charts`", file.display());
        }
    }
    if differ {
        return Ok(ExitCode::FAILURE);
    }
    println!(
        "{}",
        if charts.check {
            "the pictures and tables are those of the results"
        } else {
            "the pictures and tables are written"
        }
    );
    Ok(ExitCode::SUCCESS)
}

/// Draws all pictures, by name: one for each scenario that has one, the recovery, the loop, and one
/// operation.
fn drawn(results: &Results) -> Result<Vec<(&'static str, String)>, Box<dyn Error>> {
    let mut pictures = Vec::new();
    let all = SCENARIOS.iter().zip(&results.full);
    for (scenario, report) in all.filter(|(scenario, _)| !TABLES_ONLY.contains(&scenario.name)) {
        let name = scenario.name;
        pictures.push((name, picture(report).map_err(|error| format!("{name}: {error}"))?));
        if name == "faults" {
            pictures.push(("recovery", recovery(report).map_err(|error| format!("recovery: {error}"))?));
        }
    }
    pictures.push(("loop", retry_loop()));
    pictures.push(("timeline", timeline(&example(), EXAMPLE)));
    Ok(pictures)
}

/// Reads the results of all scenarios, those beside other crates, and those of real processes.
fn results(charts: &Charts) -> Result<Results, Box<dyn Error>> {
    let full = SCENARIOS.iter().map(|scenario| read(&charts.results.join(format!("{}.json", scenario.name))));
    let peers = PEERS.iter().map(|name| read(&charts.peers.join(format!("{name}.json"))));
    Ok(Results {
        full: full.collect::<Result<_, _>>()?,
        peers: peers.collect::<Result<_, _>>()?,
        processes: read(&charts.processes)?,
    })
}

fn read(file: &Path) -> Result<Report, Box<dyn Error>> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?)
}
