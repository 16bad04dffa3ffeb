//! Servers that stall, that restart, and that many clients write to, and services in a row.

use super::{Rows, median, name, row};
use crate::chart::parts::{Missing, distinct, table, value};
use crate::chart::scale::fixed;
use crate::report::Report;

/// A stall: a row for each strategy and number of quotas, a column for each load.
pub(super) fn outage(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "outage")?;
    let loads = distinct(table, 0);
    let mut rows = vec![row(&["strategy", "quotas"])];
    rows[0].extend(loads.iter().map(|load| format!("load of {:.0} %", 100.0 * load.parse().unwrap_or(0.0))));
    let mut cases: Vec<&[String]> = Vec::new();
    for case in table.rows.iter().map(|row| &row.keys[1..]) {
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    for case in cases {
        let (strategy, quotas) = (&case[0], &case[1]);
        let mut cells = vec![name(strategy), fixed(quotas.parse().unwrap_or(0.0), 0)];
        for load in &loads {
            cells.push(median(value(table, &[load, strategy, quotas], "recovery, s")?, 1.0, 0));
        }
        rows.push(cells);
    }
    Ok(rows)
}

/// Outages by their length: a row for each strategy and measure, a column for each length.
pub(super) fn lengths(report: &Report) -> Result<Rows, Missing> {
    const MEASURES: [(&str, usize); 4] = [
        ("bridged, %", 1),
        ("attempts per operation", 2),
        ("requests in the minute after, % of the capacity", 0),
        ("lost in the minute after, %", 1),
    ];
    let table = table(report, "lengths")?;
    let lengths = distinct(table, 1);
    let mut rows = vec![row(&["measure", "strategy"])];
    rows[0].extend(lengths.iter().map(|length| format!("{length} s")));
    for (measure, decimals) in MEASURES {
        for strategy in distinct(table, 0) {
            let mut cells = vec![measure.to_owned(), name(&strategy)];
            for length in &lengths {
                cells.push(median(value(table, &[&strategy, length], measure)?, 1.0, decimals));
            }
            rows.push(cells);
        }
    }
    Ok(rows)
}

/// Clients that write the same row.
pub(super) fn contention(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "contention")?;
    let mut rows = vec![row(&["strategy", "writes", "seconds", "failed clients"])];
    for strategy in distinct(table, 0) {
        let of = |measure| value(table, &[&strategy, "100"], measure);
        rows.push(vec![
            name(&strategy),
            median(of("attempts")?, 1.0, 0),
            median(of("time, s")?, 1.0, 1),
            median(of("failed clients")?, 1.0, 0),
        ]);
    }
    Ok(rows)
}

/// Lost operations, by the time that a server is away.
pub(super) fn restart(report: &Report) -> Result<Rows, Missing> {
    const AWAY: [&str; 4] = ["0.3", "0.7", "1.4", "2"];
    let table = table(report, "restart")?;
    let mut rows = vec![row(&["strategy"])];
    rows[0].extend(AWAY.map(|away| format!("away for {away} s")));
    for strategy in distinct(table, 0) {
        let mut cells = vec![name(&strategy)];
        for away in AWAY {
            cells.push(median(value(table, &[&strategy, away], "lost operations, %")?, 1.0, 1));
        }
        rows.push(cells);
    }
    Ok(rows)
}

/// Requests to the last of some services, for each request of a user.
pub(super) fn layers(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "layers")?;
    let mut rows = vec![row(&["strategy", "before", "while it fails", "after", "most in a second"])];
    for strategy in distinct(table, 0) {
        let of = |measure| value(table, &[&strategy], measure);
        rows.push(vec![
            if strategy == "quota" { "a quota for each service".to_owned() } else { name(&strategy) },
            median(of("load per request, before")?, 1.0, 2),
            median(of("during")?, 1.0, 2),
            median(of("after")?, 1.0, 2),
            median(of("highest load, 1/s")?, 1.0, 0),
        ]);
    }
    Ok(rows)
}

/// The slowest calls: a row for each delay of hedges, at the load and the part of slow requests that are compared.
pub(super) fn hedges(report: &Report) -> Result<Rows, Missing> {
    let (table, compared) = (table(report, "tail")?, &report.options["compared"]);
    let [load, part] = [0, 1].map(|index| compared[index].as_f64().unwrap_or(0.0));
    let (slots, part, load) = (report.options["slots"][0].to_string(), fixed(100.0 * part, 0), load.to_string());
    let mut rows = vec![row(&["hedges", "p99, ms", "p99.9, ms", "extra requests, %"])];
    let keys = ["slow requests", &slots, &part, &load];
    for case in table.rows.iter().filter(|row| row.keys[..4] == keys) {
        let of = |measure| value(table, &[keys[0], keys[1], keys[2], keys[3], &case.keys[4]], measure);
        let times = ["p99, ms", "p99.9, ms"].map(|time| Ok(median(of(time)?, 1.0, 0)));
        let mut cells = vec![case.keys[4].clone()];
        cells.extend(times.into_iter().collect::<Result<Vec<_>, _>>()?);
        cells.push(median(of("extra requests, %")?, 1.0, 1));
        rows.push(cells);
    }
    Ok(rows)
}
