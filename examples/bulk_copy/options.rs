//! The command line, and the defaults of the two scenarios.

use crate::faults::FaultRates;
use crate::limit::Limits;
use crate::outage::OutagePlan;
use crate::service::Rules;
use crate::strategy::Strategy;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

/// With `--faults`: one request in a hundred fails, p = 0.01.
///
/// The standard strategy makes five attempts, and all five fail for one call in 1 / p^5 = 10^10. There are 2 * 4,003
/// calls, so a run in more than a million loses an object. With p = 0.05 it would be one run in 400, which is too often
/// for "no object is lost".
///
/// The retry quota does not drain either. A request costs 0.007 * 5 + 0.003 * 10 = 0.065 on average and refunds 0.99.
/// If all 64 tasks met a 500 at the same moment, that would cost 320 of its capacity of 500. (64 timeouts at the same
/// moment would cost 640. So the attempt timeout is 40 times the latency: a slow machine must not cause timeouts.)
///
/// Without retries, 2 * 4,003 * p = 80 objects are lost.
///
/// The latency is that of a nearby store. It makes the copy last long enough to watch, and it shows that the backoff of
/// a few tasks hardly delays the others.
const FAULTS: Defaults = Defaults {
    objects: 4_003,
    latency: Duration::from_millis(50),
    error: 0.004,
    stall: 0.003,
    drop: 0.003,
    writes: None,
    reads: None,
};

/// With `--limit`: one thirty-fifth of the 3,500 writes and 5,000 reads per second that S3 accepts for one prefix.
///
/// The speed of the machine does not matter, as long as it exceeds the limit. A throttled task waits for about 0.75 s,
/// the mean of the first backoff and of the waits that the service asks for. So 64 tasks are throttled some 85 times
/// per second, and their retries cost 85 * 5 = 425 of the retry quota, while each copied object refunds 2, for its read
/// and its write. At 100 writes per second the refund is 200: the quota of 500 is exhausted within a few seconds, and
/// from then on every throttled object is lost. At 3,500 writes per second the refund would be 7,000, and 64 tasks lose
/// no object, however fast they are. (256 tasks lose some objects there, too: when all of them meet the limit for the
/// first time, 256 * 5 exceeds the quota. No strategy can prevent that, because none knows the limit yet.)
///
/// The service answers immediately. A latency would slow down the other tasks, too, and the quota would last longer: fewer
/// objects would be lost, most of them after five failed attempts.
///
/// A bucket holds what its rate adds in a second, so all objects can be copied in 7 s.
const LIMIT: Defaults = Defaults {
    objects: 801,
    latency: Duration::ZERO,
    error: 0.0,
    stall: 0.0,
    drop: 0.0,
    writes: Some(100.0),
    reads: Some(143.0),
};

/// The defaults that differ between the two scenarios.
struct Defaults {
    objects: u32,
    latency: Duration,
    error: f64,
    stall: f64,
    drop: f64,
    writes: Option<f64>,
    reads: Option<f64>,
}

const NOTES: &str = "\
The rates of --limit are one thirty-fifth of those that S3 accepts for one prefix: 3,500 writes and
5,000 reads per second. The quota of the standard strategy drains if there are too many tasks for the
rate; the speed of the machine does not matter. At the full rates of S3, 64 tasks send too much, too, but
lose no object. Compare:
  cargo run --example bulk_copy -- --limit --strategy standard --write-rate 3500 --read-rate 5000 \
    --objects 25000

Examples:
  cargo run --example bulk_copy
  cargo run --example bulk_copy -- --strategy none
  cargo run --example bulk_copy -- --outage 5s
  cargo run --example bulk_copy -- --outage 5s --strategy standard
  cargo run --example bulk_copy -- --limit
  cargo run --example bulk_copy -- --limit --strategy standard
  cargo run --example bulk_copy -- --limit --strategy paced
  cargo run --example bulk_copy -- --error-rate 0.05 --seed 7 --objects 2000 path/to/folder

The exit code is 0 if no object was lost, 1 if objects were lost, and 2 for invalid arguments.";

/// Copies many objects between two buckets of an S3-like service that injects faults, and counts the lost objects
#[derive(Debug, Parser)]
#[command(name = "bulk_copy", after_help = NOTES, allow_negative_numbers = true)]
pub(crate) struct Options {
    /// Folder whose files become the objects, except for target and .git [default: this workspace]
    folder: Option<PathBuf>,

    /// The service injects 500s, stalled answers and dropped connections; this is the default
    #[arg(long, conflicts_with = "limit", help_heading = "Scenario")]
    faults: bool,

    /// The service accepts 100 writes and 143 reads per second and throttles the rest
    #[arg(long, help_heading = "Scenario")]
    limit: bool,

    /// How failed attempts are retried: none, patient, standard, adaptive or paced
    #[arg(long, value_enum, default_value_t = Strategy::Patient, hide_possible_values = true, help_heading = "Client")]
    strategy: Strategy,

    /// Number of objects; files are repeated to reach it [default: 4003; with --limit: 801]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Client")]
    objects: Option<u32>,

    /// Number of tasks that copy at the same time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=256))]
    #[arg(help_heading = "Client")]
    tasks: u16,

