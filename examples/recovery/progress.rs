//! The progress of a run: on a terminal, a line that changes; elsewhere, a line every ten seconds.

use crate::seconds::Counts;
use crate::strategies::Chosen;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// Shows on the standard error stream how far a run is.
#[derive(Debug)]
pub(crate) struct Progress {
    chosen: Chosen,
    most: usize,
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(chosen: Chosen, most: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
        });
        Self { chosen, most, bar }
    }

    /// Shows a second of the run.
    pub(crate) fn show(&self, second: usize, counts: Counts) {
        let Counts { begun, succeeded, requests } = counts;
        let line = format!(
            "{}: {second} s of at most {} s; in the last second calls: {begun}, requests: {requests}, successes: {succeeded}",
            self.chosen.words(),
            self.most
        );
        match &self.bar {
            Some(bar) => bar.set_message(line),
            None if second.is_multiple_of(10) => eprintln!("{line}"),
            None => {}
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
