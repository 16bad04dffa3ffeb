//! Tables of results for pages in Markdown, between markers: `<!-- lab: NAME -->` and `<!-- lab end -->`. Numbers within sentences are
//! between `<!--lab:NAME-->` and `<!--end-->`.

mod cases;
mod failing;
mod hedged;
mod outlast;
mod phrases;
mod processes;
mod quotas;
mod servers;
mod untold;
mod worse;

use crate::chart::parts::{Missing, distinct, table, value};
use crate::chart::scale::fixed;
use crate::chart::worlds::{Reached, worlds};
use crate::report::{Report, Spread};
use std::cmp::Ordering;
use std::fmt::Write as _;

/// The results that tables are made of.
#[derive(Clone, Debug)]
pub struct Results {
    /// The reports of the full run.
    pub full: Vec<Report>,
    /// Those beside other crates.
    pub peers: Vec<Report>,
    /// That of the real processes.
    pub processes: Report,
}

/// The scenarios of [`Results::peers`].
pub const PEERS: [&str; 5] = ["outage", "layers", "lengths", "partial", "copy"];

impl Results {
    fn full(&self, scenario: &str) -> Result<&Report, Missing> {
        found(&self.full, scenario)
    }

    fn peers(&self, scenario: &str) -> Result<&Report, Missing> {
        found(&self.peers, scenario)
    }
}

fn found<'a>(reports: &'a [Report], scenario: &str) -> Result<&'a Report, Missing> {
    let report = reports.iter().find(|report| report.scenario == scenario);
    report.ok_or_else(|| Missing(format!("scenario {scenario:?}")))
}

/// Returns a page whose tables and numbers between markers are those of the results.
///
/// # Errors
///
/// Returns an error if there is no table of a name, if a marker has no end, or if the results lack a value.
pub fn filled(page: &str, results: &Results) -> Result<String, Missing> {
    let markdown = |name: &str| Ok(format!("\n\n{}\n", markdown(&rows(name, results)?)));
    let tables = replaced(page, ("<!-- lab: ", " -->", "<!-- lab end -->"), markdown)?;
    replaced(&tables, ("<!--lab:", "-->", "<!--end-->"), |name| phrases::phrase(name, results))
}

/// Replaces the text after each marker, which begins and ends as given, up to the next marker for an end.
fn replaced(
    page: &str,
    (begin, close, end): (&str, &str, &str),
    content: impl Fn(&str) -> Result<String, Missing>,
) -> Result<String, Missing> {
    let (mut filled, mut rest) = (String::new(), page);
    while let Some((before, after)) = rest.split_once(begin) {
        let (name, after) = after.split_once(close).ok_or_else(|| Missing("end of a marker".to_owned()))?;
        let (_, after) = after.split_once(end).ok_or_else(|| Missing(format!("end of the table {name:?}")))?;
        let _ = write!(filled, "{before}{begin}{name}{close}{}{end}", content(name)?);
        rest = after;
    }
    Ok(filled + rest)
}

/// The rows of a table; the first one is the header.
type Rows = Vec<Vec<String>>;

fn rows(name: &str, results: &Results) -> Result<Rows, Missing> {
    match name {
        "contention" => servers::contention(results.full("contention")?),
        "copy" => copy(results.full("copy")?),
        "changing" => changing(results.full("changing")?),
        "copies" => copies(results.full("changing")?),
        "copy beside other crates" => beside(results.peers("copy")?),
        "failing servers beside other crates" => failing::failing(results),
        "faults" => quotas::faults(results.full("faults")?),
        "fleet_limit" => fleet_limit(results.full("fleet_limit")?),
        "fleet_outages" => fleet_outages(results.full("fleet_outages")?),
        "fleets" => quotas::fleets(results.full("fleet")?),
        "hedged worlds" => hedged::hedged(results.full("hedges")?),
        "hedges" => servers::hedges(results.full("tail")?),
        "layers" => servers::layers(results.full("layers")?),
        "lengths" => servers::lengths(results.full("lengths")?),
        "lost calls beside other crates" => failing::lost(results),
        "many" => many(results.full("many")?),
        "levels" => levels(results.full("layers")?),
        "outage" => servers::outage(results.full("outage")?),
        "outlast" => outlast::outages(results.full("outlast")?),
        "jobs that outlast" => outlast::jobs(results.full("outlast")?),
        "processes" => processes::outages(&results.processes),
        "restart" => servers::restart(results.full("restart")?),
        "weights" => weights(results.full("weights")?),
        "partial outage" => failing::partial(results.full("partial")?),
        "worlds" => all_worlds(results.full("worlds")?),
        "untold" => untold::untold(results.full("untold")?),
        "worse" => worse::worse(results),
        name => Err(Missing(format!("table {name:?}"))),
    }
}