    /// Maximum time of one attempt
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = time, help_heading = "Client")]
    attempt_timeout: Duration,

    /// Maximum time of the whole copy; objects not copied by then are lost
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time, help_heading = "Client")]
    deadline: Duration,

    /// Time before each answer [default: 50ms; with --limit: 0s]
    #[arg(long, value_name = "TIME", value_parser = time_or_zero, help_heading = "Service")]
    latency: Option<Duration>,

    /// Share of requests answered with 500 [default: 0.004; with --limit: 0]
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Service")]
    error_rate: Option<f64>,

    /// Share of requests whose answer stalls [default: 0.003; with --limit: 0]
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Service")]
    stall_rate: Option<f64>,

    /// Delay of a stalled answer [default: twice --attempt-timeout]
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Service")]
    stall: Option<Duration>,

    /// Share of requests whose connection is dropped [default: 0.003; with --limit: 0]
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Service")]
    drop_rate: Option<f64>,

    /// Time for which all requests fail, from when a third of the objects is copied [default: no such time]
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Service")]
    outage: Option<Duration>,

    /// Limit on writes per second to one prefix [default: unlimited; with --limit: 100]
    #[arg(long, value_name = "N", value_parser = per_second, help_heading = "Service")]
    write_rate: Option<f64>,

    /// Limit on reads per second from one prefix [default: unlimited; with --limit: 143]
    #[arg(long, value_name = "N", value_parser = per_second, help_heading = "Service")]
    read_rate: Option<f64>,

    /// Burst size of a limit, as the time whose requests may come together
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time, help_heading = "Service")]
    burst: Duration,

    /// Seed of the faults; the same seed makes the same requests fail
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Service")]
    seed: u64,
}

/// The options, with all defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The folder to copy.
    pub(crate) folder: PathBuf,
    /// The number of objects.
    pub(crate) objects: usize,
    /// The number of concurrent tasks.
    pub(crate) tasks: usize,
    /// How failed attempts are retried.
    pub(crate) strategy: Strategy,
    /// The maximum time of one attempt.
    pub(crate) attempt_timeout: Duration,
    /// The maximum time of the copy.
    pub(crate) deadline: Duration,
    /// The behaviour of the service.
    pub(crate) rules: Rules,
    /// Whether the rates are those of S3, scaled down.
    pub(crate) scaled_down: bool,
}

impl Options {
    /// Reads the command line. Invalid arguments end the program with a message and exit code 2.
    pub(crate) fn read() -> Settings {
        let options = Self::parse();
        let defaults = if options.limit { LIMIT } else { FAULTS };
        let faults = FaultRates {
            error: options.error_rate.unwrap_or(defaults.error),
            stall: options.stall_rate.unwrap_or(defaults.stall),
            drop: options.drop_rate.unwrap_or(defaults.drop),
            stall_time: options.stall.unwrap_or(options.attempt_timeout * 2),
        };
        let sum = faults.error + faults.stall + faults.drop;
        if sum > 1.0 {
            Self::refuse(&format_args!(
                "invalid values for '--error-rate', '--stall-rate' and '--drop-rate': {} + {} + {} = {sum}; \
                a request has at most one fault, so the sum must be at most 1",
                faults.error, faults.stall, faults.drop
            ));
        }
        let limits = Limits {
            reads: options.read_rate.or(defaults.reads),
            writes: options.write_rate.or(defaults.writes),
            burst: options.burst,
        };
        let objects = options.objects.unwrap_or(defaults.objects);
        Settings {
            folder: options.folder.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))),
            objects: objects as usize,
            tasks: options.tasks.into(),
            strategy: options.strategy,
            attempt_timeout: options.attempt_timeout,
            deadline: options.deadline,
            rules: Rules {
                latency: options.latency.unwrap_or(defaults.latency),
                limits,
                faults,
                outage: options.outage.map(|length| OutagePlan { after_writes: objects / 3, length }),
                seed: options.seed,
            },
            scaled_down: options.limit && options.write_rate.is_none() && options.read_rate.is_none(),
        }
    }

    /// Ends the program as for an invalid argument.
    pub(crate) fn refuse(message: &dyn Display) -> ! {
        Self::command().error(ErrorKind::ValueValidation, message).exit()
    }
}

/// Parses a number from 0 to 1.
fn share(text: &str) -> Result<f64, &'static str> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or("it must be a number from 0 to 1, such as 0.05 for 5 %")
}

/// Parses a rate above 0.
fn per_second(text: &str) -> Result<f64, &'static str> {
    let rate = text.parse().ok().filter(|rate| (0.01..=1e6).contains(rate));
    rate.ok_or("it must be a number of requests per second, from 0.01 to 1000000")
}

/// Parses a time above 0.
fn time(text: &str) -> Result<Duration, &'static str> {
    let time = time_or_zero(text).ok().filter(|time| !time.is_zero());
    time.ok_or("it must be a whole number with its unit, ms or s, from 1ms to 600s, such as 500ms or 2s")
}

/// Parses a whole number with its unit.
fn time_or_zero(text: &str) -> Result<Duration, &'static str> {
    let time = match text.strip_suffix("ms") {
        Some(number) => number.parse().ok().map(Duration::from_millis),
        None => text.strip_suffix('s').and_then(|number| number.parse().ok()).map(Duration::from_secs),
    };
    time.filter(|time| *time <= Duration::from_mins(10))
        .ok_or("it must be a whole number with its unit, ms or s, from 0s to 600s, such as 50ms or 1s")
}
