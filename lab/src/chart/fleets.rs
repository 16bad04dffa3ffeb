//! The pictures of many processes that share.

use super::dots::{Dots, Panel, Row, TOP};
use super::looks::{GREEN, YOURS, look, spread, standard};
use super::parts::{Missing, collect, distinct, filled, has_yours, option, rows, table, value, worst};
use super::scale::number;
use super::svg::{Look, Marker, Svg};
use crate::report::{Report, Table};

/// Quotas that know their own traffic, and those that share what they know.
pub(super) fn fleet(report: &Report) -> Result<String, Missing> {
    let (recovery, load, success) = (table(report, "recovery")?, table(report, "load")?, table(report, "success")?);
    let mut names = vec!["new()", "evidence, alone", "evidence, shared"];
    if has_yours(recovery) {
        names.push(YOURS);
    }
    let rows: Vec<Row<'_>> = names
        .into_iter()
        .map(|name| {
            let look = if name == "evidence, alone" { GREEN } else { look(name.split(',').next().unwrap_or("")) };
            let marker = if name == "evidence, alone" { Marker::Circle } else { look.marker };
            Row { name: name.to_owned(), look: Look { marker, ..look }, section: None }
        })
        .collect();
    let processes = report.options["processes"].as_array().into_iter().flatten();
    let lanes: Vec<String> = processes.map(ToString::to_string).collect();
    let panel = |table: &Table, fault: &str, name: &str, most: f64, decimals: usize| -> Result<Panel<'_>, Missing> {
        let measure = &table.measures[0];
        let values = collect(&rows, &lanes, |quotas, processes| value(table, &[fault, quotas, processes], measure))?;
        let without = value(table, &[fault, "no retries", "1"], measure)?;
        let reference = without.mid.map(|mid| (mid, "no retries".to_owned()));
        Ok(Panel { decimals, never: "never", reference, ..Panel::new(name, filled(values), most) })
    };
    let long = option(report, "longest_recovery_s").min(400.0);
    let panels = vec![
        panel(recovery, "stall at 93 %", "seconds until it works", long, 0)?,
        Panel { bounds: (1.0, 10.0), ..panel(load, "the last of three is down", "attempts for each call", 10.0, 2)? },
        panel(success, "50 % fail, spare 100 %", "succeed, %", 100.0, 0)?,
    ];
    let succeeds = |quotas: &str| -> Result<f64, Missing> {
        let spread = value(success, &["50 % fail, spare 100 %", quotas, "1000"], "successes, %")?;
        Ok(spread.mid.unwrap_or(0.0))
    };
    let is_better = succeeds("evidence, shared")? > succeeds("evidence, alone")? + 5.0;
    let title = if is_better {
        "Shared evidence: few retries in an outage, many where they help"
    } else {
        "Processes that share what their quotas know"
    };
    let subtitle = format!(
        "A server of {}/s that stalls at a load of 93 % (left), is down behind two services, fails half at random (right)",
        option(report, "rate")
    );
    let mut svg = Svg::new(title, &subtitle);
    let labels = lanes.iter().map(|count| number(count.parse().unwrap_or(0.0))).collect();
    let bottom = Dots { rows, lanes: labels, panels }.draw(&mut svg, TOP);
    let notes = [
        format!("{} evidence: a quota that learns from its own traffic, alone or with that of all.", standard(None)),
        format!("Right of a name: the number of processes. {}", spread("whiskers", report.seeds)),
    ];
    Ok(svg.finish(bottom, &notes))
}

/// Separate limiters and a shared one.
pub(super) fn fleet_limit(report: &Report) -> Result<String, Missing> {
    let table = table(report, "limit")?;
    let lanes = distinct(table, 1);
    let sections =
        [("a limiter in each process", &["adaptive", "paced"][..]), ("a limiter that all share", &["shared"])];
    let rows = rows(table, &sections);
    let values =
        |measure, processes: &str| collect(&rows, &lanes, |name, rate| value(table, &[name, rate, processes], measure));
    let (mut panels, mut apart, mut shared, mut fair) = (Vec::new(), 0.0_f64, 0.0_f64, 1.0_f64);
    for processes in distinct(table, 2) {
        let rejected = values("rejected, %", &processes)?;
        apart = apart.max(worst(rejected[..2].iter().flatten()));
        shared = shared.max(worst(&rejected[2]));
        fair = values("fairness", &processes)?[2].iter().filter_map(|spread| spread.mid).fold(fair, f64::min);
        let name = format!("rejected, %, {} processes", number(processes.parse().unwrap_or(0.0)));
        panels.push(Panel::new(&name, filled(rejected), 100.0));
    }
    let title = if apart > 2.0 * shared {
        format!("Many processes: up to {apart:.1} % of attempts rejected, with a shared limiter {shared:.1} %")
    } else {
        "Many processes on one limit: a limiter each, or a shared one".to_owned()
    };
    let subtitle = format!("Attempts over one limit; {} workers in each process", report.options["workers"]);
    let mut svg = Svg::new(&title, &subtitle);
    let labels = lanes.iter().map(|rate| format!("limit {}/s", number(rate.parse().unwrap_or(0.0)))).collect();
    let bottom = Dots { rows, lanes: labels, panels }.draw(&mut svg, TOP);
    let notes = [
        format!(
            "adaptive, paced: a limiter that learns the rate that the server accepts; shared: processes share what they learn. \
             Jain's index of fairness of the shared one is at least {}; 1 means that each process gets the same.",
            number(fair)
        ),
        spread("whiskers", report.seeds),
    ];
    Ok(svg.finish(bottom, &notes))
}
