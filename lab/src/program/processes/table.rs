//! The table of what is simulated and what is real.

use super::{Chosen, Setting};
use lab::report::{Report, Row, Spread, Table};
use lab::scenario::outlast::Measured;
use serde_json::json;

/// How far the real part of the operations that are bridged may be from the simulated one, in percent of all.
const TOLERANCE: f64 = 10.0;

pub(super) fn new() -> Table {
    let measures = ["bridged, %", "attempts per operation", "recovery, s", "bystanders lost, %"];
    Table::new("processes", &["world", "strategy", "run"], &measures)
}

/// Adds a row for runs of a strategy.
pub(super) fn add(table: &mut Table, setting: &Setting, chosen: Chosen, how: &str, runs: &[Measured]) {
    let spread = |measure: &dyn Fn(&Measured) -> f64| Spread::of(runs.iter().map(measure));
    let values = vec![
        spread(&|run| run.bridged),
        spread(&|run| run.load),
        Spread::of_optional(runs.iter().map(|run| run.recovery_s)),
        spread(&|run| run.bystanders_lost),
    ];
    table.add(vec![setting.world.name.clone(), chosen.name().to_owned(), how.to_owned()], values);
}

pub(super) fn report(table: Table, settings: &[Setting], runs: u64) -> Report {
    Report {
        scenario: "processes".to_owned(),
        title: "Outages with real processes and a real server, beside their simulation".to_owned(),
        options: json!({ "settings": settings, "simulated_runs": Setting::SEEDS }),
        seeds: runs,
        tables: vec![table],
        plots: Vec::new(),
    }
}

/// Returns a sentence for each strategy that bridges much more or less than in the simulation.
pub(super) fn differences(table: &Table) -> Vec<String> {
    let difference = |rows: &[Row]| {
        let bridged = |row: usize| rows.get(row)?.values.first()?.mid;
        let (simulated, real) = (bridged(0)?, bridged(1)?);
        let names = rows[0].keys[..2].join(", ");
        ((simulated - real).abs() > TOLERANCE).then(|| format!("{names}: {real} % are bridged, not {simulated} %"))
    };
    table.rows.chunks(2).filter_map(difference).collect()
}
