//! Settings beside the default: which one is better, case by case, and in one sentence.
//!
//! A case is a scenario with given options. Settings that fail too many operations are never the best ones, however short their
//! time: whoever gives up is done early.

use crate::report::{Report, Row, Table};
use std::fmt::Write as _;

/// The name of the strategy with the user's settings.
pub const YOURS: &str = "yours";
/// The name of the strategy with the default settings.
pub const DEFAULT: &str = "default";

/// The operations, in percent, that may fail in the best case.
pub const MOST_FAILED: f64 = 5.0;

/// The difference of failed operations, in percentage points, up to which other measures decide.
const ABOUT_AS_MANY: f64 = 1.0;
/// The factor up to which two measures are about the same.
const ABOUT_AS_MUCH: f64 = 1.1;

/// Where a table says which operations fail.
enum Failed {
    /// Nowhere.
    Unknown,
    /// A column with the failed operations in percent.
    Percent(&'static str),
    /// A column with the part of the failed operations.
    Share(&'static str),
    /// A column with the successes in percent.
    Successes(&'static str),
    /// A column with the number of the failed operations, of the number in this option.
    OfOption(&'static str, &'static str),
    /// The same, of the number in this key.
    OfKey(&'static str, &'static str),
    /// The same, of the operations of the world in the first key.
    OfWorld(&'static str),
}

/// The tables with strategies: the scenario, the table, what fails, and a second measure, of which less is better.
const TABLES: &[(&str, &str, Failed, Option<&str>)] = &[
    ("contention", "contention", Failed::OfKey("failed clients", "clients"), Some("time, s")),
    ("restart", "restart", Failed::Percent("lost operations, %"), Some("requests of an operation")),
    ("copy", "copy", Failed::OfOption("failed operations", "operations"), Some("time, s")),
    ("outage", "outage", Failed::Unknown, Some("recovery, s")),
    ("partial", "partial", Failed::Successes("successes, %"), Some("attempts per operation")),
    ("many", "many", Failed::Share("failed share of operations"), Some("rejected share")),
    ("changing", "limit", Failed::Share("failed share of operations"), Some("rejected share")),
    ("changing", "copies", Failed::OfKey("failed operations", "operations"), Some("time, s")),
    ("layers", "layers", Failed::Successes("successes during, %"), Some("during")),
    ("faults", "recovery", Failed::Unknown, Some("recovery, s")),
    ("faults", "load", Failed::Unknown, Some("attempts per operation")),
    ("faults", "success", Failed::Successes("successes, %"), None),
    ("faults", "bridged", Failed::Successes("successes of the operations in the fault, %"), None),
    ("faults", "bystanders", Failed::Percent("lost operations of the minute after it, %"), None),
    ("outlast", "outages", Failed::Successes("bridged, %"), Some("recovery, s")),
    ("outlast", "jobs", Failed::Percent("lost, %"), Some("attempts per operation")),
    ("lengths", "lengths", Failed::Successes("bridged, %"), Some("recovery, s")),
    ("fleet", "recovery", Failed::Unknown, Some("recovery, s")),
    ("fleet", "load", Failed::Unknown, Some("attempts per operation")),
    ("fleet", "success", Failed::Successes("successes, %"), None),
    ("fleet", "bridged", Failed::Successes("successes of the operations in the fault, %"), None),
    ("fleet", "bystanders", Failed::Percent("lost operations of the minute after it, %"), None),
    ("fleet_limit", "limit", Failed::Percent("failed operations, %"), Some("rejected, %")),
    ("fleet_limit", "changing", Failed::Percent("failed operations, %"), Some("rejected, %")),
    ("fleet_outages", "outages", Failed::Successes("bridged, %"), Some("recovery, s")),
    ("worlds", "worlds", Failed::OfWorld("failed operations"), Some("time / ideal")),
    ("weights", "weights", Failed::Unknown, Some("time / ideal")),
    ("untold", "untold", Failed::Unknown, Some("time / ideal")),
    ("hedges", "hedges", Failed::Percent("failed, %"), Some("p99, ms")),
    ("tail", "tail", Failed::Percent("failed, %"), Some("p99, ms")),
    ("tail", "stall", Failed::Unknown, Some("over after, s")),
];

/// What a strategy did in a case, in the median of the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// The operations that failed, in percent. `None` if the case does not count them.
    pub failed: Option<f64>,
    /// The second measure, of which less is better: infinite if its end was never reached, and `None` if there is none.
    pub cost: Option<f64>,
}

impl Reached {
    /// Returns whether too many operations failed, or the end was never reached.
    pub fn fails(&self) -> bool {
        self.failed.is_some_and(|failed| failed > MOST_FAILED) || self.cost == Some(f64::INFINITY)
    }
}

/// Which of two settings is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// Those of the user.
    Yours,
    /// The default.
    Default,
    /// Both are about the same.
    Same,
    /// None: both fail.
    Neither,
}

/// Returns which settings are better. Settings that fail are never the best.
pub fn best(yours: &Reached, default: &Reached) -> Best {
    match (yours.fails(), default.fails()) {
        (true, true) => return Best::Neither,
        (true, false) => return Best::Default,
        (false, true) => return Best::Yours,
        (false, false) => {}
    }
    let fewer = |one: &Reached, other: &Reached| {
        one.failed.zip(other.failed).is_some_and(|(one, other)| one + ABOUT_AS_MANY < other)
    };
    let cheaper = |one: &Reached, other: &Reached| {
        one.cost.zip(other.cost).is_some_and(|(one, other)| one * ABOUT_AS_MUCH < other)
    };
    if fewer(yours, default) {
        Best::Yours
    } else if fewer(default, yours) {
        Best::Default
    } else if cheaper(yours, default) {
        Best::Yours
    } else if cheaper(default, yours) {
        Best::Default
    } else {
        Best::Same
    }
}

/// The user's settings and the default in one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The scenario and its options, as in `copy, workers 256`.
    pub name: String,
    /// The second measure with its unit. Empty if there is none.
    pub measure: String,
    /// The user's settings.
    pub yours: Reached,
    /// The default. `None` if the user's settings are the default.
    pub default: Option<Reached>,
}

impl Case {
    /// Returns which settings are better. `None` if the user's settings are the default.
    pub fn best(&self) -> Option<Best> {
        Some(best(&self.yours, self.default.as_ref()?))
    }
}

/// Returns the cases of the reports that have the user's settings.
pub fn cases(reports: &[Report]) -> Vec<Case> {
    reports.iter().flat_map(cases_of).collect()
}

fn cases_of(report: &Report) -> Vec<Case> {
    let mut cases = Vec::new();
    for (_, name, failed, measure) in TABLES.iter().filter(|(scenario, ..)| *scenario == report.scenario) {
        let Some(table) = report.table(name) else { continue };
        for row in &table.rows {
            let Some(strategy) = row.keys.iter().position(|key| key == YOURS) else { continue };
            let reached =
                |row| Reached { failed: failed.percent(report, table, row), cost: cost(table, row, *measure) };
            let mut keys = row.keys.clone();
            DEFAULT.clone_into(&mut keys[strategy]);
            let default = table.rows.iter().find(|row| row.keys == keys).map(reached);
            let mut parts =
                vec![if *name == report.scenario { (*name).to_owned() } else { format!("{} {name}", report.scenario) }];
            for (key, value) in table.keys.iter().zip(&row.keys).filter(|(_, value)| *value != YOURS) {
                // A number needs the name of its key, without the unit.
                let key = key.split(',').next().unwrap_or(key);
                let is_number = value.parse::<f64>().is_ok();
                parts.push(if is_number { format!("{key} {value}") } else { value.clone() });
            }
            let measure = (*measure).unwrap_or("").to_owned();
            cases.push(Case { name: parts.join(", "), measure, yours: reached(row), default });
        }
    }
    cases
}

/// Returns a column of a row. "Never" is infinite, and `None` means that there is no such column.
fn median(table: &Table, row: &Row, measure: &str) -> Option<f64> {
    let column = table.measures.iter().position(|name| name == measure)?;
    Some(row.values.get(column)?.mid.unwrap_or(f64::INFINITY))
}

fn cost(table: &Table, row: &Row, measure: Option<&str>) -> Option<f64> {
    median(table, row, measure?)
}

impl Failed {
    /// Returns the failed operations in percent.
    fn percent(&self, report: &Report, table: &Table, row: &Row) -> Option<f64> {
        let column = |name| median(table, row, name);
        let of = |name, all: f64| Some(column(name)? / all.max(1.0) * 100.0);
        match *self {
            Self::Unknown => None,
            Self::Percent(name) => column(name),
            Self::Share(name) => Some(column(name)? * 100.0),
            Self::Successes(name) => Some(100.0 - column(name)?.min(100.0)),
            Self::OfOption(name, option) => of(name, report.options[option].as_f64()?),
            Self::OfKey(name, key) => {
                let key = table.keys.iter().position(|each| each == key)?;
                of(name, row.keys[key].parse().ok()?)
            }
            Self::OfWorld(name) => {
                let worlds = report.options["worlds"].as_array()?;
                let world = worlds.iter().find(|world| world["name"] == row.keys[0])?;
                of(name, world["operations"].as_f64()?)
            }
        }
    }
}

/// Compares the user's settings with the default in one sentence. `None` if no case has them.
pub fn sentence(cases: &[Case]) -> Option<String> {
    let failing = cases.iter().filter(|case| case.yours.fails()).count();
    let (all, plural) = (cases.len(), if cases.len() == 1 { "" } else { "s" });
    let fail = if failing == 1 { "fails" } else { "fail" };
    let mut text = format!(
        "With these settings, {failing} of {all} case{plural} {fail}, by more than {MOST_FAILED} % of the operations or without \
         recovery"
    );
    let compared: Vec<Best> = cases.iter().map(Case::best).collect::<Option<_>>().unwrap_or_default();
    match compared.len() {
        0 if all == 0 => return None,
        0 => return Some(text + "; they are the default."),
        _ => {}
    }
    let default_failing = cases.iter().filter(|case| case.default.is_some_and(|default| default.fails())).count();
    let count = |best| compared.iter().filter(|each| **each == best).count();
    let (better, worse) = (count(Best::Default), count(Best::Yours));
    let rest = all - better - worse;
    let _ = write!(text, ", and {default_failing} with the default; the default is better in {better}");
    let lost = cases.iter().zip(&compared).filter(|(_, best)| **best == Best::Default).filter_map(|(case, _)| {
        let (yours, default) = (case.yours.failed?, case.default?.failed?);
        (yours > default + ABOUT_AS_MANY).then_some((case, yours, default))
    });
    if let Some((case, yours, default)) = lost.max_by(|one, other| (one.1 - one.2).total_cmp(&(other.1 - other.2))) {
        let _ = write!(text, " (most: {yours:.1} % fail instead of {default:.1} % in {})", case.name);
    }
    let _ = write!(text, ", worse in {worse}, and neither is better in {rest}.");
    Some(text)
}

/// Removes the points of the user's settings from curves where too many operations fail, because giving up early is not being fast.
/// Returns whether there were any.
pub fn leave_out_failing(report: &mut Report) -> bool {
    let key = match report.scenario.as_str() {
        "contention" => "clients",
        "restart" => "away, s",
        _ => return false,
    };
    let Some(table) = report.tables.iter().find(|table| table.name == report.scenario) else { return false };
    let Some((_, _, failed, _)) = TABLES.iter().find(|(scenario, ..)| *scenario == report.scenario) else {
        return false;
    };
    let Some(column) = table.keys.iter().position(|name| name == key) else { return false };
    let rows = table.rows.iter().filter(|row| row.keys[0] == YOURS);
    let failing = rows.filter(|row| failed.percent(report, table, row).is_some_and(|failed| failed > MOST_FAILED));
    let failing: Vec<f64> = failing.filter_map(|row| row.keys[column].parse().ok()).collect();
    let mut is_any = false;
    for plot in report.plots.iter_mut().filter(|plot| ["time", "attempts"].contains(&plot.name.as_str())) {
        for line in plot.lines.iter_mut().filter(|line| line.name == YOURS) {
            let before = line.points.len();
            line.points.retain(|point| !failing.iter().any(|x| (x - point.x).abs() < 1e-9));
            is_any |= line.points.len() < before;
        }
        plot.lines.retain(|line| line.name != YOURS || !line.points.is_empty());
    }
    is_any
}
