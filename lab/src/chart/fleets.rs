//! The pictures of many processes that share.

use super::dots;
use super::parts::{Missing, collect, distinct, dotted, highest, labels, table, value, with_seeds, with_yours};
use super::scale::number;
use crate::report::{Report, Spread};

/// Separate quotas, shared ones, and one quota, which is the bound.
pub(super) fn fleet(report: &Report) -> Result<String, Missing> {
    let load = report.options["loads"].as_array().and_then(|loads| loads.last()?.as_f64()).unwrap_or(0.0);
    let option = |name: &str| report.options[name].as_f64().unwrap_or(0.0);
    let outage = table(report, "outage")?;
    let processes = report.options["processes"].as_array().into_iter().flatten();
    let groups: Vec<String> = processes.map(ToString::to_string).collect();
    let (small, each) = (number(option("capacity")), number(option("capacity_per_process")));
    let mut names = vec![format!("separate, {small} each"), format!("separate, {each} each")];
    for kind in ["shared", "one"] {
        names.extend([format!("{kind}, {each} each"), format!("{kind}, {small}")]);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows = with_yours(outage, &names);
    let values = |name: &str, measure: &str| -> Result<Vec<Vec<Spread>>, Missing> {
        let table = table(report, name)?;
        collect(&rows, &groups, |quotas, processes| value(table, &[&load.to_string(), quotas, processes], measure))
    };
    let (long, short) = (values("outage", "recovery, s")?, values("short-lived", "recovery, s")?);
    let bounds = (0.0, highest(&long).max(highest(&short)));
    let panel = |name, values| dots::Panel { name, values, bounds, reference: None };
    let lives = format!("the same, they live for {} s", option("lives_s"));
    let fails = format!("succeed if {:.0} % fail, %", option("fails_part") * 100.0);
    let panels = vec![
        panel("seconds until recovery", long),
        panel(&lives, short),
        dots::Panel {
            name: &fails,
            values: values("partial outage", "successes in the fault, %")?,
            bounds: (80.0, 100.0),
            reference: None,
        },
    ];
    let title = "Many processes in an outage: separate quotas, a shared one, and one for all";
    let subtitle = format!(
        "Load of {:.0} % of {}/s, a stall of {} s, or {} s of failures",
        load * 100.0,
        option("rate"),
        option("stall_s"),
        option("fails_s")
    );
    Ok(dotted(title, &with_seeds(&subtitle, report), rows, labels(&groups, " processes"), panels))
}

/// Separate limiters and a shared one.
pub(super) fn fleet_limit(report: &Report) -> Result<String, Missing> {
    let table = table(report, "limit")?;
    let groups = distinct(table, 1);
    let names = with_yours(table, &["adaptive", "paced", "shared"]);
    let processes = &report.options["processes"][0];
    let of = processes.to_string();
    let values = |measure: &str| collect(&names, &groups, |name, rate| value(table, &[name, rate, &of], measure));
    let (rejected, fairness) = (values("rejected, %")?, values("fairness")?);
    let panels = vec![
        dots::Panel {
            name: "requests rejected, %",
            bounds: (0.0, highest(&rejected)),
            values: rejected,
            reference: None,
        },
        dots::Panel { name: "fairness (Jain's index)", values: fairness, bounds: (0.0, 1.0), reference: None },
    ];
    let title = "Many processes on one limit: a limiter each, or a shared one";
    let subtitle = format!("{processes} processes of {} workers", report.options["workers"]);
    Ok(dotted(title, &with_seeds(&subtitle, report), names, labels(&groups, " requests per second"), panels))
}