fn markdown(rows: &Rows) -> String {
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let _ = writeln!(text, "| {} |", row.join(" | "));
        if index == 0 {
            let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
        }
    }
    text
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

/// Returns the median.
fn median(spread: Spread, factor: f64, decimals: usize) -> String {
    spread.mid.map_or_else(|| "never".to_owned(), |value| fixed(value * factor, decimals))
}

/// The bulk copy by 64 workers.
fn copy(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "copy")?;
    let mut rows = vec![row(&["strategy", "failed operations", "seconds", "time / ideal", "rejected requests, %"])];
    for strategy in distinct(table, 0) {
        let of = |measure| value(table, &[&strategy, "64"], measure);
        rows.push(vec![
            name(&strategy),
            median(of("failed operations")?, 1.0, 0),
            median(of("time, s")?, 1.0, 1),
            median(of("time / ideal")?, 1.0, 3),
            median(of("rejected share")?, 100.0, 1),
        ]);
    }
    Ok(rows)
}

/// The choices for functions of one program that call each other.
fn levels(report: &Report) -> Result<Rows, Missing> {
    let (table, options) = (table(report, "levels")?, &report.options["levels"]);
    let mut rows =
        vec![row(&["retries", "requests of a call", "seconds until it fails", "requests per call at 1 call/s"])];
    rows[0].push(format!("calls that survive {:.0} s, %", options["away_s"].as_f64().unwrap_or(0.0)));
    for choice in distinct(table, 0) {
        let of = |measure| value(table, &[&choice], measure);
        rows.push(vec![
            choice.clone(),
            median(of("requests of a call")?, 1.0, 0),
            median(of("seconds of a call")?, 1.0, 0),
            median(of("requests per call in a row")?, 1.0, 1),
            median(of("calls that survive, %")?, 1.0, 0),
        ]);
    }
    Ok(rows)
}

/// The jobs against a limit on weights.
fn weights(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "weights")?;
    let mut rows = vec![row(&["job", "strategy", "time / ideal", "rejected requests, %"])];
    for job in distinct(table, 0) {
        for policy in distinct(table, 1) {
            let of = |measure| value(table, &[&job, &policy], measure);
            let (time, rejected) = (of("time / ideal")?, of("rejected share")?);
            rows.push(vec![job.clone(), name(&policy), median(time, 1.0, 3), median(rejected, 100.0, 1)]);
        }
    }
    Ok(rows)
}

/// The part of a limit that changes that is used, and the operations that fail.
fn changing(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "limit")?;
    let limits: Vec<(String, String)> = distinct(table, 1).into_iter().zip(distinct(table, 2)).collect();
    let mut rows = vec![row(&["strategy"])];
    rows[0].extend(limits.iter().map(|(_, limit)| format!("{limit}/s: used, %")));
    rows[0].extend(limits.iter().map(|(_, limit)| format!("{limit}/s: failed operations, %")));
    for strategy in ["new(), no quota", "adaptive", "paced"] {
        let mut cells = vec![name(strategy)];
        for (measure, factor) in [("limit used, %", 1.0), ("failed share of operations", 100.0)] {
            for (from, limit) in &limits {
                cells.push(median(value(table, &[strategy, from, limit], measure)?, factor, 0));
            }
        }
        rows.push(cells);
    }
    Ok(rows)
}

/// The bulk copies against a high limit, by 256 workers.
fn copies(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "copies")?;
    let strategies = ["new(), no quota", "adaptive", "paced", "paced, as shipped"];
    let mut rows = vec![row(&["server", "operations"])];
    rows[0].extend(strategies.map(name));
    let mut cases: Vec<(&String, &String)> = table.rows.iter().map(|row| (&row.keys[0], &row.keys[1])).collect();
    cases.dedup();
    for (server, operations) in cases {
        let mut cells = vec![server.clone(), fixed(operations.parse().unwrap_or(0.0), 0)];
        for strategy in strategies {
            let of = |measure| value(table, &[server, operations, strategy, "256"], measure);
            let (time, lost) = (median(of("time / ideal")?, 1.0, 2), of("failed operations")?);
            let lost = lost.high.filter(|&lost| lost > 0.0).map(|lost| format!(", {} lost", fixed(lost.ceil(), 0)));
            cells.push(format!("{time}{}", lost.unwrap_or_default()));
        }
        rows.push(cells);
    }
    Ok(rows)
}

