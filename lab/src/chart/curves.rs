//! The pictures with lines.

use super::lines::{Drawn, Panel};
use super::looks::{AWS, BLUE, GREEN, GREY, INK, LIMITERS, RED, YOURS, look, spread, standard};
use super::parts::{Missing, centred, drawn, line, lines, option, panel, plot, table, value};
use super::rows::levels;
use super::scale::{fixed, number};
use super::svg::{Look, Svg};
use crate::report::{Line, Point, Report, Spread};

/// Writes to one row: how many, and how long they take.
pub(super) fn contention(report: &Report) -> Result<String, Missing> {
    let (attempts, time) = (plot(report, "attempts")?, plot(report, "time")?);
    // The two kinds of jitter differ little, so that they are named together.
    let shown = [
        ("no backoff", RED, Some("no backoff")),
        ("no jitter", GREY, Some("no jitter")),
        ("equal jitter", Look { dashes: "6 3", ..BLUE }, None),
        ("full jitter", BLUE, Some("full and equal jitter")),
    ];
    let series = |plot| -> Result<Vec<Drawn<'_>>, Missing> {
        let mut all = lines(plot, &shown.map(|(name, _, text)| (name, text)))?;
        for (drawn, (_, look, _)) in all.iter_mut().zip(shown) {
            drawn.look = look;
        }
        Ok(all)
    };
    let mut left = series(attempts)?;
    left.push(Drawn { line: line(attempts, "ideal")?, look: INK, name: Some("ideal: one each".to_owned()) });
    let names = ("clients", "writes until all are done (linear)");
    let left = Panel { lines: left, ..panel(names, (64.0, 240.0), (98.0, 310.0)) };
    let names = ("clients", "seconds until all are done (logarithmic)");
    let right = Panel { lines: series(time)?, is_logarithmic: true, ..panel(names, (460.0, 616.0), (98.0, 310.0)) };
    let last = |plot, name| -> Result<f64, Missing> { Ok(last(line(plot, name)?)) };
    let saved =
        |plot| -> Result<f64, Missing> { Ok(100.0 * (1.0 - last(plot, "full jitter")? / last(plot, "no jitter")?)) };
    let (writes, seconds) = (saved(attempts)?, saved(time)?);
    let most = attempts.lines.iter().flat_map(|line| &line.points).map(|point| point.x).fold(0.0, f64::max);
    let title = if writes > 0.0 && seconds > 0.0 {
        format!("Many clients write one row: jitter saves {writes:.0} % of the writes and {seconds:.0} % of the time")
    } else {
        "Many clients write one row: writes and time with and without jitter".to_owned()
    };
    let more = last(attempts, "no backoff")? / last(attempts, "full jitter")?;
    let notes = [
        format!(
            "No backoff is fast here because this database does not slow down under {} times the writes of full jitter.",
            fixed(more, 1)
        ),
        "A write fails if another one came since the client read the row; the client then waits and tries again, without a \
         quota and as often as it takes."
            .to_owned(),
        spread("bands", report.seeds),
    ];
    let subtitle = format!(
        "At {} clients: exponential backoff with full jitter, compared with the same backoff without jitter",
        number(most)
    );
    Ok(drawn(&title, &subtitle, &[left, right], 350.0, &notes))
}

