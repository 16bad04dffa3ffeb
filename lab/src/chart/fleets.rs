//! The picture of many processes that share a limiter.

use super::dots::{Dots, Panel, TOP};
use super::looks::spread;
use super::parts::{Missing, collect, distinct, rows, table, value, worst};
use super::scale::number;
use super::svg::Svg;
use crate::report::Report;

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
        panels.push(Panel::new(&name, rejected, 100.0));
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
