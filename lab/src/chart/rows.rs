//! The pictures with a row for each strategy.

use super::dots::{Dots, Panel, Row, TOP};
use super::looks::{BLUE, GREY, YOURS, look, spread, standard};
use super::parts::{Missing, collect, distinct, has_yours, highest, option, table, value, worst};
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
        let values = values.into_iter().map(|value| vec![value]).collect();
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
fn longest(report: &Report) -> f64 {
    // The recovery is that of the seconds after it.
    let before = ["stall_after_s", "stall_s", "steady_s"].map(|name| option(report, name));
    option(report, "duration_s") - before.iter().sum::<f64>()
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
        Panel { decimals, ..Panel::new(name, values, end) }
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