/// A restart: how many operations are lost, and how long the others take.
pub(super) fn restart(report: &Report) -> Result<String, Missing> {
    let (lost, time) = (plot(report, "lost")?, plot(report, "time")?);
    let shown = [
        ("full jitter", BLUE),
        ("equal jitter", GREEN),
        ("no jitter", GREY),
        ("new(), as shipped", Look { dashes: "6 3", ..BLUE }),
    ];
    let series = |plot| -> Result<Vec<Drawn<'_>>, Missing> {
        let mut all = lines(plot, &shown.map(|(name, _)| (name, Some(name))))?;
        for (drawn, (_, look)) in all.iter_mut().zip(shown) {
            drawn.look = look;
        }
        Ok(all)
    };
    let names = ("seconds that the server is away", "lost operations, %");
    let left = Panel { lines: series(lost)?, ..panel(names, (64.0, 240.0), (98.0, 310.0)) };
    let names = ("seconds that the server is away", "seconds of an operation that is not lost");
    let right = Panel { lines: series(time)?, ..panel(names, (460.0, 616.0), (98.0, 310.0)) };
    let at = |name| -> Result<f64, Missing> {
        let line = line(lost, name)?;
        Ok(line.points.iter().find(|point| (point.x - 0.7).abs() < 1e-9).and_then(|point| point.y.mid).unwrap_or(0.0))
    };
    let (full, equal) = (at("full jitter")?, at("equal jitter")?);
    let title = if full > 2.0 * equal && full > 1.0 {
        format!("A server is away for 0.7 s: full jitter loses {full:.0} %, equal jitter {}", part(equal))
    } else {
        "A server is away for a short time: lost operations with each jitter".to_owned()
    };
    let (base, attempts) = (option(report, "base_ms"), option(report, "max_attempts"));
    let notes = [
        format!(
            "Operations begin at random times while the server is away, and make up to {} attempts. The base of the backoff is {} ms.",
            number(attempts),
            number(base)
        ),
        "new(), as shipped: the same with full jitter, and a base of 1 s.".to_owned(),
        format!("Shares and means of {} runs.", report.seeds),
    ];
    Ok(drawn(&title, "A server refuses all requests while it restarts", &[left, right], 350.0, &notes))
}

/// Writes a share. It is "none" below half a percent.
fn part(percent: f64) -> String {
    if percent < 0.5 { "none".to_owned() } else { format!("{percent:.0} %") }
}

/// Returns the last median of a line.
fn last(line: &Line) -> f64 {
    line.points.last().and_then(|point| point.y.mid).unwrap_or(0.0)
}

/// Returns the point with the largest median, as numbers.
fn peak(line: &Line) -> (f64, f64) {
    let points = line.points.iter().map(|point| (point.x, point.y.mid.unwrap_or(0.0)));
    points.fold((0.0, 0.0), |highest, point| if point.1 > highest.1 { point } else { highest })
}

/// A partial outage: the load, and what succeeds.
pub(super) fn partial(report: &Report) -> Result<String, Missing> {
    let (successes, load) = (plot(report, "successes")?, plot(report, "load")?);
    let shown = [
        ("three retries", "three retries"),
        ("aws_2_0()", "aws_2_0()"),
        ("aws_2_1()", "aws_2_1()"),
        ("new()", "new()"),
        ("10 % of successes", "10 % budget"),
        ("no retries", "no retries"),
    ];
    let unnamed: Vec<_> = shown.iter().map(|&(strategy, _)| (strategy, None)).collect();
    let mut left = lines(load, &unnamed)?;
    let mut bounded = 0.0_f64;
    for (drawn, (strategy, _)) in left.iter().zip(shown) {
        if strategy != "three retries" {
            bounded = bounded.max(peak(drawn.line).1);
        }
    }
    let unbounded = peak(line(load, "three retries")?).1;
    let ceiling = 2.0;
    for drawn in &mut left {
        drawn.name = None;
    }
    let names = ("attempts that fail, %", "attempts per operation");
    let mut left = Panel { lines: left, bounds: Some((1.0, ceiling)), ..panel(names, (64.0, 284.0), (98.0, 310.0)) };
    if unbounded > ceiling {
        let cut = line(load, "three retries")?.points.iter().rfind(|point| point.y.mid <= Some(ceiling));
        let at = (cut.map_or(0.0, |point| point.x) + 4.0, ceiling - 0.07);
        left.texts.push((format!("goes up to {}", number(unbounded)), RED, at));
    }
    let mut right = lines(successes, &unnamed)?;
    for (drawn, (strategy, name)) in right.iter_mut().zip(shown.into_iter().chain([(YOURS, YOURS)])) {
        drawn.name = Some(format!("{name}: × {}", fixed(peak(line(load, strategy)?).1, 2)));
    }
    let names = ("attempts that fail, %", "operations that succeed, %");
    let right = Panel { lines: right, ..panel(names, (352.0, 580.0), (98.0, 310.0)) };
    let title = if unbounded > 1.5 * bounded {
        format!(
            "Retries load a failing server up to {} times as much, with a quota up to {}",
            number(unbounded),
            fixed(bounded, 2)
        )
    } else {
        "A server fails part of the attempts: the load, and what succeeds".to_owned()
    };
    let notes = [
        format!(
            "Three retries without a quota hide most failures, but load a server up to {} times when it can bear it least. × \
             at the names: the most attempts per operation.",
            number(unbounded)
        ),
        format!("{} {AWS}", standard(None)),
        "10 % budget: a quota to which each success gives a tenth of what a retry costs, and up to three retries."
            .to_owned(),
    ];
    let subtitle = format!("Each attempt fails with the same probability. {}", spread("bands", report.seeds));
    Ok(drawn(&title, &subtitle, &[left, right], 350.0, &notes))
}

