//! The pictures with lines.

use super::lines::{Panel, Series, draw, series};
use super::parts::{Missing, claim, last, option, peak, plot, points, table, text, value};
use super::scale::{fixed, number};
use super::style::{BLUE, GREY, INK, Look, YOURS, look};
use crate::report::{Plot, Point, Report, Spread};
use crate::scenario::lengths::WITH_MAX_TIME;

/// Moves means over spans of time from the beginning of the span to its middle, except that of a line.
fn centred(plot: &Plot, except: &str) -> Plot {
    let mut plot = plot.clone();
    for line in plot.lines.iter_mut().filter(|line| line.name != except) {
        if let [first, second, ..] = line.points[..] {
            line.points.iter_mut().for_each(|point| point.x += (second.x - first.x) / 2.0);
        }
    }
    plot
}

/// Writes to one row: how many, and how long they take.
pub(super) fn contention(report: &Report) -> Result<String, Missing> {
    let (writes, time) = (plot(report, "attempts")?, plot(report, "time")?);
    let mut shown = series(writes, &["no backoff", "no jitter", "full jitter"])?;
    for each in &mut shown {
        each.name = format!("{}: {} s", each.name, number(last(time, &each.name)?));
    }
    shown.push(Series { name: "one write each".to_owned(), ..Series::of(writes, "ideal")? });
    let saved = |plot| Ok(100.0 * (1.0 - last(plot, "full jitter")? / last(plot, "no jitter")?));
    let (fewer, faster) = (saved(writes)?, saved(time)?);
    let finding =
        format!("Many clients write one row: jitter saves {fewer:.0} % of the writes and {faster:.0} % of the time");
    let title = claim(report, fewer > 0.0 && faster > 0.0, finding);
    let (most, runs) = (points(writes, "full jitter")?.last().map_or(0.0, |point| point.x), report.seeds);
    let subtitle = format!(
        "Each client tries until its write succeeds. At the lines: the time for {most} clients. Medians of {runs} runs"
    );
    Ok(draw(&title, &subtitle, &[Panel::new(("clients", "writes until all are done"), shown)]))
}

/// A restart: how many operations are lost.
pub(super) fn restart(report: &Report) -> Result<String, Missing> {
    let lost = plot(report, "lost")?;
    let shown = series(lost, &["full jitter", "equal jitter", "no jitter", "new(), as shipped"])?;
    let at = |shown: &Series| {
        shown.points.iter().find(|point| (point.x - 0.7).abs() < 1e-9).and_then(|point| point.y.mid).unwrap_or(0.0)
    };
    let (full, equal) = (at(&shown[0]), at(&shown[1]));
    let share = if equal < 0.5 { "none".to_owned() } else { format!("{equal:.0} %") };
    let finding = format!("A server is away for 0.7 s: full jitter loses {full:.0} %, equal jitter {share}");
    let title = claim(report, full > 2.0 * equal && full > 1.0, finding);
    let [attempts, base] = ["max_attempts", "base_ms"].map(|name| text(report, name));
    let subtitle = format!(
        "Up to {attempts} attempts, with a backoff that begins with {base} ms, and with 1 s as shipped; means of {} runs",
        report.seeds
    );
    Ok(draw(&title, &subtitle, &[Panel::new(("seconds that the server is away", "lost operations, %"), shown)]))
}

/// A partial outage: the load, and what succeeds.
pub(super) fn partial(report: &Report) -> Result<String, Missing> {
    let strategies = ["three retries", "new()", "no retries"];
    let mut load = series(plot(report, "load")?, &strategies)?;
    let (unbounded, bounded) = (peak(&load[0].points).1, peak(&load[1].points).1);
    for series in &mut load {
        series.name.clear();
    }
    let finding = format!(
        "Retries without a quota load a failing server up to {} times, new() up to {}",
        number(unbounded),
        fixed(bounded, 2)
    );
    let title = claim(report, unbounded > 1.5 * bounded, finding);
    let subtitle = format!(
        "Each attempt fails with the same probability. Three retries: a loop without a quota. Medians of {} runs",
        report.seeds
    );
    let failing = "attempts that fail, %";
    let load = Panel { bounds: (1.0, 1.0), ..Panel::new((failing, "attempts per operation"), load) };
    let successes = series(plot(report, "successes")?, &strategies)?;
    Ok(draw(&title, &subtitle, &[load, Panel::new((failing, "operations that succeed, %"), successes)]))
}

