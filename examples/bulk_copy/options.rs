//! The command line, and the defaults of the two situations.

use crate::faults::FaultRates;
use crate::limit::Limits;
use crate::service::Rules;
use crate::strategy::Strategy;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

/// With `--faults`: one request in a hundred is hurt, p = 0.01.
///
/// The standard strategy makes five attempts, and all five fail for one call in 1 / p^5 = 10^10. There are 2 * 4,003
/// calls, so an object is lost once in more than a million runs. With p = 0.05 it would be one in every 400 runs, which
/// is too often for "nothing is lost".
///
/// The retry quota does not drain either. A request costs it 0.007 * 5 + 0.003 * 10 = 0.065 on average, and gives back
/// 0.99. And if all 64 tasks met a 500 at the same moment, that would cost 320 of the 500 that it holds. (64 timeouts at
/// one moment would cost 640, so the attempt timeout is 40 times the latency: a slow machine must not cause any.)
///
/// Without retries, 2 * 4,003 * p = 80 objects are lost.
///
/// The latency is that of a near store. With it the copy takes long enough to be watched, and shows that the waits of
/// the few are hidden behind the work of the many.
const FAULTS: Defaults = Defaults {
    objects: 4_003,
    latency: Duration::from_millis(50),
    error: 0.004,
    stall: 0.003,
    drop: 0.003,
    writes: None,
    reads: None,
};

/// With `--limit`: a thirty-fifth of the 3,500 writes and 5,000 reads that S3 takes in a second for one prefix.
///
/// How fast the machine is does not matter here, it only has to exceed the limit. A task that was turned away is out of
/// the way for 0.75 s or so, the mean of the first backoff and of the waits that the service asks for. So 64 tasks are
/// turned away some 85 times a second, and their retries cost 85 * 5 = 425 of the retry quota, while each copied object
/// gives back 2, for its read and its write. At 100 writes a second that is 200: the 500 of the quota are gone within a
/// few seconds, and from then on whatever is turned away is lost. At 3,500 writes a second it would be 7,000, and 64
/// tasks lose nothing, however fast they are. (With 256 tasks some are lost there too, when all of them meet the limit
/// for the first time and 256 * 5 is more than the quota holds; but no strategy can help those, for it can't know yet.)
///
/// The service answers at once. With a latency, tasks that are not turned away are slower too, and so the quota lasts
/// longer; then fewer objects are lost, most of them for having failed five times.
///
/// The service could take these objects in 8 s.
const LIMIT: Defaults = Defaults {
    objects: 801,
    latency: Duration::ZERO,
    error: 0.0,
    stall: 0.0,
    drop: 0.0,
    writes: Some(100.0),
    reads: Some(143.0),
};

/// What differs between the two situations.
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
The rates of --limit are a thirty-fifth of what S3 takes for one prefix: 3,500 writes and 5,000 reads a
second. What drains the retry quota is the number of tasks in proportion to the rate, not the speed of
the machine: 64 tasks exceed the rates of S3 several times over, and yet they lose nothing there. See:
  cargo run --example bulk_copy -- --limit --write-rate 3500 --read-rate 5000 --objects 25000

Examples:
  cargo run --example bulk_copy
  cargo run --example bulk_copy -- --strategy none
  cargo run --example bulk_copy -- --limit
  cargo run --example bulk_copy -- --limit --strategy adaptive
  cargo run --example bulk_copy -- --error-rate 0.05 --seed 7 --objects 2000 path/to/folder

The exit code is 0 if nothing was lost, 1 if something was, and 2 for bad arguments.";

/// Copies many objects between two buckets of an S3-like service that fails on purpose, and counts what is lost
#[derive(Debug, Parser)]
#[command(name = "bulk_copy", after_help = NOTES, allow_negative_numbers = true)]
pub(crate) struct Options {
    /// Folder whose files become the objects, without target and .git [default: this workspace]
    folder: Option<PathBuf>,

    /// The service fails now and then: 500s, stalls, dropped connections; the default situation
    #[arg(long, conflicts_with = "limit", help_heading = "Situation")]
    faults: bool,

    /// The service takes 100 writes and 143 reads a second, and turns away the rest
    #[arg(long, help_heading = "Situation")]
    limit: bool,

    /// How failed attempts are retried: none, standard or adaptive
    #[arg(long, value_enum, default_value_t = Strategy::Standard, hide_possible_values = true, help_heading = "Client")]
    strategy: Strategy,

