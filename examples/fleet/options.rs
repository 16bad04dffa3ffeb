//! The command line.

use crate::faults::FaultRates;
use crate::limit::Limits;
use crate::outage::OutagePlan;
use crate::service::Rules;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use std::fmt::{self, Display};
use std::net::SocketAddr;
use std::time::Duration;

/// The most processes.
const MOST_PROCESSES: i64 = 32;
/// The writes per second that the service accepts, from all processes together.
const WRITES: f64 = 100.0;

const NOTES: &str = "\
The exit code is 0 if the last run lost no object, 1 if it did, and 2 for invalid arguments or if there is no store.

Examples:
  cargo run --example fleet --features fleet
  cargo run --example fleet --features fleet -- --only shared --kill-store
  cargo run --example fleet --features fleet -- --processes 20 --objects 3000";

/// Copies objects by many processes, first by processes that know nothing of each other and then by a fleet, through a
/// service that throttles, fails and recovers
#[derive(Debug, Parser)]
#[command(name = "fleet", after_help = NOTES, args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    /// Number of processes
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=MOST_PROCESSES))]
    processes: u16,

    /// Only one of the two runs: separate or shared
    #[arg(long, value_enum, value_name = "RUN", hide_possible_values = true)]
    only: Option<Mode>,

    /// URL of a store to use, Redis or Valkey [default: a server is started and stopped]
    #[arg(long, value_name = "URL", conflicts_with_all = ["kill_store", "pause_store"])]
    store: Option<String>,

    /// Number of objects
    #[arg(long, value_name = "N", default_value_t = 1_600, value_parser = clap::value_parser!(u32).range(16..=10_000))]
    objects: u32,

    /// Time in whole seconds for which all requests fail, from when a third of the objects is copied
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=60))]
    outage: u16,

    /// Kill the store in the outage, and start it again, empty
    #[arg(long, help_heading = "Faults")]
    kill_store: bool,

    /// Stop the store in the outage for a while, so that it is silent
    #[arg(long, help_heading = "Faults")]
    pause_store: bool,

    /// Kill a process in the outage
    #[arg(long, help_heading = "Faults")]
    kill_worker: bool,

    #[command(subcommand)]
    role: Option<Role>,
}

/// What this process is, if it is not the one that starts the others.
#[derive(Debug, Subcommand)]
enum Role {
    /// One of the processes, which the program starts itself.
    #[command(hide = true)]
    Process(ProcessOptions),
}

/// What a process is told on its command line.
#[derive(Debug, clap::Args)]
pub(crate) struct ProcessOptions {
    /// The address of the service.
    pub(crate) service: SocketAddr,
    /// The name of its fleet, if it is part of one.
    pub(crate) fleet: Option<String>,
}

/// What the processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Each process learns alone.
    Separate,
    /// All processes share what their quotas know, and one limit.
    Shared,
}

impl Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Separate => "separate",
            Self::Shared => "shared",
        })
    }
}

/// The faults of the store and of processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedFaults {
    pub(crate) kill_store: bool,
    pub(crate) pause_store: bool,
    pub(crate) kill_worker: bool,
}

/// The options, checked.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) processes: usize,
    pub(crate) modes: Vec<Mode>,
    /// The URL of the user's store.
    pub(crate) store: Option<String>,
    pub(crate) objects: u32,
    pub(crate) outage: Duration,
    pub(crate) faults: PlannedFaults,
    /// The behaviour of the service.
    pub(crate) rules: Rules,
}

/// What this process has to do.
#[derive(Debug)]
pub(crate) enum Task {
    /// Start the processes and compare.
    Compare(Settings),
    /// Be one of the processes.
    Copy(ProcessOptions),
}

impl Options {
    /// Reads the command line. Invalid arguments end the program with a message and exit code 2.
    pub(crate) fn read() -> Task {
        let options = Self::parse();
        if let Some(Role::Process(options)) = options.role {
            return Task::Copy(options);
        }
        let outage = Duration::from_secs(options.outage.into());
        Task::Compare(Settings {
            processes: options.processes.into(),
            modes: options.only.map_or_else(|| vec![Mode::Separate, Mode::Shared], |mode| vec![mode]),
            store: options.store,
            objects: options.objects,
            outage,
            faults: PlannedFaults {
                kill_store: options.kill_store,
                pause_store: options.pause_store,
                kill_worker: options.kill_worker,
            },
            rules: Rules {
                latency: Duration::ZERO,
                limits: Limits { reads: None, writes: Some(WRITES), burst: Duration::from_secs(1) },
                faults: FaultRates { error: 0.0, stall: 0.0, drop: 0.0, stall_time: Duration::ZERO },
                outage: Some(OutagePlan { after_writes: options.objects / 3, length: outage }),
                seed: 1,
            },
        })
    }

    /// Ends the program as for an invalid argument.
    pub(crate) fn refuse(message: &dyn Display) -> ! {
        Self::command().error(ErrorKind::Io, message).exit()
    }
}

impl Settings {
    /// Returns the time that the objects take if the service is never idle and nothing is wasted.
    pub(crate) fn ideal(&self) -> Duration {
        let Limits { writes, burst, .. } = &self.rules.limits;
        let copying = f64::from(self.objects) / writes.unwrap_or(f64::INFINITY);
        // The limit saves a burst up before the first write, and in the outage.
        self.outage + Duration::from_secs_f64(copying).saturating_sub(2 * *burst)
    }
}

/// Returns the command line of a process.
pub(crate) fn words_of_process(service: SocketAddr, fleet: Option<&str>) -> Vec<String> {
    let mut words = vec!["process".to_owned(), service.to_string()];
    words.extend(fleet.map(str::to_owned));
    words
}
