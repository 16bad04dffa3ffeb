//! The commands of the program.

mod charts;
mod check;
mod differences;
mod durations;
mod json;
mod look;
mod page;
mod processes;
mod progress;
mod run;
mod settings;
mod text;
mod threads;

use clap::{Args, Parser, Subcommand};
use lab::scenario::{Plan, SCENARIOS, Scenario};
use lab::strategies::Strategy;
use serde_json::Value;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs scenarios in virtual time, which show what retrying does to clients and servers.
#[derive(Debug, Parser)]
#[command(name = "lab")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs scenarios and prints their tables.
    Run(Selection),
    /// Prints what the settings of a `RetryConfig` mean, runs short scenarios with them, and compares them with the default.
    Settings(settings::Settings),
    /// Draws the pictures of results that `run` wrote with `--json`.
    Charts(charts::Charts),
    /// Measures outages with real processes and a real server, and compares them with the simulation. Exits with 1 if they differ.
    Processes(processes::Processes),
    /// A client process, which `processes` starts.
    #[command(hide = true)]
    Client {
        /// What it does, as JSON.
        #[arg(value_parser = processes::client)]
        client: processes::Client,
    },
    /// Runs scenarios and compares the results with files that an earlier run wrote. Exits with 1 if they differ.
    Check {
        #[command(flatten)]
        selection: Selection,
        /// The directory of the files.
        #[arg(long)]
        expected: PathBuf,
    },
}

/// What to run.
#[derive(Debug, Args)]
struct Selection {
    /// The scenarios; all, if none is named.
    #[arg(value_parser = scenario, value_name = "SCENARIO")]
    scenarios: Vec<Scenario>,
    /// Runs smaller scenarios, which take seconds instead of minutes. The default of `settings`.
    #[arg(long)]
    short: bool,
    /// The number of runs of each case, each with another seed.
    #[arg(long)]
    seeds: Option<u64>,
    /// Sets an option of all selected scenarios, as in `rate=50` or `workers=[8,16]`.
    #[arg(long = "set", value_parser = option, value_name = "OPTION=VALUE")]
    options: Vec<(String, Value)>,
    /// The number of threads. The results do not depend on it.
    #[arg(long)]
    threads: Option<usize>,
    /// Runs other retry crates, too.
    #[cfg(feature = "peers")]
    #[arg(long)]
    peers: bool,
    /// Prints medians only, and one row for those that differ in their last key.
    #[arg(long)]
    brief: bool,
    /// A directory to write the results to, a file for each scenario.
    #[arg(long, value_name = "DIRECTORY")]
    json: Option<PathBuf>,
}

fn scenario(name: &str) -> Result<Scenario, String> {
    SCENARIOS.iter().find(|scenario| scenario.name == name).copied().ok_or_else(|| {
        let names: Vec<&str> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn option(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected OPTION=VALUE")?;
    let value = serde_json::from_str(value).map_err(|_| "expected a JSON value, as in `rate=50`")?;
    Ok((name.to_owned(), value))
}

impl Arguments {
    /// Executes the command, and returns the exit code.
    pub(crate) fn execute(self) -> Result<ExitCode, Box<dyn Error>> {
        match self.command {
            Command::Run(selection) => run::run(&selection, &selection.plan(), |_| Ok(())).map(|()| ExitCode::SUCCESS),
            Command::Settings(settings) => settings::settings(&settings),
            Command::Charts(charts) => charts::charts(&charts),
            Command::Processes(processes) => processes::processes(&processes),
            Command::Client { client } => Ok(client.run().map(|()| ExitCode::SUCCESS)?),
            Command::Check { selection, expected } => check::check(&selection, &expected),
        }
    }
}

impl Selection {
    fn plan(&self) -> Plan {
        let mut options = self.options.clone();
        options.extend(self.seeds.map(|seeds| ("seeds".to_owned(), seeds.into())));
        Plan { short: self.short, options, strategies: self.peers() }
    }

    #[cfg(feature = "peers")]
    fn peers(&self) -> Vec<Strategy> {
        if self.peers { lab::peers::strategies() } else { Vec::new() }
    }

    #[cfg(not(feature = "peers"))]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    fn peers(&self) -> Vec<Strategy> {
        Vec::new()
    }

    fn scenarios(&self) -> &[Scenario] {
        if self.scenarios.is_empty() { SCENARIOS } else { &self.scenarios }
    }
}
