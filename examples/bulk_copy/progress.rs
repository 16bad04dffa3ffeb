//! The progress of the job: a bar on a terminal, a line every second elsewhere.

use crate::count::Counter;
use crate::text::thousands;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::convert::Infallible;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Counts finished objects and shows the counts on the standard error stream.
#[derive(Debug)]
pub(crate) struct Progress {
    total: usize,
    copied: Counter,
    failed: Counter,
    started: Instant,
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Creates the progress of a job of `total` objects.
    pub(crate) fn new(total: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:30} {human_pos} of {human_len} copied, {elapsed}{msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { total, copied: Counter::default(), failed: Counter::default(), started: Instant::now(), bar }
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
        let copied = self.copied();
        let failed = match self.failed.get() {
            0 => String::new(),
            failed => format!(", {} failed", thousands(failed)),
        };
        if let Some(bar) = &self.bar {
            bar.set_message(failed);
            bar.set_position(copied.into());
        } else {
            let seconds = self.started.elapsed().as_secs_f64();
            eprintln!("{seconds:5.1} s  copied {} of {}{failed}", thousands(copied), thousands(self.total));
        }
    }
}