/// Outages by their length: the calls that succeed, and what the server gets afterwards. The first picture of the README.
pub(super) fn lengths(report: &Report) -> Result<String, Missing> {
    let strategies = ["no retries", "no quota", "new()", "patient"];
    let (bridged, table) = (plot(report, "bridged")?, table(report, "lengths")?);
    let mut succeed = series(bridged, &strategies)?;
    let with_time = Look { dashes: "6 3", ..look("patient") };
    succeed.push(Series { look: with_time, ..Series::of(bridged, WITH_MAX_TIME)? });
    for series in &mut succeed {
        series.name.clear();
    }
    let mut after = series(plot(report, "after")?, &strategies)?;
    for series in after.iter_mut().filter(|series| series.name != YOURS) {
        series.name.clear();
    }
    let of = |strategy, measure| value(table, &[strategy, "10"], measure);
    let share = |strategy| Ok(of(strategy, "bridged, %")?.mid.unwrap_or(0.0));
    let (ours, backoff) = (share("patient")?, share("no quota")?);
    let is_down = |strategy| Ok(of(strategy, "recovery, s")?.mid.is_none());
    let is_found = ours > 95.0 && ours > 2.0 * backoff && is_down("no quota")? && !is_down("patient")?;
    let finding = format!(
        "A 10 s outage: {} % of its calls succeed with this library, {backoff:.0} % with backoff",
        fixed(ours, 1)
    );
    let title = claim(report, is_found, finding);
    let [rate, processes] = ["rate", "processes"].map(|name| text(report, name));
    let subtitle = format!(
        "{processes} processes send {} calls/s to a server of {rate}/s, which is down for a time (simulation, medians of {} runs)",
        number(option(report, "rate") * option(report, "load")),
        report.seeds
    );
    let texts = vec![
        (format!("max_time = {} s", text(report, "max_time_s")), with_time, (18.8, 86.0)),
        ("this library".to_owned(), look("patient"), (20.0, 72.0)),
        ("backoff alone".to_owned(), look("no quota"), (11.0, 33.0)),
        ("AWS's quota".to_owned(), BLUE, (7.8, 4.0)),
        ("no retries".to_owned(), GREY, (21.0, 4.0)),
    ];
    let length = "seconds that the server is down";
    let left =
        Panel { bounds: (0.0, 100.0), texts, ..Panel::new((length, "calls of the outage that succeed, %"), succeed) };
    let texts = vec![
        ("backoff alone: it stays down".to_owned(), look("no quota"), (10.5, 215.0)),
        ("the most that it can serve".to_owned(), INK, (12.0, 107.0)),
        ("the others: it works again".to_owned(), look("patient"), (12.0, 71.0)),
    ];
    let capacity = [0.0, 30.0].map(|x| Point { x, y: Spread::exactly(100.0) });
    after.insert(0, Series { look: INK, ..Series::new("", capacity.to_vec()) });
    let right = Panel { texts, ..Panel::new((length, "requests in the minute after it, % of capacity"), after) };
    Ok(draw(&title, &subtitle, &[left, right]))
}

/// A limit that changes: what is used of it, and what fails.
pub(super) fn changing(report: &Report) -> Result<String, Missing> {
    let (plot, table) = (centred(plot(report, "throughput")?, "limit"), table(report, "limit")?);
    let mut used = series(&plot, &["new(), no quota", "adaptive", "paced"])?;
    let mut failed = Vec::new();
    for series in &mut used {
        let mut most = 0.0_f64;
        for row in table.rows.iter().filter(|row| row.keys[0] == series.name) {
            let keys: Vec<&str> = row.keys.iter().map(String::as_str).collect();
            most = most.max(100.0 * value(table, &keys, "failed share of operations")?.mid.unwrap_or(0.0));
        }
        let fail = if most == 0.0 { "none fails".to_owned() } else { format!("up to {most:.0} % fail") };
        series.name = format!("{}: {fail}", series.name);
        failed.push(most);
    }
    let finding = format!("A changing limit: retries without a quota lose up to {:.0} %, a limiter none", failed[0]);
    let title = claim(report, failed[0] > 1.0 && failed[1] == 0.0 && failed[2] == 0.0, finding);
    used.insert(
        0,
        Series { look: GREY.wide(), name: "the limit (wide line)".to_owned(), ..Series::of(&plot, "limit")? },
    );
    let (workers, runs) = (text(report, "workers"), report.seeds);
    let subtitle = format!(
        "{workers} workers of one client send as much as they can; medians of {runs} runs, and the 10th to 90th percentile"
    );
    Ok(draw(&title, &subtitle, &[Panel::new(("time, s", "operations that succeed, per second"), used)]))
}

