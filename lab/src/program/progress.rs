//! How far a command is: which scenario of how many runs, and about how long the rest takes.

use super::durations::{about, seconds_of};
use super::text::counted;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::scenario::{Plan, Scenario};
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// The progress of all scenarios of a command, on stderr: a bar on a terminal, and a line now and then elsewhere.
pub(super) struct Progress {
    /// The seconds that each scenario was expected to take.
    expected: Vec<f64>,
    /// The scenario that runs, counted from 0.
    current: usize,
    started: Instant,
    scenario_started: Instant,
    group: Option<Group>,
    shown: Instant,
    is_terminal: bool,
}

/// Runs that belong together.
struct Group {
    name: String,
    count: usize,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Creates the progress of scenarios on a number of threads.
    pub(super) fn new(scenarios: &[Scenario], plan: &Plan, threads: usize) -> Self {
        let expected = scenarios.iter().map(|scenario| seconds_of(scenario.name, plan, threads)).collect();
        let (is_terminal, now) = (stderr().is_terminal(), Instant::now());
        Self { expected, current: 0, started: now, scenario_started: now, group: None, shown: now, is_terminal }
    }

    /// Says how much there is to run.
    pub(super) fn announce(&self) {
        let scenarios = counted(self.expected.len() as u64, "scenario");
        anstream::eprintln!("{scenarios} to run, which takes {}", about(self.expected.iter().sum()));
    }

    /// Begins a scenario, counted from 0.
    pub(super) fn begin(&mut self, scenario: usize) {
        (self.current, self.scenario_started) = (scenario, Instant::now());
    }

    /// Begins a group of runs.
    pub(super) fn begin_group(&mut self, name: &str, count: usize) {
        let bar = self.is_terminal.then(|| {
            let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:20.cyan} {wide_msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        self.group = Some(Group { name: name.to_owned(), count, started: Instant::now(), bar });
    }

    /// Shows that a number of runs of the group are done, unless it has shown something a short time ago.
    pub(super) fn show(&mut self, done: usize) {
        let every = if self.is_terminal { Duration::from_millis(200) } else { Duration::from_secs(15) };
        if self.shown.elapsed() < every {
            return;
        }
        self.shown = Instant::now();
        let Some(group) = &self.group else { return };
        let part = ratio(done, group.count);
        let left = about(self.left(self.scenario_started.elapsed(), part));
        let text = self.text(&group.name, &left, done, group.count);
        match &group.bar {
            Some(bar) => {
                bar.set_message(text);
                bar.set_position(done as u64);
            }
            None => anstream::eprintln!("{text}"),
        }
    }

    /// Ends the group.
    pub(super) fn finish_group(&mut self) {
        let Some(group) = self.group.take() else { return };
        if let Some(bar) = &group.bar {
            bar.finish_and_clear();
        }
        let seconds = group.started.elapsed().as_secs_f64();
        anstream::eprintln!("{}: {} in {seconds:.1} s", self.name(&group), counted(group.count as u64, "run"));
    }

    /// Returns how far the command is. A narrow terminal cuts the end off, which is the least important part.
    fn text(&self, group: &str, left: &str, done: usize, count: usize) -> String {
        let scenarios = self.expected.len();
        let runs = counted(count as u64, "run");
        format!("scenario {} of {scenarios}, {left} left: {group}, {done} of {runs}", self.current + 1)
    }

    fn name(&self, group: &Group) -> String {
        let scenarios = self.expected.len();
        format!("scenario {} of {scenarios}, {}", self.current + 1, group.name)
    }

    /// Returns about how many seconds are left, if this part of the group that runs is done. `elapsed` is the time of the scenario.
    fn left(&self, elapsed: Duration, part: f64) -> f64 {
        let now = self.expected[self.current];
        let before: f64 = self.expected[..self.current].iter().sum();
        let after: f64 = self.expected[self.current + 1..].iter().sum();
        let elapsed = elapsed.as_secs_f64();
        let before_took = self.started.elapsed().as_secs_f64() - elapsed;
        // The machine differs from the one whose times were measured: scenarios that have ended say by how much.
        let pace = if before > 0.0 { (before_took / before).max(0.01) } else { 1.0 };
        left(elapsed, part, now * pace, after * pace)
    }
}

/// Returns the seconds that are left of a scenario and of those after it.
fn left(elapsed: f64, part: f64, expected: f64, after: f64) -> f64 {
    // Few runs say little, and a scenario can have more groups than the one that runs.
    let by_runs = if part > 0.1 { elapsed * (1.0 - part) / part } else { 0.0 };
    by_runs.max(expected - elapsed) + after
}

#[expect(clippy::cast_precision_loss, reason = "counts of runs are small")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::{Progress, left};
    use lab::scenario::{Plan, SCENARIOS};

    #[test]
    fn the_time_that_remains_is_within_80_columns() {
        let mut progress = Progress::new(SCENARIOS, &Plan::default(), 2);
        progress.begin(SCENARIOS.len() - 1);
        let text = progress.text("changing: copy of 40030, rejections cost 0.2", "about 25 minutes", 1_000, 1_000);
        let bar = 21;
        assert!(text.find(" left: ").is_some_and(|end| bar + end + 5 <= 80), "{text}");
    }

    #[test]
    fn the_time_that_remains_follows_the_runs_and_then_the_other_scenarios() {
        let is = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value}");
        is(left(0.0, 0.0, 10.0, 30.0), 40.0);
        is(left(1.0, 0.05, 10.0, 30.0), 39.0);
        // Half of the runs took twice as long as expected.
        is(left(10.0, 0.5, 10.0, 30.0), 40.0);
        is(left(10.0, 1.0, 10.0, 30.0), 30.0);
    }
}
