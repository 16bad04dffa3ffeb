//! Outages with real processes, beside their simulation.

use super::{Rows, median, name, row};
use crate::chart::parts::{Missing, table, value};
use crate::report::Report;

/// The measures, with their decimals.
const MEASURES: [(&str, usize); 3] = [("bridged, %", 1), ("attempts per operation", 2), ("recovery, s", 0)];

/// The outages. Each measure has a column for the simulation and one for the real processes.
pub(super) fn outages(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "processes")?;
    let mut rows = vec![row(&["world", "strategy"])];
    rows[0].extend(MEASURES.iter().flat_map(|(measure, _)| [format!("{measure}: simulated"), "real".to_owned()]));
    for pair in table.rows.chunks(2) {
        let (world, strategy) = (&pair[0].keys[0], &pair[0].keys[1]);
        let mut cells = vec![world.clone(), name(strategy)];
        for (measure, decimals) in MEASURES {
            for run in ["simulated", "real"] {
                cells.push(median(value(table, &[world, strategy, run], measure)?, 1.0, decimals));
            }
        }
        rows.push(cells);
    }
    Ok(rows)
}

/// Returns the part of the operations of an outage of 10 s that real processes bridge, in percent.
pub(super) fn bridged(report: &Report, strategy: &str) -> Result<String, Missing> {
    let keys = ["down 10 s, load 0.5", strategy, "real"];
    Ok(median(value(table(report, "processes")?, &keys, "bridged, %")?, 1.0, 1))
}
