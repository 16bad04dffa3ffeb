//! The picture of one operation: its attempts, the ranges of its waits, the level of its quota, and its time limit.

use super::lines::length;
use super::scale::{Scale, fixed, number};
use super::style::{BLUE, INK};
use super::svg::{Svg, WIDTH};
use crate::timeline::{Attempt, Timeline};
use retry_core::{RetryError, RetryErrorType};
use std::time::Duration;

const TOP: f64 = 104.0;
/// The height of the row of an attempt.
const ROW: f64 = 40.0;
const BAR: f64 = 14.0;
/// Where time begins and ends.
const TIME: (f64, f64) = (236.0, WIDTH - 24.0);
/// The height of the quota's steps.
const STEPS: f64 = 44.0;

/// Draws an operation, and says in the subtitle with which settings it ran.
pub fn timeline(timeline: &Timeline, subtitle: &str) -> String {
    let mut svg = Svg::new(&title(timeline), subtitle);
    let waits =
        timeline.attempts.iter().filter_map(|attempt| Some(attempt.time.end + attempt.wait.as_ref()?.range.end));
    let last = waits.chain([timeline.end()]).chain(timeline.max_time).max().unwrap_or_default();
    let scale = Scale::linear((0.0, last.as_secs_f64().max(1e-3)), TIME, false);
    let at = |time: Duration| scale.at(time.as_secs_f64());
    let rows = timeline.attempts.len();
    let row = |index: usize| TOP + ROW * (length(index) + 0.5);
    let (quota, bottom) = (row(rows) - ROW / 2.0 + 16.0, row(rows) - ROW / 2.0 + 26.0 + STEPS);
    legend(&mut svg, timeline);
    if let Some(outage) = timeline.outage {
        svg.rectangle("shade", (TIME.0, TOP - 6.0), (at(outage.min(last)) - TIME.0, bottom - TOP + 6.0));
        svg.text("small", (TIME.0 + 4.0, TOP + 6.0), "the service is down");
    }
    for &tick in &scale.ticks {
        svg.path("grid", "", &[(scale.at(tick), TOP - 6.0), (scale.at(tick), bottom)]);
        svg.text("small middle", (scale.at(tick), bottom + 16.0), &format!("{} s", number(tick)));
    }
    for (index, attempt) in timeline.attempts.iter().enumerate() {
        let middle = row(index);
        svg.text("strong", (16.0, middle - 2.0), &format!("attempt {}", index + 1));
        svg.text("small", (16.0, middle + 13.0), &meaning(timeline, index));
        let (from, to) = (at(attempt.time.start), at(attempt.time.end));
        if let Some(wait) = &attempt.wait {
            let range = [wait.range.start, wait.range.end].map(|wait| at(attempt.time.end + wait));
            svg.rectangle("blue bar", (range[0], middle - BAR / 2.0), ((range[1] - range[0]).max(1.0), BAR));
            if let Some(drawn) = wait.drawn {
                let end = at(attempt.time.end + drawn);
                svg.path("blue line", "", &[(to, middle), (end, middle)]);
                svg.path("axis", "2 3", &[(end, middle), (end, row(index + 1))]);
                svg.marker("mark", BLUE, (end, middle));
            }
        }
        if let Some(in_line) = &attempt.in_line {
            let (from, to) = (at(in_line.start), at(in_line.end));
            svg.rectangle("orange", (from, middle - BAR / 4.0), (to - from, BAR / 2.0));
            if index + 1 < rows {
                svg.path("axis", "2 3", &[(to, middle), (to, row(index + 1))]);
            }
        }
        let colour = if attempt.failure.is_none() && timeline.reason.is_none() { "green" } else { "ink" };
        svg.rectangle(colour, (from, middle - BAR / 2.0), ((to - from).max(3.0), BAR));
    }
    steps(&mut svg, timeline, at, (quota, quota + STEPS));
    if let Some(max_time) = timeline.max_time {
        svg.path("red line", "", &[(at(max_time), TOP - 10.0), (at(max_time), bottom)]);
        svg.text("label red end", (at(max_time) - 6.0, bottom - STEPS - 14.0), "max_time");
    }
    svg.finish(bottom + 20.0, "")
}

