//! The pictures with bars.

use super::bars::{BOLD, Bar, draw};
use super::parts::{Missing, claim, distinct, has_yours, option, table, text, value};
use super::scale::{fixed, number};
use super::style::{YOURS, look};
use crate::report::Report;
use crate::scenario::faults::COLUMNS;

/// Returns the end of an axis on which a time beyond all others is much longer.
fn end(bars: &[Bar]) -> f64 {
    2.6 * bars.iter().filter_map(|bar| bar.value).fold(1.0, f64::max)
}

fn seconds(bar: &Bar) -> f64 {
    bar.value.unwrap_or(f64::INFINITY)
}

/// Draws the time until a server works again after a stall, from the results of the scenario `faults`: the first picture of the
/// reference.
///
/// # Errors
///
/// Returns an error if the report lacks a strategy of the picture.
pub fn recovery(report: &Report) -> Result<String, Missing> {
    let fault = COLUMNS.iter().find(|column| column.name == "stall").ok_or_else(|| Missing("stall".to_owned()))?;
    let longest = option(report, "longest_recovery_s").min(fault.after_s.into());
    let times = table(report, "recovery")?;
    let bars = [
        (("no retries", "each request is sent once", "no retries"), "1"),
        ((BOLD, "its quota learns whether retries help", "evidence"), "100"),
        (("retries without a quota", "the same attempts and backoff", "no quota"), "1"),
    ]
    .map(|(name, quotas)| Bar::recovery(name, value(times, &[fault.name, name.2, quotas], "recovery, s"), longest));
    let bars = bars.into_iter().collect::<Result<Vec<_>, _>>()?;
    let is_found = seconds(&bars[1]) <= 1.2 * seconds(&bars[0]) && bars[0].value.is_some() && bars[2].value.is_none();
    let stall = format!("After a {} s stall at {:.0} % load", fault.fault_s, 100.0 * fault.load);
    let title = claim(report, is_found, format!("{stall}, only retries without a quota keep the server down"));
    let subtitle = format!(
        "Seconds until 95 % of the operations succeed again; 100 processes call a server of {} requests/s (simulation)",
        text(report, "rate"),
    );
    let successes = |strategy, quotas| -> Result<String, Missing> {
        let spread = value(table(report, "success")?, &["30 % fail", strategy, quotas], "successes, %")?;
        Ok(fixed(spread.mid.unwrap_or(0.0), 1))
    };
    let note = format!(
        "What retries are for: if 30 % of requests fail at random, {} % of operations succeed, and {} % without retries.",
        successes("evidence", "100")?,
        successes("no retries", "1")?
    );
    Ok(draw(&title, &subtitle, &bars, end(&bars), &note))
}

/// Time until a server works again after a stall, by the number of quotas.
pub(super) fn outage(report: &Report) -> Result<String, Missing> {
    let table = table(report, "outage")?;
    let loads = distinct(table, 0);
    let load = loads.iter().find(|load| *load == "0.8").or(loads.last()).ok_or_else(|| Missing("load".to_owned()))?;
    // The recovery is that of the seconds after it.
    let before = ["stall_after_s", "stall_s", "steady_s"].map(|name| option(report, name));
    let longest = option(report, "duration_s") - before.iter().sum::<f64>();
    let of = |name: &str, meaning, strategy: &str, quotas: f64| {
        let measured = value(table, &[load, strategy, &quotas.to_string()], "recovery, s");
        Bar::recovery((name, meaning, strategy), measured, longest)
    };
    let mut bars = vec![
        of("no retries", "each request is sent once", "no retries", 1.0)?,
        of("one quota", "new() in one process", "new()", 1.0)?,
    ];
    let quotas = report.options["quotas"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64);
    for count in quotas.filter(|&count| count > 1.0) {
        bars.push(of(&format!("{} quotas", number(count)), "new() in as many processes", "new()", count)?);
    }
    bars.push(of("no quota", "the same attempts and backoff", "new(), no quota", 1.0)?);
    let none = seconds(&bars[0]);
    let is_found = seconds(&bars[1]) <= 1.1 * none && bars[2..].iter().all(|bar| seconds(bar) > 2.0 * none);
    if has_yours(table) {
        bars.push(of(YOURS, "your settings, in one process", YOURS, 1.0)?);
    }
    let stall = text(report, "stall_s");
    let finding = format!("After a {stall} s stall, retries delay the recovery unless all share one quota");
    let subtitle = format!(
        "Seconds until {} % of the operations succeed again, at a load of {:.0} %; medians of {} runs",
        number(100.0 * option(report, "goodput")),
        100.0 * load.parse().unwrap_or(0.0),
        report.seeds
    );
    Ok(draw(&claim(report, is_found, finding), &subtitle, &bars, end(&bars), ""))
}

/// A bulk copy: what fails, and the time if little fails.
pub(super) fn copy(report: &Report) -> Result<String, Missing> {
    let table = table(report, "copy")?;
    let (operations, rate) = (option(report, "operations"), option(report, "rate"));
    let workers = distinct(table, 1);
    let workers = workers.iter().find(|count| *count == "64").or(workers.last());
    let workers = workers.ok_or_else(|| Missing("number of workers".to_owned()))?;
    let mut shown = vec![
        ("no retries", "each request is sent once"),
        ("new()", "a quota pays for the retries"),
        ("aws_2_1()", "the numbers of the AWS SDKs"),
        ("new(), no quota", "the same attempts and backoff"),
        ("adaptive", "the limiter of the AWS SDKs"),
        ("paced", "a limiter that finds the rate"),
    ];
    shown.extend(has_yours(table).then_some((YOURS, "your settings")));
    let mut bars = Vec::new();
    for (strategy, meaning) in shown {
        let of = |measure| Ok(value(table, &[strategy, workers], measure)?.mid.unwrap_or(f64::INFINITY));
        let (failed, time) = (100.0 * of("failed operations")? / operations, of("time, s")?);
        // The time says little where many operations fail.
        let time = if failed > 5.0 { String::new() } else { format!(", {} s", fixed(time, 1)) };
        let (name, text) = (strategy.to_owned(), format!("{} %{time}", fixed(failed, 1)));
        bars.push(Bar { name, meaning, look: look(strategy), value: Some(failed), text });
    }
    let most = |bars: &[Bar]| bars.iter().map(seconds).fold(0.0, f64::max);
    let (without, with) = (most(&bars[1..4]), most(&bars[4..6]));
    let limited = if with == 0.0 { "none".to_owned() } else { format!("at most {} %", fixed(with, 1)) };
    let lost = fixed(without, 1);
    let finding = format!("A bulk copy against a limit: retries lose up to {lost} %, a limiter {limited}");
    let title = claim(report, without > 10.0 && without > 10.0 * with, finding);
    let subtitle = format!(
        "Failed operations of {}, and the time unless many fail: {workers} workers, a limit of {}/s (simulation)",
        number(operations),
        number(rate)
    );
    let note = format!(
        "At the limit, the copy takes {} s. At most {} attempts for an operation; medians of {} runs.",
        number(((operations - option(report, "burst")) / rate).max(0.0)),
        text(report, "max_attempts"),
        report.seeds
    );
    Ok(draw(&title, &subtitle, &bars, 100.0, &note))
}
