//! The picture of each scenario.

use super::dots;
use super::lines::{Drawn, Label, Panel};
use super::parts::{
    BLUE, GREEN, GREY, INK, Missing, ORANGE, PURPLE, RED, SKY, YOURS, centred, collect, distinct, dotted, drawn, ends,
    highest, labels, line, panel, plot, scaled, table, value, with_seeds, with_yours,
};
use super::scale::number;
use super::svg::{Svg, WIDTH, width_of_sample};
use crate::report::{Line, Report};
use serde_json::Value;

/// Draws the picture of a scenario's results, as the text of an SVG file.
///
/// # Errors
///
/// Returns an error if the report lacks a line or a table of the picture, or if its scenario has no picture.
pub fn picture(report: &Report) -> Result<String, Missing> {
    match report.scenario.as_str() {
        "contention" => contention(report),
        "copy" => copy(report),
        "outage" => outage(report),
        "partial" => partial(report),
        "many" => many(report),
        "changing" => changing(report),
        "layers" => layers(report),
        name => Err(Missing(format!("picture: {name} is no scenario with one"))),
    }
}

/// Draws the delays before each retry, from the report of [`settings`](crate::settings::report).
///
/// # Errors
///
/// Returns an error if the report is none of settings.
pub fn schedule(report: &Report) -> Result<String, Missing> {
    let plot = plot(report, "schedule")?;
    let names = ["throttling", "timeout", "conflict", "other"];
    let lines = names.iter().zip([BLUE, ORANGE, GREEN, RED]).filter_map(|(&name, look)| {
        let line = line(plot, name).ok()?;
        Some(Drawn { line, look, label: Label::End(name.to_owned()) })
    });
    let panel = Panel { lines: lines.collect(), ..panel(plot, (72.0, 640.0), (76.0, 290.0)) };
    Ok(drawn("The delay before each retry", "Median and 10th to 90th percentile", 344.0, &[panel]))
}

fn contention(report: &Report) -> Result<String, Missing> {
    let (calls, time) = (plot(report, "calls")?, plot(report, "time")?);
    let shown = [("no backoff", RED), ("no jitter", GREY), ("equal jitter", GREEN), ("full jitter", BLUE)];
    let mut left = ends(calls, &shown)?;
    left.push(Drawn { line: line(calls, "ideal")?, look: INK, label: Label::End("ideal".to_owned()) });
    let left = Panel { lines: left, ..panel(calls, (84.0, 306.0), (98.0, 320.0)) };
    let right =
        Panel { lines: ends(time, &shown)?, is_logarithmic: true, ..panel(time, (506.0, 664.0), (98.0, 320.0)) };
    let title = "Many clients write the same row: jitter spreads them out";
    let subtitle = "Writes (left) and seconds (right, logarithmic) until all clients are done; no limit on attempts";
    Ok(drawn(title, &with_seeds(subtitle, report), 376.0, &[left, right]))
}

fn copy(report: &Report) -> Result<String, Missing> {
    let table = table(report, "copy")?;
    let tasks = report.options["tasks"].as_f64().unwrap_or(0.0);
    let ideal = line(plot(report, "time")?, "ideal")?.points.first().and_then(|point| point.y.mid).unwrap_or(0.0);
    let groups = distinct(table, 1);
    let names = ["no retries", "new()", "aws_2_1()", "new(), no quota", "adaptive", "paced"];
    let names = with_yours(table, &names);
    let values = |measure: &str, scale: f64| -> Result<_, Missing> {
        collect(&names, &groups, |name, workers| {
            value(table, &[name, workers], measure).map(|spread| scaled(spread, scale))
        })
    };
    let time = values("time, s", 1.0)?;
    let panels = vec![
        dots::Panel {
            name: "tasks that fail, %",
            values: values("failed tasks", 100.0 / tasks)?,
            bounds: (0.0, 100.0),
            reference: None,
        },
        dots::Panel {
            name: "seconds until all tasks are done or given up",
            bounds: (0.0, highest(&time)),
            values: time,
            reference: Some((ideal, "ideal".to_owned())),
        },
    ];
    let title = "A bulk copy against a rate limit: lost tasks, and the time";
    let (tasks, rate) = (number(tasks), number(report.options["rate"].as_f64().unwrap_or(0.0)));
    let attempts = &report.options["max_attempts"];
    let subtitle = format!("{tasks} tasks, {rate} requests per second admitted, {attempts} attempts at most");
    Ok(dotted(title, &with_seeds(&subtitle, report), names, labels(&groups, " workers"), panels))
}

