//! The picture of this library beside other crates.

use super::dots::{Dot, Dots, Panel, Row, TOP};
use super::looks::{is_peer, look, spread};
use super::parts::{Missing, filled, highest, option, scaled, table, value};
use super::rows::{GAVE_UP, ideal, longest, times};
use super::scale::number;
use super::svg::Svg;
use crate::report::{Report, Spread};
use retry_core::StandardRetryStrategy;

/// A heading, and the strategies below it by the names that they have in a bulk copy.
type Kind = (Option<&'static str>, &'static [&'static str]);

const BOUND: Kind = (None, &["no retries"]);
const UNLIMITED: Kind = (Some("no shared limit on retries"), &["new(), no quota", "backon", "tokio-retry2"]);
const LIMITED: Kind = (Some("a shared limit on retries"), &["new()", "tower", "aws-smithy-runtime, standard"]);
const LIMITERS: Kind = (Some("also a limit on sends"), &["adaptive", "paced", "aws-smithy-runtime, adaptive"]);
/// The strategies where a server fails, and where it limits the rate.
const FAILING: &[Kind] = &[BOUND, UNLIMITED, LIMITED];
const LIMITING: &[Kind] = &[BOUND, UNLIMITED, LIMITED, LIMITERS];

/// The part of the attempts that fail in the partial outage, in percent.
const FAILS: f64 = 30.0;
/// The number of workers of the bulk copy.
const WORKERS: f64 = 64.0;

/// The scenarios of [`peers`].
pub const PEERS: [&str; 4] = ["outage", "layers", "partial", "copy"];

/// The reports that the picture needs.
struct Reports<'a> {
    outage: &'a Report,
    layers: &'a Report,
    partial: &'a Report,
    copy: &'a Report,
}

/// Draws the picture of this library beside other crates, from the reports of [`PEERS`].
///
/// # Errors
///
/// Returns an error if a report is missing, or a value in one.
pub fn peers(reports: &[Report]) -> Result<String, Missing> {
    let report = |name: &str| {
        let report = reports.iter().find(|report| report.scenario == name);
        report.ok_or_else(|| Missing(format!("scenario {name:?}")))
    };
    let reports = Reports {
        outage: report("outage")?,
        layers: report("layers")?,
        partial: report("partial")?,
        copy: report("copy")?,
    };
    let (failing, limiting) = (reports.failing()?, reports.limiting()?);
    // The recovery and the peak are lower with a limit, and the failed operations higher.
    let is_found = is_apart(&failing, 0, LIMITED, UNLIMITED)
        && is_apart(&failing, 1, LIMITED, UNLIMITED)
        && is_apart(&failing, 3, UNLIMITED, LIMITED)
        && is_apart(&limiting, 0, UNLIMITED, LIMITED);
    let title = if is_found {
        "This library and others: a shared retry limit saves servers and loses operations"
    } else {
        "This library and other crates in four scenarios"
    };
    let mut svg = Svg::new(
        title,
        "Above: servers that fail; below: a rate limit. Less is better. In colour: this library, retry-core.",
    );
    let middle = failing.draw(&mut svg, TOP);
    let bottom = limiting.draw(&mut svg, middle);
    Ok(svg.finish(bottom, &reports.notes()))
}

impl Reports<'_> {
    /// The scenarios in which a server fails.
    fn failing(&self) -> Result<Dots<'static>, Missing> {
        let Self { outage, layers, partial, .. } = self;
        let (load, fails) = (load(outage).to_string(), FAILS.to_string());
        let recovery = values(FAILING, |name| value(table(outage, "outage")?, &[&load, name, "1"], "recovery, s"))?;
        let most = values(FAILING, |name| {
            let name = match name {
                "new()" => "quota",
                "new(), no quota" => "no quota",
                name => name,
            };
            value(table(layers, "layers")?, &[name], "highest load, 1/s")
        })?;
        let in_partial = |name: &str, measure: &str| {
            let name = if name == "new(), no quota" { "three retries" } else { name };
            value(table(partial, "partial")?, &[name, &fails], measure)
        };
        let attempts = values(FAILING, |name| in_partial(name, "attempts per operation"))?;
        let failed = values(FAILING, |name| Ok(rest(in_partial(name, "successes, %")?)))?;
        let recovery = panel("seconds to recover", recovery, longest(outage));
        let bounds = (option(layers, "rate"), highest(&most));
        let most = Panel { bounds, is_logarithmic: true, has_bars: false, ..panel("peak attempts/s", most, 0.0) };
        let (tries, lost) = (highest(&attempts), highest(&failed));
        let panels = vec![
            under("outage", Panel { decimals: 0, never: "never", ..recovery }),
            under("services in a row", Panel { decimals: 0, ..most }),
            under(
                &format!("{FAILS} % of the attempts fail"),
                Panel { decimals: 2, ..panel("attempts for each", attempts, tries) },
            ),
            panel("lost operations, %", failed, lost),
        ];
        Ok(dots(FAILING, panels))
    }

    /// A bulk copy against a rate limit.
    fn limiting(&self) -> Result<Dots<'static>, Missing> {
        let copy = self.copy;
        let in_copy = |measure: &str, factor: f64| {
            let workers = WORKERS.to_string();
            values(LIMITING, |name| Ok(scaled(value(table(copy, "copy")?, &[name, &workers], measure)?, factor)))
        };
        let failed = in_copy("failed operations", 100.0 / option(copy, "operations"))?;
        let (rejected, time) = (in_copy("rejected share", 100.0)?, in_copy("time, s", 1.0)?);
        let (ideal, end) = (ideal(copy), highest(&time));
        let seconds = Panel::new("seconds until done", times(&time, &failed), end.max(ideal));
        let panels = vec![
            under("a bulk copy against a rate limit", panel("failed operations, %", failed, 100.0)),
            panel("rejected attempts, %", rejected, 100.0),
            Panel { has_bars: false, reference: Some((ideal, format!("ideal: {} s", number(ideal)))), ..seconds },
        ];
        Ok(dots(LIMITING, panels))
    }

    fn notes(&self) -> [String; 4] {
        let Self { outage, layers, copy, .. } = self;
        let shipped = StandardRetryStrategy::new().settings().max_attempts;
        [
            format!(
                "Outage: a server for {} attempts/s stalls for {} s at a load of {:.0} %; \"never\": not \
                 within {} s after that. In a row: each of {} services calls the next one, and all retry, with {} \
                 operations/s; the last one fails. Peak: attempts at it in the worst second.",
                option(outage, "rate"),
                option(outage, "stall_s"),
                load(outage) * 100.0,
                number(longest(outage)),
                option(layers, "services"),
                option(layers, "rate"),
            ),
            format!(
                "Copy: {} operations by {WORKERS} workers; {} attempts/s are admitted, and {} at first. Hollow: ignore \
                 the time, because more than {GAVE_UP} % of the operations were given up. A limit on sends learns its rate from \
                 rejections, so it is shown only here.",
                number(option(copy, "operations")),
                option(copy, "rate"),
                option(copy, "burst"),
            ),
            format!(
                "Up to {} attempts for an operation, but {shipped} with retry-core in the outage and with its new() where {FAILS} % \
                 fail. Limits are as shipped: retry-core's quota, tower's budget, and aws-smithy-runtime in its standard mode and, \
                 with a limit on sends, its adaptive one.",
                option(copy, "max_attempts"),
            ),
            spread("whiskers", copy.seeds),
        ]
    }
}

