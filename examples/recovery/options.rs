//! The command line.

use crate::strategies::Chosen;
use clap::{Parser, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::time::Duration;

/// Compares how soon a server is back after a stall, by what the retries of its clients are limited with
#[derive(Debug, Parser)]
#[command(name = "recovery", args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    /// Number of client processes, each with its own strategy
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=200))]
    pub(crate) processes: u16,

    /// Requests per second that the server can answer
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u16).range(10..=1_000))]
    pub(crate) capacity: u16,

    /// Calls per second of all processes, in percent of the capacity
    #[arg(long, value_name = "PERCENT", default_value_t = 80, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub(crate) load: u16,

    /// Seconds before the stall
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=60))]
    pub(crate) before: u16,

    /// Seconds for which the server stalls
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=60))]
    pub(crate) stall: u16,

    /// Seconds after the stall at which a run ends, if the server is not back earlier
    #[arg(long, value_name = "SECONDS", default_value_t = 180, value_parser = clap::value_parser!(u16).range(10..=600))]
    pub(crate) most: u16,

    /// Only these, separated by commas: none, patient, fixed, unlimited
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',', hide_possible_values = true)]
    only: Vec<Chosen>,

    #[command(subcommand)]
    role: Option<Role>,
}

/// What this process is, if it is not the one that starts the others.
#[derive(Debug, Subcommand)]
enum Role {
    /// One of the client processes, which the program starts itself.
    #[command(hide = true)]
    Process(CallOptions),
}

/// What a client process is told on its command line.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct CallOptions {
    /// The address of the server.
    pub(crate) server: SocketAddr,
    /// What limits its retries.
    #[arg(value_enum)]
    pub(crate) chosen: Chosen,
    /// Its calls per second.
    pub(crate) rate: f64,
}

/// What the program does.
#[derive(Debug)]
pub(crate) enum Task {
    /// It is a client process.
    Call(CallOptions),
    /// It makes the runs.
    Compare(Options),
}

impl Options {
    /// Reads the command line. Exits with 2 if it is invalid.
    pub(crate) fn task() -> Task {
        let options = Self::parse();
        match options.role {
            Some(Role::Process(call)) => Task::Call(call),
            None => Task::Compare(options),
        }
    }

    /// Returns what to compare, in this order.
    pub(crate) fn strategies(&self) -> impl Iterator<Item = Chosen> {
        let all = Chosen::value_variants().iter().copied();
        all.filter(|chosen| self.only.is_empty() || self.only.contains(chosen))
    }

    /// Returns the calls per second of all processes.
    pub(crate) fn calls(&self) -> f64 {
        f64::from(self.capacity) * f64::from(self.load) / 100.0
    }

    /// Returns the time that the server takes for a request.
    pub(crate) fn service_time(&self) -> Duration {
        Duration::from_secs(1) / u32::from(self.capacity)
    }
}

/// Returns the words that start this program as a client process.
pub(crate) fn words_of_process(call: CallOptions) -> Vec<String> {
    vec!["process".to_owned(), call.server.to_string(), call.chosen.option(), call.rate.to_string()]
}
