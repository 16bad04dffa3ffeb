//! The progress of the job: a bar on a terminal, a line every second elsewhere.

use crate::count::Counter;
use crate::look;
use crate::quota::Quotas;
use crate::text::thousands;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::convert::Infallible;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// The number of columns of the bar.
const BAR: usize = 24;

/// Counts finished objects and shows the counts, and the level of the quota, on the standard error stream.
#[derive(Debug)]
pub(crate) struct Progress {
    total: usize,
    copied: Counter,
    failed: Counter,
    quotas: Quotas,
    started: Instant,
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Creates the progress of a job of `total` objects.
    pub(crate) fn new(total: usize, quotas: Quotas) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{wide_msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { total, copied: Counter::default(), failed: Counter::default(), quotas, started: Instant::now(), bar }
    }

    /// Counts a copied object.
    pub(crate) fn add_copied(&self) {
        self.copied.add();
    }

    /// Counts a failed object.
    pub(crate) fn add_failed(&self) {
        self.failed.add();
    }

    /// Returns the number of objects copied so far.
    pub(crate) fn copied(&self) -> u32 {
        self.copied.get()
    }

    /// Shows the progress until the future is dropped.
    pub(crate) async fn show(&self) -> Infallible {
        let pause = Duration::from_millis(if self.bar.is_some() { 100 } else { 1_000 });
        loop {
            tokio::time::sleep(pause).await;
            self.draw();
        }
    }

    /// Shows the final state.
    pub(crate) fn finish(&self) {
        self.draw();
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }

    fn draw(&self) {
        let (copied, failed) = (self.copied(), self.failed.get());
        let failures = match failed {
            0 => String::new(),
            failed => format!(", {bad}{} failed{bad:#}", thousands(failed), bad = look::BAD),
        };
        let counts =
            format!("copied {} of {}{failures}{}", thousands(copied), thousands(self.total), self.quotas.text());
        let seconds = self.started.elapsed().as_secs_f64();
        match &self.bar {
            Some(bar) => {
                let line =
                    format!("{} {counts}, {seconds:.1} s", segments(copied as usize, failed as usize, self.total));
                bar.set_message(look::for_stream(&stderr(), line));
            }
            None => anstream::eprintln!("{seconds:5.1} s  {counts}"),
        }
    }
}

/// Draws a bar of copied, failed and remaining objects, which differ in character and colour. A failure is always visible.
fn segments(copied: usize, failed: usize, total: usize) -> String {
    let failures = if failed == 0 { 0 } else { (BAR * failed / total).max(1) };
    let arrived = (BAR * copied / total).min(BAR - failures);
    let parts = [(look::GOOD, "█", arrived), (look::BAD, "x", failures), (look::QUIET, "·", BAR - arrived - failures)];
    parts.map(|(style, part, length)| format!("{style}{}{style:#}", part.repeat(length))).concat()
}
