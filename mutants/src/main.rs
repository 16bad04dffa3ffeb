//! Changes the sources one by one, and checks that a test notices each change.
//!
//! All mutants are in one build: the sources are copied to `target/mutants/tree` and rewritten so that a variable of the environment
//! chooses one of them. Each test runs once to record the mutants that it reaches, and then each mutant meets the tests that reach it.
//! The results of each function are kept in `mutants/results.txt`, until its text changes.

mod build;
mod compiled;
mod edit;
mod equivalent;
mod gate;
mod record;
mod rewrite;
mod run;
mod sources;
mod suite;
mod tree;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use std::time::Duration;

/// Changes the sources one by one, and checks that a test notices each change.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Runs the mutants without a result, and those that survived, and lists the survivors.
    Run {
        /// Files or folders, as in `retry-core/src/quota`. By default, all that are mutated.
        paths: Vec<String>,
        /// Runs all of them again.
        #[arg(long)]
        again: bool,
        /// Runs and builds only these tests, as in `--test limits --test lib`, and only mutants that survived before.
        #[arg(long = "test")]
        tests: Vec<String>,
    },
    /// Runs the mutants without a result, and fails if any mutant survived that is not in `equivalent.toml`.
    Check {
        /// The longest time, after which the rest is left undone.
        #[arg(long)]
        minutes: Option<u64>,
    },
    /// Lists the survivors without running anything.
    List {
        /// Files or folders. By default, all that are mutated.
        paths: Vec<String>,
    },
}

fn main() -> ExitCode {
    let result = match Options::parse().command {
        Action::Run { paths, again, tests } => gate::run(&paths, again, &tests),
        Action::Check { minutes } => gate::check(minutes.map(|minutes| Duration::from_secs(60 * minutes))),
        Action::List { paths } => gate::list(&paths),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
