//! The pictures with a row for each strategy.

use super::dots::{Dot, Dots, Panel, Row, TOP};
use super::looks::{AWS_NOW, BLUE, GREY, LIMITERS, YOURS, look, spread, standard};
use super::parts::{Missing, collect, distinct, filled, has_yours, highest, option, rows, scaled, table, value, worst};
use super::scale::number;
use super::svg::Svg;
use crate::report::{Report, Spread};
use serde_json::Value;

/// Time until a server works again after a stall.
pub(super) fn outage(report: &Report) -> Result<String, Missing> {
    let table = table(report, "outage")?;
    let (rate, stall, longest) = (option(report, "rate"), option(report, "stall_s"), longest(report));
    let quotas = report.options["quotas"].as_array().into_iter().flatten().filter_map(Value::as_f64);
    let mut strategies = vec![("no retries".to_owned(), "no retries", 1.0)];
    strategies.extend(quotas.map(|count| {
        let name =
            if count > 1.0 { format!("{} quotas", number(count)) } else { "one quota for all operations".to_owned() };
        (name, "new()", count)
    }));
    strategies.push(("no quota".to_owned(), "new(), no quota", 1.0));
    if has_yours(table) {
        strategies.push(("yours, one quota".to_owned(), YOURS, 1.0));
    }
    let rows = strategies.iter().enumerate().map(|(index, (name, strategy, _))| Row {
        name: name.clone(),
        look: look(strategy),
        section: match index {
            0 => Some("without retries"),
            1 => Some("with retries of new()"),
            _ if *strategy == YOURS => Some("your settings"),
            _ => None,
        },
    });
    let (mut panels, mut is_found) = (Vec::new(), true);
    for load in distinct(table, 0) {
        let recovery = |(_, strategy, quotas): &(String, &str, f64)| -> Result<Spread, Missing> {
            value(table, &[&load, strategy, &quotas.to_string()], "recovery, s")
        };
        let values = strategies.iter().map(recovery).collect::<Result<Vec<_>, _>>()?;
        let (bound, shared) = (worst(&values[..1]), worst(&values[1..2]));
        let apart = strategies
            .iter()
            .zip(&values)
            .filter(|(strategy, _)| strategy.1.starts_with("new") && strategy.0 != strategies[1].0);
        is_found &= shared <= 1.1 * bound && apart.into_iter().all(|(_, value)| worst([value]) > 2.0 * bound);
        let percent = load.parse().unwrap_or(0.0) * 100.0;
        let values = filled(values.into_iter().map(|value| vec![value]).collect());
        let panel = Panel::new(&format!("at a load of {percent:.0} %"), values, longest);
        panels.push(Panel { decimals: 0, never: "stays down", ..panel });
    }
    let last = report.options["loads"].as_array().and_then(|loads| loads.last()?.as_f64()).unwrap_or(0.0);
    let title = if is_found {
        format!("After a {} s stall, retries keep a server down unless all share one quota", number(stall))
    } else {
        format!("A server stalls for {} s: the time until it works again", number(stall))
    };
    let subtitle = format!(
        "Seconds from the end of the stall until the server, which serves {} attempts per second, works again",
        number(rate)
    );
    let mut svg = Svg::new(&title, &subtitle);
    let bottom = Dots { rows: rows.collect(), lanes: vec![String::new()], panels }.draw(&mut svg, TOP);
    let works = number(option(report, "goodput") * 100.0);
    let notes = [
        format!(
            "The server works on attempts that their clients have given up after {} s. At a load of {:.0} %, {} attempts \
             wait after the stall, and the server has only {} per second to spare for them. Each retry makes the queue longer.",
            number(option(report, "timeout_s")),
            last * 100.0,
            number(rate * last * stall),
            number(rate * (1.0 - last)),
        ),
        format!("{} With more quotas, the operations are spread over as many strategies.", standard(None)),
        format!(
            "It works again when {works} % of the operations succeed; \"stays down\": not within {} s. {}",
            number(longest),
            spread("whiskers", report.seeds)
        ),
    ];
    Ok(svg.finish(bottom, &notes))
}

