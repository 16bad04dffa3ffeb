//! The comparison as a table.

use crate::options::Options;
use crate::run::Outcome;
use crate::strategies::Chosen;
use std::fmt::{self, Display};

/// The head of the table, and the format of its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'a>(&'a Options);

impl<'a> Table<'a> {
    pub(crate) const fn new(options: &'a Options) -> Self {
        Self(options)
    }

    /// Returns the row of a run.
    pub(crate) fn row(self, chosen: Chosen, outcome: &Outcome) -> String {
        let (stall, end) = (usize::from(self.0.before), usize::from(self.0.before + self.0.stall));
        let in_stall = outcome.seconds.between(stall, end);
        let after = outcome.seconds.between(end, usize::MAX);
        let back = match outcome.recovered {
            Some(seconds) => format!("{seconds} s"),
            None => format!("not in {} s", self.0.most),
        };
        let requests = |requests: u64, calls: u64| format!("{:.2}", ratio(requests, calls));
        format!(
            "{:<22} {back:>12} {:>20} {:>20}",
            chosen.words(),
            requests(in_stall.requests, in_stall.begun),
            requests(after.requests, after.begun)
        )
    }
}

impl Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { processes, capacity, load, stall, .. } = self.0;
        writeln!(
            f,
            "{processes} processes call a server at {load} % of the {capacity} requests per second that it can answer."
        )?;
        writeln!(f, "It stalls for {stall} s. It is back when 95 % of the calls have succeeded for five seconds.\n")?;
        writeln!(f, "{:<22} {:>12} {:>20} {:>20}", "", "", "requests per call", "requests per call")?;
        write!(f, "{:<22} {:>12} {:>20} {:>20}", "retries limited by", "back after", "in the stall", "until it is back")
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run of some minutes")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
