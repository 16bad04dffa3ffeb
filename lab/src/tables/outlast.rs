//! Operations that outlast an outage.

use super::{Rows, median, name, row};
use crate::chart::parts::{Missing, distinct, table};
use crate::report::{Report, Table};
use crate::scenario::outlast::worlds;

/// A measure, with its decimals.
type Measure = (&'static str, usize);

const BRIDGED: Measure = ("bridged, %", 0);
const RECOVERY: Measure = ("recovery, s", 0);
const LATER: Measure = ("bystanders lost, %", 1);

/// The measures that say most about each kind of worlds.
const OUTAGES: [(&str, &[Measure]); 6] = [
    ("outages", &[BRIDGED, ("attempts per operation", 2)]),
    ("stalls", &[RECOVERY, LATER]),
    ("returns", &[BRIDGED, RECOVERY, LATER]),
    ("restarts", &[BRIDGED]),
    ("replicas", &[BRIDGED]),
    ("few", &[BRIDGED]),
];

const JOBS: [(&str, &[Measure]); 2] =
    [("batches", &[("lost", 0)]), ("programs", &[("processes without a loss, %", 1)])];

/// Outages under a load. A cell has a value for each number of processes, for each time that operations may take.
pub(super) fn outages(report: &Report) -> Result<Rows, Missing> {
    rows(table(report, "outages")?, &OUTAGES)
}

/// Jobs. A cell has a value for each time that operations may take.
pub(super) fn jobs(report: &Report) -> Result<Rows, Missing> {
    rows(table(report, "jobs")?, &JOBS)
}

fn rows(table: &Table, kinds: &[(&str, &[Measure])]) -> Result<Rows, Missing> {
    let strategies = distinct(table, 1);
    let mut rows = vec![row(&["world", "measure"])];
    rows[0].extend(strategies.iter().map(|strategy| name(strategy)));
    for world in worlds() {
        let measures = kinds.iter().find(|(kind, _)| *kind == world.kind).map_or(&[][..], |(_, measures)| measures);
        for (measure, decimals) in measures {
            let mut cells = vec![world.name.clone(), (*measure).to_owned()];
            for strategy in &strategies {
                cells.push(cell(table, (&world.name, strategy), measure, *decimals)?);
            }
            rows.push(cells);
        }
    }
    Ok(rows)
}

fn cell(table: &Table, (world, strategy): (&str, &str), measure: &str, decimals: usize) -> Result<String, Missing> {
    let column = table.measures.iter().position(|name| name == measure).ok_or_else(|| Missing(measure.to_owned()))?;
    let rows: Vec<_> = table.rows.iter().filter(|row| row.keys[0] == world && row.keys[1] == strategy).collect();
    if rows.is_empty() {
        return Err(Missing(format!("world {world:?} with {strategy:?}")));
    }
    let of_life = rows.chunk_by(|one, other| one.keys[2] == other.keys[2]).map(|rows| {
        let values: Vec<String> = rows.iter().map(|row| median(row.values[column], 1.0, decimals)).collect();
        values.join("/")
    });
    Ok(of_life.collect::<Vec<_>>().join("; "))
}
