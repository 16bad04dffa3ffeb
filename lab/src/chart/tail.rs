//! The picture of hedges: the slowest calls, by the requests that are added and by the load.

use super::lines::{Drawn, Panel};
use super::looks::{BLUE, GREEN, GREY, SKY, YOURS, spread};
use super::parts::{Missing, drawn, line, option, panel, plot, table, value};
use super::scale::{fixed, number};
use super::svg::Look;
use crate::report::{Plot, Report};

/// A few slow answers: what hedges do to the slowest calls.
pub(super) fn tail(report: &Report) -> Result<String, Missing> {
    let (p99, p999, loads) = (plot(report, "p99")?, plot(report, "p99.9")?, plot(report, "loads")?);
    let left = extra(p99, report, "99 % of the calls, ms", (64.0, 224.0))?;
    let middle = extra(p999, report, "99.9 % of the calls, ms", (290.0, 450.0))?;
    let slots = &report.options["slots"];
    let mut lines = Vec::new();
    for (index, dashes) in [(0, ""), (1, "6 3")] {
        for (strategy, look) in [("no hedge", GREY), ("p95", GREEN), (YOURS, SKY)] {
            let Some(slots) = slots[index].as_u64() else { continue };
            let name = format!("{strategy}, {slots} slots");
            match line(loads, &name) {
                Ok(line) => lines.push(Drawn { line, look: Look { dashes, ..look }, name: Some(name) }),
                Err(missing) if strategy != YOURS => return Err(missing),
                Err(_) => {}
            }
        }
    }
    let right = Panel { lines, ..panel(("load, %", "99 % of the calls, ms"), (520.0, 630.0), (98.0, 310.0)) };

    let (load, part) = (report.options["compared"][0].as_f64(), report.options["compared"][1].as_f64());
    let (load, part) = (load.unwrap_or(0.0), part.unwrap_or(0.0));
    let of = |strategy: &str, measure: &str| -> Result<f64, Missing> {
        let slots = slots[0].to_string();
        let keys = ["slow requests", &slots, &fixed(100.0 * part, 0), &number(load), strategy];
        Ok(value(table(report, "tail")?, &keys, measure)?.mid.unwrap_or(0.0))
    };
    let (without, with) = (of("no hedge", "p99, ms")?, of("p95", "p99, ms")?);
    let extra = of("p95", "extra requests, %")?;
    let title = if with < 0.6 * without && extra < 6.0 {
        format!("A few slow answers: hedges cut p99 from {without:.0} to {with:.0} ms, for {extra:.0} % more requests")
    } else {
        "A few slow answers: the slowest calls with hedges and without".to_owned()
    };
    let notes = [
        format!(
            "Left: servers with {} slots, a load of {:.0} %. {:.0} % of the requests take {} times as long. Servers serve abandoned requests, too.",
            slots[0],
            100.0 * load,
            100.0 * part,
            number(option(report, "slow_factor"))
        ),
        "p95: a delay that 5 % of the calls reach. Times: fixed delays. The quota of the retries pays for all hedges."
            .to_owned(),
        "Right: at a high load, hedges make queues longer, if servers work on few requests at a time.".to_owned(),
        spread("bands", report.seeds),
    ];
    let subtitle =
        format!("{} servers; a second request goes to one of them at random", number(option(report, "servers")));
    Ok(drawn(&title, &subtitle, &[left, middle, right], 350.0, &notes))
}

/// Returns a panel of times by extra requests. Each point has its name beside it.
fn extra<'a>(plot: &'a Plot, report: &Report, name: &str, x: (f64, f64)) -> Result<Panel<'a>, Missing> {
    let shown = [("no hedge", GREY), ("fixed delays", BLUE), ("p95", GREEN)];
    let mut lines = Vec::new();
    for (name, look) in shown {
        lines.push(Drawn { line: line(plot, name)?, look, name: None });
    }
    lines.extend(line(plot, YOURS).ok().map(|line| Drawn { line, look: SKY, name: None }));
    let points = |line: &'a str| plot.lines.iter().filter(move |each| each.name == line).flat_map(|line| &line.points);
    let highest = plot.lines.iter().flat_map(|line| &line.points).filter_map(|point| point.y.mid).fold(0.0, f64::max);
    let delays = report.options["fixed_ms"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64);
    let widest = points("fixed delays").map(|point| point.x).fold(1.0, f64::max);
    let mut texts = Vec::new();
    let mut add = |text: String, look, (x, y): (f64, f64), (right, up): (f64, f64)| {
        texts.push((text, look, (x + right * widest, y + up * highest)));
    };
    for point in points("no hedge") {
        add("no hedge".to_owned(), GREY, (point.x, point.y.mid.unwrap_or(0.0)), (0.04, -0.02));
    }
    let steered = points("p95").map(|point| point.x).fold(0.0, f64::max);
    let below = points("fixed delays").map(|point| point.x).filter(|x| *x < steered).fold(0.0, f64::max);
    for (point, delay) in points("fixed delays").zip(delays) {
        let place = match point.x {
            // Beside the name of p95, which is below its point.
            x if x.total_cmp(&below).is_eq() => (-0.21, -0.11),
            x if x > 0.8 * widest => (-0.13, 0.05),
            x if x > steered => (-0.1, 0.05),
            _ => (0.03, 0.02),
        };
        add(format!("{} ms", number(delay)), BLUE, (point.x, point.y.mid.unwrap_or(0.0)), place);
    }
    for point in points("p95") {
        add("p95".to_owned(), GREEN, (point.x, point.y.mid.unwrap_or(0.0)), (0.05, -0.11));
    }
    for point in points(YOURS) {
        add(YOURS.to_owned(), SKY, (point.x, point.y.mid.unwrap_or(0.0)), (0.2, 0.35));
    }
    Ok(Panel { lines, texts, ..panel(("extra requests, %", name), x, (98.0, 310.0)) })
}