/// A limit that changes: what is used of it, and what fails.
pub(super) fn changing(report: &Report) -> Result<String, Missing> {
    let (plot, table) = (&centred(plot(report, "throughput")?, &["limit"]), table(report, "limit")?);
    let strategies = ["new(), no quota", "adaptive", "paced"];
    let phase = option(report, "phase_s");
    let failed = |strategy: &str| -> Line {
        let rows = table.rows.iter().filter(|row| row.keys.first().is_some_and(|key| key == strategy));
        let points = rows.flat_map(|row| {
            let from: f64 = row.keys.get(1).and_then(|from| from.parse().ok()).unwrap_or(0.0);
            let keys: Vec<&str> = row.keys.iter().map(String::as_str).collect();
            let share = value(table, &keys, "failed share of operations").ok().and_then(|share| share.mid);
            let percent = share.unwrap_or(0.0) * 100.0;
            [from, from + phase].map(|x| Point { x, y: Spread::exactly(percent) })
        });
        Line { name: strategy.to_owned(), points: points.collect() }
    };
    let shown = strategies.map(|strategy| (strategy, Some(strategy)));
    let mut used = vec![Drawn { line: line(plot, "limit")?, look: GREY.wide(), name: None }];
    used.extend(lines(plot, &shown)?);
    let points = &used[0].line.points;
    let limit = points.get(2).or(points.first()).map_or((0.0, 0.0), |point| (point.x, point.y.mid.unwrap_or(0.0)));
    let highest = plot.lines.iter().map(|line| peak(line).1).fold(0.0, f64::max);
    let text = ("the limit (wide line)".to_owned(), GREY, (limit.0 + 0.35 * phase, limit.1 + 0.08 * highest));
    let upper = Panel {
        lines: used,
        texts: vec![text],
        ..panel(("", "operations that succeed, per second"), (64.0, 660.0), (92.0, 280.0))
    };
    let failing: Vec<Line> = lines(plot, &shown)?.iter().map(|drawn| failed(&drawn.line.name)).collect();
    let drawn_lines = failing.iter().map(|line| Drawn { line, look: look(&line.name), name: Some(line.name.clone()) });
    let lower = panel(("time, s", "operations that fail, %"), (64.0, 660.0), (326.0, 400.0));
    let texts = failing.iter().filter(|line| peak(line).1 > 0.0).flat_map(|line| {
        line.points.chunks(2).map(|points| {
            let percent = points[0].y.mid.unwrap_or(0.0);
            (format!("{percent:.0} %"), look(&line.name), (points[0].x + phase / 2.0, percent + 4.0))
        })
    });
    let lower = Panel { lines: drawn_lines.collect(), texts: texts.collect(), ..lower };
    let (without, with) = (peak(&failing[0]).1, peak(&failing[1]).1.max(peak(&failing[2]).1));
    let title = if with == 0.0 && without > 1.0 {
        format!("A changing limit: retries without a quota lose up to {without:.0} %, a limiter none")
    } else {
        "A limit that changes: what is used of it, and what fails".to_owned()
    };
    let notes = [
        "Successes above the limit spend a burst that the server saves up while less than its limit is used."
            .to_owned(),
        format!("{} Without the quota, no retry is refused.", standard(report.options["max_attempts"].as_u64())),
        format!("{LIMITERS} {}", spread("bands", report.seeds)),
    ];
    let subtitle = format!("{} workers of one client, which send as much as they can", report.options["workers"]);
    Ok(drawn(&title, &subtitle, &[upper, lower], 440.0, &notes))
}

