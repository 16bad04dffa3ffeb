//! How long scenarios take, measured with one thread. It is an estimate: machines differ, and so do options.

use lab::scenario::Plan;

/// The seconds that a scenario takes.
struct Cost {
    scenario: &'static str,
    /// The seconds of the short scenario, with its number of seeds.
    short: (f64, f64),
    /// The seconds of the whole scenario with one seed, and its number of seeds.
    full: (f64, f64),
}

const COSTS: [Cost; 19] = [
    Cost { scenario: "contention", short: (0.1, 5.0), full: (0.3, 100.0) },
    Cost { scenario: "restart", short: (0.02, 20.0), full: (0.01, 100.0) },
    Cost { scenario: "copy", short: (0.5, 3.0), full: (0.3, 20.0) },
    Cost { scenario: "outage", short: (4.1, 2.0), full: (6.6, 20.0) },
    Cost { scenario: "partial", short: (0.7, 3.0), full: (5.0, 20.0) },
    Cost { scenario: "many", short: (0.4, 2.0), full: (13.3, 5.0) },
    Cost { scenario: "changing", short: (0.9, 2.0), full: (6.1, 20.0) },
    Cost { scenario: "layers", short: (0.3, 2.0), full: (2.0, 20.0) },
    Cost { scenario: "faults", short: (2.7, 1.0), full: (26.1, 6.0) },
    Cost { scenario: "outlast", short: (1.7, 1.0), full: (39.0, 3.0) },
    Cost { scenario: "lengths", short: (0.4, 1.0), full: (2.5, 20.0) },
    Cost { scenario: "fleet", short: (1.5, 1.0), full: (120.0, 5.0) },
    Cost { scenario: "fleet_limit", short: (2.7, 2.0), full: (54.3, 3.0) },
    Cost { scenario: "fleet_outages", short: (6.6, 1.0), full: (37.6, 3.0) },
    Cost { scenario: "worlds", short: (2.7, 1.0), full: (17.6, 5.0) },
    Cost { scenario: "weights", short: (1.2, 1.0), full: (1.2, 5.0) },
    Cost { scenario: "untold", short: (3.0, 1.0), full: (3.0, 5.0) },
    Cost { scenario: "hedges", short: (0.5, 1.0), full: (1.9, 10.0) },
    Cost { scenario: "tail", short: (0.3, 1.0), full: (7.5, 10.0) },
];

/// The runs that a strategy adds to those of a scenario, as a part of them: about the same in the scenarios that take long.
const PER_POLICY: f64 = 0.22;

/// Returns the seconds that a scenario takes on a number of threads.
pub(super) fn seconds_of(scenario: &str, plan: &Plan, threads: usize) -> f64 {
    let Some(cost) = COSTS.iter().find(|cost| cost.scenario == scenario) else { return 0.0 };
    let set = plan.options.iter().rev().find(|(name, _)| name == "seeds").and_then(|(_, value)| value.as_f64());
    let seconds = if plan.short {
        let (seconds, seeds) = cost.short;
        seconds * set.map_or(1.0, |set| set / seeds)
    } else {
        let (seconds, seeds) = cost.full;
        seconds * set.unwrap_or(seeds)
    };
    #[expect(clippy::cast_precision_loss, reason = "a machine has few threads")]
    let threads = threads as f64;
    #[expect(clippy::cast_precision_loss, reason = "there are few strategies")]
    let strategies = plan.strategies.len() as f64;
    seconds * (1.0 + PER_POLICY * strategies) / threads
}

/// Writes a time that is estimated.
pub(super) fn about(seconds: f64) -> String {
    match seconds {
        _ if seconds < 10.0 => "less than 10 s".to_owned(),
        _ if seconds < 90.0 => format!("about {:.0} s", (seconds / 5.0).round() * 5.0),
        _ => format!("about {:.0} minutes", (seconds / 60.0).ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::{COSTS, about, seconds_of};
    use lab::scenario::{Plan, SCENARIOS};

    #[test]
    fn each_scenario_has_a_duration_that_grows_with_the_seeds() {
        let plan = |short, seeds: Option<u64>| {
            let options = seeds.map(|seeds| ("seeds".to_owned(), seeds.into()));
            Plan { short, options: options.into_iter().collect(), ..Plan::default() }
        };
        for scenario in SCENARIOS {
            let cost = COSTS.iter().find(|cost| cost.scenario == scenario.name).unwrap();
            let seconds = |short, seeds, threads| seconds_of(scenario.name, &plan(short, seeds), threads);
            let is = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{}", scenario.name);
            is(seconds(true, None, 1), cost.short.0);
            is(seconds(true, None, 4), cost.short.0 / 4.0);
            let yours = lab::strategies::Strategy::no_retries();
            let with_yours = Plan { strategies: vec![yours], ..plan(true, None) };
            is(seconds_of(scenario.name, &with_yours, 1), cost.short.0 * 1.22);
            is(seconds(false, Some(2), 1), 2.0 * cost.full.0);
            is(seconds(false, None, 1), cost.full.0 * cost.full.1);
            assert!(cost.full.0 * cost.full.1 > cost.short.0, "{}", scenario.name);
        }
    }

    #[test]
    fn estimates_are_round() {
        let texts = [3.0, 12.0, 88.0, 90.0, 601.0].map(about);
        assert_eq!(texts, ["less than 10 s", "about 10 s", "about 90 s", "about 2 minutes", "about 11 minutes"]);
    }
}
