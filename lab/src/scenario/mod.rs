//! The scenarios.

pub mod changing;
pub mod contention;
pub mod copy;
pub mod faults;
pub mod fleet;
pub mod fleet_limit;
pub mod fleet_outages;
pub mod hedges;
pub mod layers;
pub mod lengths;
mod limited;
pub mod many;
pub mod outage;
pub mod outlast;
pub mod partial;
pub mod per_second;
pub mod restart;
pub mod tail;
pub mod untold;
pub mod weights;
pub mod worlds;

use crate::report::{Plot, Report, Table};
use crate::strategies::Strategy;
use crate::study::Workers;
use per_second::PerSecond;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;

/// A scenario as the program knows it.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// The name.
    pub name: &'static str,
    /// The scenario in one sentence.
    pub title: &'static str,
    /// Runs all cases and seeds. It returns an error if the plan has options that the scenario does not have.
    pub study: fn(&Plan, &dyn Workers) -> Result<Report, serde_json::Error>,
}

impl Scenario {
    /// Creates the report of this scenario.
    fn report(self, options: Value, seeds: u64, tables: Vec<Table>, plots: Vec<Plot>) -> Report {
        let Self { name, title, .. } = self;
        Report { scenario: name.to_owned(), title: title.to_owned(), options, seeds, tables, plots }
    }
}

/// All scenarios.
pub const SCENARIOS: &[Scenario] = &[
    contention::SCENARIO,
    restart::SCENARIO,
    copy::SCENARIO,
    outage::SCENARIO,
    partial::SCENARIO,
    many::SCENARIO,
    changing::SCENARIO,
    layers::SCENARIO,
    faults::SCENARIO,
    outlast::SCENARIO,
    lengths::SCENARIO,
    fleet::SCENARIO,
    fleet_limit::SCENARIO,
    fleet_outages::SCENARIO,
    worlds::SCENARIO,
    weights::SCENARIO,
    tail::SCENARIO,
    hedges::SCENARIO,
    untold::SCENARIO,
];

/// The first seed of reports on limiters. No limiter was tuned on it or on the 1,000 seeds after it.
pub const UNTUNED: u64 = 9_000;

/// The size of a study, and what it runs besides the scenario's own cases.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Whether the scenario starts from its short options, which take seconds instead of minutes.
    pub short: bool,
    /// Options that replace those of the scenario, by name.
    pub options: Vec<(String, Value)>,
    /// Strategies to run beside the scenario's own.
    pub strategies: Vec<Strategy>,
}

impl Plan {
    /// Returns the options of a scenario under this plan, and their values for the report.
    fn options<O: Default + Serialize + DeserializeOwned>(
        &self,
        short: impl FnOnce() -> O,
    ) -> Result<(O, Value), serde_json::Error> {
        let mut values = serde_json::to_value(if self.short { short() } else { O::default() })?;
        if let Value::Object(values) = &mut values {
            values.extend(self.options.iter().cloned());
        }
        Ok((serde_json::from_value(values.clone())?, values))
    }

    /// Returns the strategies of a scenario, followed by those of the plan.
    fn with(&self, mut strategies: Vec<Strategy>) -> Vec<Strategy> {
        strategies.extend(self.strategies.iter().cloned());
        strategies
    }
}

/// Converts an option in seconds. A number that is not a duration is treated as zero.
fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or_default()
}

/// Converts an option in milliseconds, like [`seconds`].
fn millis(number: f64) -> Duration {
    seconds(number / 1e3)
}

/// Converts a count to a measure.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub fn number(count: u64) -> f64 {
    count as f64
}

/// Divides two counts. Nothing out of nothing is zero.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { number(part) / number(whole) }
}
