//! The progress of a run: on a terminal, a live table of the processes; elsewhere, a line every second.

use crate::options::{Mode, Settings};
use crate::report::Report;
use crate::text::thousands;
use crate::workers::Worker;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::ops::Add;
use std::time::Duration;

/// Shows the processes on the standard error stream.
#[derive(Debug)]
pub(crate) struct Progress {
    mode: Mode,
    objects: u32,
    outage: Duration,
    /// The time at which the state is shown next.
    next: Duration,
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Creates the progress of a run.
    pub(crate) fn new(mode: Mode, settings: &Settings) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
        });
        Self { mode, objects: settings.objects, outage: settings.outage, next: Duration::ZERO, bar }
    }

    /// Shows the state if it is time to. The times are since the beginning of the run, and of the outage.
    pub(crate) fn show(&mut self, elapsed: Duration, outage: Option<Duration>, workers: &[Worker]) {
        if elapsed < self.next {
            return;
        }
        self.next += Duration::from_millis(if self.bar.is_some() { 100 } else { 1_000 });
        let line = self.line(elapsed, outage, workers);
        match &self.bar {
            Some(bar) => bar.set_message(format!("{line}\n{}", table(workers))),
            None => eprintln!("{line}"),
        }
    }

    /// Shows the final state.
    pub(crate) fn finish(&self, elapsed: Duration, workers: &[Worker]) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        eprintln!("{}\n{}", self.line(elapsed, Some(Duration::MAX), workers), table(workers));
    }

    /// Describes all processes together.
    fn line(&self, elapsed: Duration, outage: Option<Duration>, workers: &[Worker]) -> String {
        let phase = match outage {
            None => "throttled",
            Some(outage) if outage < self.outage => "outage",
            Some(_) => "recovered",
        };
        let reports: Vec<Report> = workers.iter().map(Worker::report).collect();
        let connected = reports.iter().filter(|report| report.is_connected == Some(true)).count();
        let sum = |count: fn(&Report) -> u32| thousands(reports.iter().map(count).sum::<u32>());
        format!(
            "{} {:5.1} s  {phase:<9}  copied {} of {}, attempts {}, retries {}, rejected {}, {}/s{}",
            self.mode,
            elapsed.as_secs_f64(),
            sum(|report| report.copied),
            thousands(self.objects),
            sum(|report| report.attempts),
            sum(|report| report.retries),
            sum(|report| report.rejected),
            thousands(format_args!("{:.0}", reports.iter().filter_map(|report| report.share).fold(0.0, f64::add))),
            if self.mode == Mode::Shared { format!(", {connected} connected") } else { String::new() },
        )
    }
}

/// Describes each process.
fn table(workers: &[Worker]) -> String {
    let mut text = format!(
        "{:>7} {:>8} {:>9} {:>8} {:>9} {:>8} {:>9}  {}",
        "process", "copied", "attempts", "retries", "rejected", "failed", "share", "connected"
    );
    for (number, worker) in workers.iter().enumerate() {
        let Report { copied, attempts, retries, rejected, failed, share, is_connected } = worker.report();
        let share = share.map_or_else(|| "-".to_owned(), |share| format!("{share:.1}/s"));
        let state = match (worker.was_killed, is_connected) {
            (true, _) => "killed",
            (false, None) => "-",
            (false, Some(true)) => "yes",
            (false, Some(false)) => "no",
        };
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "\n{:>7} {:>8} {:>9} {:>8} {:>9} {:>8} {:>9}  {}",
            number + 1,
            thousands(copied),
            thousands(attempts),
            thousands(retries),
            thousands(rejected),
            thousands(failed),
            share,
            state,
        );
    }
    text
}
