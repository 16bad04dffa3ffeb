//! The output: the plan before the copy, and the table after it.

use crate::copy::Copied;
use crate::limit::Limits;
use crate::look;
use crate::noun::noun;
use crate::options::Settings;
use crate::outage::Outage;
use crate::service::Counters;
use crate::source::Source;
use crate::tally::{Counted, Counts};
use crate::text::{percent, thousands};
use crate::wrap::wrapped;
use anstyle::Style;
use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The number of failed objects that are shown with their errors.
const SHOWN_FAILURES: usize = 3;

/// The column in which the note of a row begins.
const NOTE: usize = 37;

/// The plan, printed before the copy.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// The options of the run.
    pub(crate) settings: &'a Settings,
    /// The objects to copy.
    pub(crate) source: &'a Source,
}

impl Display for Plan<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { settings, source } = self;
        let Settings { tasks, strategy, attempt_timeout, deadline, rules, .. } = settings;
        line(f, &format!("Copying {source}."))?;
        let tasks = count(*tasks, "task", "tasks");
        line(
            f,
            &format!(
                "{tasks}, strategy {strategy}, at most {attempt_timeout:?} per attempt and {deadline:?} in total."
            ),
        )?;
        if !rules.latency.is_zero() {
            line(f, &format!("The service answers after {:?}.", rules.latency))?;
        }
        if rules.faults.any() {
            let text = format!(
                "It answers {} of the requests with 500, stalls {} for {:?}, and drops the connection of {}.",
                percent(rules.faults.error),
                percent(rules.faults.stall),
                rules.faults.stall_time,
                percent(rules.faults.drop),
            );
            line(f, &text)?;
        }
        if let Some(outage) = &rules.outage {
            let copied = count(outage.after_writes, "object is", "objects are");
            line(f, &format!("All requests fail for {:?} from when {copied} copied.", outage.length))?;
        }
        let Limits { writes, reads, burst } = rules.limits;
        if writes.is_some() || reads.is_some() {
            let limit = |limit: Option<f64>, one, many| {
                limit.map_or_else(|| format!("unlimited {many}"), |limit| count(limit, one, many))
            };
            let text = format!(
                "The service accepts {} and {} per second for one prefix, in bursts of up to {burst:?}.",
                limit(writes, "write", "writes"),
                limit(reads, "read", "reads"),
            );
            line(f, &text)?;
        }
        if settings.scaled_down {
            line(f, "These are the limits of S3 (3,500 and 5,000) divided by 35: --help explains why.")?;
        }
        Ok(())
    }
}

/// The results, printed after the copy.
#[derive(Debug)]
pub(crate) struct Summary<'a> {
    /// The options of the run.
    pub(crate) settings: &'a Settings,
    /// The result that the client saw.
    pub(crate) copied: Copied,
    /// The number of objects that are missing or different at the destination.
    pub(crate) lost: usize,
    /// The number of requests that the client sent.
    pub(crate) attempts: u32,
    /// The counts of the service.
    pub(crate) service: &'a Counters,
    /// The outage, if one was planned.
    pub(crate) outage: Option<&'a Outage>,
    /// The events of the library.
    pub(crate) tally: Counted,
}

impl Display for Summary<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        self.objects(f)?;
        self.attempts(f)?;
        self.retries(f)?;
        self.rates(f)?;
        writeln!(f)?;
        self.verdict(f)
    }
}

