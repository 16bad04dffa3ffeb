//! What strategies reach in the worlds that no limiter was tuned on.

use super::{Rows, name, row};
use crate::chart::parts::{Missing, distinct, table, value};
use crate::chart::scale::fixed;
use crate::report::{Report, Table};

/// The part by which a time must be longer to be worse.
const MARGIN: f64 = 1.1;

/// What a strategy did in a world, in the median of the runs.
struct Reached {
    strategy: String,
    /// The operations that failed, in the 90th percentile of the runs.
    lost: f64,
    /// The time as a multiple of the ideal time, or the mean latency under an open load.
    cost: f64,
    rejected: f64,
    /// The operations that succeed in a second.
    goodput: f64,
    is_open: bool,
    has_deadline: bool,
}

/// Returns whether an option of a world has a value.
fn is_set(report: &Report, world: &str, option: &str) -> bool {
    let mut worlds = report.options["worlds"].as_array().into_iter().flatten();
    worlds.any(|listed| listed["name"] == world && !listed[option].is_null())
}

impl Reached {
    fn of(report: &Report, world: &str, strategy: &str) -> Result<Self, Missing> {
        let table = table(report, "untold")?;
        let measure = |name| value(table, &[world, strategy], name);
        let (is_open, has_deadline) = (is_set(report, world, "per_second"), is_set(report, world, "max_time_s"));
        let cost = measure(if is_open { "mean latency, s" } else { "time / ideal" })?;
        Ok(Self {
            strategy: strategy.to_owned(),
            lost: measure("failed operations")?.high.unwrap_or(0.0),
            cost: cost.mid.unwrap_or(f64::INFINITY),
            rejected: measure("rejected share")?.mid.unwrap_or(0.0),
            goodput: measure("goodput, per second")?.mid.unwrap_or(0.0),
            is_open,
            has_deadline,
        })
    }

    /// Returns whether this is better than another: fewer operations are lost, or more are in time, or it costs less.
    fn is_better(&self, other: &Self) -> bool {
        if self.has_deadline {
            return self.goodput > other.goodput;
        }
        (self.lost, self.cost) < (other.lost, other.cost)
    }

    fn shown(&self) -> String {
        let rejected = fixed(self.rejected * 100.0, 1);
        let cost = fixed(self.cost, if self.cost < 10.0 { 2 } else { 0 });
        match self {
            Self { has_deadline: true, .. } => format!("{}/s, {cost} s, {rejected} %", fixed(self.goodput, 1)),
            Self { lost, .. } if *lost > 0.0 => format!("{} lost, {rejected} %", fixed(lost.ceil(), 0)),
            Self { is_open: true, .. } => format!("{cost} s, {rejected} %"),
            _ => format!("{cost}x, {rejected} %"),
        }
    }
}

/// Returns the best of these strategies in a world.
fn best(report: &Report, world: &str, strategies: &[String]) -> Result<Option<Reached>, Missing> {
    let mut best: Option<Reached> = None;
    for strategy in strategies {
        let reached = Reached::of(report, world, strategy)?;
        if best.as_ref().is_none_or(|best| reached.is_better(best)) {
            best = Some(reached);
        }
    }
    Ok(best)
}

/// Returns the strategies of a world other than paced ones. A plain limiter does not know a deadline, so it is left out if operations
/// have one.
fn others(table: &Table, report: &Report, world: &str) -> Result<Vec<String>, Missing> {
    let rows = table.rows.iter().filter(|row| row.keys[0] == world);
    let mut others: Vec<String> = rows.map(|row| row.keys[1].clone()).filter(|key| !key.starts_with("paced")).collect();
    if let Some(first) = others.first()
        && Reached::of(report, world, first)?.has_deadline
    {
        others.retain(|other| !other.starts_with("AIMD") && !other.starts_with("governor"));
    }
    Ok(others)
}

/// All worlds.
pub(super) fn untold(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "untold")?;
    let mut rows = vec![row(&["world", "paced", "paced, told", "adaptive", "the best other", "which"])];
    for world in distinct(table, 0) {
        let others = others(table, report, &world)?;
        let Some(other) = best(report, &world, &others)? else { continue };
        let shown = |strategy: &str| Reached::of(report, &world, strategy).map(|reached| reached.shown());
        let told = if is_set(report, &world, "told") { shown("paced, told")? } else { String::new() };
        rows.push(vec![world.clone(), shown("paced")?, told, shown("adaptive")?, other.shown(), name(&other.strategy)]);
    }
    Ok(rows)
}

/// Returns why a world is worse with the paced strategy.
fn reason(world: &str) -> &'static str {
    match world {
        _ if world.contains("bad key") => {
            "The first rejections of each operation are treated as rejections by the shared limit (L53)."
        }
        _ if world.contains("noise") => {
            "A client that sends less than 150 per second can't tell noise from its neighbours (L16)."
        }
        _ if world.contains("firewall") || world.contains("ban") => {
            "A ban is known only after a second one (L67 to L71). Tell such a limit (L18)."
        }
        _ if world.contains("arrives") => "An operation takes a place in the queue until its time is over (L9).",
        _ if world.contains("hour") => {
            "The wait is longer than `max_retry_after`, as the reason and a warning say (L31)."
        }
        _ if world.contains("1 in ") => "A ramp begins at 100 requests per second. Tell such a limit (L18).",
        _ if world.contains("others") => "Each fall and each rise is known only after a measurement (L2, L64).",
        _ if world.contains("3,500") => "The ramp begins at 100 requests per second (L1).",
        _ => "Rejections come although the limit of all servers together is not reached (L3).",
    }
}

/// Returns the rows of the worlds in which another strategy is better than the paced one, with the rejected part of both. One that
/// was told the limit is not compared.
pub(super) fn worse(report: &Report) -> Result<Rows, Missing> {
    let table = table(report, "untold")?;
    let mut rows = Vec::new();
    for world in distinct(table, 0) {
        let mut others = others(table, report, &world)?;
        others.retain(|other| !other.contains("told"));
        let (Some(other), paced) = (best(report, &world, &others)?, Reached::of(report, &world, "paced")?) else {
            continue;
        };
        let is_worse = if paced.has_deadline {
            MARGIN * paced.goodput < other.goodput
        } else {
            other.lost < paced.lost || other.lost <= paced.lost && paced.cost > MARGIN * other.cost
        };
        if is_worse {
            let better = format!("{} ({})", other.shown(), name(&other.strategy));
            rows.push(vec![
                format!("{world}: {}, rejected", unit(&paced)),
                format!("paced: {}", paced.shown()),
                better,
                reason(&world).to_owned(),
            ]);
        }
    }
    Ok(rows)
}

const fn unit(reached: &Reached) -> &'static str {
    match reached {
        Reached { has_deadline: true, .. } => "in time and mean latency",
        Reached { is_open: true, .. } => "mean latency",
        _ => "time / ideal, or lost operations",
    }
}
