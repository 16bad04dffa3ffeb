//! Quotas in many processes.

use super::{Rows, median, name, row};
use crate::chart::parts::{Missing, distinct, table, value};
use crate::report::{Report, Table};

/// The tables of faults, with the decimals of their measures.
const FAULTS: [(&str, usize); 5] = [("recovery", 0), ("load", 2), ("success", 1), ("bridged", 0), ("bystanders", 1)];

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
        values.push(median(value(table, &[fault, strategy, &row.keys[2]], measure)?, 1.0, decimals));
    }
    Ok(values.join("/"))
}

/// Quotas of many processes, alone and shared. A cell has a value for each number of processes.
pub(super) fn fleets(report: &Report) -> Result<Rows, Missing> {
    const QUOTAS: [&str; 4] = ["no retries", "new()", "evidence, alone", "evidence, shared"];
    const FAULTS_OF_STORES: [&str; 3] = ["messages lost", "store away", "store emptied"];
    let mut rows = vec![row(&["fault", "measure"])];
    rows[0].extend(QUOTAS.map(name));
    for (table_name, decimals) in FAULTS {
        // Fleets have no faults of some measures.
        let Ok(table) = table(report, table_name) else { continue };
        for fault in distinct(table, 0) {
            let mut cells = vec![fault.clone(), table.measures[0].clone()];
            for quotas in QUOTAS {
                cells.push(by_processes(table, &fault, quotas, decimals)?);
            }
            rows.push(cells);
            for of_store in FAULTS_OF_STORES {
                let shared = by_processes(table, &fault, &format!("evidence, shared, {of_store}"), decimals)?;
                if !shared.is_empty() {
                    let mut cells = vec![format!("{fault}, {of_store}"), table.measures[0].clone()];
                    cells.extend(["", "", ""].map(str::to_owned));
                    cells.push(shared);
                    rows.push(cells);
                }
            }
        }
    }
    Ok(rows)
}
