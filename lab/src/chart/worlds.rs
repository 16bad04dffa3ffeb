//! What strategies reach in the worlds.

use super::parts::{Missing, distinct, has_yours, table, value};
use super::style::YOURS;
use crate::judgement::DEFAULT;
use crate::report::{Report, Spread, Table};

/// The paced strategy with more attempts than the others.
const SHIPPED: &str = "paced, as shipped";
/// The strategies that are shown by their names. Of the other strategies, the best one is.
const SHOWN: [&str; 2] = ["paced", "adaptive"];

/// What a strategy did in a world.
pub(crate) struct Reached {
    pub(crate) strategy: String,
    /// The time as a multiple of the ideal time.
    pub(crate) time: Spread,
    /// The operations that failed, in the 90th percentile of the runs.
    pub(crate) lost: f64,
    /// The part of the requests that was rejected.
    pub(crate) rejected: Spread,
}

impl Reached {
    fn of(table: &Table, world: &str, strategy: &str) -> Result<Self, Missing> {
        let measure = |name| value(table, &[world, strategy], name);
        Ok(Self {
            strategy: strategy.to_owned(),
            time: measure("time / ideal")?,
            lost: measure("failed operations")?.high.unwrap_or(0.0),
            rejected: measure("rejected share")?,
        })
    }

    /// Returns whether this is better than another: fewer operations are lost, or the time is shorter.
    pub(crate) fn is_better(&self, other: &Self) -> bool {
        (self.lost, self.time.mid) < (other.lost, other.time.mid)
    }
}

/// A world: the strategies of [`SHOWN`], and the best of the other strategies.
pub(crate) struct World {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) shown: Vec<Reached>,
    pub(crate) other: Reached,
}

/// Returns the worlds of a report, with the user's own settings after the shipped strategies if they are there.
pub(crate) fn worlds(report: &Report) -> Result<Vec<World>, Missing> {
    let table = table(report, "worlds")?;
    let shown: Vec<&str> = SHOWN.into_iter().chain(has_yours(table).then_some(YOURS)).collect();
    let others: Vec<String> = distinct(table, 1)
        .into_iter()
        .filter(|strategy| ![SHIPPED, DEFAULT].contains(&strategy.as_str()) && !shown.contains(&strategy.as_str()))
        .collect();
    let world = |name: String| -> Result<World, Missing> {
        let mut other = None;
        for strategy in &others {
            let reached = Reached::of(table, &name, strategy)?;
            if other.as_ref().is_none_or(|other| reached.is_better(other)) {
                other = Some(reached);
            }
        }
        let listed = report.options["worlds"].as_array().into_iter().flatten();
        let kind = listed.filter(|world| world["name"] == name).find_map(|world| world["kind"].as_str());
        Ok(World {
            kind: kind.unwrap_or("").to_owned(),
            shown: shown.iter().map(|strategy| Reached::of(table, &name, strategy)).collect::<Result<_, _>>()?,
            other: other.ok_or_else(|| Missing("other strategy".to_owned()))?,
            name,
        })
    };
    distinct(table, 0).into_iter().map(world).collect()
}
