//! Runs one scenario a number of times, for a tool that counts instructions: `instructions NAME CALLS`. Without
//! arguments it lists the names.

use benches::{SCENARIOS, Scenario};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        for scenario in SCENARIOS {
            println!("{scenario}");
        }
        return ExitCode::SUCCESS;
    };
    let calls = arguments.next().and_then(|calls| calls.parse().ok());
    let (Some(scenario), Some(calls)) = (Scenario::named(&name), calls) else {
        eprintln!("usage: instructions NAME CALLS");
        return ExitCode::FAILURE;
    };
    scenario.run(calls);
    ExitCode::SUCCESS
}
