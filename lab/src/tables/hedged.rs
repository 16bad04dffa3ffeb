//! What hedges reach in worlds in which they help, do nothing, or could harm.

use super::{Rows, name, row};
use crate::chart::parts::{Missing, table, value};
use crate::chart::scale::fixed;
use crate::report::Report;
use crate::scenario::hedges::{Against, Case, Goal, World};

/// What a world has in the results.
struct Reached {
    world: World,
    strategy: String,
    without: f64,
    with: f64,
    limit: f64,
}

impl Reached {
    fn of(report: &Report, world: World) -> Result<Self, Missing> {
        let table = table(report, "hedges")?;
        let judged = Case::new(&world, world.judged()).strategy.name().to_owned();
        let of = |strategy: &str| -> Result<f64, Missing> {
            let spread = value(table, &[&world.name, strategy], world.goal.measure())?;
            Ok(spread.mid.unwrap_or(f64::INFINITY))
        };
        let without = of(Case::new(&world, Against::Nothing).strategy.name())?;
        let (with, limit) = (of(&judged)?, world.goal.limit(without));
        Ok(Self { world, strategy: judged, without, with, limit })
    }

    fn number(value: f64) -> String {
        fixed(value, usize::from(value < 100.0))
    }

    /// Returns why a goal is missed.
    const fn reason(&self) -> &'static str {
        match self.world.goal {
            Goal::P99(_) => {
                "6 % of the calls meet a pause or the queue after it, so the delay of `p95` is mostly 220 to 470 ms (V1). With 150 ms, hedges for 5 % are needed, and the quota sells 4.7 % (V9)."
            }
            _ => {
                "Calls of many processes reach twice the delay before each of these processes knows that all calls are slow (V17)."
            }
        }
    }
}

fn all(report: &Report) -> Result<Vec<Reached>, Missing> {
    let worlds: Vec<World> = serde_json::from_value(report.options["worlds"].clone())
        .map_err(|error| Missing(format!("worlds: {error}")))?;
    worlds.into_iter().map(|world| Reached::of(report, world)).collect()
}

/// All worlds.
pub(super) fn hedged(report: &Report) -> Result<Rows, Missing> {
    let mut rows = vec![row(&["world", "measure", "no hedge", "with hedges", "goal, at most"])];
    for reached in all(report)? {
        let Reached { world, strategy, without, with, limit } = &reached;
        let with = Reached::number(*with);
        rows.push(vec![
            world.name.clone(),
            world.goal.measure().to_owned(),
            Reached::number(*without),
            if strategy == "p95" { with } else { format!("{with} ({})", name(strategy)) },
            Reached::number(*limit),
        ]);
    }
    Ok(rows)
}

/// Returns the rows of the worlds in which hedges miss their goal.
pub(super) fn worse(report: &Report) -> Result<Rows, Missing> {
    let missed = all(report)?.into_iter().filter(|reached| reached.with > reached.limit);
    let row = |reached: Reached| {
        let Reached { world, strategy, without, with, limit } = &reached;
        vec![
            format!("hedges, {}: {}", world.name, world.goal.measure()),
            format!("{}: {}", name(strategy), Reached::number(*with)),
            format!("the goal: {}; no hedge: {}", Reached::number(*limit), Reached::number(*without)),
            reached.reason().to_owned(),
        ]
    };
    Ok(missed.map(row).collect())
}
