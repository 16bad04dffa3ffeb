//! The cases in which this library does worse than something else in the same results.
//!
//! [`CASES`] says where to look and why. A case is in the table only if the results have it, with their numbers. Worlds and
//! faults are not picked: each one in which something else is better is in the table.

use super::cases::{CASES, Case};
use super::{Results, Rows, median, name, row};
use crate::chart::parts::{Missing, distinct, table, value};
use crate::chart::scale::fixed;
use crate::chart::worlds::{self, Reached, World};
use crate::report::{Report, Spread};
use std::fmt::Write as _;

/// The part by which a time must be longer to be worse.
const MARGIN: f64 = 1.1;

/// Why a world of a kind is worse with the paced strategy.
fn reason(world: &World) -> &'static str {
    let is_lost = world.shown.first().is_some_and(|paced| paced.lost > 0.0);
    match world.kind.as_str() {
        "rejections at random" if world.name.ends_with(" 100/s") => {
            "A client that sends less than 150 per second can't tell noise from its neighbours (L16)."
        }
        "rejections at random" if world.name.contains(',') => {
            "Rejections count until they are known to be noise (L43)."
        }
        "rejections at random" | "short jobs and high limits" => {
            "The ramp begins at 100 requests per second, and a higher limit is found step by step (L1, L4)."
        }
        "waits that the server asks for" if is_lost => {
            "A wait that is longer than `max_retry_after` ends an operation immediately, and probes are such operations (L31)."
        }
        "waits that the server asks for" => "A wait holds back all operations (L31).",
        "times in which everything is rejected" if is_lost => {
            "Rejected attempts follow each other without backoff. As shipped, they are counted separately, and none is lost (L7)."
        }
        "times in which everything is rejected" => "Ever fewer probes are sent (L27).",
        "overload reported as 503" => {
            "A server error is not a rejection without the [setting](../../docs/choosing.md#which-strategy) (L17)."
        }
        _ if world.name.contains("no burst") => {
            "Of two requests in one moment one is rejected, however slow the client, and such a server saves nothing up (L2)."
        }
        _ => "Rejections come although the limit of all servers together is not reached (L3).",
    }
}

pub(super) fn worse(results: &Results) -> Result<Rows, Missing> {
    let mut rows = vec![row(&["case", "this library", "better", "why"])];
    for case in CASES {
        rows.extend(case.row(results)?);
    }
    rows.extend(of_worlds(&worlds::worlds(results.full("worlds")?)?));
    rows.extend(super::untold::worse(results.full("untold")?)?);
    rows.extend(super::hedged::worse(results.full("hedges")?)?);
    rows.extend(of_faults(results.full("faults")?));
    for row in &mut rows {
        row[3] = linked(&row[3]);
    }
    Ok(rows)
}

/// Makes links of the names of rules, such as L7.
fn linked(text: &str) -> String {
    let is_rule = |word: &str| {
        let (group, number) = word.split_at(1);
        group.chars().all(|c| c.is_ascii_uppercase())
            && !number.is_empty()
            && number.chars().all(|c| c.is_ascii_digit())
    };
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let link = |part: &str| {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if word.is_empty() || !is_rule(word) {
            return part.to_owned();
        }
        format!("[{word}](../../docs/semantics.md#{}){}", word.to_lowercase(), &part[word.len()..])
    };
    words.map(link).collect()
}

impl Case {
    /// Returns the row of the case, or none if nothing is better.
    fn row(&self, results: &Results) -> Result<Option<Vec<String>>, Missing> {
        let report = if self.is_beside_peers { results.peers(self.scenario)? } else { results.full(self.scenario)? };
        let table = table(report, self.table)?;
        let own = value(table, self.own, self.measure)?;
        let mut better = Vec::new();
        for other in self.others {
            let reached = value(table, other, self.measure)?;
            if self.is_better(reached, own) {
                better.push(format!("{}: {}", self.named(other), self.number(reached)));
            }
        }
        Ok((!better.is_empty()).then(|| {
            let own = format!("{}: {}", self.named(self.own), self.number(own));
            vec![format!("{}: {}", self.what, self.unit), own, better.join("; "), self.why.to_owned()]
        }))
    }

    fn is_better(&self, one: Spread, other: Spread) -> bool {
        let of = |spread: Spread| spread.mid.unwrap_or(f64::INFINITY);
        // What looks the same is the same.
        self.number(one) != self.number(other) && (of(one) < of(other)) == self.is_less_better
    }

    fn number(&self, value: Spread) -> String {
        median(value, self.shown.0, self.shown.1)
    }

