//! The picture of what hedges change: a row for each world, with a marker left of a line if hedges help, and right of it if they harm.

use super::parts::{Missing, claim, has_yours, table, value};
use super::scale::{Scale, fixed};
use super::style::{YOURS, look};
use super::svg::{Svg, WIDTH};
use crate::report::Report;
use crate::scenario::hedges::{Against, Case, Fault, Goal, World};

const TOP: f64 = 86.0;
const HEIGHT: f64 = 38.0;
/// Where the axis begins and ends.
const AXIS: (f64, f64) = (216.0, WIDTH - 206.0);
/// The multiples at both ends, as powers of two.
const ENDS: (f64, f64) = (-5.0, 2.0);
const TICKS: [(f64, &str); 7] =
    [(-5.0, "1/32"), (-4.0, "1/16"), (-3.0, "1/8"), (-2.0, "1/4"), (-1.0, "1/2"), (0.0, "same"), (1.0, "2 times")];

/// The ratio of the measures with and without hedges up to which the title says that hedges help.
const HELPS: f64 = 0.5;

/// What a world's measure is without hedges and with some.
struct Changed {
    world: World,
    without: f64,
    /// Names of strategies in the style sheet, and their values.
    with: Vec<(&'static str, f64)>,
}

impl Changed {
    fn of(report: &Report, world: World) -> Result<Self, Missing> {
        let table = table(report, "hedges")?;
        let of = |strategy: &str| {
            let spread = value(table, &[&world.name, strategy], world.goal.measure())?;
            Ok(spread.mid.unwrap_or(f64::INFINITY))
        };
        let against = |against| Case::new(&world, against).strategy;
        let mut with = vec![("p95", of(against(Against::Steered).name())?)];
        if let Some(delay) = world.fixed_ms {
            with.push(("fixed delay", of(against(Against::Fixed(delay)).name())?));
        }
        if has_yours(table) {
            with.push((YOURS, of(YOURS)?));
        }
        Ok(Self { without: of(against(Against::Nothing).name())?, with, world })
    }

    /// Returns the ratio of the measure with `p95` to that without hedges.
    fn ratio(&self) -> f64 {
        self.with[0].1 / self.without
    }

    /// Returns the values in words.
    fn text(&self) -> String {
        let (_, unit) = self.world.goal.measure().split_once(", ").unwrap_or_default();
        let number = |value: f64| fixed(value, usize::from(value < 100.0));
        let with: Vec<_> = self.with.iter().map(|(_, value)| number(*value)).collect();
        format!("{} → {} {unit}", number(self.without), with.join(", "))
    }
}

/// The measures of all worlds with hedges, as multiples of those without. The first calls of a process are in the table only.
pub(super) fn hedges(report: &Report) -> Result<String, Missing> {
    let worlds: Vec<World> = serde_json::from_value(report.options["worlds"].clone())
        .map_err(|error| Missing(format!("worlds: {error}")))?;
    let shown = worlds.into_iter().filter(|world| !matches!(world.goal, Goal::HedgedPercent(_)));
    let shown = shown.map(|world| Changed::of(report, world)).collect::<Result<Vec<_>, _>>()?;
    let hangs = shown.iter().find(|changed| changed.world.fault == Fault::Hang);
    let hangs = hangs.ok_or_else(|| Missing("world with a server that hangs".to_owned()))?;
    let is_found = hangs.ratio() <= HELPS;
    let (from, to) = (fixed(hangs.without, 0), fixed(hangs.with[0].1, 0));
    let finding = format!("Hedges cut p99 from {from} to {to} ms if one server hangs");
    let subtitle = format!(
        "With hedges, as a multiple of the same without: left of the line, hedges help. Medians of {} runs",
        report.seeds
    );
    let mut svg = Svg::new(&claim(report, is_found, finding), &subtitle);
    legend(&mut svg, &shown);
    let scale = Scale::linear(ENDS, AXIS, false);
    let bottom = shown.iter().fold(TOP, |bottom, _| bottom + HEIGHT);
    for (power, name) in TICKS {
        let x = scale.at(power);
        svg.path(if power == 0.0 { "ink" } else { "grid" }, "", &[(x, TOP), (x, bottom)]);
        svg.text("small middle", (x, bottom + 17.0), name);
    }
    let mut top = TOP;
    for changed in &shown {
        let middle = top + HEIGHT / 2.0;
        let (measure, _) = changed.world.goal.measure().split_once(", ").unwrap_or_default();
        svg.text("", (16.0, middle - 2.0), &changed.world.name);
        svg.text("small", (16.0, middle + 13.0), measure);
        for (name, value) in changed.with.iter().rev() {
            let (look, x) = (look(name), scale.at((value / changed.without).log2()));
            svg.path(&look.line(), "", &[(scale.at(0.0), middle), (x, middle)]);
            svg.marker("mark", look, (x, middle));
        }
        svg.text("", (AXIS.1 + 12.0, middle + 4.5), &changed.text());
        top += HEIGHT;
    }
    Ok(svg.finish(bottom + 24.0, ""))
}

/// Names the markers.
fn legend(svg: &mut Svg, shown: &[Changed]) {
    let most = shown.iter().max_by_key(|changed| changed.with.len());
    let mut x = AXIS.0;
    for (name, _) in most.iter().flat_map(|changed| &changed.with) {
        let look = look(name);
        svg.marker("mark", look, (x, 66.0));
        svg.text(look.colour, (x + 10.0, 70.5), name);
        x += 110.0;
    }
}
