//! The pictures of many cases: each strategy's cases, from its best to its worst.

use super::lines::{Panel, Series, draw, length};
use super::parts::{Missing, claim, distinct, has_yours, table, text, value};
use super::style::YOURS;
use super::worlds::{Reached, worlds};
use crate::report::{Point, Report, Spread, Table};

/// Returns a point for each value, in the order of the values, the last one at `end`.
fn ranked(values: Vec<f64>, end: f64) -> Vec<Point> {
    let step = end / length(values.len());
    let points = values.into_iter().zip(1_u32..);
    points.map(|(value, rank)| Point { x: f64::from(rank) * step, y: Spread::exactly(value) }).collect()
}

/// Returns a horizontal line.
fn bound(name: String, end: f64, value: f64) -> Series {
    let points = [0.0, end].map(|x| Point { x, y: Spread::exactly(value) });
    Series { name, ..Series::new("ideal", points.to_vec()) }
}

/// The part of the ideal that the title counts, in percent.
const MOST: f64 = 80.0;

/// Returns how good a strategy is, as a part of the ideal, in percent. "Never" is 0.
fn part_of_ideal(table: &Table, fault: &str, strategy: &str, quotas: &str) -> Result<Option<f64>, Missing> {
    let measure = table.measures.first().map_or("", String::as_str);
    let of = |strategy: &str, quotas: &str| value(table, &[fault, strategy, quotas], measure).map(|spread| spread.mid);
    let Ok(reached) = of(strategy, quotas) else { return Ok(None) };
    let less_is_better = ["recovery", "load", "bystanders"].contains(&table.name.as_str());
    let ideal = of("ideal", "1").or_else(|_| of("no retries", "1"))?.unwrap_or(f64::INFINITY);
    let part = match reached {
        None => 0.0,
        // A second is the precision of a recovery, and a percent that of what is lost.
        Some(reached) if less_is_better => (ideal.max(1.0) / reached.max(1.0)).min(1.0),
        Some(reached) => (reached / ideal).clamp(0.0, 1.0),
    };
    Ok(Some(100.0 * part))
}

/// Quotas in all faults and numbers of processes, as parts of the ideal.
pub(super) fn faults(report: &Report) -> Result<String, Missing> {
    let quotas = report.options["quotas"].as_array().into_iter().flatten().map(ToString::to_string).collect::<Vec<_>>();
    let (mut shown, mut counts) = (Vec::new(), Vec::new());
    for (strategy, name) in
        [("evidence", "evidence: learns"), ("new()", "new(): fixed"), ("no quota", "no quota"), (YOURS, YOURS)]
    {
        let mut parts = Vec::new();
        for table in &report.tables {
            for fault in distinct(table, 0) {
                for quotas in &quotas {
                    parts.extend(part_of_ideal(table, &fault, strategy, quotas)?);
                }
            }
        }
        if parts.is_empty() && strategy == YOURS {
            continue;
        }
        parts.sort_by(|left, right| right.total_cmp(left));
        counts.push((parts.iter().filter(|part| **part < MOST).count(), parts.len()));
        shown.push(Series { name: name.to_owned(), ..Series::new(strategy, ranked(parts, 100.0)) });
    }
    shown.push(bound(format!("{MOST} % of the ideal"), 100.0, MOST));
    let ((learning, all), (fixed, _)) = (counts[0], counts[1]);
    let finding =
        format!("Below {MOST} % of the ideal: new() in {fixed} of {all} cases, a quota that learns in {learning}");
    let names =
        ("% of the cases (a fault, and a number of processes), from the best to the worst", "part of the ideal, %");
    let subtitle = "The ideal: load, recovery and later losses without retries, and the successes that the server has capacity for";
    Ok(draw(&claim(report, learning < fixed, finding), subtitle, &[Panel::new(names, shown)]))
}

/// The multiple of the ideal time up to which the title counts.
const WITHIN: f64 = 1.5;

/// The time of a bulk copy as a multiple of the ideal, in all worlds, and what is lost.
pub(super) fn all_worlds(report: &Report) -> Result<String, Missing> {
    let worlds = worlds(report)?;
    let mut names = vec!["paced", "adaptive"];
    names.extend(has_yours(table(report, "worlds")?).then_some(YOURS));
    names.push("the best other");
    let (mut shown, mut within, mut level) = (Vec::new(), Vec::new(), 700.0);
    for (index, name) in names.into_iter().enumerate() {
        let reached = worlds.iter().map(|world| world.shown.get(index).unwrap_or(&world.other));
        let (lost, whole): (Vec<&Reached>, Vec<&Reached>) = reached.partition(|reached| reached.lost > 0.0);
        let mut times: Vec<f64> = whole.iter().map(|reached| reached.time.mid.unwrap_or(f64::MAX)).collect();
        times.sort_by(f64::total_cmp);
        within.push(times.iter().filter(|&&time| time <= WITHIN).count());
        let series = Series::new(name, ranked(times, length(whole.len())));
        // The worlds in which operations are lost come last. Their time says nothing, so it is not the height of their markers.
        let points = ranked(vec![level; whole.len() + lost.len()], length(worlds.len())).split_off(whole.len());
        let hollow = Series { points, look: series.look, name: String::new(), is_hollow: true };
        shown.extend([series, hollow]);
        level /= 1.7;
    }
    shown.push(bound(format!("{WITHIN} times"), length(worlds.len()), WITHIN));
    let (count, paced, adaptive) = (worlds.len(), within[0], within[1]);
    let finding =
        format!("{count} worlds: paced takes up to {WITHIN} times the ideal in {paced}, adaptive in {adaptive}");
    let (attempts, runs) = (text(report, "max_attempts"), report.seeds);
    let subtitle = format!(
        "Up to {attempts} attempts for an operation. Hollow markers: worlds in which operations are lost. Medians of {runs} runs"
    );
    let names = ("worlds, from the best to the worst", "time / ideal time (logarithmic)");
    let panel = Panel { is_logarithmic: true, bounds: (1.0, 1000.0), ..Panel::new(names, shown) };
    Ok(draw(&claim(report, paced > adaptive, finding), &subtitle, &[panel]))
}
