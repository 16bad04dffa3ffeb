//! Numbers of results within sentences of pages.

use super::{Results, Spread, processes};
use crate::chart::parts::{Missing, table, value};
use crate::chart::scale::fixed;
use crate::report::Report;

/// Returns the text of a name.
pub(super) fn phrase(name: &str, results: &Results) -> Result<String, Missing> {
    match name {
        "bridged-by-a-fleet" => by_processes(results, "bridged", "down for 1 s", "evidence, shared"),
        "half-fail-in-a-fleet" => by_processes(results, "success", "50 % fail, spare 100 %", "evidence, shared"),
        "half-fail-alone" => by_processes(results, "success", "50 % fail, spare 100 %", "evidence, alone"),
        "calls-cut-after-50-ms" => {
            mid(results, "tail", "tail", &["slow requests", "4", "2", "0.8", "limit of 50 ms"], "failed, %", 0)
        }
        "load-of-three-layers" => mid(results, "layers", "layers", &["no quota"], "during", 0),
        "lost-of-an-outage" => lost_of_an_outage(results),
        "load-of-waiting-layers" => load_of_waiting_layers(results),
        "ideal-of-the-copy" => ideal(results),
        "really-bridged" => processes::bridged(&results.processes, "patient"),
        "really-bridged-by-new" => processes::bridged(&results.processes, "new()"),
        "used-without-the-store" => without_store(results, "shared", "100", "limit used, %"),
        "rejected-without-the-store" => without_store(results, "shared", "100", "rejected, %"),
        "rejected-after-that" => without_store(results, "shared, store back", "100", "rejected, %"),
        "rejected-after-that-of-1000" => without_store(results, "shared, store back", "1000", "rejected, %"),
        "most-calls-of-the-store" => most_calls(results),
        name => Err(Missing(format!("number {name:?}"))),
    }
}

fn found(results: &Results, scenario: &str, name: &str, keys: &[&str], measure: &str) -> Result<Spread, Missing> {
    value(table(results.full(scenario)?, name)?, keys, measure)
}

/// Returns a median.
fn mid(
    results: &Results,
    scenario: &str,
    name: &str,
    keys: &[&str],
    measure: &str,
    decimals: usize,
) -> Result<String, Missing> {
    Ok(super::median(found(results, scenario, name, keys, measure)?, 1.0, decimals))
}

/// Returns the medians of 100 and of 1,000 processes as a range.
fn by_processes(results: &Results, name: &str, fault: &str, quotas: &str) -> Result<String, Missing> {
    let of = |processes| {
        let measure = &table(results.full("fleet")?, name)?.measures[0];
        mid(results, "fleet", name, &[fault, quotas, processes], measure, 0)
    };
    let (few, many) = (of("100")?, of("1000")?);
    Ok(if few == many { few } else { format!("{few} to {many}") })
}

/// Returns the calls of an outage of 10 s that the patient strategy loses, in percent.
fn lost_of_an_outage(results: &Results) -> Result<String, Missing> {
    let bridged = found(results, "lengths", "lengths", &["patient", "10"], "bridged, %")?;
    Ok(fixed(100.0 - bridged.mid.unwrap_or(0.0), 1))
}

/// Returns the most requests per second to the last of some services after an outage, as a multiple of what users send.
fn load_of_waiting_layers(results: &Results) -> Result<String, Missing> {
    let highest = found(results, "layers", "layers", &["patient"], "highest load, 1/s")?;
    let rate = results.full("layers")?.options["rate"].as_f64().unwrap_or(f64::NAN);
    Ok(fixed(highest.mid.unwrap_or(f64::NAN) / rate, 1))
}

/// Returns the seconds of the fastest client that could be.
fn ideal(results: &Results) -> Result<String, Missing> {
    let of = |measure| Ok(found(results, "copy", "copy", &["paced", "64"], measure)?.mid.unwrap_or(f64::NAN));
    Ok(fixed(of("time, s")? / of("time / ideal")?, 0))
}

fn without_store(results: &Results, strategy: &str, processes: &str, measure: &str) -> Result<String, Missing> {
    mid(results, "fleet_limit", "store away", &[strategy, "500", processes], measure, 1)
}

/// Returns the most calls per second that the store of a limit serves, in all tables.
fn most_calls(results: &Results) -> Result<String, Missing> {
    let report: &Report = results.full("fleet_limit")?;
    let mut most = 0.0_f64;
    for table in &report.tables {
        for row in &table.rows {
            let keys: Vec<&str> = row.keys.iter().map(String::as_str).collect();
            most = most.max(value(table, &keys, "store calls, 1/s")?.mid.unwrap_or(0.0));
        }
    }
    Ok(fixed(most, 0))
}