fn outage(report: &Report) -> Result<String, Missing> {
    let load = report.options["loads"].as_array().and_then(|loads| loads.last()?.as_f64()).unwrap_or(0.0) * 100.0;
    let plot = &centred(plot(report, &format!("goodput at {load:.0} %"))?, &[]);
    let option = |name: &str| report.options[name].as_f64().unwrap_or(0.0);
    let from = option("stall_after_s");
    let stall = (from, from + option("stall_s"));
    let quotas: Vec<u64> =
        report.options["quotas"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let count = |quotas: u64| number(f64::from(u32::try_from(quotas).unwrap_or(u32::MAX)));
    let full = line(plot, "no retries")?.points.last().and_then(|point| point.y.mid).unwrap_or(0.0);
    // A line that comes back is named where it does, at a part of its height.
    let label_of = |line: &Line, name: &str, height: f64| {
        let back = line.points.iter().find(|point| point.x > stall.1 + 1.0 && point.y.mid > Some(full / 2.0));
        let (name, is_left) = (name.to_owned(), height > 0.5);
        match back {
            Some(point) if is_left => Label::Left(name, (point.x, full * height), (-12.0, 0.0)),
            Some(point) => Label::Right(name, (point.x, full * height), (8.0, 0.0)),
            None => Label::None,
        }
    };
    let (mut lines, mut never) = (Vec::new(), Vec::new());
    let mut names = vec![
        ("no retries".to_owned(), "no retries".to_owned(), GREY, 0.72),
        ("new()".to_owned(), "one quota for all".to_owned(), BLUE, 0.42),
        (YOURS.to_owned(), format!("{YOURS}, one quota"), SKY, 0.22),
        ("new(), no quota".to_owned(), "no quota".to_owned(), GREEN, 0.42),
    ];
    let separate = quotas.into_iter().filter(|&quotas| quotas > 1).zip([ORANGE, RED]);
    let separate = separate.map(|(quotas, look)| {
        (format!("new(), {quotas} quotas"), format!("{} separate quotas", count(quotas)), look, 0.42)
    });
    names.splice(2..2, separate);
    for (name, label, look, height) in &names {
        let line = match line(plot, name) {
            Err(_) if name == YOURS => continue,
            line => line?,
        };
        let label_at = label_of(line, label, *height);
        if matches!(label_at, Label::None) {
            never.push(label.as_str());
        }
        lines.push(Drawn { line, look: *look, label: label_at });
    }
    if let Some(last) = lines.last_mut().filter(|_| !never.is_empty()) {
        let at = (last.line.points.last().map_or(0.0, |point| point.x), 0.0);
        last.label = Label::Left(format!("{}: never again", never.join(" and ")), at, (-4.0, -10.0));
    }
    let panel = Panel { lines, shade: Some((stall.0, stall.1, "stall")), ..panel(plot, (72.0, 776.0), (98.0, 330.0)) };
    let title = format!("A server stalls for {} s: separate quotas, or none, keep it down", stall.1 - stall.0);
    let subtitle = format!(
        "Load of {load:.0} % of {}/s; clients give up an attempt after {} s, the server does not notice",
        option("rate"),
        option("timeout_s")
    );
    Ok(drawn(&title, &with_seeds(&subtitle, report), 386.0, &[panel]))
}

fn partial(report: &Report) -> Result<String, Missing> {
    let (successes, load) = (plot(report, "successes")?, plot(report, "load")?);
    let shown = [
        ("three retries", RED),
        ("aws_2_0()", PURPLE),
        ("aws_2_1()", GREEN),
        ("new()", BLUE),
        ("10 % of successes", ORANGE),
        ("no retries", GREY),
    ];
    let unnamed = |plot| -> Result<Vec<Drawn<'_>>, Missing> {
        shown.iter().map(|&(name, look)| Ok(Drawn { line: line(plot, name)?, look, label: Label::None })).collect()
    };
    let mut left = unnamed(successes)?;
    left.extend(line(successes, YOURS).ok().map(|line| Drawn { line, look: SKY, label: Label::None }));
    let mut right = unnamed(load)?;
    right.extend(line(load, YOURS).ok().map(|line| Drawn { line, look: SKY, label: Label::None }));
    let left = Panel { lines: left, ..panel(successes, (72.0, 350.0), (124.0, 346.0)) };
    if let (Some(first), Some(last)) = (right.first_mut(), line(load, "three retries")?.points.last()) {
        let cut = first.line.points.iter().rfind(|point| point.y.mid <= Some(2.0)).map_or(0.0, |point| point.x);
        let text = format!("up to {}", number(last.y.mid.unwrap_or(0.0)));
        first.label = Label::Right(text, (cut, 2.0), (10.0, 12.0));
    }
    let right = Panel { lines: right, bounds: Some((1.0, 2.0)), ..panel(load, (440.0, 784.0), (124.0, 346.0)) };
    let title = "A server fails part of the attempts: a quota bounds the load";
    let mut svg = Svg::new(
        title,
        &with_seeds("Operations that succeed (left) and attempts per operation (right)", report),
        402.0,
    );
    let yours = line(load, YOURS).is_ok().then_some((YOURS, SKY));
    let (mut x, mut y) = (24.0, 70.0);
    for (name, look) in shown.into_iter().chain(yours) {
        if x + width_of_sample(name) > WIDTH {
            (x, y) = (24.0, y + 22.0);
        }
        svg.sample(look, (x, y), name);
        x += width_of_sample(name) + 14.0;
    }
    left.draw(&mut svg);
    right.draw(&mut svg);
    Ok(svg.finish())
}