impl Summary<'_> {
    fn objects(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Copied { objects, failures, unfinished, elapsed } = &self.copied;
        row(f, "objects", "copied", objects, format_args!("in {:.2} s", elapsed.as_secs_f64()))?;
        let failed = failures.len();
        styled(f, alarm(failed), ["", "failed"], failed, "")?;
        if *unfinished > 0 {
            styled(f, look::BAD, ["", "unfinished"], unfinished, format_args!("after {:?}", self.settings.deadline))?;
        }
        styled(f, alarm(self.lost), ["", "lost"], self.lost, "missing or different at the destination, by SHA-256")
    }

    fn attempts(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Counters { received, received_late, throttled, throttled_late, errors, stalls, drops, .. } = self.service;
        row(f, "attempts", "", self.attempts, format_args!("the service received {}", thousands(received.get())))?;
        let faults = [("throttled", throttled), ("500", errors), ("stalled", stalls), ("dropped", drops)];
        let all: u32 = faults.iter().map(|(_, count)| count.get()).sum();
        row(f, "failures", "", all, "as counted by the service")?;
        for (name, count) in faults.iter().filter(|(_, count)| count.get() > 0) {
            row(f, "", name, count.get(), "")?;
        }
        if let Some(outage) = self.outage {
            let (received, retries) = (outage.received.get(), outage.retries.get());
            row(f, "", "in the outage", received, format_args!("requests, {} of them retries", thousands(retries)))?;
        }
        if throttled.get() > 0 {
            let (late, all) = (throttled_late.get(), received_late.get());
            let share = percent(f64::from(late) / f64::from(all.max(1)));
            row(
                f,
                "",
                "after 1 s",
                late,
                format_args!("throttled, of {} since then ({share})", count(all, "request", "requests")),
            )?;
        }
        Ok(())
    }

    fn retries(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Counted { retries, stops } = &self.tally;
        row(f, "retries", "", retries.values().sum::<u32>(), "by the class of the error before them")?;
        for (cause, count) in retries {
            row(f, "", cause, count, "")?;
        }
        row(f, "gave up", "", stops.values().flat_map(Counts::values).sum::<u32>(), "")?;
        for (reason, causes) in stops {
            let parts: Vec<String> =
                causes.iter().map(|(cause, count)| format!("{cause} {}", thousands(count))).collect();
            row(f, "", reason, causes.values().sum::<u32>(), format_args!("after {}", parts.join(", ")))?;
        }
        Ok(())
    }

    fn rates(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { settings, copied, service, .. } = self;
        let Limits { writes, reads, burst } = settings.rules.limits;
        for (group, name, done, limit) in
            [("rate", "writes/s", &service.writes, writes), ("", "reads/s", &service.reads, reads)]
        {
            let rate = f64::from(done.get()) / copied.elapsed.as_secs_f64().max(0.001);
            let note = match limit {
                Some(limit) => format!("the limit is {}, with bursts of {burst:?}", thousands(limit)),
                None => "no limit".to_owned(),
            };
            row(f, group, name, format_args!("{rate:.0}"), note)?;
        }
        Ok(())
    }

    fn verdict(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let failures = &self.copied.failures;
        for (key, error) in failures.iter().take(SHOWN_FAILURES) {
            line(f, &format!("{key}: {}", chain(error)))?;
        }
        if failures.len() > SHOWN_FAILURES {
            writeln!(f, "and {} more", thousands(failures.len() - SHOWN_FAILURES))?;
        }
        let (style, text) = match self.lost {
            0 => (look::GOOD, "No object was lost.".to_owned()),
            lost => {
                let (objects, were) = (count(self.settings.objects, "object", "objects"), noun(lost, "was", "were"));
                (look::BAD, format!("{} of {objects} {were} lost.", thousands(lost)))
            }
        };
        writeln!(f, "{style}{text}{style:#}")
    }
}

/// Formats a number with the form of its noun.
fn count<N: Copy + PartialEq + From<u8> + Display>(number: N, one: &'static str, many: &'static str) -> String {
    format!("{} {}", thousands(number), noun(number, one, many))
}

/// Writes a sentence.
fn line(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    writeln!(f, "{}", wrapped(text, 0))
}

/// Writes a row of the table.
fn row(f: &mut Formatter<'_>, group: &str, name: &str, value: impl Display, note: impl Display) -> fmt::Result {
    styled(f, Style::new(), [group, name], value, note)
}

/// Returns the style of a count that should be zero.
fn alarm(count: usize) -> Style {
    if count > 0 { look::BAD } else { Style::new() }
}

/// Writes a row whose name and value have a style.
fn styled(
    f: &mut Formatter<'_>,
    style: Style,
    [group, name]: [&str; 2],
    value: impl Display,
    note: impl Display,
) -> fmt::Result {
    let bold = look::GROUP;
    write!(f, "{bold}{group:<9}{bold:#} {style}{name:<15} {:>8}{style:#}", thousands(value))?;
    let note = wrapped(&note.to_string(), NOTE);
    if note.is_empty() { writeln!(f) } else { writeln!(f, "   {note}") }
}

/// Formats an error with all its sources.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut link = error.source();
    while let Some(cause) = link {
        text = format!("{text}: {cause}");
        link = cause.source();
    }
    text
}
