//! The faults of the store and of processes, which strike in the outage.

use crate::options::{Mode, PlannedFaults, Settings};
use crate::store::StoreServer;
use crate::workers::Worker;
use std::io;
use std::time::Duration;

/// The faults of a run.
#[derive(Debug)]
pub(crate) struct Faults {
    planned: PlannedFaults,
    /// The times since the beginning of the outage at which they begin and end.
    begin: Duration,
    end: Duration,
    phase: Phase,
    /// How often the store lost its data.
    pub(crate) emptied: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Before,
    During,
    After,
}

impl Faults {
    /// Creates the faults of a run. Without a fleet, there is no store that could fail.
    pub(crate) fn new(settings: &Settings, mode: Mode) -> Self {
        let mut planned = settings.faults;
        planned.kill_store &= mode == Mode::Shared;
        planned.pause_store &= mode == Mode::Shared;
        // At the beginning, a part of the quota is spent and the rest is not.
        let (begin, end) = (settings.outage.mul_f64(0.05), settings.outage.mul_f64(0.7));
        Self { planned, begin, end, phase: Phase::Before, emptied: 0 }
    }

    /// Lets the faults begin or end, at this time since the beginning of the outage.
    pub(crate) fn strike(
        &mut self,
        elapsed: Duration,
        workers: &mut [Worker],
        server: Option<&mut StoreServer>,
    ) -> io::Result<()> {
        if self.phase == Phase::Before && elapsed >= self.begin {
            self.phase = Phase::During;
            self.begin(workers, server)
        } else if self.phase == Phase::During && elapsed >= self.end {
            self.phase = Phase::After;
            self.end(server)
        } else {
            Ok(())
        }
    }

    fn begin(&mut self, workers: &mut [Worker], server: Option<&mut StoreServer>) -> io::Result<()> {
        if let (true, Some(worker)) = (self.planned.kill_worker, workers.first_mut()) {
            worker.kill()?;
        }
        if let Some(server) = server {
            if self.planned.pause_store {
                server.signal("-STOP")?;
            }
            if self.planned.kill_store {
                server.kill();
                self.emptied += 1;
            }
        }
        Ok(())
    }

    fn end(&mut self, server: Option<&mut StoreServer>) -> io::Result<()> {
        let Some(server) = server else { return Ok(()) };
        if self.planned.kill_store {
            server.restart()?;
        }
        if self.planned.pause_store {
            server.signal("-CONT")?;
        }
        Ok(())
    }
}
