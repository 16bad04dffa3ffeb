//! The pictures of many processes that share.

use super::dots::{Dots, Panel, Row, TOP};
use super::looks::{YOURS, look, spread, standard};
use super::parts::{Missing, collect, distinct, filled, has_yours, option, rows, table, value, worst};
use super::scale::number;
use super::svg::Svg;
use crate::report::{Report, Spread};

/// Separate quotas, shared ones, and one quota, which is the bound.
pub(super) fn fleet(report: &Report) -> Result<String, Missing> {
    let load = report.options["loads"].as_array().and_then(|loads| loads.last()?.as_f64()).unwrap_or(0.0);
    let (small, each) = (number(option(report, "capacity")), number(option(report, "capacity_per_process")));
    let mut names = vec![format!("separate, {small} each"), format!("separate, {each} each")];
    for kind in ["shared", "one"] {
        names.extend([format!("{kind}, {each} each"), format!("{kind}, {small}")]);
    }
    let sections = ["a quota in each process", "", "a quota that processes share", "", "one process for all"];
    let rows = names.into_iter().zip(sections.into_iter().chain([""]));
    let mut rows: Vec<Row<'_>> = rows
        .map(|(name, section)| Row {
            look: look(name.split(',').next().unwrap_or("")),
            name,
            section: Some(section).filter(|section| !section.is_empty()),
        })
        .collect();
    if has_yours(table(report, "outage")?) {
        rows.push(Row { name: YOURS.to_owned(), look: look(YOURS), section: Some("your settings") });
    }
    let processes = report.options["processes"].as_array().into_iter().flatten();
    let lanes: Vec<String> = processes.map(ToString::to_string).collect();
    let values = |name: &str, measure: &str| -> Result<Vec<Vec<Spread>>, Missing> {
        let table = table(report, name)?;
        collect(&rows, &lanes, |quotas, processes| value(table, &[&load.to_string(), quotas, processes], measure))
    };
    let (long, short) = (values("outage", "recovery, s")?, values("short-lived", "recovery, s")?);
    let succeeded = values("partial outage", "successes in the fault, %")?;
    let is_found = worst(&short[0]).is_infinite() && worst(&short[2]).max(worst(&long[2])).is_finite();
    let duration = option(report, "duration_s");
    let recovery =
        |name: &str, values| Panel { decimals: 0, never: "never", ..Panel::new(name, filled(values), duration) };
    let lives = number(option(report, "lives_s"));
    let fails = number(option(report, "fails_part") * 100.0);
    let succeed = Panel::new(&format!("succeed if {fails} % fail, %"), filled(succeeded), 100.0);
    let panels = vec![
        recovery("seconds until it works", long),
        recovery(&format!("processes live for {lives} s"), short),
        Panel { bounds: (80.0, 100.0), has_bars: false, ..succeed },
    ];
    let title = if is_found {
        "Short-lived processes keep a stalled server down unless they share a quota"
    } else {
        "Many processes in an outage: separate quotas, a shared one, and one for all"
    };
    let subtitle = format!(
        "Load of {:.0} % of {}/s; a stall of {} s (left and middle), or {} s of failures (right)",
        load * 100.0,
        option(report, "rate"),
        option(report, "stall_s"),
        option(report, "fails_s")
    );
    let mut svg = Svg::new(title, &subtitle);
    let labels = lanes.iter().map(|count| number(count.parse().unwrap_or(0.0))).collect();
    let bottom = Dots { rows, lanes: labels, panels }.draw(&mut svg, TOP);
    let notes = [
        format!("{} \"each\": the capacity for each process; \"never\": not within the run.", standard(None)),
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