/// Returns the load of the outage, as a part of what the server bears.
fn load(outage: &Report) -> f64 {
    outage.options["loads"].as_array().and_then(|loads| loads.first()?.as_f64()).unwrap_or(0.0)
}

/// Returns panels whose rows are the strategies of kinds.
fn dots(kinds: &[Kind], panels: Vec<Panel<'static>>) -> Dots<'static> {
    let row = |section: Option<&'static str>, strategy: &str| {
        let name = match strategy {
            bound if bound == BOUND.1[0] => strategy.to_owned(),
            // The headings tell the modes of a crate apart.
            peer if is_peer(peer) => peer.split(',').next().unwrap_or(peer).to_owned(),
            own => format!("retry-core: {own}"),
        };
        Row { name, look: look(strategy), section }
    };
    let rows = kinds.iter().flat_map(|(section, strategies)| {
        let sections = std::iter::once(*section).chain(std::iter::repeat(None));
        strategies.iter().zip(sections).map(|(strategy, section)| row(section, strategy))
    });
    Dots { rows: rows.collect(), lanes: vec![String::new()], panels }
}

/// Returns the values of the strategies, one for each row.
fn values(kinds: &[Kind], value: impl Fn(&str) -> Result<Spread, Missing>) -> Result<Vec<Vec<Spread>>, Missing> {
    kinds.iter().flat_map(|(_, names)| *names).map(|name| Ok(vec![value(name)?])).collect()
}

fn under(section: &str, panel: Panel<'static>) -> Panel<'static> {
    Panel { section: Some(section.to_owned()), ..panel }
}

fn panel(name: &str, values: Vec<Vec<Spread>>, end: f64) -> Panel<'static> {
    Panel::new(name, filled(values), end)
}

/// Returns what is left to 100 %.
fn rest(Spread { low, mid, high }: Spread) -> Spread {
    let rest = |percent: Option<f64>| percent.map(|percent| 100.0 - percent);
    Spread { low: rest(high), mid: rest(mid), high: rest(low) }
}

/// Returns whether each median of one kind in a panel is lower than each one of another kind; "never" is infinite.
fn is_apart(dots: &Dots<'_>, panel: usize, lower: Kind, higher: Kind) -> bool {
    let medians = |(section, names): Kind| {
        let first = dots.rows.iter().position(|row| row.section == section).unwrap_or(0);
        let values = dots.panels[panel].values[first..first + names.len()].iter().flatten();
        values.map(|Dot(spread, _)| spread.mid.unwrap_or(f64::INFINITY)).collect::<Vec<f64>>()
    };
    let highest = medians(lower).into_iter().fold(0.0, f64::max);
    medians(higher).into_iter().all(|median| highest < median)
}
