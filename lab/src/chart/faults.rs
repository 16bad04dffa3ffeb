//! The picture of quotas and faults.

use super::looks::{YOURS, look, standard};
use super::parts::{Missing, distinct, has_yours, value};
use super::scale::{Scale, number};
use super::svg::{Look, Marker, Svg, WIDTH};
use crate::report::{Report, Table};

/// The strategies, each with a panel, and the user's own one if it is there.
const POLICIES: [&str; 4] = ["no quota", "new()", "evidence", YOURS];
/// The part of the ideal that the title counts, in percent.
const MOST: f64 = 80.0;
/// The markers of numbers of processes, from the top of a row on.
const MARKERS: [Marker; 4] = [Marker::Circle, Marker::Triangle, Marker::Square, Marker::Diamond];

/// Where the rows begin.
const TOP: f64 = 96.0;
const HEIGHT: f64 = 34.0;
/// The distance of two markers in a row.
const STEP: f64 = 7.0;
/// The width of the names of the rows.
const NAMES: f64 = 190.0;
/// The gap between two panels.
const BETWEEN: f64 = 26.0;

/// A fault: for each strategy, the part of the ideal in percent by the number of processes.
struct Row {
    name: String,
    parts: Vec<Vec<Option<f64>>>,
}

/// Returns how good a value is, as a part of the ideal, in percent. "Never" is 0.
fn part_of_ideal(table: &Table, fault: &str, strategy: &str, quotas: &str) -> Result<Option<f64>, Missing> {
    let measure = table.measures.first().map_or("", String::as_str);
    let of = |strategy: &str, quotas: &str| value(table, &[fault, strategy, quotas], measure).map(|spread| spread.mid);
    let Ok(reached) = of(strategy, quotas) else { return Ok(None) };
    let less_is_better = ["recovery", "load"].contains(&table.name.as_str());
    let ideal = of("ideal", "1").or_else(|_| of("no retries", "1"))?.unwrap_or(f64::INFINITY);
    let part = match reached {
        None => 0.0,
        // A second is the precision of a recovery.
        Some(reached) if less_is_better => (ideal.max(1.0) / reached.max(1.0)).min(1.0),
        Some(reached) => (reached / ideal).clamp(0.0, 1.0),
    };
    Ok(Some(100.0 * part))
}

/// Each quota as a part of the ideal, by fault and number of processes.
pub(super) fn faults(report: &Report) -> Result<String, Missing> {
    let quotas: Vec<String> = report.options["quotas"]
        .as_array()
        .into_iter()
        .flatten()
        .take(MARKERS.len())
        .map(ToString::to_string)
        .collect();
    let count = POLICIES.len() - usize::from(!report.tables.iter().any(has_yours));
    let strategies = &POLICIES[..count];
    let mut rows: Vec<Row> = Vec::new();
    for table in &report.tables {
        for name in distinct(table, 0) {
            let of = |strategy| quotas.iter().map(|quotas| part_of_ideal(table, &name, strategy, quotas)).collect();
            let parts = strategies.iter().map(|&strategy| of(strategy)).collect::<Result<_, _>>()?;
            rows.push(Row { name, parts });
        }
    }
    let cases = |strategy: usize| rows.iter().flat_map(move |row| row.parts[strategy].iter().copied().flatten());
    let below = |strategy: usize| cases(strategy).filter(|&part| part < MOST).count();
    let (all, fixed, learning) = (cases(2).count(), below(1), below(2));
    let title = if learning < fixed {
        format!("Below {MOST} % of the ideal: new() in {fixed} of {all} cases, a quota that learns in {learning}")
    } else {
        "Quotas and faults: a fixed quota, and one that learns".to_owned()
    };
    let rate = report.options["rate"].as_f64().unwrap_or(0.0);
    let subtitle = format!(
        "Each as a part of the ideal, in percent; a server of {}/s at a load of 80 %, unless the row says more",
        number(rate)
    );
    let mut svg = Svg::new(&title, &subtitle);
    let bottom = draw(&mut svg, strategies, &rows);
    let counts: Vec<String> = quotas.iter().map(|quotas| number(quotas.parse().unwrap_or(0.0))).collect();
    let notes = [
        format!(
            "Markers of a row, from its top: {} processes (circle, triangle, square, diamond), each with a quota, and the \
             same traffic together. Medians of {} runs.",
            counts.join(", "),
            report.seeds
        ),
        "Ideal: the time to the recovery and the load without retries; the successes that the server has capacity for. 0: the \
         server does not recover."
            .to_owned(),
        format!("{} evidence: the same with EvidenceQuota.", standard(None)),
    ];
    Ok(svg.finish(bottom, &notes))
}

/// Draws the rows, and returns where they end.
#[expect(clippy::cast_precision_loss, reason = "a picture has few rows")]
fn draw(svg: &mut Svg, strategies: &[&str], rows: &[Row]) -> f64 {
    let bottom = TOP + HEIGHT * rows.len() as f64;
    let width = (WIDTH - NAMES - 24.0 + BETWEEN) / strategies.len() as f64;
    for (index, strategy) in strategies.iter().enumerate() {
        let left = NAMES + index as f64 * width;
        let scale = Scale::linear((0.0, 100.0), (left, left + width - BETWEEN), false);
        svg.text("strong", (left - 4.0, TOP - 12.0), strategy);
        for &tick in &scale.ticks {
            svg.path("grid", "", &[(scale.at(tick), TOP), (scale.at(tick), bottom)]);
            svg.text("small middle", (scale.at(tick), bottom + 18.0), &number(tick));
        }
        svg.path("ink line", "5 4", &[(scale.at(100.0), TOP), (scale.at(100.0), bottom)]);
    }
    for (number, row) in rows.iter().enumerate() {
        let top = TOP + HEIGHT * number as f64;
        svg.path("grid", "", &[(16.0, top), (WIDTH - 24.0, top)]);
        svg.text("", (16.0, top + HEIGHT / 2.0 + 4.0), &row.name);
        for (index, parts) in row.parts.iter().enumerate() {
            let left = NAMES + index as f64 * width;
            let scale = Scale::linear((0.0, 100.0), (left, left + width - BETWEEN), false);
            let first = top + HEIGHT / 2.0 - STEP * (MARKERS.len() - 1) as f64 / 2.0;
            for (lane, part) in parts.iter().enumerate() {
                let Some(part) = *part else { continue };
                let look = Look { marker: MARKERS[lane], ..look(strategies[index]) };
                svg.marker(look, (scale.at(part), first + STEP * lane as f64));
            }
        }
    }
    bottom + 24.0
}