/// Returns the longest time to the recovery that a run of an outage can show, in seconds.
pub(super) fn longest(report: &Report) -> f64 {
    // The recovery is that of the seconds after it.
    let before = ["stall_after_s", "stall_s", "steady_s"].map(|name| option(report, name));
    option(report, "duration_s") - before.iter().sum::<f64>()
}

/// The strategies that send as fast as their workers can, and those that limit the rate of their sends.
const UNLIMITED: &str = "no limiter on sends";
const LIMITED: &str = "a limiter on sends";

/// Says what is lost without and with a limiter, as parts in percent, if the difference is large.
fn lost(values: &[Vec<Spread>], rows: &[Row<'_>]) -> Option<(String, String)> {
    let of = |is_limited: bool| {
        let is_in = |row: &Row<'_>| row.name.starts_with("adaptive") || row.name.starts_with("paced");
        let rows = rows
            .iter()
            .zip(values)
            .filter(move |(row, _)| row.name != "no retries" && row.name != YOURS && is_in(row) == is_limited);
        worst(rows.flat_map(|(_, values)| values))
    };
    let (without, with) = (of(false), of(true));
    let with_text = if with == 0.0 { "none".to_owned() } else { format!("at most {with:.1} %") };
    (without > 10.0 * with && without > 10.0).then(|| (format!("up to {without:.1} %"), with_text))
}

/// A bulk copy: what fails, and the time.
pub(super) fn copy(report: &Report) -> Result<String, Missing> {
    let table = table(report, "copy")?;
    let (operations, rate, burst) = (option(report, "operations"), option(report, "rate"), option(report, "burst"));
    let ideal = ideal(report);
    let lanes = distinct(table, 1);
    let unlimited = ["no retries", "new()", "aws_2_1()", "new(), no quota"];
    let rows = rows(table, &[(UNLIMITED, &unlimited), (LIMITED, &["adaptive", "paced"])]);
    let values = |measure, factor| {
        collect(&rows, &lanes, |name, workers| Ok(scaled(value(table, &[name, workers], measure)?, factor)))
    };
    let (failed, time) = (values("failed operations", 100.0 / operations)?, values("time, s", 1.0)?);
    let title = match lost(&failed, &rows) {
        Some((without, with)) => {
            format!("A bulk copy against a limit: retries lose {without}, a limiter {with}")
        }
        None => "A bulk copy against a rate limit: lost operations, and the time".to_owned(),
    };
    let right = Panel::new("seconds until no operation is left", times(&time, &failed), highest(&time).max(ideal));
    let reference = Some((ideal, format!("ideal: {} s", number(ideal))));
    let panels = vec![
        Panel::new("operations that fail, %", filled(failed), 100.0),
        Panel { has_bars: false, reference, ..right },
    ];
    let labels = lanes.iter().map(|workers| format!("{workers} workers")).collect();
    let subtitle = format!("{} operations; the server admits {} attempts per second", number(operations), number(rate));
    let mut svg = Svg::new(&title, &subtitle);
    let bottom = Dots { rows, lanes: labels, panels }.draw(&mut svg, TOP);
    let notes = [
        format!(
            "Hollow: a short time, because more than {GAVE_UP} % of the operations were given up. Ideal: {} operations without the \
             burst of {} that the server admits together, at {} per second.",
            number(operations),
            number(burst),
            number(rate)
        ),
        format!("{} {AWS_NOW}", standard(report.options["max_attempts"].as_u64())),
        format!("{LIMITERS} {}", spread("whiskers", report.seeds)),
    ];
    Ok(svg.finish(bottom, &notes))
}

/// The part of failed operations, in percent, from which a time says little.
pub(super) const GAVE_UP: f64 = 5.0;

/// Returns the dots of times, which are hollow where too many operations failed.
pub(super) fn times(times: &[Vec<Spread>], failed: &[Vec<Spread>]) -> Vec<Vec<Dot>> {
    let dot = |(time, failed): (&Spread, &Spread)| Dot(*time, failed.mid > Some(GAVE_UP));
    times.iter().zip(failed).map(|(times, failed)| times.iter().zip(failed).map(dot).collect()).collect()
}

/// Returns the time that an ideal client needs for a bulk copy, in seconds.
pub(super) fn ideal(report: &Report) -> f64 {
    ((option(report, "operations") - option(report, "burst")) / option(report, "rate")).max(0.0)
}

/// Many clients on one limit: what is rejected, and what fails.
pub(super) fn many(report: &Report) -> Result<String, Missing> {
    let table = table(report, "many")?;
    let lanes = distinct(table, 1);
    let rows = rows(
        table,
        &[(UNLIMITED, &["no retries", "new()", "aws_2_1()"]), (LIMITED, &["adaptive", "paced", "paced, reports"])],
    );
    let values = |measure, factor| {
        collect(&rows, &lanes, |name, rate| Ok(scaled(value(table, &[name, rate], measure)?, factor)))
    };
    let failed = values("failed share of operations", 100.0)?;
    let clients = &report.options["clients"];
    let title = match lost(&failed, &rows) {
        Some((without, with)) => {
            format!("{clients} clients on one limit: {without} fail, with a limiter {with}")
        }
        None => format!("{clients} clients on one limit: what is rejected, and what fails"),
    };
    let rejected = values("rejected share", 100.0)?;
    let panels = vec![
        Panel::new("attempts that are rejected, %", filled(rejected), 100.0),
        Panel::new("operations that fail, %", filled(failed), 100.0),
    ];
    let least = |measure| -> Result<f64, Missing> {
        let values = values(measure, 1.0)?;
        Ok(values.iter().flatten().filter_map(|spread| spread.mid).fold(f64::INFINITY, f64::min))
    };
    let notes = [
        format!(
            "All rows use at least {} % of the limit, so the rejected attempts only add load. Jain's index of fairness is at \
             least {}; 1 means that each client gets the same.",
            number(least("limit used, %")?.floor()),
            number(least("fairness")?)
        ),
        format!("{} {AWS_NOW}", standard(None)),
        LIMITERS.to_owned(),
        format!(
            "paced, reports: paced also reads how many attempts the server still admits. {}",
            spread("whiskers", report.seeds)
        ),
    ];
    let subtitle = format!("{} workers in each client, and no client knows of another one", report.options["workers"]);
    let mut svg = Svg::new(&title, &subtitle);
    let lanes = lanes.iter().map(|rate| format!("limit {}/s", number(rate.parse().unwrap_or(0.0)))).collect();
    let bottom = Dots { rows, lanes, panels }.draw(&mut svg, TOP);
    Ok(svg.finish(bottom, &notes))
}

/// The choices for functions of one program that call each other and all retry.
pub(super) fn levels(report: &Report) -> Result<Dots<'_>, Missing> {
    let (table, options) = (table(report, "levels")?, &report.options["levels"]);
    let rows: Vec<_> = distinct(table, 0)
        .into_iter()
        .map(|name| Row { look: if name == "no retries" { GREY } else { BLUE }, name, section: None })
        .collect();
    let values = |measure| collect(&rows, &[String::new()], |row, _| value(table, &[row], measure));
    let panel = |name: &str, values: Vec<Vec<Spread>>, decimals| {
        let end = highest(&values);
        Panel { decimals, ..Panel::new(name, filled(values), end) }
    };
    let heading =
        format!("{} functions of one program that call each other, while the service is down", options["depth"]);
    let mut panels = vec![
        panel("requests of a call", values("requests of a call")?, 0),
        panel("seconds to fail", values("seconds of a call")?, 0),
        panel("requests, 1 call/s", values("requests per call in a row")?, 1),
        panel(
            &format!("survive {} s, %", number(options["away_s"].as_f64().unwrap_or(0.0))),
            values("calls that survive, %")?,
            0,
        ),
    ];
    panels[0].section = Some(heading);
    Ok(Dots { rows, lanes: vec![String::new()], panels })
}