    /// Returns the name of the strategy of a row, with its number of quotas if that differs.
    fn named(&self, keys: &[&str]) -> String {
        match (self.scenario, keys) {
            ("layers", ["quota"]) => "`new()`".to_owned(),
            ("layers", ["no quota"]) => "`new()`, no quota".to_owned(),
            ("outage", [_, "no retries", _]) => "no retries".to_owned(),
            ("outage", [_, strategy, "1"]) => format!("{}, one quota", name(strategy)),
            ("outage", [_, strategy, _])
            | ("changing", [strategy, _, _] | [_, _, strategy, _])
            | (_, [strategy, ..]) => name(strategy),
            _ => String::new(),
        }
    }
}

/// Returns the rows of the worlds in which something else is better than the paced strategy, one for each reason.
fn of_worlds(worlds: &[World]) -> Rows {
    let mut rows: Rows = Vec::new();
    for world in worlds {
        let Some((paced, better)) = better_in(world) else { continue };
        let shown = |reached: &Reached| super::reached(reached).split(", ").next().unwrap_or_default().to_owned();
        let own = format!("{}: {}", world.name, shown(paced));
        let better = format!("{} ({})", shown(better), name(&better.strategy));
        let why = reason(world);
        if let Some(row) = rows.iter_mut().find(|row| row[3] == why) {
            let _ = write!(row[1], "; {own}");
            let _ = write!(row[2], "; {better}");
        } else {
            rows.push(vec![
                "worlds: time / ideal, or lost operations".to_owned(),
                format!("paced: {own}"),
                better,
                why.to_owned(),
            ]);
        }
    }
    rows
}

/// Returns what the paced strategy did in a world, and what is better.
fn better_in(world: &World) -> Option<(&Reached, &Reached)> {
    let (paced, adaptive) = (world.shown.first()?, world.shown.get(1)?);
    let is_worse = |other: &&Reached| {
        let times = paced.time.mid.zip(other.time.mid);
        other.lost < paced.lost
            || (other.lost <= paced.lost && times.is_some_and(|(paced, time)| paced > MARGIN * time))
    };
    let better = if adaptive.is_better(&world.other) { adaptive } else { &world.other };
    Some(better).filter(is_worse).map(|better| (paced, better))
}

/// Returns the faults in which the quota by evidence is worse than `new()`, or gives fewer successes than no retries. (No retries are
/// the bound of the load and of a recovery.)
fn of_faults(report: &Report) -> Rows {
    let mut rows = Vec::new();
    for table in &report.tables {
        let is_less_better = ["recovery", "load", "bystanders"].contains(&table.name.as_str());
        let measure = table.measures.first().map_or("", String::as_str);
        for fault in distinct(table, 0) {
            let counts = distinct(table, 2);
            let of = |strategy: &str, quotas: &String| {
                // Without retries, the number of quotas does not matter.
                let quotas = if strategy == "no retries" { "1" } else { quotas };
                value(table, &[&fault, strategy, quotas], measure)
                    .ok()
                    .map(|spread| spread.mid.unwrap_or(f64::INFINITY))
            };
            let line = |strategy: &str| -> Option<Vec<f64>> {
                counts.iter().filter(|count| of("evidence", count).is_some()).map(|count| of(strategy, count)).collect()
            };
            let Some(evidence) = line("evidence") else { continue };
            let is_better = |strategy: &&str| {
                line(strategy).is_some_and(|other| {
                    other.iter().zip(&evidence).any(|(other, own)| {
                        if is_less_better { *own > MARGIN * other.max(1.0) } else { *own < other / MARGIN }
                    })
                })
            };
            let others = if is_less_better { &["new()"][..] } else { &["no retries", "new()"] };
            let better: Vec<&str> = others.iter().copied().filter(is_better).collect();
            if better.is_empty() {
                continue;
            }
            let shown = |strategy: &str| {
                let mut values: Vec<String> =
                    line(strategy).unwrap_or_default().iter().map(|value| number(*value)).collect();
                // Without retries, all are the same.
                values.dedup();
                format!("{}: {}", name(strategy), values.join(" / "))
            };
            let unit = match table.name.as_str() {
                "recovery" => "seconds to the recovery",
                "load" => "times the load",
                "bystanders" => "lost operations of the minute after it, %",
                _ => "successes, %",
            };
            rows.push(vec![
                format!("{fault}: {unit}; by number of processes"),
                shown("evidence"),
                better.into_iter().map(shown).collect::<Vec<_>>().join("; "),
                if fault.starts_with("down") {
                    "It begins like a long outage, which must not get as many retries (Q12)."
                } else {
                    "A process can't see how much its server has to spare (Q13)."
                }
                .to_owned(),
            ]);
        }
    }
    rows
}

fn number(value: f64) -> String {
    if value.is_infinite() { "never".to_owned() } else { fixed(value, if value < 10.0 { 2 } else { 1 }) }
}
