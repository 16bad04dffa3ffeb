//! The table of what is simulated and what is real.

use super::{Chosen, Setting};
use lab::report::{Report, Row, Table};
use lab::scenario::outlast::Measured;
use serde_json::json;

/// How far the real part of the operations that are bridged may be from the simulated one, in percent of all.
const TOLERANCE: f64 = 10.0;

pub(super) fn new() -> Table {
    Table::new("processes", &["world", "strategy", "run"], &Measured::NAMES)
}

/// Adds a row for runs of a strategy.
pub(super) fn add(table: &mut Table, setting: &Setting, chosen: Chosen, how: &str, runs: &[Measured]) {
    let keys = vec![setting.world.name.clone(), chosen.name().to_owned(), how.to_owned()];
    table.add(keys, Measured::spreads(runs));
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
