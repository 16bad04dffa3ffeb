//! Quotas in many processes.

use super::{Rows, median, name, row};
use crate::chart::parts::{Missing, distinct, table, value};
use crate::report::{Report, Table};

/// The tables of faults, with the decimals of their measures.
const FAULTS: [(&str, usize); 4] = [("recovery", 0), ("load", 2), ("success", 1), ("bridged", 0)];

/// All faults. A cell has a value for each number of processes.
pub(super) fn faults(report: &Report) -> Result<Rows, Missing> {
    const STRATEGIES: [&str; 3] = ["no retries", "new()", "evidence"];
    let mut rows = vec![row(&["fault", "measure"])];
    rows[0].extend(STRATEGIES.map(name));
    for (table_name, decimals) in FAULTS {
        let table = table(report, table_name)?;
        for fault in distinct(table, 0) {
            let mut cells = vec![fault.clone(), table.measures[0].clone()];
            for strategy in STRATEGIES {
                cells.push(by_processes(table, &fault, strategy, decimals)?);
            }
            rows.push(cells);
        }
    }
    Ok(rows)
}

fn by_processes(table: &Table, fault: &str, strategy: &str, decimals: usize) -> Result<String, Missing> {
    let measure = &table.measures[0];
    let mut values = Vec::new();
    for row in table.rows.iter().filter(|row| row.keys[0] == fault && row.keys[1] == strategy) {
        let mut value = value(table, &[fault, strategy, &row.keys[2]], measure)?;
        // The successes in a fault are a difference, which can be a little above the whole.
        if measure.ends_with('%') {
            value.mid = value.mid.map(|mid| mid.min(100.0));
        }
        values.push(median(value, 1.0, decimals));
    }
    Ok(values.join("/"))
}

/// Separate and shared quotas of a fleet.
pub(super) fn fleets(report: &Report) -> Result<Rows, Missing> {
    let columns = [
        ("outage", "recovery after, s", "recovery, s", 0),
        ("short-lived", "the same, living for 2 s", "recovery, s", 0),
        ("partial outage", "successes while 10 % fail, %", "successes in the fault, %", 1),
    ];
    let mut rows = vec![row(&["quotas"])];
    for processes in ["100", "1,000"] {
        rows[0].extend(columns.map(|(_, name, ..)| format!("{processes} processes: {name}")));
    }
    for quotas in ["separate, 500 each", "separate, 28 each", "shared, 28 each", "shared, 500"] {
        let mut cells = vec![quotas.to_owned()];
        for processes in ["100", "1000"] {
            for (name, _, measure, decimals) in columns {
                let value = value(table(report, name)?, &["0.93", quotas, processes], measure)?;
                cells.push(median(value, 1.0, decimals));
            }
        }
        rows.push(cells);
    }
    Ok(rows)
}