/// Services in a row: the load on the last one.
pub(super) fn layers(report: &Report) -> Result<String, Missing> {
    let plot = &centred(plot(report, "load")?, "");
    let during = |strategy| Ok(value(table(report, "layers")?, &[strategy], "during")?.mid.unwrap_or(0.0));
    let (quota, none) = (during("quota")?, during("no quota")?);
    let (from, fails, rate) = (option(report, "fails_after_s"), option(report, "fails_s"), option(report, "rate"));
    let mut shown = series(plot, &["no quota", "quota"])?;
    shown.insert(0, Series { look: GREY.wide(), ..Series::of(plot, "no retries")? });
    for series in shown.iter_mut().filter(|series| series.name != YOURS) {
        series.name.clear();
    }
    let ((_, without), (peak, with)) = (peak(&shown[1].points), peak(&shown[2].points));
    // A point is the mean of a second.
    let seconds = shown[2].points.iter().filter(|point| point.y.mid > Some(1.5 * rate)).count();
    let unbounded = format!("no quota: {} per second", number(without));
    let bounded = format!("a quota in each: {} times for {seconds} s", fixed(with / rate, 1));
    let texts = vec![
        (unbounded, look("no quota"), (from + 0.03 * fails, 1.6 * without)),
        (bounded, BLUE, (peak + 0.03 * fails, 0.95 * with)),
        ("no retries (wide line)".to_owned(), GREY, (from + fails * 1.05, 0.42 * rate)),
    ];
    let (services, load, quotas) = (text(report, "services"), number(none), fixed(quota, 2));
    let finding =
        format!("Retries of {services} services in a row multiply: {load} times the load, with quotas {quotas}");
    let title = claim(report, none > 5.0 * quota, finding);
    let [rate, attempts] = ["rate", "max_attempts"].map(|name| text(report, name));
    let subtitle = format!(
        "Users start {rate} operations per second. Each caller makes up to {attempts} attempts. Medians of {} runs",
        report.seeds
    );
    let names = ("time, s", "attempts per second at the last service (logarithmic)");
    let shade = Some((from, from + fails, "the last service fails"));
    Ok(draw(&title, &subtitle, &[Panel { is_logarithmic: true, shade, texts, ..Panel::new(names, shown) }]))
}

/// A few slow answers: the slowest calls by the load, with hedges and without.
pub(super) fn tail(report: &Report) -> Result<String, Missing> {
    let (loads, table, compared) = (plot(report, "loads")?, table(report, "tail")?, &report.options["compared"]);
    let slots: Vec<String> =
        report.options["slots"].as_array().into_iter().flatten().map(ToString::to_string).collect();
    let mut shown = Vec::new();
    for (slots, dashes) in slots.iter().zip(["", "6 3"]) {
        for strategy in ["no hedge", "p95", YOURS] {
            match Series::of(loads, &format!("{strategy}, {slots} slots")) {
                Ok(series) => shown.push(Series { look: Look { dashes, ..look(strategy) }, ..series }),
                Err(missing) if strategy != YOURS => return Err(missing),
                Err(_) => {}
            }
        }
    }
    let (load, part) = (compared[0].as_f64().unwrap_or(0.0), 100.0 * compared[1].as_f64().unwrap_or(0.0));
    let of = |strategy, measure| {
        let keys = ["slow requests", slots.first().map_or("", String::as_str), &number(part), &number(load), strategy];
        Ok(value(table, &keys, measure)?.mid.unwrap_or(0.0))
    };
    let (without, with, extra) = (of("no hedge", "p99, ms")?, of("p95", "p99, ms")?, of("p95", "extra requests, %")?);
    let finding =
        format!("A few slow answers: hedges cut p99 from {without:.0} to {with:.0} ms, for {extra:.0} % more requests");
    let title = claim(report, with < 0.6 * without && extra < 6.0, finding);
    let (factor, slots, runs) = (text(report, "slow_factor"), slots.join(" or "), report.seeds);
    let subtitle = format!(
        "{part:.0} % of the requests take {factor} times as long. p95 hedges the slowest 5 %. Servers have {slots} slots. \
         {runs} runs"
    );
    Ok(draw(&title, &subtitle, &[Panel::new(("load, %", "p99: 99 % of the calls take less, ms"), shown)]))
}

/// Draws the delays before each retry, from the report of [`settings`](crate::settings::report).
///
/// # Errors
///
/// Returns an error if the report is none of settings.
pub fn schedule(report: &Report) -> Result<String, Missing> {
    let plot = plot(report, "schedule")?;
    let shown = ["throttling", "timeout", "conflict", "other"].iter().filter_map(|name| Series::of(plot, name).ok());
    let panel = Panel::new((&plot.x, &plot.y), shown.collect());
    Ok(draw("The delay before each retry", "Medians; bands: 10th to 90th percentile.", &[panel]))
}
