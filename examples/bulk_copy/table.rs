//! The output: the plan before the copy, and the table after it.

use crate::copy::Copied;
use crate::limit::Limits;
use crate::noun::noun;
use crate::options::Settings;
use crate::outage::Outage;
use crate::service::Counters;
use crate::source::Source;
use crate::tally::{Counted, Counts};
use crate::text::{percent, thousands};
use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The number of failed objects that are shown with their errors.
const SHOWN_FAILURES: usize = 3;

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
        writeln!(f, "Copying {source}.")?;
        writeln!(
            f,
            "{tasks} {}, strategy {strategy}, at most {attempt_timeout:?} per attempt and {deadline:?} in total.",
            noun(*tasks, "task", "tasks")
        )?;
        if !rules.latency.is_zero() {
            writeln!(f, "The service answers after {:?}.", rules.latency)?;
        }
        if rules.faults.any() {
            writeln!(
                f,
                "It answers {} of the requests with 500, stalls {} for {:?}, and drops the connection of {}.",
                percent(rules.faults.error),
                percent(rules.faults.stall),
                rules.faults.stall_time,
                percent(rules.faults.drop),
            )?;
        }
        if let Some(outage) = &rules.outage {
            writeln!(
                f,
                "All requests fail for {:?} from when {} {} copied.",
                outage.length,
                thousands(outage.after_writes),
                noun(outage.after_writes, "object is", "objects are")
            )?;
        }
        let Limits { writes, reads, burst } = rules.limits;
        if writes.is_some() || reads.is_some() {
            writeln!(
                f,
                "The service accepts {} writes and {} reads per second for one prefix, in bursts of up to {burst:?}.",
                writes.map_or("unlimited".to_owned(), thousands),
                reads.map_or("unlimited".to_owned(), thousands),
            )?;
        }
        if settings.scaled_down {
            writeln!(f, "These are the limits of S3 (3,500 and 5,000) divided by 35: --help explains why.")?;
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
        row(f, "", "failed", failures.len(), "")?;
        if *unfinished > 0 {
            row(f, "", "unfinished", unfinished, format_args!("after {:?}", self.settings.deadline))?;
        }
        row(f, "", "lost", self.lost, "missing or different at the destination, by SHA-256")
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
            let retries = thousands(outage.retries.get());
            row(f, "", "in the outage", outage.received.get(), format_args!("requests, {retries} of them retries"))?;
        }
        if throttled.get() > 0 {
            let (late, all) = (throttled_late.get(), received_late.get());
            let share = percent(f64::from(late) / f64::from(all.max(1)));
            row(
                f,
                "",
                "after 1 s",
                late,
                format_args!("throttled, of {} requests since then ({share})", thousands(all)),
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
            writeln!(f, "{key}: {}", chain(error))?;
        }
        if failures.len() > SHOWN_FAILURES {
            writeln!(f, "and {} more", thousands(failures.len() - SHOWN_FAILURES))?;
        }
        match self.lost {
            0 => writeln!(f, "No object was lost."),
            lost => {
                let (of, objects) = (self.settings.objects, noun(self.settings.objects, "object", "objects"));
                writeln!(f, "{} of {} {objects} {} lost.", thousands(lost), thousands(of), noun(lost, "was", "were"))
            }
        }
    }
}

fn row(f: &mut Formatter<'_>, group: &str, name: &str, value: impl Display, note: impl Display) -> fmt::Result {
    let line = format!("{group:<9} {name:<15} {:>8}   {note}", thousands(value));
    writeln!(f, "{}", line.trim_end())
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
