//! The scenarios.

use crate::report::Report;
use crate::strategies::Policy;
use crate::study::Workers;
use serde_json::Value;

/// A scenario as the program knows it.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// The name.
    pub name: &'static str,
    /// The scenario in one sentence.
    pub title: &'static str,
    /// Runs all cases and seeds.
    pub study: fn(&Plan, &dyn Workers) -> Result<Report, serde_json::Error>,
}

/// The size of a study, and what it compares besides the scenario's own cases.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Whether the short options are used, which take seconds instead of minutes.
    pub short: bool,
    /// The number of seeds, if not that of the options.
    pub seeds: Option<u64>,
    /// Options by name that replace those of the scenario.
    pub options: Vec<(String, Value)>,
    /// Policies to run beside the scenario's own.
    pub policies: Vec<Policy>,
}

/// All scenarios.
pub const SCENARIOS: &[Scenario] = &[];