/// Services in a row: the load on the last one.
pub(super) fn layers(report: &Report) -> Result<String, Missing> {
    let plot = &centred(plot(report, "load")?, &[]);
    let during = |strategy: &str| -> Result<f64, Missing> {
        Ok(value(table(report, "layers")?, &[strategy], "during")?.mid.unwrap_or(0.0))
    };
    let (from, fails, rate) = (option(report, "fails_after_s"), option(report, "fails_s"), option(report, "rate"));
    let (services, attempts) = (option(report, "services"), option(report, "max_attempts"));
    let steps = if report.options["users_retry"] == false { services - 1.0 } else { services };
    let bound = Drawn { line: line(plot, "no retries")?, look: GREY.wide(), name: None };
    let mut drawn_lines = vec![bound];
    drawn_lines.extend(lines(plot, &[("no quota", None), ("quota", None)])?);
    let (without, bounded) = (peak(line(plot, "no quota")?).1, line(plot, "quota")?);
    let with = peak(bounded);
    // A point is the mean of a second.
    let seconds = bounded.points.iter().filter(|point| point.y.mid > Some(1.5 * rate)).count();
    let (mut product, mut factors) = (rate, number(rate));
    for _ in (0..).take_while(|&step| f64::from(step) < steps) {
        product *= attempts;
        factors = format!("{factors} × {}", number(attempts));
    }
    let texts = vec![
        (
            format!("no quota: {} per second ({factors} = {})", number(without), number(product)),
            RED,
            (from + 0.03 * fails, 1.6 * without),
        ),
        (
            format!("a quota in each: {} times for {seconds} s", fixed(with.1 / rate, 1)),
            BLUE,
            (with.0 + 0.03 * fails, 0.95 * with.1),
        ),
        ("no retries (wide line)".to_owned(), GREY, (from + fails * 1.05, 0.42 * rate)),
    ];
    let names = ("time, s", "attempts per second at the last service (logarithmic)");
    let panel = Panel {
        lines: drawn_lines,
        texts,
        is_logarithmic: true,
        shade: Some((from, from + fails, "the last service fails")),
        ..panel(names, (64.0, if line(plot, YOURS).is_ok() { 690.0 } else { 776.0 }), (92.0, 310.0))
    };
    let (quota, none) = (during("quota")?, during("no quota")?);
    let title = if none > 5.0 * quota {
        format!(
            "Retries of {services} services in a row multiply: {} times the load, with quotas {}",
            number(none),
            fixed(quota, 2)
        )
    } else {
        format!("{services} services in a row that all retry: the load on the last one")
    };
    let notes = [
        format!(
            "Each caller makes up to {} attempts, so the retries of the services multiply. A quota pays for retries, and \
             stops them while too many attempts fail.",
            number(attempts)
        ),
        format!(
            "1 call/s: {} calls, one per second. survive: the part of single calls that succeed if they begin during an outage \
             that ends after that time.",
            report.options["levels"]["calls"]
        ),
        spread("bands", report.seeds),
    ];
    let subtitle = format!(
        "Attempts at the last service while it fails, compared with no retries; users start {} operations per second",
        number(rate)
    );
    let mut svg = Svg::new(&title, &subtitle);
    panel.draw(&mut svg);
    let bottom = levels(report)?.draw(&mut svg, 356.0);
    Ok(svg.finish(bottom, &notes))
}