fn title(timeline: &Timeline) -> String {
    let count = timeline.attempts.len();
    let attempts = if count == 1 { "1 attempt".to_owned() } else { format!("{count} attempts") };
    let not_begun = timeline.attempts.last().is_some_and(|attempt| attempt.wait.is_some());
    match timeline.reason {
        None => format!("An operation succeeds after {attempts}"),
        Some(RetryError::MaxTime) if not_begun => {
            format!("An operation ends after {attempts}, because its next wait would end after max_time")
        }
        Some(RetryError::MaxTime) => format!("max_time ends an operation in its attempt {count}"),
        Some(RetryError::NoRecovery) => {
            format!("An operation ends after {attempts}, because the service did not recover")
        }
        Some(reason) => format!("An operation ends after {attempts}: {reason}"),
    }
}

fn legend(svg: &mut Svg, timeline: &Timeline) {
    let y = TOP - 26.0;
    svg.rectangle("ink", (TIME.0, y - 9.0), (22.0, 10.0));
    svg.text("small", (TIME.0 + 28.0, y), "attempt");
    svg.rectangle("blue bar", (TIME.0 + 92.0, y - 9.0), (22.0, 10.0));
    svg.text("small", (TIME.0 + 120.0, y), "range of the wait, by jitter");
    svg.path("blue line", "", &[(TIME.0 + 300.0, y - 4.0), (TIME.0 + 322.0, y - 4.0)]);
    svg.marker("mark", BLUE, (TIME.0 + 322.0, y - 4.0));
    svg.text("small", (TIME.0 + 334.0, y), "its wait");
    if timeline.attempts.iter().any(|attempt| attempt.in_line.is_some()) {
        svg.rectangle("orange", (TIME.0 + 404.0, y - 8.0), (22.0, BAR / 2.0));
        svg.text("small", (TIME.0 + 432.0, y), "waits in line");
    }
}

/// Says how an attempt ended, and what followed.
fn meaning(timeline: &Timeline, index: usize) -> String {
    let Attempt { failure, wait, in_line, .. } = &timeline.attempts[index];
    let ended = match failure {
        Some(RetryErrorType::Throttling) => "throttled",
        Some(RetryErrorType::Timeout) => "timed out",
        Some(RetryErrorType::Conflict) => "lost a race",
        Some(RetryErrorType::ServerSide) => "server fault",
        Some(_) => "failed",
        None if timeline.reason.is_some() => "cut",
        None => "succeeded",
    };
    let seconds = |time: Duration| fixed(time.as_secs_f64(), 1);
    if let Some(drawn) = wait.as_ref().and_then(|wait| wait.drawn) {
        return format!("{ended}, retry after {} s", seconds(drawn));
    }
    match (timeline.reason, in_line) {
        (Some(reason), _) if index + 1 == timeline.attempts.len() => format!("{ended}: {}", reason.as_str()),
        (_, Some(in_line)) => format!("{ended}, waits for {} s", seconds(in_line.end.saturating_sub(in_line.start))),
        _ => ended.to_owned(),
    }
}

/// Draws the level of the quota as steps, with the level at each step.
fn steps(svg: &mut Svg, timeline: &Timeline, at: impl Fn(Duration) -> f64, (top, bottom): (f64, f64)) {
    svg.text("strong", (16.0, top + STEPS / 2.0 - 2.0), "quota");
    svg.text("small", (16.0, top + STEPS / 2.0 + 13.0), "pays for retries");
    let levels: Vec<f64> = timeline.levels.iter().map(|&(_, level)| f64::from(level)).collect();
    let (low, high) = levels.iter().fold((f64::MAX, 0.0_f64), |(low, high), &level| (low.min(level), high.max(level)));
    let height = |level: f64| bottom - (level - low) / (high - low).max(1.0) * (bottom - top - 18.0);
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut labelled = f64::MIN;
    for (index, (&(time, _), &level)) in timeline.levels.iter().zip(&levels).enumerate() {
        let (x, y) = (at(time), height(level));
        let rises_within =
            timeline.levels.get(index + 1).filter(|next| f64::from(next.1) > level).map(|next| at(next.0) - x);
        if let Some(&(_, before)) = points.last() {
            points.push((x, before));
        }
        points.push((x, y));
        // Labels that would lie on each other, or on a step, are left out.
        if x > labelled + 26.0 && rises_within.is_none_or(|within| within > 26.0) {
            svg.text("label", (x + 4.0, y - 5.0), &number(level));
            labelled = x;
        }
    }
    points.push((at(timeline.end()), points.last().map_or(bottom, |point| point.1)));
    svg.path(&INK.line(), "", &points);
}
