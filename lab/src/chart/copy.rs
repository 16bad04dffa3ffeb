//! The picture of a bulk copy against a limit: what is lost.

use super::bars::{self, Bar};
use super::looks::{YOURS, look};
use super::parts::{Missing, distinct, has_yours, option, table, value};
use super::scale::{fixed, number};
use super::svg::Svg;
use crate::report::Report;

/// The number of workers whose results are drawn, if there are results for it.
const WORKERS: &str = "64";
/// The part of failed operations, in percent, from which a time says little.
const GAVE_UP: f64 = 5.0;

/// The bars: a strategy, and what it means. Those that end with a limiter on sends come last.
const BARS: [(&str, &str); 6] = [
    ("no retries", "each request is sent once"),
    ("new()", "a quota pays for the retries"),
    ("aws_2_1()", "the numbers of the AWS SDKs"),
    ("new(), no quota", "the same attempts and backoff"),
    ("adaptive", "the limiter of the AWS SDKs"),
    ("paced", "a limiter that finds the rate"),
];
const LIMITED: [&str; 2] = ["adaptive", "paced"];

/// A bulk copy: what fails, and the time if little fails.
pub(super) fn copy(report: &Report) -> Result<String, Missing> {
    let table = table(report, "copy")?;
    let (operations, rate, burst) = (option(report, "operations"), option(report, "rate"), option(report, "burst"));
    let workers = distinct(table, 1);
    let workers = workers.iter().find(|count| *count == WORKERS).or(workers.last());
    let workers = workers.ok_or_else(|| Missing("number of workers".to_owned()))?;
    let mut shown = BARS.to_vec();
    if has_yours(table) {
        shown.push((YOURS, "your settings"));
    }
    let (mut bars, mut without, mut with) = (Vec::new(), 0.0_f64, 0.0_f64);
    for (strategy, meaning) in shown {
        let of = |measure| Ok(value(table, &[strategy, workers], measure)?.mid.unwrap_or(f64::INFINITY));
        let (failed, time) = (of("failed operations")? / operations * 100.0, of("time, s")?);
        if LIMITED.contains(&strategy) {
            with = with.max(failed);
        } else if strategy != YOURS && strategy != "no retries" {
            without = without.max(failed);
        }
        let time = if failed > GAVE_UP { String::new() } else { format!(", {} s", fixed(time, 1)) };
        bars.push(Bar {
            name: strategy.to_owned(),
            meaning,
            look: look(strategy),
            is_strong: strategy == "paced",
            value: Some(failed),
            text: format!("{} %{time}", fixed(failed, 1)),
        });
    }
    let title = if without > 10.0 && without > 10.0 * with {
        let with = if with == 0.0 { "none".to_owned() } else { format!("at most {} %", fixed(with, 1)) };
        format!("A bulk copy against a limit: retries lose up to {} %, a limiter {with}", fixed(without, 1))
    } else {
        "A bulk copy against a rate limit: lost operations".to_owned()
    };
    let subtitle = format!(
        "Failed operations of {}, and the time unless many fail: {workers} workers, a limit of {}/s (simulation)",
        number(operations),
        number(rate)
    );
    let mut svg = Svg::new(&title, &subtitle);
    let bottom = bars::draw(&mut svg, &bars, 100.0);
    let ideal = ((operations - burst) / rate).max(0.0);
    let note = format!(
        "At the limit, the copy takes {} s. At most {} attempts for an operation; medians of {} runs.",
        number(ideal),
        report.options["max_attempts"],
        report.seeds
    );
    Ok(svg.finish(bottom, &[note]))
}
