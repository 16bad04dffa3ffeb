//! Servers that fail.

use super::{Results, Rows, median, name, row};
use crate::chart::parts::{Missing, distinct, table, value};
use crate::chart::scale::fixed;
use crate::report::{Report, Spread};

/// The strategies beside other crates, in the order of the table.
const STRATEGIES: [&str; 11] = [
    "no retries",
    "patient",
    "new()",
    "aws_2_1()",
    "aws_2_0()",
    "aws-smithy-runtime, standard",
    "aws-smithy-runtime, adaptive",
    "tower",
    "backon",
    "tokio-retry2",
    "new(), no quota",
];

/// A stall, an outage, a partial outage and services in a row. A scenario without a strategy has an empty cell.
pub(super) fn failing(results: &Results) -> Result<Rows, Missing> {
    let outage = table(results.peers("outage")?, "outage")?;
    let partial = table(results.peers("partial")?, "partial")?;
    let layers = table(results.peers("layers")?, "layers")?;
    let lengths = table(results.peers("lengths")?, "lengths")?;
    let header = [
        "",
        "stall: recovery, s",
        "down 10 s: its calls lost, %",
        "down 10 s: lost in the minute after, %",
        "partial: successes, %",
        "partial: attempts for each",
        "services: most attempts/s",
    ];
    let mut rows = vec![row(&header)];
    for strategy in STRATEGIES {
        let in_layers = match strategy {
            "new()" => "quota",
            "new(), no quota" => "no quota",
            name => name,
        };
        let in_lengths = |measure| {
            let strategy = if strategy == "new(), no quota" { "no quota" } else { strategy };
            lengths.value(&[strategy, "10"], measure)
        };
        let lost =
            in_lengths("bridged, %").and_then(|bridged| bridged.mid).map(|bridged| Spread::exactly(100.0 - bridged));
        let in_partial = |measure| partial.value(&[strategy, "30"], measure);
        let cells = [
            (outage.value(&["0.8", strategy, "1"], "recovery, s"), 0),
            (lost, 1),
            (in_lengths("lost in the minute after, %"), 1),
            (in_partial("successes, %"), 1),
            (in_partial("attempts per operation"), 2),
            (layers.value(&[in_layers], "highest load, 1/s"), 0),
        ];
        let cells = cells
            .into_iter()
            .map(|(value, decimals)| value.map_or_else(String::new, |value| median(value, 1.0, decimals)));
        rows.push([name(strategy)].into_iter().chain(cells).collect());
    }
    Ok(rows)
}

/// Calls that are lost in outages of some lengths, and after one of 10 s, beside other crates.
pub(super) fn lost(results: &Results) -> Result<Rows, Missing> {
    const SHOWN: [(&str, &str); 6] = [
        ("patient", "`PatientRetryStrategy`"),
        ("new()", "`StandardRetryStrategy` (AWS's quota)"),
        ("aws-smithy-runtime, standard", "aws-smithy-runtime"),
        ("tower", "tower"),
        ("backon", "backon"),
        ("tokio-retry2", "tokio-retry2"),
    ];
    const LENGTHS: [&str; 2] = ["3", "10"];
    let table = table(results.peers("lengths")?, "lengths")?;
    let mut rows = vec![row(&["lost calls, %"])];
    rows[0].extend(LENGTHS.map(|length| format!("of {length} s")));
    rows[0].push("of the minute after 10 s".to_owned());
    for (strategy, shown) in SHOWN {
        let of = |length, measure| value(table, &[strategy, length], measure);
        let mut cells = vec![shown.to_owned()];
        for length in LENGTHS {
            cells.push(of(length, "bridged, %")?.mid.map_or_else(String::new, |bridged| fixed(100.0 - bridged, 1)));
        }
        cells.push(median(of("10", "lost in the minute after, %")?, 1.0, 1));
        rows.push(cells);
    }
    Ok(rows)
}

/// A partial outage: how far each quota hides failures, and the load that it adds.
pub(super) fn partial(report: &Report) -> Result<Rows, Missing> {
    let (drain, partial) = (table(report, "drain")?, table(report, "partial")?);
    let mut rows = vec![row(&[
        "strategy",
        "its quota drains above, % of the attempts that fail",
        "highest load / load without retries",
    ])];
    for strategy in distinct(drain, 0) {
        let from = value(drain, &[&strategy], "failure rate at which the quota begins to drain, %")?;
        let loads = distinct(partial, 1)
            .into_iter()
            .map(|fails| value(partial, &[&strategy, &fails], "attempts per operation"));
        let loads = loads.collect::<Result<Vec<_>, _>>()?;
        let highest = loads.iter().filter_map(|load| load.mid).fold(0.0, f64::max);
        rows.push(vec![name(&strategy), median(from, 1.0, 1), fixed(highest, 2)]);
    }
    Ok(rows)
}