fn many(report: &Report) -> Result<String, Missing> {
    let table = table(report, "many")?;
    let groups = distinct(table, 1);
    let names = with_yours(table, &["no retries", "new()", "aws_2_1()", "adaptive", "paced", "paced, reports"]);
    let values = |measure: &str, scale: f64| {
        collect(&names, &groups, |name, rate| value(table, &[name, rate], measure).map(|spread| scaled(spread, scale)))
    };
    let panel = |name, values, highest| dots::Panel { name, values, bounds: (0.0, highest), reference: None };
    let panels = vec![
        panel("requests rejected, %", values("rejected share", 100.0)?, 100.0),
        panel("tasks that fail, %", values("failed share of tasks", 100.0)?, 100.0),
        panel("fairness (Jain's index)", values("fairness", 1.0)?, 1.0),
    ];
    let title = "Many clients on one limit: a limiter stops useless requests";
    let subtitle = format!(
        "{} clients of {} workers that know nothing of each other",
        report.options["clients"], report.options["workers"]
    );
    Ok(dotted(title, &with_seeds(&subtitle, report), names, labels(&groups, " requests per second"), panels))
}

fn changing(report: &Report) -> Result<String, Missing> {
    let (plot, table) = (&centred(plot(report, "throughput")?, &["limit"]), table(report, "limit")?);
    let failed = |name: &str| {
        let rows = table.rows.iter().filter(|row| row.keys.first().is_some_and(|key| key == name));
        let shares = rows.filter_map(|row| row.values.last()?.mid);
        let (low, high) = shares.fold((f64::MAX, 0.0_f64), |(low, high), share| (low.min(share), high.max(share)));
        if high == 0.0 {
            "no task fails".to_owned()
        } else {
            format!("{:.0} to {:.0} % fail", low * 100.0, high * 100.0)
        }
    };
    let mut lines = vec![Drawn { line: line(plot, "limit")?, look: INK, label: Label::End("limit".to_owned()) }];
    for (name, look) in [("new(), no quota", RED), ("adaptive", ORANGE), ("paced", PURPLE), (YOURS, SKY)] {
        match line(plot, name) {
            Ok(line) => lines.push(Drawn { line, look, label: Label::End(format!("{name}: {}", failed(name))) }),
            Err(_) if name == YOURS => {}
            Err(missing) => return Err(missing),
        }
    }
    let panel = Panel { lines, ..panel(plot, (72.0, 520.0), (80.0, 320.0)) };
    let title = "A limit that changes: what is used of it, and which tasks fail";
    let subtitle = format!("Successes per second of {} workers that share one strategy", report.options["workers"]);
    Ok(drawn(title, &with_seeds(&subtitle, report), 376.0, &[panel]))
}

fn layers(report: &Report) -> Result<String, Missing> {
    let plot = &centred(plot(report, "load")?, &[]);
    let option = |name: &str| report.options[name].as_f64().unwrap_or(0.0);
    let (from, fails) = (option("fails_after_s"), option("fails_s"));
    let names = [
        ("no retries", "no retries", GREY),
        ("no quota", "no quota", RED),
        ("quota", "a quota in each service", BLUE),
        (YOURS, YOURS, SKY),
    ];
    let mut lines = Vec::new();
    for (name, label, look) in names {
        match line(plot, name) {
            Ok(line) => lines.push(Drawn { line, look, label: Label::End(label.to_owned()) }),
            Err(_) if name == YOURS => {}
            Err(missing) => return Err(missing),
        }
    }
    let panel = Panel {
        lines,
        is_logarithmic: true,
        shade: Some((from, from + fails, "the last service fails")),
        ..panel(plot, (96.0, 560.0), (98.0, 320.0))
    };
    let services = &report.options["services"];
    let title = format!("{services} services in a row that all retry: the load multiplies");
    let subtitle = format!(
        "Requests per second at the last service (logarithmic), {} attempts at each step",
        report.options["max_attempts"]
    );
    Ok(drawn(&title, &with_seeds(&subtitle, report), 376.0, &[panel]))
}
