//! The processes, their store, and the service.

use crate::process;
use crate::service::{Seen, Service};
use crate::store::{StoreServer, signal};
use std::error::Error;
use std::io;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The number of processes.
pub(crate) const PROCESSES: usize = 20;
/// The part of the limit from which it is treated as used.
const USED: f64 = 0.9;
/// The period in which that part must be used: the time from one cut of the rate to the next one.
const PERIOD: Duration = Duration::from_secs(5);

/// A fleet.
pub(crate) struct World {
    pub(crate) store: StoreServer,
    pub(crate) processes: Vec<Child>,
    service: Service,
}

impl World {
    /// Starts the store and the service, without a process.
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        Ok(Self { store: StoreServer::start()?, processes: Vec::new(), service: Service::start()? })
    }

    /// Starts processes.
    pub(crate) fn start(&mut self, number: usize) -> io::Result<()> {
        for _ in 0..number {
            self.processes.push(process::start(&self.store.url(), self.service.address)?);
        }
        Ok(())
    }

    /// Starts all processes, and waits until they know the limit.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        self.start(PROCESSES)?;
        sleep(Duration::from_secs(15));
        Ok(())
    }

    /// Kills processes, the oldest first, without giving them time to leave.
    pub(crate) fn kill(&mut self, number: usize) -> io::Result<()> {
        for mut process in self.processes.drain(..number) {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Lets the oldest process leave the fleet, and waits for its end.
    pub(crate) fn end_one(&mut self) -> io::Result<()> {
        let mut process = self.processes.remove(0);
        drop(process.stdin.take());
        let status = process.wait()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("a process failed: {status}"))) }
    }

    /// Sends a signal to the first processes, such as `STOP`.
    pub(crate) fn signal(&self, number: usize, name: &str) -> io::Result<()> {
        self.processes.iter().take(number).try_for_each(|process| signal(process.id(), name))
    }

    /// Returns what the service has seen in a period.
    pub(crate) fn seen(&self, from: Instant, time: Duration) -> Seen {
        self.service.seen(from, time)
    }

    /// Waits, and returns the time from `since` until the limit is used again. `None` if it is not within `patience`.
    pub(crate) fn time_until_used(&self, since: Instant, patience: Duration) -> Option<Duration> {
        let mut at = since;
        while at < since + patience {
            sleep((at + PERIOD).saturating_duration_since(Instant::now()));
            if self.seen(at, PERIOD).used >= USED {
                return Some(at - since);
            }
            at += Duration::from_millis(100);
        }
        None
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
