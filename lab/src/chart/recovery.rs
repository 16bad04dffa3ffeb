//! The first picture of the README: how soon a server works again after a stall.

use super::bars::{self, Bar};
use super::looks::look;
use super::parts::{Missing, table, value};
use super::scale::{fixed, number};
use super::svg::Svg;
use crate::report::Report;
use crate::scenario::faults::COLUMNS;

/// The fault that retries make worse, and the fault that they help with.
const FAULT: &str = "stall";
const FAILURES: &str = "30 % fail";
/// The number of processes, each with a quota.
const PROCESSES: &str = "100";

/// The end of the axis, as a multiple of the longest time that is not "never".
const BEYOND: f64 = 2.6;

/// The bars: a name, what it means, and the strategy and its number of quotas in the report.
const BARS: [(&str, &str, &str, &str); 3] = [
    ("no retries", "each request is sent once", "no retries", "1"),
    ("this library", "its quota learns whether retries help", "evidence", PROCESSES),
    ("retries without a quota", "the same attempts and backoff", "no quota", "1"),
];

/// Draws the time until a server works again after a stall, from the results of the scenario `faults`.
///
/// # Errors
///
/// Returns an error if the report lacks one of the three strategies.
pub fn recovery(report: &Report) -> Result<String, Missing> {
    let table = table(report, "recovery")?;
    let column = COLUMNS.iter().find(|column| column.name == FAULT);
    let column = column.ok_or_else(|| Missing(format!("fault {FAULT:?}")))?;
    let reached = BARS.map(|(_, _, strategy, quotas)| value(table, &[FAULT, strategy, quotas], "recovery, s"));
    let [none, learning, unlimited] = reached.map(|spread| spread.map(|spread| spread.mid));
    let (none, learning, unlimited) = (none?, learning?, unlimited?);
    let longest = report.options["longest_recovery_s"].as_u64().unwrap_or(u64::MAX).min(column.after_s.into());
    let load = format!("{:.0} % load", 100.0 * column.load);
    let title = match (none, learning, unlimited) {
        (Some(none), Some(learning), None) if learning <= 1.2 * none => {
            format!("After a {} s stall at {load}, only retries without a quota keep the server down", column.fault_s)
        }
        _ => format!("After a {} s stall at {load}: the time until a server works again", column.fault_s),
    };
    let subtitle = format!(
        "Seconds until 95 % of the operations succeed again; {PROCESSES} processes call a server of {} requests/s (simulation)",
        number(report.options["rate"].as_f64().unwrap_or(0.0)),
    );
    let mut svg = Svg::new(&title, &subtitle);
    let end = [none, learning, unlimited].into_iter().flatten().fold(1.0, f64::max) * BEYOND;
    let bars = [none, learning, unlimited].into_iter().zip(BARS).map(|(seconds, (name, meaning, strategy, _))| Bar {
        name: name.to_owned(),
        meaning,
        look: look(strategy),
        is_strong: strategy == "evidence",
        value: seconds,
        text: seconds.map_or(format!("still down after {longest} s"), |seconds| format!("{} s", number(seconds))),
    });
    let bottom = bars::draw(&mut svg, &bars.collect::<Vec<_>>(), end);
    Ok(svg.finish(bottom, &[successes(report)?]))
}

/// Says what retries are for: the operations that succeed while requests fail.
fn successes(report: &Report) -> Result<String, Missing> {
    let table = table(report, "success")?;
    let of = |strategy, quotas| {
        let spread = value(table, &[FAILURES, strategy, quotas], "successes, %")?;
        Ok(fixed(spread.mid.unwrap_or(0.0), 1))
    };
    let (with, without) = (of("evidence", PROCESSES)?, of("no retries", "1")?);
    Ok(format!(
        "What retries are for: while {} at random instead, {with} % of the operations succeed with this library, and {without} % \
         without retries.",
        FAILURES.replace(" fail", " of the requests fail")
    ))
}
