//! The picture of the worlds.

use super::looks::{BLACK, GREEN, ORANGE, YOURS, look, spread};
use super::parts::{Missing, distinct, has_yours, option, table, value};
use super::scale::{Scale, number};
use super::svg::{Look, Marker, Svg, WIDTH};
use crate::judgement::DEFAULT;
use crate::report::{Report, Spread, Table};

/// The paced strategy with more attempts than the others.
const SHIPPED: &str = "paced, as shipped";
/// The strategies with markers of their own. The best of the other strategies has one, too.
const SHOWN: [&str; 2] = ["paced", "adaptive"];
const OTHER: Look = Look { marker: Marker::Circle, ..BLACK };
/// The multiple of the ideal time up to which the title counts.
const MOST: f64 = 1.5;
/// The ends of the axis. A longer time is at its end.
const BOUNDS: (f64, f64) = (1.0, 1_000.0);
const TICKS: [f64; 10] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0];

/// Where the rows begin.
const TOP: f64 = 112.0;
const HEIGHT: f64 = 27.0;
const SECTION: f64 = 26.0;
/// The distance of two markers in a row.
const STEP: f64 = 7.5;
/// The ends of the axis as positions, and the place for lost operations.
const AXIS: (f64, f64) = (240.0, 584.0);
const LOST: f64 = 616.0;

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

    fn is_within(&self, most: f64) -> bool {
        self.lost == 0.0 && self.time.mid.is_some_and(|time| time <= most)
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

/// The time as a multiple of the ideal, and what is lost, in all worlds.
pub(super) fn picture(report: &Report) -> Result<String, Missing> {
    let worlds = worlds(report)?;
    let within = |index: usize| worlds.iter().filter(|world| world.shown[index].is_within(MOST)).count();
    let (paced, adaptive) = (within(0), within(1));
    let count = worlds.len();
    let title = if paced > adaptive {
        format!("{count} worlds: paced takes up to {MOST} times the ideal in {paced}, adaptive in {adaptive}")
    } else {
        format!("A bulk copy in {count} worlds: the time, and the lost operations")
    };
    let attempts = number(option(report, "max_attempts"));
    let subtitle = format!(
        "The time as a multiple of the ideal time; up to {attempts} attempts for an operation, rejected ones included"
    );
    let mut svg = Svg::new(&title, &subtitle);
    let mut looks: Vec<(Look, &str)> = vec![(GREEN, "paced"), (ORANGE, "adaptive")];
    if worlds.iter().any(|world| world.shown.len() > SHOWN.len()) {
        looks.push((look(YOURS), YOURS));
    }
    looks.push((OTHER, "the best other"));
    let mut left = AXIS.0;
    for (look, name) in &looks {
        svg.name(*look, (left, 68.0), name);
        left += 100.0;
    }
    let bottom = draw(&mut svg, &worlds, &looks);
    let within = worlds.iter().filter(|world| world.other.is_within(MOST)).count();
    let notes = [
        format!(
            "Hollow: operations are lost, so ignore the time; their number is on the right. The best other: of new() with and \
             without its quota, and a plain AIMD rate and window, the fastest of those that lose least, picked for each world by \
             its result. It is within {MOST} times the ideal in {within}. The numbers, and which one it is, are in lab/results/README.md."
        ),
        "20 slots: a server that rejects immediately while all are in use. limit_req: nginx. Server errors being rejections: the \
         strategy paced has this setting."
            .to_owned(),
        spread("whiskers", report.seeds),
    ];
    Ok(svg.finish(bottom, &notes))
}

/// Draws the rows, and returns where they end.
#[expect(clippy::cast_precision_loss, reason = "a picture has few rows")]
fn draw(svg: &mut Svg, worlds: &[World], looks: &[(Look, &str)]) -> f64 {
    let sections =
        worlds.iter().enumerate().filter(|(index, world)| *index == 0 || worlds[index - 1].kind != world.kind).count();
    let bottom = TOP + HEIGHT * worlds.len() as f64 + SECTION * sections as f64;
    let scale = Scale::logarithmic(BOUNDS, AXIS);
    svg.text("strong", (LOST, TOP - 10.0), "lost operations");
    for tick in TICKS {
        let x = scale.at(tick);
        svg.text("small middle", (x, TOP - 10.0), &number(tick));
        svg.text("small middle", (x, bottom + 18.0), &number(tick));
    }
    svg.text("small middle", (f64::midpoint(AXIS.0, AXIS.1), bottom + 36.0), "logarithmic");
    let (mut top, mut section) = (TOP, None);
    for world in worlds {
        if section != Some(&world.kind) {
            section = Some(&world.kind);
            svg.text("strong", (16.0, top + SECTION - 9.0), &world.kind);
            top += SECTION;
        }
        svg.path("grid", "", &[(16.0, top), (WIDTH - 16.0, top)]);
        for tick in TICKS {
            svg.path("grid", "", &[(scale.at(tick), top), (scale.at(tick), top + HEIGHT)]);
        }
        svg.path("ink line", "5 4", &[(scale.at(1.0), top), (scale.at(1.0), top + HEIGHT)]);
        let middle = top + HEIGHT / 2.0;
        // The heading says what the name ends with.
        svg.text("", (16.0, middle + 4.0), world.name.trim_end_matches(" (set)"));
        let reached: Vec<&Reached> = world.shown.iter().chain([&world.other]).collect();
        let first = middle - STEP * (reached.len() - 1) as f64 / 2.0;
        let mut lost = Vec::new();
        for (index, (reached, (look, name))) in reached.into_iter().zip(looks).enumerate() {
            let y = first + STEP * index as f64;
            let at = |time: Option<f64>| scale.at(time.unwrap_or(f64::MAX));
            let (low, mid, high) = (at(reached.time.low), at(reached.time.mid), at(reached.time.high));
            svg.path(&look.line(), "", &[(low, y), (high, y)]);
            if reached.lost > 0.0 {
                svg.hollow_marker(*look, (mid, y));
                lost.push(format!("{} {}", name.trim_start_matches("the best "), number(reached.lost.ceil())));
            } else {
                svg.marker(*look, (mid, y));
            }
        }
        let lines = lost.chunks(2).count();
        for (index, parts) in lost.chunks(2).enumerate() {
            let y = middle + 4.0 + 13.0 * (index as f64 - (lines - 1) as f64 / 2.0);
            svg.text("small", (LOST, y), &parts.join(", "));
        }
        top += HEIGHT;
    }
    bottom + 44.0
}
