//! The program over the scenarios.

mod program;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match program::Arguments::parse().execute() {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("lab: {error}");
            ExitCode::from(2)
        }
    }
}
