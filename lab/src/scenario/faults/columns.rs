//! The faults that the scenario has.

use super::server::Fault;
use crate::report::Table;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Seconds from the end of the fault to the recovery.
    Recovery,
    /// Attempts for each operation during the fault, at the last service.
    Load,
    /// Operations that succeed, in percent of those that arrive during the fault.
    Success,
    /// Operations that begin in the fault and succeed in the end, in percent of those that begin in it.
    Bridged,
    /// Operations that begin in the minute after the fault and are lost, in percent of those that begin in it.
    Bystanders,
}

impl Measure {
    /// All measures, in the order of their tables.
    pub const ALL: [Self; 5] = [Self::Recovery, Self::Load, Self::Success, Self::Bridged, Self::Bystanders];

    /// Creates the table of the measure.
    pub(in super::super) fn table(self, keys: &[&str]) -> Table {
        let (name, measure) = match self {
            Self::Recovery => ("recovery", "recovery, s"),
            Self::Load => ("load", "attempts per operation"),
            Self::Success => ("success", "successes, %"),
            Self::Bridged => ("bridged", "successes of the operations in the fault, %"),
            Self::Bystanders => ("bystanders", "lost operations of the minute after it, %"),
        };
        Table::new(name, keys, &[measure])
    }
}

/// A fault of a server, under a load.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name.
    pub name: &'static str,
    /// What is measured.
    pub measure: Measure,
    /// What happens to the server.
    pub fault: Fault,
    /// The requests that the server can serve in a second, as a part of the option.
    pub size: f64,
    /// The arrivals, as a part of what the server can serve.
    pub load: f64,
    /// How long the fault lasts, in seconds.
    pub fault_s: u32,
    /// How long the run lasts after it, in seconds, unless the options say less.
    pub after_s: u32,
    /// How long a process lives, in seconds, if it is replaced by another one.
    pub lives_s: Option<f64>,
    /// The services in a row. The fault is that of the last one.
    pub services: u32,
    /// The most quotas.
    pub most_quotas: u32,
}

impl Column {
    const fn new(name: &'static str, measure: Measure, fault: Fault, fault_s: u32) -> Self {
        let after_s = match measure {
            Measure::Recovery => 400,
            // What begins last needs time for all of its attempts.
            Measure::Bridged => 40,
            Measure::Bystanders => 100,
            Measure::Load | Measure::Success => 10,
        };
        Self {
            name,
            measure,
            fault,
            size: 1.0,
            load: 0.8,
            fault_s,
            after_s,
            lives_s: None,
            services: 1,
            most_quotas: u32::MAX,
        }
    }

    /// Returns the best value that any quota can reach, without the cost of finding out what happens.
    ///
    /// It is that of no retries for a recovery, a load and bystanders. For successes it is what the server has capacity for.
    pub fn ideal(&self) -> Option<f64> {
        let capacity = 1.0 / self.load;
        match (self.measure, self.fault) {
            (Measure::Recovery | Measure::Bystanders, _) => None,
            (Measure::Load, _) => Some(1.0),
            (_, Fault::Random { part, is_served: true }) => Some(100.0 * ((1.0 - part) * capacity).min(1.0)),
            (_, Fault::Shed { factor, cost }) => {
                // Each arrival takes a whole request if it succeeds, or the cost of a rejection.
                Some(100.0 * ((capacity / factor - cost) / (1.0 - cost)).min(1.0))
            }
            _ => Some(100.0),
        }
    }
}

/// The columns.
pub const COLUMNS: &[Column] = &[
    Column::new("stall", Measure::Recovery, Fault::Stall, 10),
    Column { load: 0.93, ..Column::new("stall at 93 %", Measure::Recovery, Fault::Stall, 10) },
    Column::new("twice as slow", Measure::Recovery, Fault::Slow(2.0), 60),
    Column::new("1.3 times as slow", Measure::Recovery, Fault::Slow(1.3), 60),
    Column {
        size: 1.0 / 30.0,
        load: 0.93,
        after_s: 830,
        most_quotas: 10,
        ..Column::new("tiny server stalls", Measure::Recovery, Fault::Stall, 10)
    },
    Column {
        size: 0.1,
        load: 0.93,
        after_s: 830,
        most_quotas: 10,
        ..Column::new("small server stalls", Measure::Recovery, Fault::Stall, 10)
    },
    Column { lives_s: Some(2.0), ..Column::new("stall, lives of 2 s", Measure::Recovery, Fault::Stall, 10) },
    Column::new("down", Measure::Load, Fault::Down, 60),
    Column { services: 3, ..Column::new("the last of three is down", Measure::Load, Fault::Down, 60) },
    Column::new("sheds half", Measure::Success, Fault::Shed { factor: 2.0, cost: 0.1 }, 120),
    Column::new("10 % fail", Measure::Success, Fault::Random { part: 0.1, is_served: false }, 120),
    Column::new("30 % fail", Measure::Success, Fault::Random { part: 0.3, is_served: false }, 120),
    Column::new("30 % fail, spare 25 %", Measure::Success, Fault::Random { part: 0.3, is_served: true }, 120),
    Column {
        load: 0.9,
        ..Column::new("30 % fail, spare 11 %", Measure::Success, Fault::Random { part: 0.3, is_served: true }, 120)
    },
    Column::new("50 % fail, spare 25 %", Measure::Success, Fault::Random { part: 0.5, is_served: true }, 120),
    Column {
        load: 0.5,
        ..Column::new("50 % fail, spare 100 %", Measure::Success, Fault::Random { part: 0.5, is_served: true }, 120)
    },
    Column::new("5 % of answers lost", Measure::Success, Fault::Lost(0.05), 120),
    Column::new("down for 1 s", Measure::Bridged, Fault::Down, 1),
    Column::new("down for 3 s", Measure::Bridged, Fault::Down, 3),
    Column::new("after a stall", Measure::Bystanders, Fault::Stall, 10),
    Column::new("after 10 s of being down", Measure::Bystanders, Fault::Down, 10),
];