/// The bulk copy by 64 workers beside other crates, by failed operations and time.
fn beside(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "copy")?;
    let of = |strategy: &str, measure| value(table, &[strategy, "64"], measure);
    let mut strategies = Vec::new();
    for strategy in distinct(table, 0) {
        strategies.push((of(&strategy, "failed operations")?, of(&strategy, "time / ideal")?, strategy));
    }
    strategies.sort_by(|one, other| {
        let key = |(failed, time, _): &(Spread, Spread, String)| (failed.mid.unwrap_or(0.0), time.mid.unwrap_or(0.0));
        key(one).partial_cmp(&key(other)).unwrap_or(Ordering::Equal)
    });
    let mut rows = vec![row(&["", "failed operations", "time / ideal"])];
    for (failed, time, strategy) in strategies {
        // A short time says nothing where most operations fail.
        let is_short = time.mid < Some(1.0);
        let time = if is_short { String::new() } else { median(time, 1.0, 3) };
        rows.push(vec![name(&strategy), median(failed, 1.0, 0), time]);
    }
    Ok(rows)
}

/// Many clients: a row for each strategy and limit.
fn many(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "many")?;
    let header = [
        "strategy",
        "limit, 1/s",
        "Jain's index",
        "the poorest client / mean",
        "rejected requests, %",
        "failed operations, %",
    ];
    let mut rows = vec![row(&header)];
    for strategy in distinct(table, 0) {
        for limit in distinct(table, 1) {
            let of = |measure| value(table, &[&strategy, &limit], measure);
            rows.push(vec![
                name(&strategy),
                fixed(limit.parse().unwrap_or(0.0), 0),
                median(of("fairness")?, 1.0, 3),
                median(of("poorest client / mean")?, 1.0, 2),
                median(of("rejected share")?, 100.0, 1),
                median(of("failed share of operations")?, 100.0, 2),
            ]);
        }
    }
    Ok(rows)
}

/// The rejected requests of many processes on one limit.
fn fleet_limit(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "limit")?;
    let limits = distinct(table, 1);
    let mut rows = vec![row(&["processes", "limiters"])];
    rows[0].extend(limits.iter().map(|limit| format!("{}/s: rejected, %", fixed(limit.parse().unwrap_or(0.0), 0))));
    rows[0].push("500/s: Jain's index".to_owned());
    for processes in distinct(table, 2) {
        for strategy in distinct(table, 0) {
            let mut cells = vec![fixed(processes.parse().unwrap_or(0.0), 0), name(&strategy)];
            for limit in &limits {
                cells.push(median(value(table, &[&strategy, limit, &processes], "rejected, %")?, 1.0, 1));
            }
            cells.push(median(value(table, &[&strategy, "500", &processes], "fairness")?, 1.0, 3));
            rows.push(cells);
        }
    }
    Ok(rows)
}

/// Outages that many processes outlast. A cell has a value for each number of processes.
fn fleet_outages(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "outages")?;
    let measures = [("bridged, %", 0), ("attempts per operation", 2), ("recovery, s", 0), ("bystanders lost, %", 1)];
    let mut rows = vec![row(&["world", "strategy"])];
    rows[0].extend(measures.map(|(measure, _)| measure.to_owned()));
    for world in distinct(table, 0) {
        for strategy in distinct(table, 2) {
            let runs = table.rows.iter().filter(|row| row.keys[0] == world && row.keys[2] == strategy);
            let mut cells = vec![world.clone(), strategy.clone()];
            for (measure, decimals) in measures {
                let column = table.measures.iter().position(|name| name == measure);
                let column = column.ok_or_else(|| Missing(measure.to_owned()))?;
                let values: Vec<_> = runs.clone().map(|row| median(row.values[column], 1.0, decimals)).collect();
                cells.push(values.join("/"));
            }
            rows.push(cells);
        }
    }
    Ok(rows)
}

/// All worlds.
fn all_worlds(report: &Report) -> Result<Rows, Missing> {
    let mut rows = vec![row(&["world", "paced", "adaptive", "the best other", "which"])];
    for world in worlds(report)? {
        let mut cells = vec![world.name];
        cells.extend(world.shown.iter().take(2).chain([&world.other]).map(reached));
        cells.push(name(&world.other.strategy));
        rows.push(cells);
    }
    Ok(rows)
}

/// Returns the time and the rejected part of a world, or what was lost.
fn reached(reached: &Reached) -> String {
    let rejected = fixed(reached.rejected.mid.unwrap_or(0.0) * 100.0, 1);
    if reached.lost > 0.0 {
        return format!("{} lost, {rejected} %", fixed(reached.lost.ceil(), 0));
    }
    let time = reached.time.mid.unwrap_or(f64::INFINITY);
    format!("{}x, {rejected} %", fixed(time, if time < 10.0 { 2 } else { 0 }))
}

/// Returns the name of a strategy, as code if it is code.
fn name(strategy: &str) -> String {
    match strategy.split_once("()") {
        Some((name, rest)) => format!("`{name}()`{rest}"),
        None => strategy.to_owned(),
    }
}