    /// Number of objects; files are repeated to make them [default: 4003; with --limit: 801]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Client")]
    objects: Option<u32>,

    /// Number of tasks that copy at the same time
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=256))]
    #[arg(help_heading = "Client")]
    tasks: u16,

    /// Longest time of one attempt
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = time, help_heading = "Client")]
    attempt_timeout: Duration,

    /// Longest time of the whole copy; what is not copied by then is lost
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

    /// How long a stalled answer is held back [default: twice --attempt-timeout]
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Service")]
    stall: Option<Duration>,

    /// Share of requests whose connection is dropped [default: 0.003; with --limit: 0]
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Service")]
    drop_rate: Option<f64>,

    /// Writes a second that one prefix takes [default: unlimited; with --limit: 100]
    #[arg(long, value_name = "N", value_parser = per_second, help_heading = "Service")]
    write_rate: Option<f64>,

    /// Reads a second that one prefix takes [default: unlimited; with --limit: 143]
    #[arg(long, value_name = "N", value_parser = per_second, help_heading = "Service")]
    read_rate: Option<f64>,

    /// The time whose requests may come all at once
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time, help_heading = "Service")]
    burst: Duration,

    /// Decides which requests are hurt; the same seed hurts the same ones
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Service")]
    seed: u64,
}

/// The options with all defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// What to copy.
    pub(crate) folder: PathBuf,
    /// How many objects to make of it.
    pub(crate) objects: usize,
    /// How many tasks copy at the same time.
    pub(crate) tasks: usize,
    /// How failed attempts are retried.
    pub(crate) strategy: Strategy,
    /// The longest time of one attempt.
    pub(crate) attempt_timeout: Duration,
    /// The longest time of the copy.
    pub(crate) deadline: Duration,
    /// How the service treats its clients.
    pub(crate) rules: Rules,
    /// The rates are those of S3, scaled down.
    pub(crate) scaled_down: bool,
}

impl Options {
    /// Reads the command line. Bad arguments end the program with a message and exit code 2.
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
                "invalid values for '--error-rate', '--stall-rate' and '--drop-rate': {} + {} + {} = {sum}; a request is \
                 hurt once, so together they must be at most 1",
                faults.error, faults.stall, faults.drop
            ));
        }
        let limits = Limits {
            reads: options.read_rate.or(defaults.reads),
            writes: options.write_rate.or(defaults.writes),
            burst: options.burst,
        };
        Settings {
            folder: options.folder.unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))),
            objects: options.objects.unwrap_or(defaults.objects) as usize,
            tasks: options.tasks.into(),
            strategy: options.strategy,
            attempt_timeout: options.attempt_timeout,
            deadline: options.deadline,
            rules: Rules { latency: options.latency.unwrap_or(defaults.latency), limits, faults, seed: options.seed },
            scaled_down: options.limit && options.write_rate.is_none() && options.read_rate.is_none(),
        }
    }

    /// Ends the program as for a bad argument.
    pub(crate) fn refuse(message: &dyn Display) -> ! {
        Self::command().error(ErrorKind::ValueValidation, message).exit()
    }
}

/// A number from 0 to 1.
fn share(text: &str) -> Result<f64, &'static str> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or("it must be a number from 0 to 1, such as 0.05 for 5 %")
}

/// A rate above 0.
fn per_second(text: &str) -> Result<f64, &'static str> {
    let rate = text.parse().ok().filter(|rate| (0.01..=1e6).contains(rate));
    rate.ok_or("it must be a number of requests a second, from 0.01 to 1000000")
}

/// A whole number with its unit, above 0.
fn time(text: &str) -> Result<Duration, &'static str> {
    let time = time_or_zero(text).ok().filter(|time| !time.is_zero());
    time.ok_or("it must be a whole number with its unit, ms or s, from 1ms to 600s, such as 500ms or 2s")
}

/// A whole number with its unit.
fn time_or_zero(text: &str) -> Result<Duration, &'static str> {
    let time = match text.strip_suffix("ms") {
        Some(number) => number.parse().ok().map(Duration::from_millis),
        None => text.strip_suffix('s').and_then(|number| number.parse().ok()).map(Duration::from_secs),
    };
    time.filter(|time| *time <= Duration::from_secs(600))
        .ok_or("it must be a whole number with its unit, ms or s, from 0s to 600s, such as 50ms or 1s")
}
