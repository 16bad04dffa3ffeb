//! The output: the plan before the runs, and the comparison after them.

use crate::noun::noun;
use crate::options::Settings;
use crate::run::{Outcome, Writes};
use crate::source::Source;
use crate::text::{percent, thousands};
use std::fmt::{self, Display, Formatter};

/// The plan, printed before the runs.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) source: &'a Source,
    pub(crate) tasks: usize,
    /// The name of the store. `None` without a shared quota.
    pub(crate) store: Option<&'a str>,
}

impl Display for Plan<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { settings, source, tasks, store } = self;
        let Settings { processes, outage, rules, .. } = settings;
        writeln!(f, "Copying {source}.")?;
        writeln!(f, "{processes} {} with {tasks} tasks each.", noun(*processes, "process", "processes"))?;
        writeln!(
            f,
            "The service accepts {} writes per second, and fails for {outage:?}.",
            rules.limits.writes.map_or("unlimited".to_owned(), thousands),
        )?;
        if let Some(store) = store {
            writeln!(f, "The store is {store}.")?;
        }
        Ok(())
    }
}

/// The comparison, printed after the runs.
#[derive(Debug)]
pub(crate) struct Comparison<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) outcomes: &'a [Outcome],
}

impl Display for Comparison<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let killed = self.settings.faults.kill_worker;
        writeln!(f)?;
        self.row(f, "", |outcome| outcome.mode.to_string())?;
        self.row(f, "requests in the outage", |outcome| thousands(outcome.in_outage))?;
        self.row(f, "  of them retries", |outcome| thousands(outcome.retries))?;
        self.row(f, "writes rejected", |outcome| share(outcome.writes))?;
        self.row(f, "  after the outage", |outcome| share(outcome.late_writes))?;
        self.row(f, "copies repeated", |outcome| thousands(outcome.failed))?;
        self.row(f, "objects lost", |outcome| thousands(outcome.lost))?;
        if killed {
            self.row(f, "  by the killed process", |outcome| thousands(outcome.abandoned))?;
        }
        self.row(f, "time", |outcome| format!("{:.1} s", outcome.elapsed.as_secs_f64()))?;
        let ideal = self.settings.ideal().as_secs_f64();
        self.row(f, "  ideal", |_| format!("{ideal:.1} s"))?;
        writeln!(f)?;
        for outcome in self.outcomes {
            writeln!(f, "{}: {}", outcome.mode, verdict(outcome))?;
        }
        Ok(())
    }
}

impl Comparison<'_> {
    fn row(&self, f: &mut Formatter<'_>, name: &str, value: impl Fn(&Outcome) -> String) -> fmt::Result {
        write!(f, "{name:<24}")?;
        for outcome in self.outcomes {
            write!(f, "{:>12}", value(outcome))?;
        }
        writeln!(f)
    }
}

fn share(writes: Writes) -> String {
    percent((1e3 * writes.rejected_share()).round() / 1e3)
}

fn verdict(outcome: &Outcome) -> String {
    let lost = match outcome.lost {
        0 => "no object was lost".to_owned(),
        lost => format!("{} {} lost", thousands(lost), noun(lost, "object was", "objects were")),
    };
    let share = percent((1e3 * f64::from(outcome.retries) / f64::from(outcome.in_outage.max(1))).round() / 1e3);
    format!("{lost}, and {share} of the requests in the outage were retries")
}
